/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of light, the time of warps, and utilisation over time: numbers in tables, with bars beside
 * them. The SVG has no text: it stretches with its cell.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "base/time.h"
#include "base/units.h"
#include "report/metrics.h"
#include "report/page/page_parts.h"
#include "report/simulation.h"

#define KERNELS_MAX 4u /* columns of the speed of light; the first two stay in narrow windows */
#define STACKS_MAX 12u /* rows of the time of warps */
#define HEAD_WIDTH 18u
#define NAME_WIDTH 32u

static uint64_t time_of(const wp_run_record *record, const wp_run_kernel *k) {
    return wp_run_count(record, k->values, "kernel_time_ps");
}

/* Kernels with counters, longest first; returns how many. */
static size_t find_kernels(const wp_run_record *record, size_t most, const wp_run_kernel *found[]) {
    size_t count = 0;
    for (size_t i = 0; i < record->kernel_count && count < most; i++)
        if (record->kernels[i].values != NULL) found[count++] = &record->kernels[i];
    return count;
}

/* ---- speed of light ---- */

/* Metrics that are percentages of a peak; '#': a row for each level of TLBs. */
static const char *const resources[][2] = {
    {"peak_issue_pct", "issue slots"},
    {"peak_lsu_pct", "load/store units"},
    {"peak_shared_pct", "shared memory"},
    {"peak_l1_pct", "L1"},
    {"peak_l2_pct", "L2"},
    {"dram_utilisation_pct", "DRAM"},
    {"peak_tlb_l1_pct", "L1 TLB ports"},
    {"peak_tlb_l2_pct", "L2 TLB ports"},
    {"peak_tlb_l3_pct", "L3 TLB ports"},
    {"walker_utilisation_pct", "page walkers"},
    {"peak_fault_handler_pct", "far fault handler"},
    {"link_to_device_utilisation_pct", "link, to device"},
    {"link_to_host_utilisation_pct", "link, to host"},
};

#define RESOURCES (sizeof resources / sizeof resources[0])

typedef struct percentages {
    bool is_known[RESOURCES];
    double value[RESOURCES];
} percentages;

static void find_resource(void *object, const wpi_metric *metric) {
    percentages *p = object;
    for (size_t i = 0; i < RESOURCES; i++) {
        if (strcmp(metric->name, resources[i][0]) != 0) continue;
        p->is_known[i] = true;
        p->value[i] = metric->value;
    }
}

static void append_speed_head(const wp_run_kernel *const *kernels, size_t count, wpi_text *out) {
    wpi_page_begin_wide(out, "Speed of light");
    wpi_text_appendf(out, "<table class=\"fit%s\"><thead><tr><th scope=col>%% of its own peak</th>",
                     count == 1 ? " one" : "");
    for (size_t k = 0; k < count; k++)
        wpi_html_kernel_name(out, k < 2 ? "th scope=col" : "th scope=col data-more", kernels[k],
                             HEAD_WIDTH);
    wpi_text_append(out, "</tr></thead><tbody>\n");
}

static void append_percentage(const percentages *p, size_t resource, bool is_more, wpi_text *out) {
    wpi_text_appendf(out, "<td class=\"bar%s\">", is_more ? " more" : "");
    if (p->is_known[resource]) {
        wpi_page_bar(out, p->value[resource] / 100);
        wpi_text_appendf(out, "<span>%.1f %%</span>", p->value[resource]);
    }
    wpi_text_append(out, "</td>");
}

/* A resource that no kernel uses has no row. */
static bool is_used(const percentages *p, size_t count, size_t resource) {
    for (size_t k = 0; k < count; k++)
        if (p[k].is_known[resource] && p[k].value[resource] >= 0.05) return true;
    return false;
}

void wpi_html_speed(const wp_run_record *record, wpi_text *out) {
    const wp_run_kernel *kernels[KERNELS_MAX];
    percentages of[KERNELS_MAX] = {0};
    const size_t count = find_kernels(record, KERNELS_MAX, kernels);
    if (count == 0) return;
    for (size_t k = 0; k < count; k++)
        wpi_metrics_visit(record->simulation, kernels[k]->values, time_of(record, kernels[k]),
                          find_resource, &of[k]);
    wpi_text_append(out, "<h2>Speed of light</h2>\n");
    append_speed_head(kernels, count, out);
    for (size_t r = 0; r < RESOURCES; r++) {
        if (!is_used(of, count, r)) continue;
        wpi_text_append(out, "<tr>");
        wpi_page_element(out, "th scope=row", resources[r][1]);
        for (size_t k = 0; k < count; k++)
            append_percentage(&of[k], r, k >= 2, out);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    wpi_text_append(out,
                    "<p class=note>Resources below 0.05 % in all of these kernels are left out; "
                    "Metrics, below, have all of them.</p>\n");
}

/* ---- time of warps ---- */

/* Parts of a stack, and their colours in base/page.c. */
static const struct {
    const char *metric, *label;
    int colour;
} parts[] = {
    {"warp_execute_pct", "instructions", 1},
    {"warp_not_selected_pct", "ready, not selected", 9},
    {"warp_lsu_pct", "load/store unit", 7},
    {"warp_shared_pct", "shared memory", 6},
    {"warp_barrier_pct", "barrier", 8},
    {"warp_threads_pct", "other threads", 0},
    {"warp_fence_pct", "fence", 0},
    {"warp_code_pct", "instruction TLB", 0},
    {"warp_translation_pct", "address translation", 2},
    {"warp_fault_pct", "far faults", 3},
    {"warp_l1_pct", "L1", 4},
    {"warp_l2_pct", "L2", 4},
    {"warp_dram_pct", "DRAM", 5},
    {"warp_link_pct", "link", 10},
    {"warp_drain_pct", "draining", 0},
};

#define PARTS (sizeof parts / sizeof parts[0])

typedef struct stack {
    double value[PARTS]; /* % */
} stack;

static void find_part(void *object, const wpi_metric *metric) {
    stack *s = object;
    for (size_t i = 0; i < PARTS; i++)
        if (strcmp(metric->name, parts[i].metric) == 0) s->value[i] = metric->value;
}

/* The largest parts in words, which carry what the colours show. */
static void append_largest(const stack *s, wpi_text *out) {
    bool is_done[PARTS] = {false};
    for (size_t n = 0; n < 3; n++) {
        size_t best = PARTS;
        for (size_t i = 0; i < PARTS; i++)
            if (!is_done[i] && s->value[i] >= 1 && (best == PARTS || s->value[i] > s->value[best]))
                best = i;
        if (best == PARTS) return;
        is_done[best] = true;
        wpi_text_appendf(out, "%s%s %.0f\u00a0%%", n == 0 ? "" : ", ", parts[best].label,
                         s->value[best]);
    }
}

static void append_stack(const wp_run_kernel *k, const stack *s, wpi_text *out) {
    double at = 0;
    wpi_text_append(out, "<tr>");
    wpi_html_kernel_name(out, "th scope=row", k, NAME_WIDTH);
    wpi_text_append(out, "<td class=stack><svg class=stack viewBox=\"0 0 100 1\" "
                         "preserveAspectRatio=none aria-hidden=true>");
    for (size_t i = 0; i < PARTS; i++) {
        if (s->value[i] < 0.05) continue;
        wpi_text_appendf(out,
                         "<rect x=\"%.4g\" width=\"%.4g\" height=1 class=c%d><title>%s "
                         "%.1f %%</title></rect>",
                         at, s->value[i], parts[i].colour, parts[i].label, s->value[i]);
        at += s->value[i];
    }
    wpi_text_append(out, "</svg>");
    append_largest(s, out);
    wpi_text_append(out, "</td></tr>\n");
}

static void append_legend(const stack *stacks, size_t count, wpi_text *out) {
    wpi_text_append(out, "<p class=legend>");
    for (size_t i = 0; i < PARTS; i++) {
        double most = 0;
        for (size_t k = 0; k < count; k++)
            if (stacks[k].value[i] > most) most = stacks[k].value[i];
        if (most < 0.5) continue;
        wpi_text_appendf(out,
                         "<span><svg viewBox=\"0 0 1 1\" aria-hidden=true><rect width=1 height=1 "
                         "class=c%d /></svg> %s</span> ",
                         parts[i].colour, parts[i].label);
    }
    wpi_text_append(out, "</p>\n");
}

/* One kernel: a bar for each part. */
static void append_parts(const stack *s, wpi_text *out) {
    wpi_page_begin_wide(out, "Where the time of warps went");
    wpi_text_append(
        out, "<table class=\"fit one\"><thead><tr><th scope=col>warps spend their time on</th>"
             "<th scope=col>share</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < PARTS; i++) {
        if (s->value[i] < 0.05) continue;
        wpi_text_append(out, "<tr>");
        wpi_page_element(out, "th scope=row", parts[i].label);
        wpi_text_append(out, "<td class=bar>");
        wpi_page_bar(out, s->value[i] / 100);
        wpi_text_appendf(out, "<span>%.1f %%</span></td></tr>\n", s->value[i]);
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
}

void wpi_html_warp_time(const wp_run_record *record, wpi_text *out) {
    const wp_run_kernel *kernels[STACKS_MAX];
    stack stacks[STACKS_MAX] = {0};
    const size_t count = find_kernels(record, STACKS_MAX, kernels);
    if (count == 0 || wpi_simulation_column(record->simulation, "warp_time_execute_ps") == NULL)
        return;
    for (size_t k = 0; k < count; k++)
        wpi_metrics_visit(record->simulation, kernels[k]->values, time_of(record, kernels[k]),
                          find_part, &stacks[k]);
    wpi_text_append(out, "<h2>Where the time of warps went</h2>\n");
    if (count == 1) {
        append_parts(&stacks[0], out);
        return;
    }
    append_legend(stacks, count, out);
    wpi_page_begin_wide(out, "Where the time of warps went");
    wpi_text_append(out, "<table class=fit><thead><tr><th scope=col>kernel</th><th scope=col "
                         "class=stack>time of its warps</th></tr></thead><tbody>\n");
    for (size_t k = 0; k < count; k++)
        append_stack(kernels[k], &stacks[k], out);
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
}

/* ---- utilisation over time ---- */

static double share_of(const wp_run_series *s, size_t slice) {
    const double all = (double)s->slice_ps * (double)s->units;
    const double share = all > 0 ? (double)s->busy_ps[slice] / all : 0;
    return share > 1 ? 1 : share;
}

/* The run has `slices` slices of the series; those after the last that is kept are idle. */
static void append_strip(const wp_run_series *s, double slices, wpi_text *out) {
    double sum = 0, most = 0;
    int height = 0;
    wpi_text_append(out, "<tr>");
    wpi_page_element(out, "th scope=row", wpi_series_label(s->name));
    wpi_text_appendf(out,
                     "<td class=strip><svg class=strip viewBox=\"0 0 %.6g 100\" "
                     "preserveAspectRatio=none aria-hidden=true><path d=\"M0 100",
                     slices);
    for (size_t i = 0; i < s->slice_count; i++) {
        const double share = share_of(s, i);
        const int next = (int)(100 * share + 0.5);
        if (next != height) wpi_text_appendf(out, "H%zuV%d", i, 100 - next);
        height = next;
        sum += share;
        if (share > most) most = share;
    }
    wpi_text_appendf(out, "H%zuV100H%.6gz\"/></svg></td>", s->slice_count, slices);
    wpi_text_appendf(out, "<td class=n>%.1f %%</td><td class=n>%.0f %%</td></tr>\n",
                     100 * sum / slices, 100 * most);
}

/* A strip that would look empty is left out. */
static bool is_busy(const wp_run_series *s) {
    for (size_t i = 0; i < s->slice_count && s->units != 0; i++)
        if (share_of(s, i) >= 0.01) return true;
    return false;
}

void wpi_html_utilisation(const wp_run_simulation *s, wpi_text *out) {
    char end[32];
    size_t busy = 0;
    for (size_t i = 0; i < s->series_count; i++)
        busy += is_busy(&s->series[i]);
    if (busy == 0) return;
    wpi_text_append(out, "<h2>Utilisation over time</h2>\n");
    wpi_page_begin_wide(out, "Utilisation over time");
    wpi_text_appendf(out,
                     "<table class=fit><thead><tr><th scope=col>%% busy</th><th scope=col "
                     "class=strip><span>0</span><span>%s</span></th><th scope=col>mean</th>"
                     "<th scope=col>peak</th></tr></thead><tbody>\n",
                     wpi_format_duration(s->time_ps / WP_PS_PER_NS, end));
    for (size_t i = 0; i < s->series_count; i++) {
        const wp_run_series *series = &s->series[i];
        if (!is_busy(series)) continue;
        const double kept = (double)series->slice_count;
        const double slices = (double)s->time_ps / (double)series->slice_ps;
        append_strip(series, slices > kept - 1 && slices > 0 ? slices : kept, out);
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
}
