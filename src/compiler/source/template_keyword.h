/* SPDX-License-Identifier: Apache-2.0 */
/** `typename traits<T>::rebind<int>`, which nvcc accepts and clang refuses: it wants the word
 * `template` in front of a template that depends on a parameter. clang's error has its place
 * (corrections.h). */
#ifndef WP_COMPILER_TEMPLATE_KEYWORD_H
#define WP_COMPILER_TEMPLATE_KEYWORD_H

/** Inserts `template` in front of the name at `at`. The caller frees the result; NULL: there is no
 * name behind ::, . or -> there. */
char *wpi_template_keyword_change(const char *text, const char *at);

/** The same of a call, `traits<T>::cast<4>(x)`, whose first word is at `at`, or of
 * `object.f<4>(x)` or `object.operator()<4>(x)` at the name behind the dot: clang takes it for a
 * comparison. NULL: it is no such call. */
char *wpi_template_keyword_call(const char *text, const char *at);

/** Inserts `typename` in front of the dependent type at `at`, which nvcc does not need. NULL: there
 * is no name. */
char *wpi_typename_keyword_change(const char *text, const char *at);

/** Removes the comma that stands before the '>' at `at`: nvcc does not mind one behind the last
 * argument of a template. NULL: there is none. */
char *wpi_template_comma_remove(const char *text, const char *at);

#endif
