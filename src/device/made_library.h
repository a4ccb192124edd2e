/* SPDX-License-Identifier: Apache-2.0 */
/** Shared libraries that wpcc compiles from a program's image at run time: on first use, cached,
 * open until the process ends. Callable from any thread. */
#ifndef WP_DEVICE_MADE_LIBRARY_H
#define WP_DEVICE_MADE_LIBRARY_H

#include <stdbool.h>

#include "base/abi.h"
#include "warpage/error.h"

typedef struct wpi_made_library {
    const wp_image_header *image;
    const char *const *options; /* of wpcc, before the image; NULL-terminated */
    const char *name;           /* prefix of its file name in the cache: "check" */
    const char *what;           /* in messages: "the variant 'check' of the kernels" */
    const char *who;            /* … when wpcc is missing: "checks and simulated GPUs" (need it) */
    const char *instead; /* … a remedy without wpcc: "compile the program with …"; NULL: none */
    uint32_t instance;   /* of the library in this process: each has variables of its own */
    bool may_be_refused; /* wpcc may refuse these kernels, which is an answer, not a failure */
    bool (*is_right)(void *library, const wp_image_header *image); /* has the right symbols */
} wpi_made_library;

/** The path of wpcc (wpi_free): the one that WARPAGE_WPCC names, or the one beside this library.
 * `who` needs it, in the message; `instead` is a remedy without it, or NULL. TOOLCHAIN: there is
 * none. */
WP_NODISCARD wp_status wpi_wpcc_find(const char *who, const char *instead, char **out,
                                     wp_error *err);
/** Returns the library, for dlsym. UNSUPPORTED, with wpcc's message: wpcc refuses the kernels, and
 * may. TOOLCHAIN: there is no wpcc, or it failed (the message quotes it).
 */
WP_NODISCARD wp_status wpi_made_library_open(const wpi_made_library *wanted, void **library,
                                             wp_error *err);
/** Whether a thread of this process waits for wpcc. */
bool wpi_made_library_is_being_made(void);

#endif
