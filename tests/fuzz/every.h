/* SPDX-License-Identifier: Apache-2.0 */
/* The option of drivers that try damaged files: `--every N FILE...`: every N-th of them only. */
#ifndef FUZZ_EVERY_H
#define FUZZ_EVERY_H

#include <stdlib.h>
#include <string.h>

static size_t every = 1;

/* The number of the first file's argument. A number that is none ends the driver. */
static int read_every(int argc, char **argv) {
    if (argc <= 3 || strcmp(argv[1], "--every") != 0) return 1;
    every = strtoul(argv[2], NULL, 10);
    if (every == 0) exit(2);
    return 3;
}

#endif
