/* SPDX-License-Identifier: Apache-2.0 */
/** `int table<T, map>::load(int flag = 0) {`, which nvcc accepts and clang refuses: a definition
 * out of the class of a partial specialisation adds no default arguments. clang's error has the
 * place of the parameter's name (corrections.h). */
#ifndef WP_COMPILER_DEFAULT_ARGUMENT_H
#define WP_COMPILER_DEFAULT_ARGUMENT_H

/** Removes the default argument of the parameter at `at`; calls that leave it out stay errors. The
 * caller frees the result; NULL: there is none. */
char *wpi_default_argument_remove(const char *text, const char *at);

#endif
