/* SPDX-License-Identifier: Apache-2.0 */
#include "inverted-index/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/names.h"
#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "streaming/corpus.h"
#include "streaming/growth.h"
#include "streaming/words.h"

#define PIECE_BYTES 2048

/* ---- links, tag by tag ---------------------------------------------------------------------- */

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_word(const char *p, const char *end, const char *word) {
    const size_t length = strlen(word);
    return (size_t)(end - p) >= length && strncasecmp(p, word, length) == 0;
}

/* The first place from p on where `word` is; `end` if it is nowhere. */
static const char *find(const char *p, const char *end, const char *word) {
    for (; p < end; p++) {
        p = (const char *)memchr(p, word[0], (size_t)(end - p));
        if (p == NULL || is_word(p, end, word)) {
            return p != NULL ? p : end;
        }
    }
    return end;
}

/* Behind the tag, comment or script that begins at p, which has a '<'. A '<' that begins none of
 * them is passed over. Of an <a> *link is its href. */
static const char *skip_tag(const char *p, const char *end, const char **link,
                            uint32_t *link_bytes) {
    *link = NULL;
    if (is_word(p, end, "<!--")) {
        p = find(p + 4, end, "-->");
        return p < end ? p + 3 : end;
    }
    if (++p == end || !(*p == '/' || *p == '!' || *p == '?' || (*p | 0x20) - 'a' + 0u < 26u)) {
        return p;
    }
    const char *name = p;
    while (p < end && !is_blank(*p) && *p != '>' && (*p != '/' || p == name)) {
        p++;
    }
    const bool is_link = p - name == 1 && (*name | 0x20) == 'a';
    const bool is_script = p - name == 6 && is_word(name, end, "script");
    const bool is_style = p - name == 5 && is_word(name, end, "style");
    while (p < end && *p != '>') { /* attributes */
        if (is_blank(*p) || *p == '/') {
            p++;
            continue;
        }
        const char *attribute = p;
        while (p < end && !is_blank(*p) && *p != '>' && *p != '=' && *p != '/') {
            p++;
        }
        const bool is_href = p - attribute == 4 && is_word(attribute, end, "href");
        if (p < end && *p == '=' && p == attribute) {
            p++; /* a '=' without a name */
            continue;
        }
        while (p < end && is_blank(*p)) {
            p++;
        }
        if (p == end || *p != '=') {
            continue;
        }
        for (p++; p < end && is_blank(*p); p++) {
        }
        const char *value = p, *value_end;
        if (p < end && (*p == '"' || *p == '\'')) {
            value = p + 1;
            value_end = (const char *)memchr(value, *p, (size_t)(end - value));
            if (value_end == NULL) { /* never closed */
                *link = NULL;
                return end;
            }
            p = value_end + 1;
        } else {
            while (p < end && !is_blank(*p) && *p != '>') {
                p++;
            }
            value_end = p;
        }
        if (is_link && is_href && *link == NULL && value_end != value) {
            *link = value;
            *link_bytes = (uint32_t)(value_end - value);
        }
    }
    if (p == end) { /* a tag that does not end is none */
        *link = NULL;
        return end;
    }
    p++;
    if (is_script || is_style) {
        p = find(p, end, is_script ? "</script" : "</style");
    }
    return p;
}

bool app_html_link(const char **p, const char *end, const char **link, uint32_t *link_bytes) {
    while (*p < end) {
        *p = (const char *)memchr(*p, '<', (size_t)(end - *p));
        if (*p == NULL) {
            *p = end;
            return false;
        }
        *p = skip_tag(*p, end, link, link_bytes);
        if (*link != NULL) {
            return true;
        }
    }
    return false;
}

/* ---- records -------------------------------------------------------------------------------- */

typedef struct builder {
    html *pages;
    uint64_t bytes, capacity, starts_capacity;
} builder;

static void put(builder *b, const char *text, uint64_t bytes) {
    if (b->capacity - b->bytes < bytes) {
        b->capacity = 2 * b->capacity + bytes + (1u << 20);
        b->pages->records = (char *)app_room_resize(b->pages->records, b->capacity, 1, "the pages");
    }
    memcpy(b->pages->records + b->bytes, text, bytes);
    b->bytes += bytes;
}

static void begin_record(builder *b, const char *path) {
    html *pages = b->pages;
    if (pages->count + 2 > b->starts_capacity) {
        b->starts_capacity = 2 * b->starts_capacity + 1024;
        pages->starts = (uint64_t *)app_room_resize(pages->starts, b->starts_capacity,
                                                   sizeof *pages->starts, "the pages");
    }
    pages->starts[pages->count++] = b->bytes;
    put(b, path, strlen(path));
    put(b, "\n", 1);
}

static void end_record(builder *b, uint32_t links) {
    b->pages->starts[b->pages->count] = b->bytes;
    b->pages->links = links > b->pages->links ? links : b->pages->links;
}

/* How links are called in a copy. */
typedef struct renaming {
    app_names names;
    app_growth growth;
    uint64_t copy;
} renaming;

/* A file as records, up to `most` of its bytes. Returns how many there were. */
static uint64_t put_file(builder *b, const char *path, const char *text, uint64_t bytes,
                         uint64_t most, renaming *how) {
    const char *end = text + (bytes < most ? bytes : most), *p = text, *copied = text, *link,
               *record = text;
    uint32_t link_bytes, links = 0;
    char suffix[24];
    b->pages->files++;
    begin_record(b, path);
    while (p < end) {
        const char *tag = (const char *)memchr(p, '<', (size_t)(end - p));
        tag = tag != NULL ? tag : end;
        if (tag - record >= PIECE_BYTES && tag != end) {
            put(b, copied, (uint64_t)(tag - copied));
            end_record(b, links);
            begin_record(b, path);
            copied = record = tag;
            links = 0;
        }
        link = NULL;
        p = tag < end ? skip_tag(tag, end, &link, &link_bytes) : end;
        if (link == NULL) {
            continue;
        }
        links++;
        if (how->copy != 0 &&
            app_growth_renames(&how->growth, app_names_number(&how->names, link, link_bytes),
                               how->copy)) {
            put(b, copied, (uint64_t)(link + link_bytes - copied));
            copied = link + link_bytes;
            put(b, suffix, (uint64_t)snprintf(suffix, sizeof suffix, "-%" PRIu64, how->copy));
        }
    }
    put(b, copied, (uint64_t)(end - copied));
    end_record(b, links);
    b->pages->bytes += (uint64_t)(end - text);
    return (uint64_t)(end - text);
}

static void measure(renaming *how, const app_archive *files, uint64_t seed) {
    uint32_t *keys = NULL, link_bytes;
    uint64_t count = 0, capacity = 0;
    const char *link;
    for (uint64_t i = 0; i < files->count; i++) {
        const char *p = files->file[i].bytes, *end = p + files->file[i].count;
        while (app_html_link(&p, end, &link, &link_bytes)) {
            if (count == capacity) {
                capacity = capacity != 0 ? 2 * capacity : 4096;
                keys = (uint32_t *)app_reallocate(keys, capacity, sizeof *keys, "the links");
            }
            keys[count++] = app_names_number(&how->names, link, link_bytes);
        }
    }
    if (count == 0) {
        app_fail("the pages have no links, so that they cannot be made more");
    }
    how->growth = app_growth_measure(keys, count, how->names.count, seed);
    free(keys);
}

void app_html_read(html *pages, const char *path, uint64_t bytes, uint64_t seed) {
    app_archive files = {};
    renaming how = {};
    builder b = {pages, 0, 0, 0};
    app_archive_read(&files, path, ".html");
    snprintf(pages->title, sizeof pages->title, "%s", files.title);
    uint64_t all = 0;
    for (uint64_t i = 0; i < files.count; i++) {
        all += files.file[i].count;
    }
    bytes = bytes != 0 ? bytes : all;
    if (bytes > all) {
        measure(&how, &files, seed);
    }
    for (how.copy = 0; pages->bytes < bytes; how.copy++) {
        for (uint64_t i = 0; i < files.count && pages->bytes < bytes; i++) {
            char name[512];
            if (how.copy == 0) {
                snprintf(name, sizeof name, "%s", files.file[i].name);
            } else {
                snprintf(name, sizeof name, "%" PRIu64 "/%s", how.copy, files.file[i].name);
            }
            put_file(&b, name, files.file[i].bytes, files.file[i].count, bytes - pages->bytes,
                     &how);
        }
    }
    app_names_free(&how.names);
    app_growth_free(&how.growth);
    app_archive_free(&files);
}

/* Pages of words, a tenth of which are links; half of the links are to pages that are popular. */
void app_html_generate(html *pages, uint64_t bytes, uint64_t seed) {
    app_random random = {seed, 0};
    builder b = {pages, 0, 0, 0};
    renaming how = {};
    char text[16384], name[64];
    while (pages->bytes < bytes) {
        uint64_t length = (uint64_t)sprintf(text, "<!DOCTYPE html>\n<html><head><style>a > b {}"
                                                  "</style></head>\n<body>\n");
        const uint64_t wanted = 2000 + app_random_below(&random, 12000);
        while (length < wanted) {
            char word[24];
            const uint32_t bytes_of_word =
                app_word_spell(word, app_word_rank(app_random_next(&random), 5000));
            if (app_random_below(&random, 10) == 0) {
                const uint32_t to = app_word_rank(app_random_next(&random), 20000);
                length += (uint64_t)sprintf(text + length,
                                            "<a class=\"x\" href=\"page%u.html#%.*s\">", to,
                                            (int)(to % 3 == 0 ? bytes_of_word : 0), word);
                length += (uint64_t)sprintf(text + length, "%.*s</a>\n", (int)bytes_of_word, word);
            } else {
                length += (uint64_t)sprintf(text + length, "%.*s ", (int)bytes_of_word, word);
            }
        }
        snprintf(name, sizeof name, "page%" PRIu64 ".html", pages->files);
        put_file(&b, name, text, length, bytes - pages->bytes, &how);
    }
    snprintf(pages->title, sizeof pages->title, "generated, seed %" PRIu64, seed);
}

void app_html_free(html *pages) {
    app_room_free(pages->records);
    app_room_free(pages->starts);
}
