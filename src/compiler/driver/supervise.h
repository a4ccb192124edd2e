/* SPDX-License-Identifier: Apache-2.0 */
/** The compilation runs in a process group of its own, so that whatever happens (Ctrl-C, a crash
 * inside LLVM) nothing stays behind: no half-written file, no temporary folder, no clang. */
#ifndef WP_COMPILER_SUPERVISE_H
#define WP_COMPILER_SUPERVISE_H

/** Runs work(arg) and returns its exit status, 1 if it crashed. When this process is told to end
 * meanwhile, it ends the work, calls `clean`, and dies of the same signal. */
int wpi_supervise(int (*work)(void *arg), void (*clean)(void *arg), void *arg);

#endif
