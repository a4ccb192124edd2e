/* SPDX-License-Identifier: Apache-2.0 */
/** Where it shows that gridDim and its like have types of clang's own: with nvcc they are a dim3 or
 * uint3, with clang objects that convert to one. */
#ifndef WP_COMPILER_BUILTIN_VARIABLES_H
#define WP_COMPILER_BUILTIN_VARIABLES_H

/** `return gridDim;` in a function that returns a class made of a dim3: a second conversion is not
 * implicit. Makes the built-in variable that follows `at` in its statement a dim3 or uint3. The
 * caller frees the text; NULL: there is none. */
char *wpi_builtin_variable_convert(const char *text, const char *at);

/** `extern const dim3 blockDim;`, which nvcc allows, as that is how it declares the variable: gives
 * the declaration at `at` another name. The caller frees the text. */
char *wpi_builtin_variable_redeclare(const char *text, const char *at);

#endif
