/* SPDX-License-Identifier: Apache-2.0 */
/** Runs the compilation in a separate process group, so that after Ctrl-C or a crash inside LLVM no
 * half-written file, temporary folder or clang process remains. */
#ifndef WP_COMPILER_SUPERVISE_H
#define WP_COMPILER_SUPERVISE_H

/** Runs work(arg) and returns its exit status, 1 if it crashed. If a signal ends this process
 * meanwhile, it ends the work, calls `clean`, and dies of the same signal. */
int wpi_supervise(int (*work)(void *arg), void (*clean)(void *arg), void *arg);

#endif
