/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel launches written with spaces, `k<< <grid, block>> >(…)`: nvcc accepts them, clang does
 * not, and formatters without CUDA support produce them. They are joined; lines and columns do not
 * change. */
#ifndef WP_COMPILER_LAUNCH_SYNTAX_H
#define WP_COMPILER_LAUNCH_SYNTAX_H

#include <stdbool.h>

/** Joins the launches of `text` in place; true if there were any. */
bool wpi_launch_syntax_join(char *text);

/** A changed copy of `text`, in which lists in braces that are arguments of the launch around `at`,
 * `k<<<grid, {32, 4}>>>`, have their types before them; NULL: `at` is no such list. */
char *wpi_launch_syntax_braces(const char *text, const char *at);

#endif
