/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork and exec. Everything that allocates happens before the fork, because the child of a process
 * with threads may only make async-signal-safe calls. A pipe that closes on exec carries the
 * child's errno back when something fails before the program runs.
 */
#define _GNU_SOURCE /* pipe2: another thread's fork must not inherit our pipes */
#include "base/subprocess.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/strings.h"

extern char **environ;

typedef struct wpi_pipe {
    int read_fd, write_fd; /* -1: closed */
} wpi_pipe;

static void close_fd(int *fd) {
    if (*fd >= 0) (void)close(*fd);
    *fd = -1;
}

static void pipe_close(wpi_pipe *p) {
    close_fd(&p->read_fd);
    close_fd(&p->write_fd);
}

static wp_status pipe_open(wpi_pipe *p, wp_error *err) {
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0)
        return WP_FAIL(err, IO, "cannot open a pipe: %s", strerror(errno));
    *p = (wpi_pipe){.read_fd = fds[0], .write_fd = fds[1]};
    return WP_STATUS_OK;
}

/* A relative path of a program is relative to this process's folder, not to the one that it will
 * run in. */
static char *absolute(char *program) {
    char *here = program[0] != '/' ? getcwd(NULL, 0) : NULL;
    if (here == NULL) return program;
    char *full = wpi_path_join(here, program);
    wpi_free(here);
    wpi_free(program);
    return full;
}

static bool same_name(const char *row, const char *other) {
    const size_t length = strcspn(row, "=");
    return strncmp(row, other, length) == 0 && other[length] == '=';
}

static void merge_environment(wpi_strings *out, const char *const *extra) {
    for (char **row = environ; row != NULL && *row != NULL; row++) {
        bool is_replaced = false;
        for (const char *const *e = extra; e != NULL && *e != NULL; e++)
            is_replaced = is_replaced || same_name(*e, *row);
        if (!is_replaced) wpi_strings_add(out, *row);
    }
    for (const char *const *e = extra; e != NULL && *e != NULL; e++)
        wpi_strings_add(out, *e);
}

/* The step that failed in the child, sent by one write. */
typedef struct child_error {
    enum { CHILD_DIRECTORY, CHILD_STDIN, CHILD_STDOUT, CHILD_STDERR, CHILD_EXEC } step;
    int code;
} child_error;

typedef struct child_plan {
    const char *program;
    const char *const *argv;
    char *const *environment;
    const wpi_subprocess_options *options;
    int stdout_fd, stderr_fd; /* -1: inherit */
    int error_fd;
    pid_t parent;
} child_plan;

static bool redirect_path(const char *path, int flags, int target) {
    const int fd = open(path, flags, 0666);
    if (fd < 0 || dup2(fd, target) < 0) return false;
    if (fd != target) (void)close(fd);
    return true;
}

_Noreturn static void child_main(const child_plan *plan) {
    /* The child does not outlive this process, even if this process is killed. */
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != plan->parent) _exit(126);
    const wpi_subprocess_options *o = plan->options;
    const int create = O_WRONLY | O_CREAT | O_TRUNC;
    child_error failure = {.step = CHILD_STDIN};
    if (o->stdin_path != NULL && !redirect_path(o->stdin_path, O_RDONLY, STDIN_FILENO)) goto fail;
    failure.step = CHILD_STDOUT;
    if (o->stdout_path != NULL) {
        if (!redirect_path(o->stdout_path, create, STDOUT_FILENO)) goto fail;
    } else if (plan->stdout_fd >= 0 && dup2(plan->stdout_fd, STDOUT_FILENO) < 0) {
        goto fail;
    }
    failure.step = CHILD_STDERR;
    if (o->stderr_path != NULL) {
        if (!redirect_path(o->stderr_path, create, STDERR_FILENO)) goto fail;
    } else if (plan->stderr_fd >= 0 && dup2(plan->stderr_fd, STDERR_FILENO) < 0) {
        goto fail;
    }
    failure.step = CHILD_DIRECTORY;
    if (o->directory != NULL && chdir(o->directory) != 0) goto fail;
    failure.step = CHILD_EXEC;
    (void)execve(plan->program, (char *const *)plan->argv, plan->environment);
fail:
    failure.code = errno;
    if (write(plan->error_fd, &failure, sizeof failure) < 0) _exit(126);
    _exit(127);
}

/* Reads both captures until they close. */
static wp_status drain(wpi_pipe *out, wpi_text *out_text, wpi_pipe *errors, wpi_text *err_text,
                       wp_error *err) {
    while (out->read_fd >= 0 || errors->read_fd >= 0) {
        struct pollfd fds[2] = {{.fd = out->read_fd, .events = POLLIN},
                                {.fd = errors->read_fd, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return WP_FAIL(err, IO, "cannot wait for a program's output: %s", strerror(errno));
        }
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || fds[i].revents == 0) continue;
            char buffer[4096];
            const ssize_t count = read(fds[i].fd, buffer, sizeof buffer);
            if (count > 0)
                wpi_text_append_n(i == 0 ? out_text : err_text, buffer, (size_t)count);
            else if (count == 0 || errno != EINTR)
                close_fd(i == 0 ? &out->read_fd : &errors->read_fd);
        }
    }
    return WP_STATUS_OK;
}

static wp_status report_child_error(const child_plan *plan, child_error failure, wp_error *err) {
    const wpi_subprocess_options *o = plan->options;
    const char *what = plan->argv[0];
    switch (failure.step) {
    case CHILD_DIRECTORY: what = o->directory; break;
    case CHILD_STDIN: what = o->stdin_path; break;
    case CHILD_STDOUT: what = o->stdout_path != NULL ? o->stdout_path : "stdout"; break;
    case CHILD_STDERR: what = o->stderr_path != NULL ? o->stderr_path : "stderr"; break;
    case CHILD_EXEC: break;
    }
    if (failure.code == ENOEXEC)
        return WP_FAIL(err, IO,
                       "%s: not a program that this machine can run; a script starts with a line "
                       "such as #!/bin/sh",
                       what);
    if (failure.code == ENOENT && failure.step == CHILD_EXEC)
        return WP_FAIL(err, IO,
                       "%s: cannot run: the interpreter or loader that the file names does not "
                       "exist",
                       what);
    if (failure.code == ENOENT) return WP_FAIL(err, NOT_FOUND, "%s: no such file or folder", what);
    return WP_FAIL(err, IO, "%s: cannot %s: %s", what, failure.step == CHILD_EXEC ? "run" : "open",
                   strerror(failure.code));
}

/* The program to which requests to end are passed on, so that this process can wait for it and
 * clean up. */
static volatile sig_atomic_t told_too;

static void pass_on(int number) {
    const int before = errno;
    (void)kill((pid_t)told_too, number);
    errno = before;
}

static const int interrupts[] = {SIGINT, SIGQUIT}, endings[] = {SIGTERM, SIGHUP};
typedef struct signal_actions {
    struct sigaction interrupts[2], endings[2];
} signal_actions;

/* A terminal sends Ctrl-C to both processes; other senders send only to this one. Signals that were
 * ignored stay ignored. */
static void leave_signals_to(pid_t pid, signal_actions *before) {
    const struct sigaction ignore = {.sa_handler = SIG_IGN}, tell = {.sa_handler = pass_on};
    told_too = pid;
    for (int i = 0; i < 2; i++) {
        (void)sigaction(interrupts[i], &ignore, &before->interrupts[i]);
        (void)sigaction(endings[i], NULL, &before->endings[i]);
        if (before->endings[i].sa_handler != SIG_IGN) (void)sigaction(endings[i], &tell, NULL);
    }
}

static void take_signals_back(const signal_actions *before) {
    for (int i = 0; i < 2; i++) {
        (void)sigaction(interrupts[i], &before->interrupts[i], NULL);
        (void)sigaction(endings[i], &before->endings[i], NULL);
    }
}

static int wait_for(pid_t pid) {
    int state = 0;
    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR) return 127;
    return WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
}

wp_status wpi_program_require(const char *name, char **out, wp_error *err) {
    *out = wpi_program_find(name);
    if (*out != NULL) return WP_STATUS_OK;
    if (name[0] == '\0') return WP_FAIL(err, NOT_FOUND, "the name of the program is empty");
    if (strchr(name, '/') == NULL && wpi_file_is_executable(name))
        return WP_FAIL(err, NOT_FOUND, "%s: no such program in $PATH; did you mean ./%s?", name,
                       name);
    if (strchr(name, '/') == NULL)
        return WP_FAIL(err, NOT_FOUND, "%s: no such program in $PATH", name);
    if (wpi_dir_exists(name)) return WP_FAIL(err, IO, "%s: a folder, not a program", name);
    if (!wpi_file_exists(name)) return WP_FAIL(err, NOT_FOUND, "%s: no such program", name);
    return WP_FAIL(err, IO, "%s: not an executable file", name);
}

wp_status wpi_subprocess_run(const char *const argv[], const wpi_subprocess_options *options,
                             int *exit_code, wp_error *err) {
    static const wpi_subprocess_options inherit_all = {0};
    const wpi_subprocess_options *o = options != NULL ? options : &inherit_all;
    WP_CHECK(argv != NULL && argv[0] != NULL);
    *exit_code = 127;

    const bool captures_out = o->stdout_path == NULL && o->stdout_text != NULL;
    const bool captures_err = o->stderr_path == NULL && o->stderr_text != NULL;
    const bool is_mixed = captures_out && captures_err && o->stdout_text == o->stderr_text;
    wpi_pipe out = {-1, -1}, errors = {-1, -1}, failure_pipe = {-1, -1};
    wpi_strings environment = {0};
    char *const no_environment[] = {NULL};
    wp_status status = WP_STATUS_OK;

    char *program;
    WP_TRY(wpi_program_require(argv[0], &program, err));
    program = absolute(program);
    merge_environment(&environment, o->environment);
    if (captures_out) WP_TRY_GOTO(pipe_open(&out, err), done);
    if (captures_err && !is_mixed) WP_TRY_GOTO(pipe_open(&errors, err), done);
    WP_TRY_GOTO(pipe_open(&failure_pipe, err), done);

    const child_plan plan = {
        .program = program,
        .argv = argv,
        .environment = environment.items != NULL ? environment.items : no_environment,
        .options = o,
        .stdout_fd = out.write_fd,
        .stderr_fd = is_mixed ? out.write_fd : errors.write_fd,
        .error_fd = failure_pipe.write_fd,
        .parent = getpid(),
    };
    const pid_t pid = fork();
    if (pid < 0) {
        status = WP_FAIL(err, IO, "cannot start %s: %s", program, strerror(errno));
        goto done;
    }
    if (pid == 0) child_main(&plan);

    signal_actions before;
    if (o->leaves_signals) leave_signals_to(pid, &before);
    close_fd(&out.write_fd);
    close_fd(&errors.write_fd);
    close_fd(&failure_pipe.write_fd);
    child_error failure;
    ssize_t count;
    do
        count = read(failure_pipe.read_fd, &failure, sizeof failure);
    while (count < 0 && errno == EINTR);
    const wp_status drained = drain(&out, o->stdout_text, &errors, o->stderr_text, err);
    *exit_code = wait_for(pid);
    if (o->leaves_signals) take_signals_back(&before);
    status = count == (ssize_t)sizeof failure ? report_child_error(&plan, failure, err) : drained;
done:
    pipe_close(&out);
    pipe_close(&errors);
    pipe_close(&failure_pipe);
    wpi_strings_deinit(&environment);
    wpi_free(program);
    return status;
}
