/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/record/line_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

/* A kernel's code with its counts. Rows: one for each place, then one for code without a place. */
typedef struct kernel_lines {
    struct kernel_lines *next;
    const wp_trace_tables *tables; /* to recognise them */
    char *kernel;
    wp_run_line *rows; /* without counts */
    uint32_t row_count, site_count, block_count;
    uint32_t entry_row; /* of the kernel's first instructions */
    uint32_t *row_of_site;
    wp_trace_share *shares; /* places are rows */
    uint32_t *first_share;  /* [block_count + 1] */
    wpi_line_counts counts;
} kernel_lines;

struct wpi_line_record {
    kernel_lines *kernels, **last;
};

wpi_line_record *wpi_line_record_create(void) {
    wpi_line_record *record = wpi_calloc(1, sizeof *record);
    if (record != NULL) record->last = &record->kernels;
    return record;
}

static void free_row(wp_run_line *row) {
    wpi_free(row->kernel);
    wpi_free(row->file);
    wpi_free(row->calls);
    wpi_free(row->names);
}

static void free_kernel(kernel_lines *k) {
    for (uint32_t i = 0; k->rows != NULL && i < k->row_count; i++)
        free_row(&k->rows[i]);
    wpi_free(k->rows);
    wpi_free(k->kernel);
    wpi_free(k->row_of_site);
    wpi_free(k->shares);
    wpi_free(k->first_share);
    wpi_free(k->counts.sites);
    wpi_free(k->counts.blocks);
    wpi_free(k);
}

void wpi_line_record_destroy(wpi_line_record *record) {
    if (record == NULL) return;
    for (kernel_lines *k = record->kernels, *next; k != NULL; k = next) {
        next = k->next;
        free_kernel(k);
    }
    wpi_free(record);
}

/* ---- a kernel ---- */

static bool set_row(wp_run_line *row, const char *kernel, const wp_trace_place *place) {
    row->kernel = wpi_strdup(kernel);
    row->file = wpi_strdup(place != NULL ? place->file : "");
    row->calls = wpi_strdup(place != NULL && place->calls != NULL ? place->calls : "");
    row->line = place != NULL ? place->line : 0;
    return row->kernel != NULL && row->file != NULL && row->calls != NULL;
}

static bool has_name(const char *names, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = names; at != NULL && (at = strstr(at, name)) != NULL; at += length) {
        const bool begins = at == names || at[-1] == ' ';
        if (begins && (at[length] == '\0' || at[length] == ',')) return true;
    }
    return false;
}

static void add_name(wp_run_line *row, const char *name) {
    if (name == NULL || has_name(row->names, name)) return;
    char *names = row->names == NULL ? wpi_strdup(name) : wpi_format("%s, %s", row->names, name);
    wpi_free(row->names);
    row->names = names;
}

static uint32_t row_of(const kernel_lines *k, uint32_t place) {
    return place == WP_TRACE_NONE ? k->row_count - 1 : place;
}

static void copy_code(kernel_lines *k, const wp_trace_tables *t) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < t->site_count; i++) {
        k->row_of_site[i] = row_of(k, t->sites[i].place);
        add_name(&k->rows[k->row_of_site[i]], t->sites[i].name);
    }
    for (uint32_t b = 0; b < t->block_count; b++) {
        k->first_share[b] = count;
        for (uint32_t i = 0; i < t->blocks[b].share_count; i++) {
            const wp_trace_share *share = &t->shares[t->blocks[b].first_share + i];
            k->shares[count++] = (wp_trace_share){row_of(k, share->place), share->count};
        }
    }
    k->first_share[t->block_count] = count;
    k->entry_row = k->row_count - 1;
    for (uint32_t i = 0; i < t->kernel_count; i++) {
        const uint32_t entry = t->kernels[i].entry;
        if (strcmp(t->kernels[i].name, k->kernel) == 0 && entry < t->block_count &&
            k->first_share[entry + 1] > k->first_share[entry])
            k->entry_row = k->shares[k->first_share[entry]].place;
    }
}

static kernel_lines *make(const char *kernel, const wp_trace_tables *t) {
    kernel_lines *k = wpi_calloc(1, sizeof *k);
    if (k == NULL) return NULL;
    size_t shares = 1;
    for (uint32_t b = 0; b < t->block_count; b++)
        shares += t->blocks[b].share_count;
    k->tables = t;
    k->row_count = t->place_count + 1;
    k->site_count = t->site_count;
    k->block_count = t->block_count;
    k->kernel = wpi_strdup(kernel);
    k->rows = wpi_calloc(k->row_count, sizeof *k->rows);
    k->row_of_site = wpi_calloc(t->site_count + (size_t)1, sizeof *k->row_of_site);
    k->shares = wpi_calloc(shares, sizeof *k->shares);
    k->first_share = wpi_calloc(t->block_count + (size_t)1, sizeof *k->first_share);
    k->counts.sites = wpi_calloc(t->site_count + (size_t)1, sizeof *k->counts.sites);
    k->counts.blocks = wpi_calloc(t->block_count + (size_t)1, sizeof *k->counts.blocks);
    bool is_good = k->kernel != NULL && k->rows != NULL && k->row_of_site != NULL &&
                   k->shares != NULL && k->first_share != NULL && k->counts.sites != NULL &&
                   k->counts.blocks != NULL;
    for (uint32_t i = 0; is_good && i < k->row_count; i++)
        is_good = set_row(&k->rows[i], kernel, i < t->place_count ? &t->places[i] : NULL);
    if (!is_good) {
        free_kernel(k);
        return NULL;
    }
    copy_code(k, t);
    return k;
}

wpi_line_counts *wpi_line_record_of(wpi_line_record *record, const char *kernel,
                                    const wp_trace_tables *tables) {
    for (kernel_lines *k = record->kernels; k != NULL; k = k->next)
        if (k->tables == tables && strcmp(k->kernel, kernel) == 0 &&
            k->block_count == tables->block_count && k->site_count == tables->site_count)
            return &k->counts;
    kernel_lines *made = make(kernel, tables);
    if (made == NULL) return NULL;
    *record->last = made;
    record->last = &made->next;
    return &made->counts;
}

/* ---- lines ---- */

static void add(wp_run_line *to, const uint64_t *counts) {
    for (uint32_t i = 0; i < WP_RUN_LINE_COUNTS; i++)
        to->counts[i] += counts[i];
}

/* Times that all instructions of a block share: each row gets the part of its instructions. */
static bool is_shared(uint32_t count) {
    return count == WP_RUN_LINE_EXECUTE_PS || count == WP_RUN_LINE_NOT_SELECTED_PS;
}

static void add_block(const kernel_lines *k, wp_run_line *rows, uint32_t block) {
    const uint64_t *of = k->counts.blocks[block].of;
    const wp_trace_share *shares = &k->shares[k->first_share[block]];
    const uint32_t share_count = k->first_share[block + 1] - k->first_share[block];
    wp_run_line *last = &rows[share_count != 0 ? shares[share_count - 1].place : k->row_count - 1];
    uint64_t rest[WP_RUN_LINE_COUNTS], instructions = 0;
    memcpy(rest, of, sizeof rest);
    rest[WP_RUN_LINE_WARP_INSTRUCTIONS] = rest[WP_RUN_LINE_THREAD_INSTRUCTIONS] = 0;
    for (uint32_t s = 0; s < share_count; s++)
        instructions += shares[s].count;
    for (uint32_t s = 0; s < share_count; s++) {
        uint64_t *counts = rows[shares[s].place].counts;
        counts[WP_RUN_LINE_WARP_INSTRUCTIONS] +=
            of[WP_RUN_LINE_WARP_INSTRUCTIONS] * shares[s].count;
        counts[WP_RUN_LINE_THREAD_INSTRUCTIONS] +=
            of[WP_RUN_LINE_THREAD_INSTRUCTIONS] * shares[s].count;
        for (uint32_t i = WP_RUN_LINE_TIMES; i < WP_RUN_LINE_COUNTS; i++) {
            if (!is_shared(i) || instructions == 0) continue;
            const uint64_t part =
                (uint64_t)((double)of[i] * (double)shares[s].count / (double)instructions);
            const uint64_t taken = part < rest[i] ? part : rest[i];
            counts[i] += taken;
            rest[i] -= taken;
        }
    }
    add(last, rest); /* what waits at the block's end, and what rounding has left */
}

static void add_kernel(const kernel_lines *k, wp_run_line *rows) {
    for (uint32_t i = 0; i < k->site_count; i++)
        add(&rows[k->row_of_site[i]], k->counts.sites[i].of);
    for (uint32_t b = 0; b < k->block_count; b++)
        add_block(k, rows, b);
    add(&rows[k->entry_row], k->counts.blocks[k->block_count].of); /* before their first block */
}

static bool is_empty(const wp_run_line *row) {
    for (uint32_t i = 0; i < WP_RUN_LINE_COUNTS; i++)
        if (row->counts[i] != 0) return false;
    return true;
}

static int by_place(const void *a, const void *b) {
    const wp_run_line *one = a, *other = b;
    int order = strcmp(one->kernel, other->kernel);
    if (order == 0) order = strcmp(one->file, other->file);
    if (order == 0) order = (one->line > other->line) - (one->line < other->line);
    return order != 0 ? order : strcmp(one->calls, other->calls);
}

static char *text_of(const char *text) {
    char *copy = wpi_strdup(text != NULL ? text : "");
    WP_CHECK(copy != NULL);
    return copy;
}

/* A kernel may have run in two variants; their lines become one. */
static size_t merge_equal(wp_run_line *lines, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept != 0 && by_place(&lines[kept - 1], &lines[i]) == 0) {
            add(&lines[kept - 1], lines[i].counts);
            free_row(&lines[i]);
        } else {
            lines[kept++] = lines[i];
        }
    }
    return kept;
}

void wpi_line_record_fill(const wpi_line_record *record, wp_run_simulation *out) {
    size_t most = 1;
    for (const kernel_lines *k = record->kernels; k != NULL; k = k->next)
        most += k->row_count;
    wp_run_line *lines = wpi_calloc(most, sizeof *lines);
    WP_CHECK(lines != NULL);
    size_t count = 0;
    for (const kernel_lines *k = record->kernels; k != NULL; k = k->next) {
        wp_run_line *rows = wpi_calloc(k->row_count, sizeof *rows);
        WP_CHECK(rows != NULL);
        add_kernel(k, rows);
        for (uint32_t i = 0; i < k->row_count; i++) {
            if (is_empty(&rows[i])) continue;
            lines[count] = rows[i];
            lines[count].kernel = text_of(k->rows[i].kernel);
            lines[count].file = text_of(k->rows[i].file);
            lines[count].calls = text_of(k->rows[i].calls);
            lines[count].names = text_of(k->rows[i].names);
            lines[count++].line = k->rows[i].line;
        }
        wpi_free(rows);
    }
    qsort(lines, count, sizeof *lines, by_place);
    out->lines = lines;
    out->line_count = merge_equal(lines, count);
}
