/* SPDX-License-Identifier: Apache-2.0 */
/** A text as one run of bytes, for programs in which each thread goes through a part of it. */
#ifndef APP_LETTERS_H
#define APP_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#include "common/memory.h"
#include "common/options.h"

/** How a program is launched; the values of APP_LETTERS_OPTIONS. */
typedef struct app_letters_options {
    uint64_t threads;       /* of a block */
    uint64_t blocks_per_sm; /* … of each SM */
    int form;               /* bytes|vectors */
} app_letters_options;

/* clang-format off */
#define APP_LETTERS_OPTIONS_DEFAULT {512, 1, 0}
#define APP_LETTERS_LAUNCH(o)                                                                      \
    {"--threads", APP_OPTION_COUNT, &(o).threads, "N", 1, 1024, "threads of a block"},             \
    {"--blocks-per-sm", APP_OPTION_COUNT, &(o).blocks_per_sm, "N", 1, 1024, "blocks for each SM"}
#define APP_LETTERS_OPTIONS(o)                                                                     \
    APP_LETTERS_LAUNCH(o),                                                                         \
    {"--form", APP_OPTION_CHOICE, &(o).form, "bytes|vectors", 0, 0,                                \
     "read a byte at a time, or 16 bytes by hand"}
/* clang-format on */

/** A text on the device, and a launch whose threads take `share` bytes of it each. */
typedef struct app_letters {
    char *loaded; /* the host's */
    size_t bytes;
    app_device device;
    app_array text; /* up to a multiple of 16 bytes, with spaces behind the text */
    unsigned blocks, threads;
    size_t share; /* a multiple of 16 */
} app_letters;

/** Parses the command line, reads or generates the text and puts it on the device. `common` and
 *  `how` hold the defaults, `options` has their rows. */
void app_letters_open(app_letters *letters, int argc, char **argv, const app_program *program,
                      app_common *common, const app_letters_options *how,
                      const app_option *options);
void app_letters_close(app_letters *letters);

#endif
