/* SPDX-License-Identifier: Apache-2.0 */
/** Functions for the device only, on the host side, where nvcc leaves templates to the host's
 * compiler, which knows no sides. clang's errors have the places (corrections.h). */
#ifndef WP_COMPILER_DEVICE_ONLY_H
#define WP_COMPILER_DEVICE_ONLY_H

/** Removes the body around `at` of a kernel or of a function for the device only, on the host side,
 * where nothing calls it: it may use what is declared `#ifdef __CUDA_ARCH__`. nvcc never
 * instantiates such templates for the host; clang does, for the launch. The caller frees the
 * result; NULL: `at` is in no such function, or in a lambda, whose captures follow from its body.
 */
char *wpi_device_body_remove(const char *text, const char *at);

/** The text with `__host__` in front of the name at `at`, in the declaration of a template's
 * constructor that the host calls. NULL: there is no name, or no template before. The caller frees
 * it. */
char *wpi_device_constructor_share(const char *text, const char *at);

/** Makes the function whose name is at `at` one for host and device: nvcc gives a function all
 * sides that one of its declarations names, clang wants the same in each. The caller frees the
 * result; NULL: there is no name. */
char *wpi_both_sides_insert(const char *text, const char *at);

#endif
