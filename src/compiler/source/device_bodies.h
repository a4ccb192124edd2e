/* SPDX-License-Identifier: Apache-2.0 */
/** Bodies of kernels and of functions for the device only that are no code for the host, as they
 * use what is declared `#ifdef __CUDA_ARCH__`. nvcc never instantiates such templates for the host;
 * clang does, for the launch. Its errors have the places (corrections.h). */
#ifndef WP_COMPILER_DEVICE_BODIES_H
#define WP_COMPILER_DEVICE_BODIES_H

/** Removes the body around `at` of a function for the device only, on the host side: nothing calls
 * it there. The caller frees the result; NULL: `at` is in no such function, or in a lambda, whose
 * captures follow from its body. */
char *wpi_device_body_remove(const char *text, const char *at);

#endif
