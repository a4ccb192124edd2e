/* SPDX-License-Identifier: Apache-2.0 */
/** `static inline uint64_t __rdtsc() { … }`: a function of the program's with the name of a
 * built-in function of clang's that gcc and nvcc lack. clang's error has its place (corrections.h).
 */
#ifndef WP_COMPILER_BUILTIN_NAMES_H
#define WP_COMPILER_BUILTIN_NAMES_H

/** Renames the function that is declared at `at`, so that calls are of the built-in one, which does
 * the same. The caller frees the result; NULL: the name is not one of the compiler's, __…. */
char *wpi_builtin_name_change(const char *text, const char *at);

#endif
