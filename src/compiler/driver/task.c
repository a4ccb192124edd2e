/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* PR_SET_PDEATHSIG: a task ends with the process that waits for it */
#include "compiler/driver/task.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/must.h"

/* A child's result, sent in one write. Its strings are constants of this program, at the same
 * addresses in both processes. */
typedef struct task_result {
    wp_status status;
    wp_error error;
} task_result;

static int child_result_fd;

_Noreturn static void child_end(const task_result *result) {
    fflush(NULL);
    _exit(write(child_result_fd, result, sizeof *result) == (ssize_t)sizeof *result ? 0 : 1);
}

/* Out of memory in a child: the parent reports it. */
static void child_out_of_memory(void) {
    task_result result = {0};
    result.status = WP_FAIL(&result.error, NOMEM, "out of host memory");
    child_end(&result);
}

_Noreturn static void child_main(wpi_task_fn fn, void *arg, int fd) {
    task_result result = {0};
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    child_result_fd = fd;
    wpi_on_out_of_memory(child_out_of_memory);
    result.status = fn(arg, &result.error);
    child_end(&result);
}

wp_status wpi_task_start(wpi_task *task, wpi_task_fn fn, void *arg, const char *what,
                         wp_error *err) {
    int fds[2];
    *task = (wpi_task){.what = what};
    if (pipe(fds) != 0) return WP_FAIL(err, IO, "cannot open a pipe: %s", strerror(errno));
    (void)fcntl(fds[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(fds[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(fds[0]);
        child_main(fn, arg, fds[1]);
    }
    (void)close(fds[1]);
    if (pid < 0) {
        (void)close(fds[0]);
        return WP_FAIL(err, IO, "cannot start another process: %s", strerror(errno));
    }
    task->pid = pid;
    task->result_fd = fds[0];
    return WP_STATUS_OK;
}

wp_status wpi_task_wait(wpi_task *task, wp_error *err) {
    if (task->pid == 0) return WP_STATUS_OK;
    task_result result;
    ssize_t count;
    do
        count = read(task->result_fd, &result, sizeof result);
    while (count < 0 && errno == EINTR);
    (void)close(task->result_fd);
    int state = 0;
    while (waitpid(task->pid, &state, 0) < 0 && errno == EINTR) {
    }
    task->pid = 0;
    if (count == (ssize_t)sizeof result) {
        if (result.status != WP_STATUS_OK && err) *err = result.error;
        return result.status;
    }
    if (WIFSIGNALED(state))
        return WP_FAIL(err, TOOLCHAIN, "%s: the compiler crashed (signal %d)", task->what,
                       WTERMSIG(state));
    return WP_FAIL(err, TOOLCHAIN, "%s: the compiler gave up",
                   task->what); /* LLVM has printed it */
}

void wpi_task_cancel(wpi_task *task) {
    if (task->pid == 0) return;
    (void)kill(task->pid, SIGKILL);
    if (wpi_task_wait(task, NULL) != WP_STATUS_OK) return; /* expected after kill */
}
