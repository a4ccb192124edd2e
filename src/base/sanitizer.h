/* SPDX-License-Identifier: Apache-2.0 */
/** The sanitizer that this is compiled with, for gcc and clang alike. */
#ifndef WP_BASE_SANITIZER_H
#define WP_BASE_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__)
#define WP_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WP_HAS_ASAN 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define WP_HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WP_HAS_TSAN 1
#endif
#endif

#endif
