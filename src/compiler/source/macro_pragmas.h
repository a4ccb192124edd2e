/* SPDX-License-Identifier: Apache-2.0 */
/** nvcc reads its preprocessor's output as text, so that a macro may stand for `#pragma unroll`:
 * the line is a directive once the macro is expanded. To clang its `#` is no expression. */
#ifndef WP_COMPILER_MACRO_PRAGMAS_H
#define WP_COMPILER_MACRO_PRAGMAS_H

/** The text with the `#pragma …` at `at` as `_Pragma("…")`, which is the same and may be in a
 * macro; NULL: there is none. The caller frees it. */
char *wpi_macro_pragma_change(const char *text, const char *at);

#endif
