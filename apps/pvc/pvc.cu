/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-view count: how often each URL of a web server's log was asked for.
 *
 * A thread takes a line, finds the URL in it, and counts it in a hash table of chains in device
 * memory:
 *
 *     bucket [bucket_count]   number of the chain's first entry + 1, or 0
 *     entry  [entry_capacity] { next + 1, count, hash, where the URL is in the log }
 *
 * A thread walks the chain, comparing hash, length and then the bytes themselves, so URLs that
 * share a bucket, or even a hash, stay apart. If the URL is not there, the thread fills an entry of
 * its own and puts it at the head of the chain by compare-and-swap. If the swap fails, others were
 * faster: it walks the entries that are new since, and tries again. An entry whose URL turned up
 * meanwhile stays unused (count 0).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/report.h"
#include "common/room.h"
#include "common/weblog.h"
#include "pvc/pvc.h"

#define THREADS 256

typedef struct entry {
    uint64_t hash;
    uint64_t start; /* of the URL in the text */
    uint32_t length;
    uint32_t next;
    uint32_t count;
    uint32_t reserved;
} entry;

typedef struct counters {
    uint32_t entries;    /* taken so far */
    uint32_t overflowed; /* lines that found no entry free */
    unsigned long long without_url;
} counters;

static __device__ uint64_t hash_url(const char *text, uint64_t start, uint32_t length) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (uint32_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)text[start + i]) * 0x100000001b3u;
    }
    return hash;
}

/* Looks for the URL among the entries from `number` up to, not including, `stop`; 0: not there.
 * Entries are read past the first-level cache (volatile): others may just have written them. */
static __device__ uint32_t find_entry(const char *text, entry *entries, uint32_t number,
                                      uint32_t stop, uint64_t hash, uint64_t start,
                                      uint32_t length) {
    while (number != stop) {
        volatile entry *candidate = &entries[number - 1u];
        if (candidate->hash == hash && candidate->length == length) {
            uint64_t other = candidate->start;
            uint32_t i = 0;
            while (i < length && text[other + i] == text[start + i]) {
                i++;
            }
            if (i == length) {
                return number;
            }
        }
        number = candidate->next;
    }
    return 0u;
}

static __device__ void count_view(const char *text, uint64_t begin, uint64_t end, int is_table,
                                  int is_query_cut, uint32_t *buckets, uint32_t bucket_mask,
                                  entry *entries, uint32_t entry_capacity, counters *count) {
    uint64_t start;
    uint32_t length = find_url(text, begin, end, is_table, is_query_cut, &start);
    if (length == 0) {
        atomicAdd(&count->without_url, 1ull);
        return;
    }
    uint64_t hash = hash_url(text, start, length);
    uint32_t *bucket = &buckets[(uint32_t)(hash >> 32 ^ hash) & bucket_mask];
    uint32_t mine = 0;     /* an entry of this thread's own, once it needs one */
    uint32_t searched = 0; /* entries from here on are known not to hold the URL */
    for (;;) {
        uint32_t head = *(volatile uint32_t *)bucket;
        uint32_t found = find_entry(text, entries, head, searched, hash, start, length);
        if (found != 0) {
            atomicAdd(&entries[found - 1u].count, 1u);
            return;
        }
        searched = head;
        if (mine == 0) {
            mine = atomicAdd(&count->entries, 1u) + 1u;
            if (mine > entry_capacity) {
                atomicAdd(&count->overflowed, 1u);
                return;
            }
        }
        entry *own = &entries[mine - 1u];
        own->hash = hash;
        own->start = start;
        own->length = length;
        own->next = head;
        own->count = 1u;
        __threadfence(); /* the entry before the link to it */
        if (atomicCAS(bucket, head, mine) == head) {
            return;
        }
        own->count = 0u; /* not linked: must not be counted if it stays so */
    }
}

/* Thread t counts lines [t * each, (t + 1) * each). */
__global__ void count_views(const char *text, const uint64_t *line_start, uint64_t line_count,
                            uint64_t each, int is_table, int is_query_cut, uint32_t *buckets,
                            uint32_t bucket_mask, entry *entries, uint32_t entry_capacity,
                            counters *count) {
    uint64_t line = app_thread() * each;
    for (uint64_t i = 0; i < each && line < line_count; i++, line++) {
        count_view(text, line_start[line], line_start[line + 1], is_table, is_query_cut, buckets,
                   bucket_mask, entries, entry_capacity, count);
    }
}

/* ---- results -------------------------------------------------------------------------------- */

typedef pvc_view view;

static int compare_urls(const view *x, const view *y) {
    uint32_t shorter = x->length < y->length ? x->length : y->length;
    int order = memcmp(x->url, y->url, shorter);
    return order != 0 ? order : (x->length > y->length) - (x->length < y->length);
}

static int by_url(const void *a, const void *b) {
    return compare_urls((const view *)a, (const view *)b);
}

static int by_count(const void *a, const void *b) {
    const view *x = (const view *)a;
    const view *y = (const view *)b;
    if (x->count != y->count) {
        return x->count < y->count ? 1 : -1;
    }
    return compare_urls(x, y);
}

/* strcspn for bytes that may hold a NUL, as logs of broken requests do. */
static size_t span_until(const char *p, const char *end, const char *stops) {
    const char *start = p;
    while (p < end && (*p == '\0' || strchr(stops, *p) == NULL)) {
        p++;
    }
    return (size_t)(p - start);
}

/* The check: cut the lines with the C library, sort, count runs. Returns URLs in order. */
static view *serial_views(const app_weblog *log, bool is_query_cut, uint64_t *view_count) {
    view *views = (view *)app_allocate(log->line_count, sizeof *views, "the check");
    uint64_t count = 0;
    for (uint64_t i = 0; i < log->line_count; i++) {
        const char *p = log->text + log->start[i];
        const char *end = log->text + log->start[i + 1] - 1;
        if (log->form == APP_WEBLOG_TABLE) {
            for (int column = 0; column < 4 && p != NULL; column++) {
                p = (const char *)memchr(p, '\t', (size_t)(end - p));
                p = p != NULL ? p + 1 : NULL;
            }
        } else {
            p = (const char *)memchr(p, '"', (size_t)(end - p));
            p = p != NULL ? p + 1 : NULL;
            if (p != NULL) {
                p += span_until(p, end, " \"");
                p = p != end ? p + 1 : NULL;
            }
        }
        if (p == NULL) {
            continue;
        }
        size_t length = span_until(p, end, log->form == APP_WEBLOG_TABLE ? "\t\"\r" : " \"\r");
        const char *query = is_query_cut ? (const char *)memchr(p, '?', length) : NULL;
        length = query != NULL ? (size_t)(query - p) : length;
        if (length != 0) {
            views[count].url = p;
            views[count].length = (uint32_t)length;
            views[count++].count = 1;
        }
    }
    qsort(views, count, sizeof *views, by_url);
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (kept != 0 && compare_urls(&views[kept - 1], &views[i]) == 0) {
            views[kept - 1].count++;
        } else {
            views[kept++] = views[i];
        }
    }
    *view_count = kept;
    return views;
}

static bool check(const app_weblog *log, bool is_query_cut, view *views, uint64_t view_count) {
    uint64_t expected_count;
    view *expected = serial_views(log, is_query_cut, &expected_count);
    uint64_t largest = 0;
    uint64_t missing = 0;
    uint64_t i = 0;
    uint64_t j = 0;
    qsort(views, view_count, sizeof *views, by_url);
    while (i < view_count || j < expected_count) {
        int order = i == view_count       ? 1
                    : j == expected_count ? -1
                                          : compare_urls(&views[i], &expected[j]);
        if (order == 0) {
            uint64_t difference = views[i].count > expected[j].count
                                      ? views[i].count - expected[j].count
                                      : expected[j].count - views[i].count;
            largest = difference > largest ? difference : largest;
        } else {
            missing++;
        }
        i += order <= 0;
        j += order >= 0;
    }
    bool is_right = largest == 0 && missing == 0;
    printf("check      counts of %s URLs against sorting them: %s, largest difference %s, URLs in "
           "one of the two only: %s\n",
           app_count(expected_count), is_right ? "equal" : "DIFFERENT", app_count(largest),
           app_count(missing));
    free(expected);
    return is_right;
}

static void print_result(const app_weblog *log, const view *views, uint64_t view_count,
                         uint64_t without_url, uint64_t top_count) {
    uint64_t shown = top_count < view_count ? top_count : view_count;
    printf("log        %s: %s lines, %s\n", log->title, app_count(log->line_count),
           app_bytes(log->text_bytes));
    printf("pages      %s different URLs, %s lines without one\n\n", app_count(view_count),
           app_count(without_url));
    printf("   views\n");
    for (uint64_t i = 0; i < shown; i++) {
        int length = views[i].length < 60 ? (int)views[i].length : 60;
        printf("%8s  %-40.*s  ", app_count(views[i].count), length, views[i].url);
        app_bar(stdout, (double)views[i].count / (double)views[0].count, 24);
        putchar('\n');
    }
    putchar('\n');
}

/* ---- the table in device memory ---- */

typedef struct arrays {
    app_array text, line_start, buckets, entries, counters;
} arrays;

/* Counts with everything on the device. The log's text moves into arrays->text. */
static view *count_in_memory(app_device *device, arrays *on, app_weblog *log, bool is_query_cut,
                             uint64_t bucket_count, uint64_t each, uint64_t *view_count,
                             uint64_t *without_url) {
    counters count;
    log->text = (char *)app_room_to_memory(log->text, log->text_bytes, "log text");
    app_array_take(device, &on->text, (void **)&log->text, log->text_bytes, 1, "log text");
    app_array_take(device, &on->line_start, (void **)&log->start, log->line_count + 1,
                   sizeof(uint64_t), "line starts");
    /* A line takes one entry at most, so this many always suffice. */
    app_array_create(device, &on->entries, log->line_count, sizeof(entry), "table entries",
                     APP_ROLE_STATE);
    app_array_create(device, &on->buckets, bucket_count, sizeof(uint32_t), "table buckets",
                     APP_ROLE_STATE);
    app_array_create(device, &on->counters, 1, sizeof count, "counters", APP_ROLE_STATE);
    app_array_to_device(device, &on->text);
    app_array_to_device(device, &on->line_start);
    app_array_fill(device, &on->buckets, 0);
    app_array_fill(device, &on->counters, 0);
    app_kernels_begin(device);
    count_views<<<app_blocks((log->line_count + each - 1) / each, THREADS), THREADS>>>(
        (const char *)on->text.device, (const uint64_t *)on->line_start.device, log->line_count,
        each, log->form == APP_WEBLOG_TABLE, is_query_cut, (uint32_t *)on->buckets.device,
        (uint32_t)(bucket_count - 1), (entry *)on->entries.device, (uint32_t)log->line_count,
        (counters *)on->counters.device);
    app_kernels_end(device, "count_views", 1);
    app_array_read(device, &on->counters, 0, &count, sizeof count);
    if (count.overflowed != 0) {
        app_fail("the table overflowed by %s entries", app_count(count.overflowed));
    }
    entry *used = (entry *)app_allocate(count.entries, sizeof *used, "the result");
    if (count.entries != 0) {
        app_array_read(device, &on->entries, 0, used, count.entries * sizeof *used);
    }
    log->text = (char *)on->text.host;
    log->start = (uint64_t *)on->line_start.host;
    view *views = (view *)app_allocate(count.entries, sizeof *views, "the result");
    *view_count = 0;
    for (uint32_t i = 0; i < count.entries; i++) {
        if (used[i].count != 0) {
            views[*view_count].url = log->text + used[i].start;
            views[*view_count].length = used[i].length;
            views[(*view_count)++].count = used[i].count;
        }
    }
    free(used);
    *without_url = count.without_url;
    return views;
}

static void free_arrays(app_device *device, arrays *on) {
    app_array_free(device, &on->text);
    app_array_free(device, &on->line_start);
    app_array_free(device, &on->entries);
    app_array_free(device, &on->buckets);
    app_array_free(device, &on->counters);
}

int main(int argc, char **argv) {
    const app_program program = {"pvc", "page-view count: occurrences of each URL in a web log",
                                 "lines of the generated log, or bytes such as 1GiB",
                                 "Apache combined log or tab-separated NASA log (also .zst)",
                                 "pvc --size 1M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    bool is_query_cut = false;
    uint64_t top_count = 10;
    app_sepo_options sepo = APP_SEPO_DEFAULTS;
    int table_kind = 0;
    uint64_t each = 1;
    const app_option options[] = {
        {"--paths", APP_OPTION_FLAG, &is_query_cut, NULL, 0, 0,
         "count by path: cut URLs at the question mark"},
        {"--each", APP_OPTION_COUNT, &each, "N", 1, 1u << 20,
         "lines that a thread counts, with --table whole"},
        {"--top", APP_OPTION_COUNT, &top_count, "N", 1, 1e6, "URLs to print"},
        {"--table", APP_OPTION_CHOICE, &table_kind, "whole|" APP_SEPO_TABLES_AND_THREADS, 0, 0,
         "whole: log and table in device memory. Else the log in chunks, and a table whose entries are, "
         APP_SEPO_TABLES_HELP APP_SEPO_THREADS_HELP},
        APP_SEPO_SIZE_ROWS(sepo),
        APP_SEPO_WORKERS_ROW(sepo),
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    const bool is_whole = table_kind == 0;
    sepo.table = table_kind - 1;
    if (is_whole) {
        app_sepo_check_unused(&sepo, true);
    } else {
        app_sepo_check_options(&common, &sepo);
    }

    app_weblog log;
    if (common.input != NULL) {
        app_weblog_read(&log, common.input);
        if (common.size.value != 0) {
            const double line_bytes = (double)log.text_bytes / (double)log.line_count;
            app_weblog_resize(&log,
                              common.size.is_bytes
                                  ? common.size.value
                                  : (uint64_t)(line_bytes * (double)common.size.value),
                              common.seed);
        }
    } else {
        app_weblog_generate(
            &log, app_size_items(common.size, APP_WEBLOG_LINE_BYTES, 100000, 1, UINT32_MAX - 1u),
            common.seed);
    }
    if (log.line_count >= UINT32_MAX && is_whole) {
        app_fail("%s has %s lines, more than the 2^32-2 that this program counts; use --table sepo",
                 log.title, app_count(log.line_count));
    }
    /* Lines repeat URLs: a table that is to be small needs fewer chains. */
    const uint64_t wanted = sepo.buckets != 0 ? sepo.buckets
                            : is_whole             ? log.line_count / 4 + 1
                                                   : log.line_count / 64 + 1;
    sepo.buckets = 1;
    while (sepo.buckets < wanted) {
        sepo.buckets *= 2;
    }

    app_device device;
    arrays on;
    uint64_t view_count;
    uint64_t without_url;
    memset(&on, 0, sizeof on);
    app_device_open(&device, common.memory);
    wp_table *table = NULL;
    view *views = is_whole ? count_in_memory(&device, &on, &log, is_query_cut, sepo.buckets, each,
                                             &view_count, &without_url)
                           : pvc_table_count(&device, &log, is_query_cut, &sepo, &table,
                                             &view_count, &without_url);
    qsort(views, view_count, sizeof *views, by_count);
    print_result(&log, views, view_count, without_url, top_count);
    if (is_whole) {
        app_device_report(&device, (double)log.text_bytes, "B");
    } else {
        app_sepo_report(&device, &sepo, (double)log.text_bytes);
    }
    bool is_right = !common.check || check(&log, is_query_cut, views, view_count);

    free(views);
    if (is_whole) {
        log.text = NULL;
        log.start = NULL;
        free_arrays(&device, &on);
    } else {
        app_sepo_close(table);
    }
    app_device_close(&device);
    app_weblog_free(&log);
    return is_right ? 0 : 1;
}
