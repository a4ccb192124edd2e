/* SPDX-License-Identifier: Apache-2.0 */
/** `__shared__ T x;` where T has a constructor or destructor that does something: nvcc warns and
 * runs neither, clang refuses it. Its error has the place of the name, so that only these
 * declarations are changed (corrections.h), to memory without an initial value and a reference to
 * it. */
#ifndef WP_COMPILER_SHARED_OBJECTS_H
#define WP_COMPILER_SHARED_OBJECTS_H

#include <stdbool.h>

/** Changes the declaration of the name at `name` in the text. The caller frees it; NULL: it has
 * another form. */
char *wpi_shared_object_change(const char *text, const char *name);
/** The same for `extern __shared__ T x;` of a function, which clang allows for arrays only; `at` is
 * the place of __shared__. */
char *wpi_extern_shared_change(const char *text, const char *at);

#endif
