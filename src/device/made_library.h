/* SPDX-License-Identifier: Apache-2.0 */
/** Shared libraries that wpcc makes from a program's image while the program runs: made on first
 * use, kept in a cache, open until the process ends. Callable from any thread. */
#ifndef WP_DEVICE_MADE_LIBRARY_H
#define WP_DEVICE_MADE_LIBRARY_H

#include <stdbool.h>

#include "base/abi.h"
#include "warpage/error.h"

typedef struct wpi_made_library {
    const wp_image_header *image;
    const char *const *options; /* of wpcc, before the image: what to make; NULL-terminated */
    const char *name;           /* how its file in the cache begins: "check" */
    const char *what;           /* in messages: "the variant 'check' of the kernels" */
    const char *who;            /* … when wpcc is missing: "checks and simulated GPUs" (need it) */
    const char *instead; /* … what the user can do without wpcc: "compile the program with …"; NULL:
                          * nothing */
    bool may_be_refused; /* that wpcc cannot compile these kernels so is an answer, not a failure */
    bool (*is_right)(void *library, const wp_image_header *image); /* has the symbols it should */
} wpi_made_library;

/** The library, for dlsym. UNSUPPORTED with the sentence of wpcc, as it is, where it may refuse the
 * kernels and does; TOOLCHAIN when there is no wpcc, or when it failed (the message has its words).
 */
WP_NODISCARD wp_status wpi_made_library_open(const wpi_made_library *wanted, void **library,
                                             wp_error *err);
/** A thread of this process waits for wpcc. */
bool wpi_made_library_is_being_made(void);

#endif
