/* SPDX-License-Identifier: Apache-2.0 */
#include "report/rules/verdict.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/time.h"
#include "base/units.h"
#include "report/lines.h"
#include "report/source_file.h"

#define WEIGHT_MIN 0.1 /* of the time of kernels: below that, nothing stands out */
#define KERNELS_MAX 8u /* the longest */
#define NAME_WIDTH 32u
#define TEXT_MAX 120u /* characters of a line of the source */

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

static uint64_t measure(const wpi_finding *finding, const uint64_t *counts) {
    uint64_t sum_ps = 0;
    if (finding->line_count != NULL) return finding->line_count(counts);
    for (unsigned what = WP_RUN_LINE_TIMES; what < WP_RUN_LINE_COUNTS; what++)
        if ((finding->line_times >> what & 1) != 0) sum_ps += counts[what];
    return sum_ps;
}

/* NULL: the file is not here. */
static char *text_of(const char *file, uint32_t line) {
    wpi_source_file source;
    if (!wpi_source_file_open(file, &source)) return NULL;
    char *text = wpi_source_file_text(&source, line, TEXT_MAX);
    wpi_source_file_close(&source);
    return text;
}

void wpi_verdict_place_find(const wp_run_record *record, const wpi_verdict_line *line,
                            wpi_verdict_place *out) {
    size_t count = 0, most = 0;
    uint64_t sum = 0;
    uint32_t files = 0;
    const wpi_finding *f = &line->finding;
    *out = (wpi_verdict_place){0};
    if (line->kernel == NULL || (f->line_times == 0 && f->line_count == NULL)) return;
    wpi_source_line *lines = wpi_source_lines(record->simulation, line->kernel->name, &count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t here = measure(f, lines[i].counts);
        const bool is_new =
            i == 0 || lines[i - 1].line == 0 || strcmp(lines[i].file, lines[i - 1].file) != 0;
        if (lines[i].line != 0 && is_new) files++;
        sum += here;
        if (i != 0 && here <= measure(f, lines[most].counts)) continue;
        most = i;
        out->file_number = files - 1;
    }
    if (sum != 0 && lines[most].line != 0) {
        const char *slash = strrchr(lines[most].file, '/');
        out->file = lines[most].file;
        out->base = slash != NULL ? slash + 1 : out->file;
        out->line = lines[most].line;
        out->share = (double)measure(f, lines[most].counts) / (double)sum;
        out->text = text_of(out->file, out->line);
    }
    wpi_free(lines);
}

void wpi_verdict_place_deinit(wpi_verdict_place *place) {
    wpi_free(place->text);
    *place = (wpi_verdict_place){0};
}

/* "; 72 % of that at spmv.cu:41", or "". */
static char *at_line(const wp_run_record *record, const wpi_verdict_line *line) {
    wpi_verdict_place place;
    wpi_verdict_place_find(record, line, &place);
    char *text = place.file != NULL ? wpi_format("; %.0f %% of that at %s:%u", 100 * place.share,
                                                 place.base, place.line)
                                    : wpi_format("%s", "");
    wpi_verdict_place_deinit(&place);
    return text;
}

char *wpi_verdict_evidence(const wp_run_record *record, const wpi_verdict_line *line) {
    char *place = at_line(record, line);
    char *name = line->kernel != NULL && record->kernel_count > 1
                     ? wpi_cxx_name_short(line->kernel->display_name, NAME_WIDTH)
                     : NULL;
    char *text =
        name == NULL
            ? wpi_format("%s%s.", line->finding.evidence, place)
            : wpi_format("%s (%.0f %% of kernel time): %s%s.", name,
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

/* "gather takes 72.4 us in place of 84.9 us, 1.17 times as fast" */
static void append_times(wpi_text *out, const char *what, uint64_t ideal_ns, uint64_t now_ns) {
    char ideal[32], now[32];
    wpi_text_appendf(out, "%s takes %s in place of %s, %.2f times as fast", what,
                     wpi_format_duration(ideal_ns, ideal), wpi_format_duration(now_ns, now),
                     (double)now_ns / (double)ideal_ns);
}

static char *estimate_sentence(const wp_run_record *record, const wpi_verdict_line *line,
                               const wp_run_estimate *e) {
    wpi_text out = {0};
    wpi_text_appendf(&out, "Estimate: with %s, ", line->finding.ideal_name);
    const size_t k = line->kernel != NULL ? (size_t)(line->kernel - record->kernels) : 0;
    if (line->kernel != NULL && e->kernel_times_ns != NULL && e->kernel_times_ns[k] != 0) {
        char *name = wpi_cxx_name_short(line->kernel->display_name, NAME_WIDTH);
        append_times(&out, name, e->kernel_times_ns[k], line->kernel->time_ns);
        wpi_text_append(&out, ", and ");
        wpi_free(name);
    }
    append_times(&out, "the run", e->time_ns, record->simulation->time_ps / WP_PS_PER_NS);
    wpi_text_append(&out, ".");
    return wpi_text_take(&out);
}

char *wpi_verdict_gain(const wp_run_record *record, const wpi_verdict_line *line) {
    const wp_run_estimate *e = estimate_of(record, line->rule->name);
    if (e != NULL && e->time_ns != 0) return estimate_sentence(record, line, e);
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

wp_run_estimate *wpi_estimate_add(wp_run_record *record, char *rule) {
    wp_run_estimate *items =
        wpi_realloc(record->estimates, (record->estimate_count + 1) * sizeof *items);
    uint64_t *times_ns = wpi_calloc(record->kernel_count + 1, sizeof *times_ns);
    WP_CHECK(items != NULL && times_ns != NULL);
    record->estimates = items;
    items[record->estimate_count] = (wp_run_estimate){.rule = rule, .kernel_times_ns = times_ns};
    return &items[record->estimate_count++];
}

void wp_run_record_add_estimate(wp_run_record *record, const char *rule,
                                const wp_run_record *ideal) {
    wp_run_estimate *e = wpi_estimate_add(record, wpi_format("%s", rule));
    e->time_ns = ideal->simulation->time_ps / WP_PS_PER_NS;
    for (size_t k = 0; k < record->kernel_count; k++)
        for (size_t i = 0; i < ideal->kernel_count; i++)
            if (strcmp(record->kernels[k].name, ideal->kernels[i].name) == 0)
                e->kernel_times_ns[k] = ideal->kernels[i].time_ns;
}
