/* SPDX-License-Identifier: Apache-2.0 */
/** Precompiled headers. Nearly all of a small file's compile time is reading cuda_runtime.h and
 * what it includes, once a side; clang can keep what it read. wpcc keeps one such file for each
 * set of options in the user's cache, made when it is first needed, and takes it only where it
 * changes nothing:
 *
 *   - all options but those below are part of its name, and clang itself;
 *   - every header it was made of is as it was (size and time);
 *   - no folder given by -I or -isystem has a header of the name of one of them;
 *   - no macro given by -D or -U is a word of theirs;
 *   - the language is C++11 to C++17;
 *   - no debug information, dependencies or preprocessed text are wanted. */
#ifndef WP_COMPILER_HEADER_CACHE_H
#define WP_COMPILER_HEADER_CACHE_H

#include "compiler/driver/job.h"

/** Rewrites a command of clang, one side of `input`, to take a precompiled header. Leaves it alone
 * where none can be had; there is nothing that could fail. */
void wpi_header_cache_use(wpi_compile_job *job, wpi_strings *command, const wpi_input *input);

#endif
