/* SPDX-License-Identifier: Apache-2.0 */
/** A piece of work in a child process: independent compilations run in parallel, and an abort
 * inside LLVM ends only that process. */
#ifndef WP_COMPILER_TASK_H
#define WP_COMPILER_TASK_H

#include <sys/types.h>

#include "warpage/error.h"

typedef wp_status (*wpi_task_fn)(void *arg, wp_error *err);

typedef struct wpi_task {
    pid_t pid; /* 0: not running */
    int result_fd;
    const char *what; /* for messages: "the host side of a.cu" */
} wpi_task;

/** Runs fn(arg) in a child process, whose results are files. */
WP_NODISCARD wp_status wpi_task_start(wpi_task *task, wpi_task_fn fn, void *arg, const char *what,
                                      wp_error *err);
/** Waits for it; returns its status and message, or a failure if it crashed. OK if it was not
 * started. */
WP_NODISCARD wp_status wpi_task_wait(wpi_task *task, wp_error *err);
/** Ends it; no effect if it was not started or is done. */
void wpi_task_cancel(wpi_task *task);

#endif
