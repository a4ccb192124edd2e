/* SPDX-License-Identifier: Apache-2.0 */
/** A text as one run of bytes, for programs in which each thread goes through a part of it. */
#ifndef APP_LETTERS_H
#define APP_LETTERS_H

#include <stddef.h>

#include "common/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a program is launched; the values of APP_LETTERS_OPTIONS. */
typedef struct app_letters_options {
    uint64_t threads;       /* of a block */
    uint64_t blocks_per_sm; /* … of each SM */
    int form;               /* bytes|vectors */
} app_letters_options;

/* clang-format off */
#define APP_LETTERS_OPTIONS_DEFAULT {512, 1, 0}
#define APP_LETTERS_OPTIONS(o)                                                                     \
    {"--threads", APP_OPTION_COUNT, &(o).threads, "N", 1, 1024, "threads of a block"},             \
    {"--blocks-per-sm", APP_OPTION_COUNT, &(o).blocks_per_sm, "N", 1, 1024, "blocks for each SM"}, \
    {"--form", APP_OPTION_CHOICE, &(o).form, "bytes|vectors", 0, 0,                                \
     "read a byte at a time, or 16 bytes by hand"}
/* clang-format on */

/** The bytes of --input, or generated words; the caller frees them. */
char *app_letters_load(const app_common *common, size_t default_bytes, size_t *bytes);
/** Bytes of each thread: a multiple of 16. */
size_t app_letters_share(size_t bytes, size_t threads);

#ifdef __cplusplus
}
#endif
#endif
