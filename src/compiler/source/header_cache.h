/* SPDX-License-Identifier: Apache-2.0 */
/** Precompiled headers. Most of a small file's compile time is parsing cuda_runtime.h and its
 * includes, once per side; clang can store the result. wpcc keeps one such file for each set of
 * options in the user's cache, made on first use, and uses it only if the result is the same:
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

/** Rewrites a command of clang, for one side of `input`, to use a precompiled header, if one is
 * available. Never fails. */
void wpi_header_cache_use(wpi_compile_job *job, wpi_strings *command, const wpi_input *input);

#endif
