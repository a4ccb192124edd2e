/* SPDX-License-Identifier: Apache-2.0 */
/* Groups as a page: the first of them with bars of one aggregate, and how they were found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/page.h"
#include "base/strings.h"
#include "cli/groupby.h"

#define ROWS_MAX 1000u

static uint64_t row_at(const uint64_t *rows, uint64_t i) {
    return rows != NULL ? rows[i] : i;
}

static bool is_number(const wpi_groupby_result *result, uint32_t column) {
    return column >= result->key_count || !result->keys[column].is_text;
}

/* Bars are of the first aggregate: their full length, or 0 if one of its values is negative or none
 * is positive. */
static double full_bar(const wpi_groupby_result *result, const uint64_t *rows, uint64_t count) {
    double most = 0;
    for (uint64_t i = 0; i < count; i++) {
        char *cell = wpi_groupby_cell(result, result->key_count, row_at(rows, i));
        const double value = strtod(cell, NULL);
        wpi_free(cell);
        if (value < 0 || isinf(value)) return 0;
        if (value > most) most = value;
    }
    return most;
}

static void append_cell(const wpi_groupby_result *result, uint32_t column, uint64_t row,
                        double full, wpi_text *out) {
    char *cell = wpi_groupby_cell(result, column, row);
    const bool has_bar = column == result->key_count && full > 0;
    if (!is_number(result, column)) {
        wpi_page_element(out, column == 0 ? "th scope=row" : "td class=t", cell);
        wpi_free(cell);
        return;
    }
    wpi_text_appendf(out, "<%s data-v=\"",
                     column == 0 ? "th scope=row"
                     : has_bar   ? "td class=bar"
                                 : "td class=n");
    wpi_text_append_html(out, cell);
    wpi_text_append(out, "\">");
    if (has_bar) wpi_page_bar(out, strtod(cell, NULL) / full);
    wpi_text_append(out, has_bar ? "<span>" : "");
    wpi_text_append_html(out, cell);
    wpi_text_append(out, has_bar ? "</span>" : "");
    wpi_text_append(out, column == 0 ? "</th>" : "</td>");
    wpi_free(cell);
}

static void append_groups(const wpi_groupby_result *result, const uint64_t *rows, uint64_t count,
                          wpi_text *out) {
    const uint64_t shown = count < ROWS_MAX ? count : ROWS_MAX;
    const uint32_t columns = result->key_count + result->aggregate_count;
    const double full = full_bar(result, rows, shown);
    wpi_page_begin_wide(out, "Groups");
    wpi_text_append(out, "<table class=\"fit sortable\"><thead><tr>");
    for (uint32_t c = 0; c < columns; c++)
        wpi_page_element(out, is_number(result, c) ? "th scope=col" : "th scope=col class=t",
                         wpi_groupby_column_name(result, c));
    wpi_text_append(out, "</tr></thead><tbody>\n");
    for (uint64_t i = 0; i < shown; i++) {
        wpi_text_append(out, "<tr>");
        for (uint32_t c = 0; c < columns; c++)
            append_cell(result, c, row_at(rows, i), full, out);
        wpi_text_append(out, "</tr>\n");
    }
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
    if (shown < count)
        wpi_text_appendf(out,
                         "<p class=note>… and %" PRIu64
                         " more: --format csv, json and parquet have all of them</p>\n",
                         count - shown);
}

void wpi_groupby_page(const wpi_groupby_result *result, const uint64_t *rows, uint64_t count,
                      wpi_text *out) {
    char text[32];
    wpi_page_begin(out, "warpage groupby");
    wpi_text_append(out, "<h1>warpage");
    for (size_t i = 0; i < result->command_count; i++) {
        wpi_text_append(out, " ");
        wpi_text_append_html(out, result->command[i]);
    }
    wpi_text_append(out, "</h1>\n");
    wpi_page_begin_facts(out);
    wpi_page_fact(out, "device", result->device_name);
    (void)snprintf(text, sizeof text, "%" PRIu64, wp_groups_count(result->groups));
    wpi_page_fact(out, "groups", text);
    wpi_page_end_facts(out);
    wpi_text_append(out, "<h2>Groups</h2>\n");
    append_groups(result, rows, count, out);
    if (result->plan != NULL && result->plan[0] != '\0') {
        wpi_page_begin_fold(out, "The plan", "how the groups were found, and what that costs",
                            true);
        wpi_page_begin_wide(out, "The plan");
        wpi_page_element(out, "pre", result->plan);
        wpi_text_append(out, "</div>\n");
        wpi_page_end_fold(out);
    }
    wpi_page_end(out);
}
