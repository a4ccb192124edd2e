/* SPDX-License-Identifier: Apache-2.0 */
/* Logs from files and from a seed. */
#include "common/weblog.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/room.h"

/* Fills start[] from text. */
static void index_lines(app_weblog *log) {
    uint64_t count = 0;
    const char *end = log->text + log->text_bytes;
    for (const char *p = log->text; p < end; count++) {
        p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
    log->line_count = count;
    log->start = app_allocate(count + 1, sizeof *log->start, "lines");
    const char *p = log->text;
    for (uint64_t i = 0; i < count; i++) {
        log->start[i] = (uint64_t)(p - log->text);
        p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
    log->start[count] = log->text_bytes;
}

void app_weblog_read(app_weblog *log, const char *path) {
    *log = (app_weblog){0};
    log->text = app_room_read(path, &log->text_bytes);
    if (log->text_bytes == 0) {
        app_fail("%s is empty", path);
    }
    if (log->text[log->text_bytes - 1] != '\n') {
        log->text[log->text_bytes++] = '\n'; /* a room has bytes to spare */
    }
    size_t first_line = strcspn(log->text, "\n");
    if (memchr(log->text, '"', first_line) != NULL) {
        log->form = APP_WEBLOG_COMBINED;
    } else if (memchr(log->text, '\t', first_line) != NULL) {
        log->form = APP_WEBLOG_TABLE;
    } else {
        app_fail("%s:1: neither a combined log (no quoted request) nor a table (no tabs)", path);
    }
    if (log->form == APP_WEBLOG_TABLE && strncmp(log->text, "host\t", 5) == 0) {
        log->text_bytes -= first_line + 1;
        char *lines = app_room_create(log->text_bytes, 1, path);
        memcpy(lines, log->text + first_line + 1, log->text_bytes);
        app_room_free(log->text);
        log->text = lines;
    }
    index_lines(log);
    const char *slash = strrchr(path, '/');
    snprintf(log->title, sizeof log->title, "%.150s", slash != NULL ? slash + 1 : path);
}

/* The rank of a page with probability ~ 1/rank: u -> n^u inverts the logarithmic distribution. */
static uint32_t zipf_rank(app_random *random, double page_count) {
    return (uint32_t)(exp(app_random_unit(random) * log(page_count)) - 1.0 + 0.5);
}

static size_t write_line(char *line, size_t capacity, uint64_t i, uint64_t seed,
                         double page_count) {
    static const char *const sections[] = {"news", "blog",   "images", "docs",
                                           "shop", "search", "about",  "projects"};
    static const char *const endings[] = {".html", ".png", "", ".css", "/index.html", ".php?id=7"};
    static const char *const agents[] = {"Mozilla/5.0 (X11; Linux x86_64)", "curl/7.88.1",
                                         "Mozilla/5.0 (Macintosh)"};
    app_random random = {app_random_at(seed, i), 0};
    uint32_t page = zipf_rank(&random, page_count);
    uint64_t look = app_random_at(seed + 1, page);
    uint32_t second = (uint32_t)(i / 20);
    uint32_t host = app_random_below(&random, 1u << 16);
    int length = snprintf(
        line, capacity,
        "10.%u.%u.%u - - [%02u/May/2025:%02u:%02u:%02u +0000] \"%s /%s/%llx%s HTTP/1.1\" %d %u "
        "\"-\" \"%s\"\n",
        host & 255u, host >> 8 & 255u, app_random_below(&random, 256), 1 + second / 86400u % 31u,
        second / 3600u % 24u, second / 60u % 60u, second % 60u,
        app_random_below(&random, 12) == 0 ? "POST" : "GET", sections[look & 7u],
        (unsigned long long)(look >> 8 & (0xffffffffffu >> (look >> 3 & 15u))),
        endings[(look >> 50) % 6u], app_random_below(&random, 20) == 0 ? 404 : 200,
        app_random_below(&random, 100000), agents[app_random_below(&random, 3)]);
    return (size_t)length;
}

void app_weblog_generate(app_weblog *log, uint64_t line_count, uint64_t seed) {
    *log = (app_weblog){.form = APP_WEBLOG_COMBINED};
    uint64_t capacity = 0;
    double page_count = 10.0 + 0.1 * (double)line_count;
    char line[400];
    for (uint64_t i = 0; i < line_count; i++) {
        size_t length = write_line(line, sizeof line, i, seed, page_count);
        if (capacity - log->text_bytes < length) {
            capacity = capacity != 0 ? capacity + capacity / 2 : 1u << 20;
            log->text = app_room_resize(log->text, capacity, 1, "the log");
        }
        memcpy(log->text + log->text_bytes, line, length);
        log->text_bytes += length;
    }
    index_lines(log);
    snprintf(log->title, sizeof log->title, "generated, seed %llu", (unsigned long long)seed);
}

/* ---- enlarged logs ---- */

/* The path of the line's URL, without a query; false if it has none. */
static bool find_path(const app_weblog *log, uint64_t line, uint64_t *first, uint64_t *outer) {
    const char *p = log->text + log->start[line];
    const char *end = log->text + log->start[line + 1] - 1;
    const bool is_table = log->form == APP_WEBLOG_TABLE;
    for (int skipped = 0; skipped < (is_table ? 4 : 1); skipped++) {
        p = (const char *)memchr(p, is_table ? '\t' : '"', (size_t)(end - p));
        if (p++ == NULL) {
            return false;
        }
    }
    if (!is_table) { /* the method */
        p = (const char *)memchr(p, ' ', (size_t)(end - p));
        if (p++ == NULL) {
            return false;
        }
    }
    const char *start = p;
    while (p < end && strchr(is_table ? "\t\"\r?" : " \"\r?", *p) == NULL) {
        p++;
    }
    *first = (uint64_t)(start - log->text);
    *outer = (uint64_t)(p - log->text);
    return p != start;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Different paths among the first `line_count` lines, distinguished by their hashes. */
static uint64_t count_paths(const app_weblog *log, uint64_t line_count) {
    uint64_t *hashes = app_allocate(line_count, sizeof *hashes, "the URLs of the log");
    uint64_t count = 0;
    uint64_t different = 0;
    for (uint64_t i = 0; i < line_count; i++) {
        uint64_t first;
        uint64_t outer;
        if (find_path(log, i, &first, &outer)) {
            uint64_t hash = 0;
            for (; first < outer; first++) {
                hash = app_random_mix(hash ^ (unsigned char)log->text[first]);
            }
            hashes[count++] = hash;
        }
    }
    qsort(hashes, count, sizeof *hashes, by_number);
    for (uint64_t i = 0; i < count; i++) {
        different += i == 0 || hashes[i] != hashes[i - 1];
    }
    free(hashes);
    return different;
}

static void cut(app_weblog *log, uint64_t text_bytes) {
    while (log->line_count > 1 && log->start[log->line_count] > text_bytes) {
        log->line_count--;
    }
    log->text_bytes = log->start[log->line_count];
}

void app_weblog_resize(app_weblog *log, uint64_t text_bytes, uint64_t seed) {
    if (text_bytes <= log->text_bytes || log->line_count < 2) {
        cut(log, text_bytes);
        return;
    }
    uint64_t paths = count_paths(log, log->line_count);
    const uint64_t in_half = count_paths(log, log->line_count / 2);
    const double exponent = in_half != 0 ? log2((double)paths / (double)in_half) : 1.0;
    const double line_bytes = (double)log->text_bytes / (double)log->line_count;
    uint64_t capacity = (uint64_t)((double)text_bytes / line_bytes * 1.1) + 1000;
    app_random random = {seed, 0};
    char *text = app_room_create(text_bytes + (1u << 20), 1, "the enlarged log");
    memcpy(text, log->text, log->text_bytes);
    app_room_free(log->text);
    log->text = text;
    log->start = app_reallocate(log->start, capacity + 1, sizeof *log->start, "lines");
    while (log->text_bytes < text_bytes) {
        const uint64_t i = log->line_count;
        const uint64_t like = app_random_next(&random) % i;
        const uint64_t begin = log->start[like];
        const size_t length = (size_t)(log->start[like + 1] - begin);
        if (length > 1u << 19) {
            continue;
        }
        if (i == capacity) {
            capacity += capacity / 2;
            log->start = app_reallocate(log->start, capacity + 1, sizeof *log->start, "lines");
        }
        char *to = log->text + log->text_bytes;
        uint64_t first;
        uint64_t outer;
        size_t added = 0;
        if (app_random_unit(&random) < exponent * (double)paths / (double)i &&
            find_path(log, like, &first, &outer)) {
            const size_t before = (size_t)(outer - begin);
            memcpy(to, log->text + begin, before);
            added = (size_t)sprintf(to + before, "~%llx", (unsigned long long)paths++);
            memcpy(to + before + added, log->text + outer, length - before);
        } else {
            memcpy(to, log->text + begin, length);
        }
        log->text_bytes += length + added;
        log->start[++log->line_count] = log->text_bytes;
    }
    const size_t used = strlen(log->title);
    snprintf(log->title + used, sizeof log->title - used, ", enlarged, seed %llu",
             (unsigned long long)seed);
}

void app_weblog_free(app_weblog *log) {
    app_room_free(log->text);
    free(log->start);
    *log = (app_weblog){0};
}
