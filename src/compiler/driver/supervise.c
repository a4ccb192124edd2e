/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* PR_SET_PDEATHSIG: the work ends even if this process is killed */
#include "compiler/driver/supervise.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDING_COUNT = sizeof endings / sizeof *endings };

static volatile sig_atomic_t received;
static volatile pid_t group;

static void pass_on(int signal_number) {
    received = signal_number;
    if (group > 0) (void)kill(-group, signal_number);
}

/* Ends tasks and tools that failed work has left running, so that they do not write into the
 * temporary folder after its removal. The group exists until the last of them is reaped. */
static void end_group(pid_t pid) {
    const struct timespec pause = {.tv_nsec = 2 * 1000 * 1000};
    for (int i = 0; i < 100 && kill(-pid, SIGKILL) == 0; i++)
        (void)nanosleep(&pause, NULL);
}

_Noreturn static void child_main(int (*work)(void *arg), void *arg, const sigset_t *mask) {
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)sigprocmask(SIG_SETMASK, mask, NULL);
    int code = work(arg);
    fflush(NULL);
    _exit(code);
}

int wpi_supervise(int (*work)(void *arg), void (*clean)(void *arg), void *arg) {
    struct sigaction handler = {.sa_handler = pass_on}, old[ENDING_COUNT];
    sigset_t blocked, mask;
    sigemptyset(&handler.sa_mask);
    sigemptyset(&blocked);
    for (int i = 0; i < ENDING_COUNT; i++)
        sigaddset(&blocked, endings[i]);
    (void)sigprocmask(SIG_BLOCK, &blocked, &mask);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) child_main(work, arg, &mask);
    if (pid < 0) {
        (void)sigprocmask(SIG_SETMASK, &mask, NULL);
        return work(arg);
    }
    (void)setpgid(pid, pid); /* parent and child both do it: either may run first */
    group = pid;
    for (int i = 0; i < ENDING_COUNT; i++) {
        (void)sigaction(endings[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) (void)sigaction(endings[i], &handler, NULL);
    }
    (void)sigprocmask(SIG_SETMASK, &mask, NULL);
    int state = 0;
    while (waitpid(pid, &state, 0) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < ENDING_COUNT; i++)
        (void)sigaction(endings[i], &old[i], NULL);
    if (received || !WIFEXITED(state) || WEXITSTATUS(state) != 0) end_group(pid);
    if (received) {
        clean(arg);
        (void)raise(received);
        return 128 + received;
    }
    if (WIFEXITED(state)) return WEXITSTATUS(state);
    fprintf(stderr, "wpcc: error: the compiler crashed (signal %d)\n", WTERMSIG(state));
    return 1;
}
