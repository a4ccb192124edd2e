/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Errors: one enum, one optional detail struct, nothing global, nothing allocated.
 *
 * Every function that can fail returns a `wp_status` and takes a `wp_error *` as its last argument.
 * NULL is always allowed there. The callee that knows most writes the message; callers add to it
 * only when they know a further fact. Thread rule: a `wp_error` belongs to one thread at a time.
 */
#ifndef WARPAGE_ERROR_H
#define WARPAGE_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

#define WP_STATUS_MAP(X)                                                                           \
    X(OK, "success")                                                                               \
    X(NOMEM, "out of host memory")                                                                 \
    X(INVALID, "invalid argument")                                                                 \
    X(NOT_FOUND, "not found")                                                                      \
    X(IO, "input or output failed")                                                                \
    X(PARSE, "malformed input")                                                                    \
    X(UNSUPPORTED, "not supported")                                                                \
    X(TOOLCHAIN, "the compiler failed")                                                            \
    X(DEVICE, "the device reported an error")                                                      \
    X(DEVICE_NOMEM, "out of device memory")                                                        \
    X(LAUNCH, "the kernel could not be launched")                                                  \
    X(KERNEL_ADDRESS, "a kernel accessed an invalid address")                                      \
    X(KERNEL_MISALIGNED, "a kernel accessed a misaligned address")                                 \
    X(KERNEL_ASSERT, "a device-side assertion failed")                                             \
    X(KERNEL_TRAP, "a kernel executed a trap")                                                     \
    X(KERNEL_DEADLOCK, "no thread of a kernel can make progress")                                  \
    X(NOT_READY, "work is still under way")

typedef enum wp_status {
#define WP_STATUS_ENUM(name, text) WP_STATUS_##name,
    WP_STATUS_MAP(WP_STATUS_ENUM)
#undef WP_STATUS_ENUM
        WP_STATUS_COUNT /* must be last */
} wp_status;

/** What went wrong, where. Plain data: copy it, keep it on the stack. */
typedef struct wp_error {
    wp_status status;
    const char *file; /* source file of ours that noticed, static storage */
    int line;
    char message[512]; /* one sentence: the thing, the place, the remedy */
} wp_error;

/** Initialises a wp_error to "no error", in C and in C++: `wp_error err = WP_ERROR_INIT;` */
#define WP_ERROR_INIT {WP_STATUS_OK, 0, 0, ""}

#if defined(__GNUC__)
#define WP_NODISCARD __attribute__((warn_unused_result))
#define WP_API __attribute__((visibility("default")))
#else
#define WP_NODISCARD
#define WP_API
#endif

/** The text of a status ("out of host memory"); never NULL. */
WP_API const char *wp_status_string(wp_status status);

#ifdef __cplusplus
}
#endif
#endif
