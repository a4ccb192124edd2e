/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patent citation by the MapReduce runtime (warpage/mapreduce.h): which patents cite a patent. A
 * line "citing cited" is a record, and makes a pair (cited, citing); the runtime groups pairs by
 * the cited patent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "common/text.h"
#include "sepo/lines.h"
#include "streaming/growth.h"

#define LINE_BYTES 16        /* of a citation, on average */
#define COPY_STEP 100000000u /* between the numbers of a citing patent in two copies of the input  \
                              */

static __device__ bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static __device__ void map_citation(const wp_map_record *line, wp_emitter *to) {
    uint64_t citing = 0;
    uint32_t at = 0;
    for (; at < line->bytes && is_digit(line->data[at]); at++) {
        citing = citing * 10 + (uint64_t)(line->data[at] - '0');
    }
    if (at == 0) { /* a comment */
        return;
    }
    while (at < line->bytes && (line->data[at] == '\t' || line->data[at] == ' ')) {
        at++;
    }
    uint32_t end = at;
    while (end < line->bytes && (unsigned char)line->data[end] > ' ') {
        end++;
    }
    if (end != at) {
        wp_emit(to, line->data + at, end - at, &citing, sizeof citing);
    }
}

WP_MAPREDUCE(patent_citation, map_citation)

/* A patent cites earlier ones, most of all those that are old. */
static void generate(app_lines *c, uint64_t lines, uint64_t seed) {
    app_random random = {seed, 0};
    uint64_t citing = 10;
    c->text = (char *)app_room_create(lines, 44, "citations");
    for (c->count = 0; c->count < lines; c->count++) {
        citing += app_random_below(&random, 12) == 0;
        const double unit = app_random_unit(&random);
        const uint64_t cited = (uint64_t)((double)(citing - 1) * unit * unit * unit);
        c->bytes += (uint64_t)sprintf(c->text + c->bytes, "%" PRIu64 "\t%" PRIu64 "\n",
                                      9000000 + citing, 9000000 + cited);
    }
    snprintf(c->title, sizeof c->title, "generated, seed %" PRIu64, seed);
}

/* The next line with a citation from *p on: both numbers as they are written. */
static bool next_citation(const char **p, uint64_t *citing, const char **cited, uint32_t *bytes) {
    while (**p != '\0') {
        const char *line = *p, *end = strchr(line, '\n');
        *p = end == NULL ? line + strlen(line) : end + 1;
        char *after;
        if (*line < '0' || *line > '9') {
            continue;
        }
        *citing = strtoull(line, &after, 10);
        *cited = after + strspn(after, "\t ");
        *bytes = 0;
        while ((unsigned char)(*cited)[*bytes] > ' ') {
            ++*bytes;
        }
        if (*bytes != 0) {
            return true;
        }
    }
    return false;
}

/* As many bytes: the first ones, or copies. In a copy citing patents have other numbers, and as
 * many cited ones do as their number grows in the file. */
static void enlarge(app_lines *c, uint64_t bytes, uint64_t seed) {
    if (app_lines_cut(c, bytes)) {
        return;
    }
    app_names names = {};
    uint64_t count = 0, capacity = 0, citing, written = 0;
    uint32_t *keys = NULL, length;
    const char *cited, *p = c->text;
    while (next_citation(&p, &citing, &cited, &length)) {
        if (count == capacity) {
            capacity = capacity != 0 ? 2 * capacity : 4096;
            keys = (uint32_t *)app_reallocate(keys, capacity, sizeof *keys, "the patents");
        }
        keys[count++] = app_names_number(&names, cited, length);
    }
    if (count == 0) {
        app_fail("%s has no line with two numbers", c->title);
    }
    app_growth growth = app_growth_measure(keys, count, names.count, seed);
    char *text = (char *)app_room_create(bytes + (1u << 16), 1, "citations");
    c->count = 0;
    for (uint64_t copy = 0; written < bytes; copy++) {
        uint64_t i = 0;
        p = c->text;
        while (written < bytes && next_citation(&p, &citing, &cited, &length)) {
            if (length > 1000) {
                app_fail("%s: a patent's number has %u digits", c->title, length);
            }
            written += (uint64_t)sprintf(text + written, "%" PRIu64 "\t%.*s",
                                         citing + copy * COPY_STEP, (int)length, cited);
            if (app_growth_renames(&growth, keys[i++], copy)) {
                written += (uint64_t)sprintf(text + written, "-%" PRIu64, copy);
            }
            text[written++] = '\n';
            c->count++;
        }
    }
    text[written] = '\0';
    app_growth_free(&growth);
    app_names_free(&names);
    free(keys);
    app_room_free(c->text);
    c->text = text;
    c->bytes = written;
}

static void list_citations(const app_lines *lines, void *unused, app_pairs *wanted) {
    const char *p = lines->text, *cited;
    uint64_t citing;
    uint32_t length;
    (void)unused;
    while (next_citation(&p, &citing, &cited, &length)) {
        app_pairs_add_number(wanted, cited, length, citing);
    }
}

static void print_sizes(uint64_t pairs, uint64_t keys) {
    printf("cited      %s patents, %s times\n", app_count(keys), app_count(pairs));
}

int main(int argc, char **argv) {
    const app_program program = {
        "patent-citation", "which patents cite each patent, by MapReduce",
        "citations, or bytes such as 64MiB",
        "lines of two numbers: the citing patent, the cited one (also .zst)",
        "patent-citation --size 100K --heap 1MiB --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_sepo_options how = APP_SEPO_DEFAULTS;
    const char *written_path = NULL;
    uint64_t top = 10;
    const app_option options[] = {
        APP_SEPO_ROWS(how),
        {"--write", APP_OPTION_TEXT, &written_path, "FILE", 0, 0,
         "write the citations to a file instead of grouping them, for other programs"},
        {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "cited patents to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_sepo_check_options(&common, &how);
    app_lines citations = {};
    const uint64_t lines = app_size_items(common.size, LINE_BYTES, 100000, 1, UINT64_C(1) << 38);
    if (common.input != NULL) {
        app_lines_read(&citations, common.input);
        if (common.size.value != 0) {
            enlarge(&citations, common.size.is_bytes ? common.size.value : lines * LINE_BYTES,
                    common.seed);
        }
    } else {
        generate(&citations, lines, common.seed);
    }
    if (written_path != NULL) {
        app_text_write(written_path, citations.text, citations.bytes);
        app_lines_free(&citations);
        return 0;
    }
    app_device device;
    app_device_open(&device, common.memory);
    app_grouping grouping = {};
    grouping.lines = "citations";
    grouping.number = "times";
    grouping.key = "patent";
    grouping.map = &patent_citation;
    grouping.print = print_sizes;
    grouping.list = list_citations;
    const bool is_right = app_lines_group(&device, &common, &how, &citations, &grouping, top);
    app_device_close(&device);
    app_lines_free(&citations);
    return is_right ? 0 : 1;
}
