/* SPDX-License-Identifier: Apache-2.0 */
/* The record as a self-contained page: first what a reader asks first, then sections that fold. */
#include "report/page/html.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "base/time.h"
#include "base/units.h"
#include "report/cached.h"
#include "report/host_facts.h"
#include "report/page/page_parts.h"
#include "report/rules/verdict.h"
#include "report/run_record.h"
#include "report/streamed.h"

#define FULL_NAME_BYTES 1000u /* of a kernel's name; data files have all of it */

/* ---- cells ----------------------------------------------------------------------------------- */

void wpi_html_cell(wpi_text *out, const char *tag, const char *text) {
    wpi_page_element(out, tag, text);
}

void wpi_html_number(wpi_text *out, uint64_t number) {
    wpi_text_appendf(out, "<td>%" PRIu64 "</td>", number);
}

/* The name's beginning, whole characters of it. */
static void append_cut(wpi_text *out, const char *name) {
    size_t length = strlen(name);
    if (length > FULL_NAME_BYTES) {
        length = FULL_NAME_BYTES;
        while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80)
            length--;
    }
    char *beginning = wpi_format("%.*s%s", (int)length, name, name[length] != '\0' ? "…" : "");
    wpi_text_append_html(out, beginning);
    wpi_free(beginning);
}

void wpi_html_kernel_name(wpi_text *out, const char *tag, const wp_run_kernel *k, size_t columns) {
    char *name = wpi_cxx_name_short(k->display_name, columns);
    wpi_text_appendf(out, "<%s class=name title=\"", tag);
    append_cut(out, k->display_name);
    wpi_text_append(out, "\">");
    wpi_text_append_html(out, name);
    wpi_text_appendf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
    wpi_free(name);
}

void wpi_html_full_name(wpi_text *out, const wp_run_kernel *k) {
    wpi_text_append(out, "<h3 class=name>");
    append_cut(out, k->display_name);
    wpi_text_append(out, "</h3>\n");
}

void wpi_html_begin_heads(wpi_text *out, const char *label, const char *const *names) {
    wpi_page_begin_wide(out, label);
    wpi_text_append(out, "<table><thead><tr>");
    for (; *names != NULL; names++)
        wpi_page_element(out, "th scope=col", *names);
    wpi_text_append(out, "</tr></thead><tbody>\n");
}

void wpi_html_left_out(wpi_text *out, size_t count, const char *where) {
    if (count != 0)
        wpi_text_appendf(out, "<p class=note>… and %zu more: see %s</p>\n", count, where);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void append_summary(const wp_run_record *record, wpi_text *out) {
    char text[32];
    wpi_page_command(out, record->program, record->program_count);
    wpi_page_begin_facts(out);
    wpi_page_fact(out, record->device_spec, record->device_name);
    if (record->simulation != NULL)
        wpi_page_fact(out, "simulated time",
                      wpi_format_duration(record->simulation->time_ps / WP_PS_PER_NS, text));
    if (record->wall_time_ns != 0)
        wpi_page_fact(out, "wall time", wpi_format_duration(record->wall_time_ns, text));
    wpi_page_fact(out, "device memory, peak", wpi_format_bytes(record->memory_peak_bytes, text));
    if (record->has_exit_status) {
        (void)snprintf(text, sizeof text, "%d", record->exit_status);
        wpi_page_fact(out, "exit status", text);
    }
    for (size_t i = 0; i < record->policy_file_count; i++) {
        char *file = wpi_format("%s (hash %016" PRIx64 ")", record->policy_files[i].path,
                                record->policy_files[i].hash);
        wpi_page_fact(out, "policy file", file);
        wpi_free(file);
    }
    wpi_page_end_facts(out);
}

void wpi_html_begin(const wp_run_record *record, wpi_text *out) {
    wpi_page_begin(out, record->program_count != 0 ? record->program[0] : "run");
    append_summary(record, out);
}

void wpi_html_end(const wp_run_record *record, wpi_text *out) {
    wpi_text_append(out, "<p class=note>Warpage ");
    wpi_text_append_html(out, record->version);
    wpi_text_append(out, "</p>\n");
    wpi_page_end(out);
}

/* Sections of streamed and cached kernels, which have headings of their own. */
static void append_special_kernels(const wp_run_record *record, wpi_text *out) {
    if (record->streamed_count + record->cached_count == 0) return;
    wpi_page_begin_fold(out, "Streamed and cached kernels", NULL, true);
    wpi_streamed_html(record, out);
    wpi_cached_html(record, out);
    wpi_page_end_fold(out);
}

void wpi_run_record_html_with(const wp_run_record *record, const wpi_plots *plots, wpi_text *out) {
    wpi_html_begin(record, out);
    wpi_host_facts_html(record, out);
    wpi_verdict_html(record, out);
    wpi_html_kernels(record, out);
    if (record->simulation != NULL) {
        wpi_html_speed(record, out);
        wpi_html_warp_time(record, out);
        wpi_html_utilisation(record->simulation, out);
    }
    if (record->simulation != NULL) {
        wpi_html_source(record, out);
        wpi_html_roofline(record, out);
    }
    append_special_kernels(record, out);
    wpi_html_shapes(record, out);
    wpi_html_copies(record, out);
    if (record->simulation != NULL) {
        wpi_html_plots(plots, out);
        wpi_html_metrics(record, out);
        wpi_html_allocations(record->simulation, out);
        wpi_html_moves(record->simulation, out);
        wpi_html_hot_pages(record->simulation, out);
        wpi_html_counters(record, out);
    }
    wpi_html_end(record, out);
}

void wpi_run_record_html(const wp_run_record *record, wpi_text *out) {
    wpi_plots plots;
    wpi_plots_make(record, &plots);
    wpi_run_record_html_with(record, &plots, out);
    wpi_plots_deinit(&plots);
}
