/* SPDX-License-Identifier: Apache-2.0 */
/** Which sanitizer this is compiled with, told alike for gcc and clang. */
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
