/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Runs another program and waits for it. Callable from any thread of a process with many.
 */
#ifndef WP_BASE_SUBPROCESS_H
#define WP_BASE_SUBPROCESS_H

#include <stdbool.h>

#include "base/text.h"
#include "warpage/error.h"

/** All fields optional; `{0}` (or NULL options) inherits everything. A path wins over a capture. */
typedef struct wpi_subprocess_options {
    const char *stdin_path;
    const char *stdout_path; /* created or emptied */
    const char *stderr_path;
    wpi_text *stdout_text; /* its output is appended */
    wpi_text
        *stderr_text; /* may be the same text as stdout_text: the two are then mixed in order */
    const char *const *environment; /* "NAME=value" rows to add or replace; NULL-terminated */
    const char *directory;          /* where it runs */
    bool leaves_signals; /* Ctrl-C, Ctrl-\ and requests to end reach the program, we wait for it */
} wpi_subprocess_options;

/** The path of the program `name` (wpi_free), looked up in $PATH unless it has a slash; NOT_FOUND
 * and IO, with the reason, when there is no such program or it is not executable. */
WP_NODISCARD wp_status wpi_program_require(const char *name, char **out, wp_error *err);

/** argv[0] is looked up in $PATH unless it has a slash. `*exit_code` is the program's, or 128 + n
 * when signal n ended it. A program that ran is OK, whatever its exit code; NOT_FOUND and IO mean
 * that it did not run. */
WP_NODISCARD wp_status wpi_subprocess_run(const char *const argv[],
                                          const wpi_subprocess_options *options, int *exit_code,
                                          wp_error *err);

#endif
