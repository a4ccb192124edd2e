/* SPDX-License-Identifier: Apache-2.0 */
/** Internal to report: counts by line of the source. */
#ifndef WP_REPORT_LINES_H
#define WP_REPORT_LINES_H

#include "report/json/json_parts.h"
#include "warpage/report.h"

json_t *wpi_lines_to_json(const wp_run_simulation *simulation);
void wpi_lines_from_json(wpi_json_reader *reader, const json_t *array, wp_run_simulation *out);
void wpi_lines_deinit(wp_run_simulation *simulation);

/** The time of a line's warps, summed. */
uint64_t wpi_line_time_ps(const uint64_t *counts);
/** What took most of it, in a word: "DRAM"; "": it has none. */
const char *wpi_line_cause(const uint64_t *counts);
/** A cause in a word: of WP_RUN_LINE_DRAM_PS "DRAM". */
const char *wpi_line_time_label(wp_run_line_count time);

/** A line of a file in a kernel: all calls that it was inlined by together. */
typedef struct wpi_source_line {
    const char *file; /* the record's */
    uint32_t line;
    uint64_t counts[WP_RUN_LINE_COUNTS];
} wpi_source_line;

/** The lines of a kernel (mangled name), by file and line: [*count], for wpi_free. */
wpi_source_line *wpi_source_lines(const wp_run_simulation *simulation, const char *kernel,
                                  size_t *count);

/** A column of a listing. */
typedef struct wpi_line_column {
    const char *title;
    int width;
    const char *doc; /* one phrase */
    /** Writes the line's value; "": it has none. */
    void (*format)(const uint64_t *counts, char *out, size_t out_bytes);
} wpi_line_column;

extern const wpi_line_column wpi_line_columns[];
extern const size_t wpi_line_column_count;

/** Which columns some line has a value in: a bit each. */
uint32_t wpi_line_columns_used(const wpi_source_line *lines, size_t count);

#endif
