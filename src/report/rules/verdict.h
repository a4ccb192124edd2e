/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What holds a run back: the findings of all rules (rules.h) that carry most weight, at most three,
 * each of another rule. Empty where nothing stands out, and for devices without counters.
 */
#ifndef WP_REPORT_VERDICT_H
#define WP_REPORT_VERDICT_H

#include "base/text.h"
#include "report/json/json_parts.h"
#include "report/rules/rules.h"

#define WPI_VERDICT_LINES 3u

typedef struct wpi_verdict_line {
    const wpi_rule *rule;
    const wp_run_kernel *kernel; /* NULL: the run */
    wpi_finding finding;
} wpi_verdict_line;

typedef struct wpi_verdict {
    wpi_verdict_line lines[WPI_VERDICT_LINES]; /* largest weight first */
    size_t count;
} wpi_verdict;

/** Borrows kernels of the record. wpi_verdict_deinit. */
void wpi_verdict_make(const wp_run_record *record, wpi_verdict *out);
void wpi_verdict_deinit(wpi_verdict *verdict);

/** A line's sentences: which kernel and what, the remedy, what it gives. wpi_free. */
char *wpi_verdict_evidence(const wp_run_record *record, const wpi_verdict_line *line);
char *wpi_verdict_remedy(const wpi_verdict_line *line);
/** From an estimate of the record, or the bound. NULL: neither is known. */
char *wpi_verdict_gain(const wp_run_record *record, const wpi_verdict_line *line);

/* Its forms; nothing where it is empty. */
void wpi_verdict_text(const wp_run_record *record, wpi_text *out); /* 100 columns */
void wpi_verdict_html(const wp_run_record *record, wpi_text *out);
json_t *wpi_verdict_to_json(const wp_run_record *record);
/** The estimates; all else is computed again. `array` may be NULL. */
void wpi_verdict_from_json(wpi_json_reader *reader, const json_t *array, wp_run_record *out);

#endif
