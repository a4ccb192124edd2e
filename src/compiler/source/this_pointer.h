/* SPDX-License-Identifier: Apache-2.0 */
/** nvcc and gcc let a constant expression name a static member as `this->member`, since C++23 names
 * what it means; clang 19 takes `this` for no constant there. */
#ifndef WP_COMPILER_THIS_POINTER_H
#define WP_COMPILER_THIS_POINTER_H

/** The text with the `this->` at `at` as the object's class and `::`; NULL: there is none. The
 * caller frees it. */
char *wpi_this_pointer_change(const char *text, const char *at);

/** The text with `this->` in front of the name at `at`, a member of a base class that depends on a
 * parameter: nvcc finds it without. NULL: there is no name. The caller frees it. */
char *wpi_this_pointer_insert(const char *text, const char *at);

#endif
