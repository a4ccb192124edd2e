/* SPDX-License-Identifier: Apache-2.0 */
/** `int a[n] = {1, 2};` of a variable n: an extension of g++, and so of nvcc, that clang lacks.
 * What the list leaves out is 0. clang's error has its place (corrections.h). */
#ifndef WP_COMPILER_VARIABLE_ARRAYS_H
#define WP_COMPILER_VARIABLE_ARRAYS_H

/** Of the array whose first bound is at `at`: no initializer, and behind the declaration a call
 * that stores its values (wp/variable_arrays.h). NULL: more than three bounds, or no list in
 * braces. The caller frees the result. */
char *wpi_variable_array_change(const char *text, const char *at);

#endif
