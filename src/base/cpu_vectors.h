/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Vectorised functions are compiled several times: for the baseline of x86-64, and for processors
 * with more. The loader chooses the best one. They are compiled once on other processors, and under
 * sanitizers, whose functions are not available yet when the loader chooses.
 */
#ifndef WP_BASE_CPU_VECTORS_H
#define WP_BASE_CPU_VECTORS_H

#include <stdlib.h> /* __GLIBC__ */

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) ||                         \
    __has_feature(memory_sanitizer)
#define WPI_CPU_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WPI_CPU_SANITIZED
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(WPI_CPU_SANITIZED)
#define WPI_CPU_VECTORS                                                                            \
    __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define WPI_CPU_VECTORS
#endif

#endif
