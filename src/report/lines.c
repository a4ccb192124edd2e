/* SPDX-License-Identifier: Apache-2.0 */
#include "report/lines.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"

/* ---- names ---- */

static const char *const names[WP_RUN_LINE_COUNTS] = {
    [WP_RUN_LINE_WARP_INSTRUCTIONS] = "warp_instructions",
    [WP_RUN_LINE_THREAD_INSTRUCTIONS] = "thread_instructions",
    [WP_RUN_LINE_ACCESSES] = "accesses",
    [WP_RUN_LINE_LANES] = "lanes",
    [WP_RUN_LINE_SECTORS] = "sectors",
    [WP_RUN_LINE_PAGES] = "pages",
    [WP_RUN_LINE_SHARED_ACCESSES] = "shared_accesses",
    [WP_RUN_LINE_CONFLICT_CYCLES] = "shared_conflict_cycles",
    [WP_RUN_LINE_L1_HITS] = "l1_hits",
    [WP_RUN_LINE_L1_MERGES] = "l1_merges",
    [WP_RUN_LINE_L1_MISSES] = "l1_misses",
    [WP_RUN_LINE_L2_HITS] = "l2_hits",
    [WP_RUN_LINE_L2_MERGES] = "l2_merges",
    [WP_RUN_LINE_L2_MISSES] = "l2_misses",
    [WP_RUN_LINE_TLB_HITS] = "tlb1_hits",
    [WP_RUN_LINE_TLB_HITS + 1] = "tlb2_hits",
    [WP_RUN_LINE_TLB_HITS + 2] = "tlb3_hits",
    [WP_RUN_LINE_TLB_HITS + 3] = "tlb4_hits",
    [WP_RUN_LINE_TLB_MERGES] = "tlb1_merges",
    [WP_RUN_LINE_TLB_MERGES + 1] = "tlb2_merges",
    [WP_RUN_LINE_TLB_MERGES + 2] = "tlb3_merges",
    [WP_RUN_LINE_TLB_MERGES + 3] = "tlb4_merges",
    [WP_RUN_LINE_TLB_MISSES] = "tlb1_misses",
    [WP_RUN_LINE_TLB_MISSES + 1] = "tlb2_misses",
    [WP_RUN_LINE_TLB_MISSES + 2] = "tlb3_misses",
    [WP_RUN_LINE_TLB_MISSES + 3] = "tlb4_misses",
    [WP_RUN_LINE_WALKS] = "walks",
    [WP_RUN_LINE_FAR_FAULTS] = "far_faults",
    [WP_RUN_LINE_REFAULTS] = "refaults",
    [WP_RUN_LINE_REMOTE] = "remote",
    [WP_RUN_LINE_EXECUTE_PS] = "execute_ps",
    [WP_RUN_LINE_NOT_SELECTED_PS] = "not_selected_ps",
    [WP_RUN_LINE_LSU_PS] = "lsu_ps",
    [WP_RUN_LINE_SHARED_PS] = "shared_ps",
    [WP_RUN_LINE_BARRIER_PS] = "barrier_ps",
    [WP_RUN_LINE_THREADS_PS] = "threads_ps",
    [WP_RUN_LINE_FENCE_PS] = "fence_ps",
    [WP_RUN_LINE_CODE_PS] = "code_ps",
    [WP_RUN_LINE_TRANSLATION_PS] = "translation_ps",
    [WP_RUN_LINE_FAULT_PS] = "fault_ps",
    [WP_RUN_LINE_L1_PS] = "l1_ps",
    [WP_RUN_LINE_L2_PS] = "l2_ps",
    [WP_RUN_LINE_DRAM_PS] = "dram_ps",
    [WP_RUN_LINE_LINK_PS] = "link_ps",
    [WP_RUN_LINE_DRAIN_PS] = "drain_ps",
};

_Static_assert(WP_RUN_TLB_LEVELS == 4, "names of four levels");

const char *wp_run_line_count_name(wp_run_line_count count) {
    return names[count];
}

static const char *const time_labels[WP_RUN_LINE_COUNTS - WP_RUN_LINE_TIMES] = {
    [WP_RUN_LINE_EXECUTE_PS - WP_RUN_LINE_TIMES] = "execution",
    [WP_RUN_LINE_NOT_SELECTED_PS - WP_RUN_LINE_TIMES] = "its turn",
    [WP_RUN_LINE_LSU_PS - WP_RUN_LINE_TIMES] = "LSU",
    [WP_RUN_LINE_SHARED_PS - WP_RUN_LINE_TIMES] = "shared",
    [WP_RUN_LINE_BARRIER_PS - WP_RUN_LINE_TIMES] = "barrier",
    [WP_RUN_LINE_THREADS_PS - WP_RUN_LINE_TIMES] = "threads",
    [WP_RUN_LINE_FENCE_PS - WP_RUN_LINE_TIMES] = "fence",
    [WP_RUN_LINE_CODE_PS - WP_RUN_LINE_TIMES] = "code",
    [WP_RUN_LINE_TRANSLATION_PS - WP_RUN_LINE_TIMES] = "TLB",
    [WP_RUN_LINE_FAULT_PS - WP_RUN_LINE_TIMES] = "faults",
    [WP_RUN_LINE_L1_PS - WP_RUN_LINE_TIMES] = "L1",
    [WP_RUN_LINE_L2_PS - WP_RUN_LINE_TIMES] = "L2",
    [WP_RUN_LINE_DRAM_PS - WP_RUN_LINE_TIMES] = "DRAM",
    [WP_RUN_LINE_LINK_PS - WP_RUN_LINE_TIMES] = "link",
    [WP_RUN_LINE_DRAIN_PS - WP_RUN_LINE_TIMES] = "drain",
};

const char *wpi_line_time_label(wp_run_line_count time) {
    return time_labels[time - WP_RUN_LINE_TIMES];
}

/* ---- JSON ---- */

json_t *wpi_lines_to_json(const wp_run_simulation *s) {
    json_t *array = json_array();
    for (size_t i = 0; i < s->line_count; i++) {
        const wp_run_line *line = &s->lines[i];
        json_t *object = json_object();
        wpi_json_set(object, "kernel", wpi_json_string(line->kernel));
        wpi_json_set(object, "file", wpi_json_string(line->file));
        wpi_json_set(object, "line", wpi_json_number(line->line));
        wpi_json_set(object, "calls", wpi_json_string(line->calls));
        wpi_json_set(object, "names", wpi_json_string(line->names));
        for (uint32_t c = 0; c < WP_RUN_LINE_COUNTS; c++)
            if (line->counts[c] != 0)
                wpi_json_set(object, names[c], wpi_json_number(line->counts[c]));
        wpi_json_append(array, object);
    }
    return array;
}

void wpi_lines_from_json(wpi_json_reader *r, const json_t *array, wp_run_simulation *out) {
    out->line_count = json_array_size(array);
    out->lines = wpi_calloc(out->line_count + 1, sizeof *out->lines);
    WP_CHECK(out->lines != NULL);
    for (size_t i = 0; i < out->line_count; i++) {
        const json_t *object = json_array_get(array, i);
        wp_run_line *line = &out->lines[i];
        line->kernel = wpi_json_read_string(r, object, "kernel");
        line->file = wpi_json_read_string(r, object, "file");
        line->calls = wpi_json_read_string(r, object, "calls");
        line->names = wpi_json_read_string(r, object, "names");
        line->line = (uint32_t)wpi_json_read_number(r, object, "line");
        for (uint32_t c = 0; c < WP_RUN_LINE_COUNTS; c++) {
            const json_int_t count = json_integer_value(json_object_get(object, names[c]));
            line->counts[c] = count < 0 ? 0 : (uint64_t)count;
        }
    }
}

void wpi_lines_deinit(wp_run_simulation *s) {
    for (size_t i = 0; i < s->line_count; i++) {
        wpi_free(s->lines[i].kernel);
        wpi_free(s->lines[i].file);
        wpi_free(s->lines[i].calls);
        wpi_free(s->lines[i].names);
    }
    wpi_free(s->lines);
}

/* ---- lines of a kernel ---- */

uint64_t wpi_line_time_ps(const uint64_t *counts) {
    uint64_t sum = 0;
    for (uint32_t c = WP_RUN_LINE_TIMES; c < WP_RUN_LINE_COUNTS; c++)
        sum += counts[c];
    return sum;
}

const char *wpi_line_cause(const uint64_t *counts) {
    uint32_t most = WP_RUN_LINE_TIMES;
    for (uint32_t c = WP_RUN_LINE_TIMES; c < WP_RUN_LINE_COUNTS; c++)
        if (counts[c] > counts[most]) most = c;
    return counts[most] != 0 ? wpi_line_time_label(most) : "";
}

wpi_source_line *wpi_source_lines(const wp_run_simulation *s, const char *kernel, size_t *count) {
    wpi_source_line *lines = wpi_calloc(s->line_count + 1, sizeof *lines);
    WP_CHECK(lines != NULL);
    *count = 0;
    for (size_t i = 0; i < s->line_count; i++) { /* the record's are in order */
        const wp_run_line *from = &s->lines[i];
        if (strcmp(from->kernel, kernel) != 0) continue;
        wpi_source_line *to = *count != 0 ? &lines[*count - 1] : NULL;
        if (to == NULL || to->line != from->line || strcmp(to->file, from->file) != 0) {
            to = &lines[(*count)++];
            to->file = from->file;
            to->line = from->line;
        }
        for (uint32_t c = 0; c < WP_RUN_LINE_COUNTS; c++)
            to->counts[c] += from->counts[c];
    }
    return lines;
}

/* ---- columns ---- */

/* "812", "12.3k", "4.56M" */
static void format_count(uint64_t count, char *out, size_t out_bytes) {
    static const char units[] = "kMGT";
    double value = (double)count;
    int unit = -1;
    for (; value >= 999.5 && unit < 3; unit++)
        value /= 1000;
    if (unit < 0)
        (void)snprintf(out, out_bytes, "%.0f", value);
    else
        (void)snprintf(out, out_bytes, "%.*f%c",
                       value < 9.995   ? 2
                       : value < 99.95 ? 1
                                       : 0,
                       value, units[unit]);
}

static void format_if(uint64_t count, char *out, size_t out_bytes) {
    if (count != 0)
        format_count(count, out, out_bytes);
    else
        out[0] = '\0';
}

static void format_ratio(uint64_t part, uint64_t whole, double factor, const char *form, char *out,
                         size_t out_bytes) {
    out[0] = '\0';
    if (whole == 0) return;
    const double ratio = factor * (double)part / (double)whole;
    (void)snprintf(out, out_bytes, form[0] == '%' && form[1] == 'p' ? "%.0f%%" : "%.1f", ratio);
}

static void instructions(const uint64_t *c, char *out, size_t out_bytes) {
    format_if(c[WP_RUN_LINE_WARP_INSTRUCTIONS], out, out_bytes);
}

/* Nothing where all lanes are active. */
static void active(const uint64_t *c, char *out, size_t out_bytes) {
    const uint64_t threads = c[WP_RUN_LINE_THREAD_INSTRUCTIONS];
    const uint64_t warps = c[WP_RUN_LINE_WARP_INSTRUCTIONS];
    format_ratio(threads, threads * 20 < warps * 639 ? warps : 0, 1, "", out, out_bytes);
}

static void sectors(const uint64_t *c, char *out, size_t out_bytes) {
    format_ratio(c[WP_RUN_LINE_SECTORS], c[WP_RUN_LINE_ACCESSES], 1, "", out, out_bytes);
}

static void conflicts(const uint64_t *c, char *out, size_t out_bytes) {
    const uint64_t cycles = c[WP_RUN_LINE_CONFLICT_CYCLES];
    format_ratio(cycles, cycles != 0 ? c[WP_RUN_LINE_SHARED_ACCESSES] : 0, 1, "", out, out_bytes);
}

static void hits(const uint64_t *c, char *out, size_t out_bytes) {
    format_ratio(c[0], c[0] + c[1] + c[2], 100, "%p", out, out_bytes);
}

static void l1_hits(const uint64_t *c, char *out, size_t out_bytes) {
    hits(c + WP_RUN_LINE_L1_HITS, out, out_bytes);
}

static void l2_hits(const uint64_t *c, char *out, size_t out_bytes) {
    hits(c + WP_RUN_LINE_L2_HITS, out, out_bytes);
}

static void tlb_misses(const uint64_t *c, uint32_t level, char *out, size_t out_bytes) {
    const uint64_t missed = c[WP_RUN_LINE_TLB_MISSES + level] + c[WP_RUN_LINE_TLB_MERGES + level];
    format_ratio(missed, missed + c[WP_RUN_LINE_TLB_HITS + level], 100, "%p", out, out_bytes);
}

static void tlb1(const uint64_t *c, char *out, size_t out_bytes) {
    tlb_misses(c, 0, out, out_bytes);
}

static void tlb2(const uint64_t *c, char *out, size_t out_bytes) {
    tlb_misses(c, 1, out, out_bytes);
}

static void walks(const uint64_t *c, char *out, size_t out_bytes) {
    format_if(c[WP_RUN_LINE_WALKS], out, out_bytes);
}

static void faults(const uint64_t *c, char *out, size_t out_bytes) {
    format_if(c[WP_RUN_LINE_FAR_FAULTS], out, out_bytes);
}

static void refaults(const uint64_t *c, char *out, size_t out_bytes) {
    format_if(c[WP_RUN_LINE_REFAULTS], out, out_bytes);
}

static void remote(const uint64_t *c, char *out, size_t out_bytes) {
    format_if(c[WP_RUN_LINE_REMOTE], out, out_bytes);
}

const wpi_line_column wpi_line_columns[] = {
    {"instr", 6, "warp instructions", instructions},
    {"lanes", 5, "active lanes of an instruction, where they are not all 32", active},
    {"sect", 5, "sectors of 32 bytes of an access to global memory", sectors},
    {"confl", 5, "conflict cycles of an access to shared memory", conflicts},
    {"L1", 4, "sectors that hit L1", l1_hits},
    {"L2", 4, "sectors that hit L2", l2_hits},
    {"TLB1", 4, "look-ups of the first TLB level that missed", tlb1},
    {"TLB2", 4, "look-ups of the second TLB level that missed", tlb2},
    {"walks", 5, "page walks", walks},
    {"fault", 5, "far faults", faults},
    {"again", 5, "far faults on pages that had been evicted", refaults},
    {"remote", 6, "translations to pages on the host", remote},
};
const size_t wpi_line_column_count = sizeof wpi_line_columns / sizeof wpi_line_columns[0];

uint32_t wpi_line_columns_used(const wpi_source_line *lines, size_t count) {
    uint32_t used = 0;
    char text[32];
    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < wpi_line_column_count; c++) {
            wpi_line_columns[c].format(lines[i].counts, text, sizeof text);
            const bool has_value = text[0] != '\0' && strcmp(text, "0%") != 0;
            if (has_value) used |= 1u << c;
        }
    return used;
}
