/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rules/verdict.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/time.h"
#include "base/units.h"
#include "report/lines.h"

#define WEIGHT_MIN 0.1 /* of the time of kernels: below that, nothing stands out */
#define KERNELS_MAX 8u /* the longest */
#define NAME_WIDTH 32u

static const wpi_rule *const rules[] = {
#define POINT_TO(name) &wpi_rule_##name,
    WPI_RULES(POINT_TO)
#undef POINT_TO
};

/* ---- findings by weight ---- */

static void insert(wpi_verdict *v, const wpi_verdict_line *line) {
    size_t at = v->count;
    while (at > 0 && v->lines[at - 1].finding.weight < line->finding.weight)
        at--;
    if (at == WPI_VERDICT_LINES) {
        wpi_finding unused = line->finding;
        wpi_finding_deinit(&unused);
        return;
    }
    if (v->count == WPI_VERDICT_LINES) wpi_finding_deinit(&v->lines[--v->count].finding);
    memmove(&v->lines[at + 1], &v->lines[at], (v->count - at) * sizeof *v->lines);
    v->lines[at] = *line;
    v->count++;
}

/* Keeps the heavier of two findings of a rule. `part`: the kernel's of all kernels' time, so that a
 * finding stands out in a run that mostly copies, too. */
static void try_rule(const wpi_rule *rule, const wpi_rule_facts *facts, double part,
                     wpi_verdict_line *best) {
    wpi_finding found = {0};
    if (!rule->find(facts, &found)) return;
    const double of_kernels = found.weight / facts->share * part;
    if (of_kernels < WEIGHT_MIN || found.weight <= best->finding.weight) {
        wpi_finding_deinit(&found);
        return;
    }
    wpi_finding_deinit(&best->finding);
    *best = (wpi_verdict_line){rule, facts->kernel, found};
}

static void try_kernels(const wp_run_record *record, const wpi_rule *rule, wpi_verdict_line *best) {
    const double all_ps = (double)record->simulation->counted_ps;
    uint64_t kernels_ps = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        kernels_ps += wp_run_count(record, record->kernels[i].values, "kernel_time_ps");
    for (size_t i = 0; i < record->kernel_count && i < KERNELS_MAX; i++) {
        const wp_run_kernel *k = &record->kernels[i];
        const uint64_t time_ps = wp_run_count(record, k->values, "kernel_time_ps");
        if (k->values == NULL || time_ps == 0 || all_ps <= 0) continue;
        const double share = (double)time_ps / all_ps;
        try_rule(rule, &(wpi_rule_facts){record, k, k->values, time_ps, share < 1 ? share : 1},
                 (double)time_ps / (double)kernels_ps, best);
    }
}

void wpi_verdict_make(const wp_run_record *record, wpi_verdict *out) {
    *out = (wpi_verdict){0};
    const wp_run_simulation *s = record->simulation;
    if (s == NULL) return;
    const wpi_rule_facts run = {record, NULL, s->values, s->counted_ps, 1};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        wpi_verdict_line best = {0};
        if (rules[i]->is_of_run)
            try_rule(rules[i], &run, 1, &best);
        else
            try_kernels(record, rules[i], &best);
        if (best.rule != NULL) insert(out, &best);
    }
}

void wpi_verdict_deinit(wpi_verdict *v) {
    while (v->count > 0)
        wpi_finding_deinit(&v->lines[--v->count].finding);
}

/* ---- sentences ---- */

static uint64_t time_of_kernels(const wp_run_record *record) {
    uint64_t time_ns = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        time_ns += record->kernels[i].time_ns;
    return time_ns != 0 ? time_ns : 1;
}

static uint64_t waits_of(const wpi_source_line *line, uint64_t times) {
    uint64_t sum_ps = 0;
    for (unsigned what = WP_RUN_LINE_TIMES; what < WP_RUN_LINE_COUNTS; what++)
        if ((times >> what & 1) != 0) sum_ps += line->counts[what];
    return sum_ps;
}

/* "; 72 % of that at spmv.cu:41", if lines were counted (--source); or "". */
static char *at_line(const wp_run_record *record, const wpi_verdict_line *line) {
    size_t count = 0, most = 0;
    uint64_t sum_ps = 0;
    if (line->kernel == NULL || line->finding.line_times == 0) return wpi_format("%s", "");
    wpi_source_line *lines = wpi_source_lines(record->simulation, line->kernel->name, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t waits_ps = waits_of(&lines[i], line->finding.line_times);
        sum_ps += waits_ps;
        if (waits_ps > waits_of(&lines[most], line->finding.line_times)) most = i;
    }
    char *text = NULL;
    if (sum_ps != 0 && lines[most].line != 0) {
        const char *slash = strrchr(lines[most].file, '/');
        text = wpi_format("; %.0f %% of that at %s:%u",
                          100 * (double)waits_of(&lines[most], line->finding.line_times) /
                              (double)sum_ps,
                          slash != NULL ? slash + 1 : lines[most].file, lines[most].line);
    }
    wpi_free(lines);
    return text != NULL ? text : wpi_format("%s", "");
}

char *wpi_verdict_evidence(const wp_run_record *record, const wpi_verdict_line *line) {
    char *place = at_line(record, line);
    if (line->kernel == NULL || record->kernel_count < 2) {
        char *text = wpi_format("%s%s.", line->finding.evidence, place);
        wpi_free(place);
        return text;
    }
    char *name = wpi_cxx_name_short(line->kernel->display_name, NAME_WIDTH);
    char *text = wpi_format("%s (%.0f %% of kernel time): %s%s.", name,
                            100 * (double)line->kernel->time_ns / (double)time_of_kernels(record),
                            line->finding.evidence, place);
    wpi_free(place);
    wpi_free(name);
    return text;
}

char *wpi_verdict_remedy(const wpi_verdict_line *line) {
    return wpi_format("%s.", line->finding.remedy);
}

static const wp_run_estimate *estimate_of(const wp_run_record *record, const char *rule) {
    for (size_t i = 0; i < record->estimate_count; i++)
        if (strcmp(record->estimates[i].rule, rule) == 0) return &record->estimates[i];
    return NULL;
}

char *wpi_verdict_gain(const wp_run_record *record, const wpi_verdict_line *line) {
    const wp_run_estimate *e = estimate_of(record, line->rule->name);
    char with[32], now[32];
    if (e != NULL && e->time_ns != 0) {
        const uint64_t now_ns = record->simulation->time_ps / WP_PS_PER_NS;
        return wpi_format("Estimate: with %s, the run takes %s in place of %s, %.2f times as fast.",
                          line->finding.ideal_name, wpi_format_duration(e->time_ns, with),
                          wpi_format_duration(now_ns, now), (double)now_ns / (double)e->time_ns);
    }
    if (line->finding.bound != NULL) return wpi_format("Bound: %s.", line->finding.bound);
    if (line->finding.ideal != NULL)
        return wpi_format("`warpage run --estimate` runs it again with %s.",
                          line->finding.ideal_name);
    return NULL;
}

/* ---- estimates ---- */

size_t wp_run_record_ideals(const wp_run_record *record, wp_run_ideal out[WP_RUN_IDEALS]) {
    wpi_verdict v;
    size_t count = 0;
    wpi_verdict_make(record, &v);
    for (size_t i = 0; i < v.count; i++)
        if (v.lines[i].finding.ideal != NULL)
            out[count++] =
                (wp_run_ideal){v.lines[i].rule->name, wpi_format("%s", v.lines[i].finding.ideal)};
    wpi_verdict_deinit(&v);
    return count;
}

void wp_run_record_add_estimate(wp_run_record *record, const char *rule, uint64_t time_ns) {
    wp_run_estimate *items =
        wpi_realloc(record->estimates, (record->estimate_count + 1) * sizeof *items);
    if (items == NULL) return;
    record->estimates = items;
    items[record->estimate_count++] = (wp_run_estimate){wpi_format("%s", rule), time_ns};
}
