/* SPDX-License-Identifier: Apache-2.0 */
/** `__shared__ alignas(16) float a[64];` and `__device__ [[nodiscard]] bool f()`, which nvcc
 * accepts and clang refuses: these belong in front of a declaration. clang's error has its place
 * (corrections.h). */
#ifndef WP_COMPILER_MISPLACED_ATTRIBUTES_H
#define WP_COMPILER_MISPLACED_ATTRIBUTES_H

/** Moves the alignas or the list of attributes at `at` in front of the words before it. The caller
 * frees the result; NULL: there is none, or no such word. */
char *wpi_misplaced_attribute_change(const char *text, const char *at);

/** The text without the constexpr of the function around `at`, the definition of a variable of a
 * type that constants cannot have (`std::vector`), which only C++23 allows there: in templates nvcc
 * and gcc take such functions for ones that are no constants. NULL: there is none. The caller frees
 * it. */
char *wpi_misplaced_constexpr_remove(const char *text, const char *at);

#endif
