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

/** The line of the source that a finding is about, if lines were counted (--source). */
typedef struct wpi_verdict_place {
    const char *file, *base; /* the record's; `base`: without folders. NULL: there is none */
    uint32_t line;
    uint32_t file_number; /* of the kernel's files, from 0, as html_source.c numbers them */
    double share;         /* of what the finding is about */
    char *text;           /* of the line, without indentation; NULL: the file is not here */
} wpi_verdict_place;

void wpi_verdict_place_find(const wp_run_record *record, const wpi_verdict_line *line,
                            wpi_verdict_place *out);
void wpi_verdict_place_deinit(wpi_verdict_place *place);

/** A line's sentences: which kernel and what, the remedy, what it gives. wpi_free. */
char *wpi_verdict_evidence(const wp_run_record *record, const wpi_verdict_line *line);
char *wpi_verdict_remedy(const wpi_verdict_line *line);
/** From an estimate of the record, or the bound. NULL: neither is known. */
char *wpi_verdict_gain(const wp_run_record *record, const wpi_verdict_line *line);

/** A new estimate of the record, which takes `rule`; its times are 0. */
wp_run_estimate *wpi_estimate_add(wp_run_record *record, char *rule);

/* Its forms; nothing where it is empty. */
void wpi_verdict_text(const wp_run_record *record, wpi_text *out); /* 100 columns */
void wpi_verdict_html(const wp_run_record *record, wpi_text *out);
json_t *wpi_verdict_to_json(const wp_run_record *record);
/** The estimates; all else is computed again. `array` may be NULL. */
void wpi_verdict_from_json(wpi_json_reader *reader, const json_t *array, wp_run_record *out);

#endif
