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

#endif
