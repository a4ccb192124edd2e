/* SPDX-License-Identifier: Apache-2.0 */
/** What build systems ask of the host side's compiler through nvcc: `-Xcompiler --version`. */
#ifndef WP_COMPILER_HOST_QUESTION_H
#define WP_COMPILER_HOST_QUESTION_H

#include <stdbool.h>

#include "compiler/driver/options.h"
#include "compiler/driver/toolchain.h"

/** Whether -Xcompiler has a word that prints a fact and compiles nothing. */
bool wpi_is_host_question(const wpi_options *options);
/** Runs the compiler that the first input goes to, which prints the answer; `*exit_code` is its. */
WP_NODISCARD wp_status wpi_host_question_run(const wpi_options *options, const wpi_toolchain *tools,
                                             int *exit_code, wp_error *err);
/** The compiler of plain C and C++ files: -ccbin names it, or the folder it is in; else clang. */
void wpi_host_compiler_add(const wpi_options *options, const wpi_toolchain *tools, bool is_c,
                           wpi_strings *command);

#endif
