/* SPDX-License-Identifier: Apache-2.0 */
/** What programs share that group the lines of a text by a key, with MapReduce. */
#ifndef APP_SEPO_LINES_H
#define APP_SEPO_LINES_H

#include "sepo/sepo.h"

/** A text of lines in a room (common/room.h), with a NUL behind it. The last one may lack its line
 * end. */
typedef struct app_lines {
    char *text;
    uint64_t bytes, count;
    char title[160];
} app_lines;

void app_lines_read(app_lines *lines, const char *path);
/** Counts lines, after `text` and `bytes` were set. */
void app_lines_count(app_lines *lines);
/** Whether the text has more than `bytes`, of which it then keeps the first lines. */
bool app_lines_cut(app_lines *lines, uint64_t bytes);
void app_lines_free(app_lines *lines);

/** Which lines have a key. */
typedef struct app_grouping {
    const char *lines;        /* "citations" */
    const char *number, *key; /* heads of the columns of the result: "times", "patent" */
    const wp_mapreduce_program *map;
    const void *argument; /* of `map` */
    /** Prints a line of the result: so many pairs of so many keys. */
    void (*print)(uint64_t pairs, uint64_t keys);
    /** Lists the pairs for --check, by another method. */
    void (*list)(const app_lines *lines, void *object, app_pairs *wanted);
    void *object;
} app_grouping;

/** Groups by MapReduce, and prints the `top` keys with the most lines. False: --check found a
 *  difference. */
bool app_lines_group(app_device *device, const app_common *common, const app_sepo_options *options,
                     const app_lines *lines, const app_grouping *grouping, uint64_t top);

#endif
