/* SPDX-License-Identifier: Apache-2.0 */
/** `return gridDim;` in a function that returns a class made of a dim3. With nvcc gridDim is a
 * dim3, with clang an object that converts to one, and a second conversion is not implicit. */
#ifndef WP_COMPILER_BUILTIN_VARIABLES_H
#define WP_COMPILER_BUILTIN_VARIABLES_H

/** Makes the built-in variable that follows `at` in its statement a dim3 or uint3. The caller frees
 * the text; NULL: there is none. */
char *wpi_builtin_variable_convert(const char *text, const char *at);

#endif
