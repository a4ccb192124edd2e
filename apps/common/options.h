/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Command lines: a table of options per program, one parser, one form of --help.
 *
 * Every program takes the common options (--input where it can read files, --size, --seed,
 * --memory, --check, --help) and the rows of its own table. `--name value` and `--name=value` are
 * the same. A mistake ends the program with one sentence and exit status 2.
 */
#ifndef APP_OPTIONS_H
#define APP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where the problem's arrays live; see memory.h. */
typedef enum app_memory_mode {
    APP_MEMORY_COPY = 0,
    APP_MEMORY_MANAGED,
    APP_MEMORY_ZEROCOPY
} app_memory_mode;

/** A problem size: items ("200000", "64K", "1M"), or bytes ("64MiB") that the program turns into
 *  items. 0 items: not given. */
typedef struct app_size {
    uint64_t value;
    bool is_bytes;
} app_size;

typedef enum app_option_kind {
    APP_OPTION_FLAG = 0, /* bool */
    APP_OPTION_COUNT,    /* uint64_t, min <= value <= max; K, M, G (powers of 1024) allowed */
    APP_OPTION_REAL,     /* double, min <= value <= max */
    APP_OPTION_SIZE,     /* app_size */
    APP_OPTION_TEXT,     /* const char *, points into argv */
    APP_OPTION_CHOICE    /* int: the index of the word in `argument`, "copy|managed|zerocopy" */
} app_option_kind;

typedef struct app_option {
    const char *name; /* with the dashes; NULL ends the table */
    app_option_kind kind;
    void *value;          /* receives the value; its content before parsing is the default */
    const char *argument; /* word for --help, or the choices */
    double min;
    double max;
    const char *help;
} app_option;

/** What --help says first. */
typedef struct app_program {
    const char *name;
    const char *summary; /* one sentence */
    const char *size;    /* what --size counts: "vertices of the generated graph" */
    const char *input;   /* what --input accepts; NULL: there is no such option */
    const char *example; /* a command line to try */
} app_program;

typedef struct app_common {
    const char *input; /* NULL: generate */
    app_size size;
    uint64_t seed;
    int memory; /* app_memory_mode */
    bool check;
} app_common;

/** Starts the program (app_start) and parses argv. `common` must hold the defaults. Returns only
 *  if the program is to run: --help exits with 0, mistakes with 2. */
void app_options_parse(int argc, char **argv, const app_program *program, app_common *common,
                       const app_option *options);

/** The items that `size` stands for, `default_count` if none was given, at least `min_count`. */
uint64_t app_size_items(app_size size, double item_bytes, uint64_t default_count,
                        uint64_t min_count, uint64_t max_count);

/** The words of a choice: the name of entry `index` of "a|b|c". */
const char *app_choice_name(const char *choices, int index);

#ifdef __cplusplus
}
#endif
#endif
