/* SPDX-License-Identifier: Apache-2.0 */
#include "report/streamed.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "base/units.h"

#define NAME_WIDTH 34

/* The numbers of a row: names in JSON, and whether launches are summed. */
static const struct {
    const char *name;
    size_t offset;
    bool is_sum;
} fields[] = {
#define FIELD(name, is_sum) {#name, offsetof(wp_run_streamed, name), is_sum}
    FIELD(launches, true),
    FIELD(blocks, true),
    FIELD(chunks, true),
    FIELD(mapped_bytes, true),
    FIELD(read_bytes, true),
    FIELD(written_bytes, true),
    FIELD(sent_bytes, true),
    FIELD(address_bytes, true),
    FIELD(device_bytes, false),
    FIELD(pinned_bytes, false),
    FIELD(sets, false),
    FIELD(slots, false),
    FIELD(time_ns, true),
    FIELD(stage_ns, true),
    FIELD(address_ns, true),
    FIELD(gather_ns, true),
    FIELD(address_wait_ns, true),
    FIELD(compute_ns, true),
    FIELD(store_ns, true),
    FIELD(compute_wait_ns, true),
    FIELD(host_bytes, false),
    FIELD(file_read_bytes, true),
    FIELD(file_written_bytes, true),
    FIELD(repeated_bytes, true),
    FIELD(kept_bytes, false),
    FIELD(kept_sent_bytes, true),
#undef FIELD
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static uint64_t *number_of(wp_run_streamed *row, size_t field) {
    return (uint64_t *)(void *)((char *)row + fields[field].offset);
}

static uint64_t number_in(const wp_run_streamed *row, size_t field) {
    return *(const uint64_t *)(const void *)((const char *)row + fields[field].offset);
}

static wp_run_streamed *add_row(wp_run_record *record) {
    wp_run_streamed *rows =
        wpi_realloc(record->streamed, (record->streamed_count + 1) * sizeof *rows);
    if (rows == NULL) return NULL;
    record->streamed = rows;
    rows[record->streamed_count] = (wp_run_streamed){0};
    return &rows[record->streamed_count++];
}

bool wpi_streamed_add(wp_run_record *record, const wp_run_streamed *launch) {
    wp_run_streamed *row = NULL;
    for (size_t i = 0; i < record->streamed_count && row == NULL; i++)
        if (strcmp(record->streamed[i].name, launch->name) == 0) row = &record->streamed[i];
    if (row == NULL) {
        row = add_row(record);
        if (row == NULL) return false;
        row->name = wpi_strdup(launch->name);
        row->display_name = wpi_cxx_demangle(launch->name);
        if (row->display_name == NULL) row->display_name = wpi_strdup(launch->name);
        if (launch->windows != NULL) row->windows = wpi_strdup(launch->windows);
        if (row->name == NULL || row->display_name == NULL ||
            (launch->windows != NULL && row->windows == NULL)) {
            wpi_free(row->windows);
            wpi_free(row->name);
            wpi_free(row->display_name);
            record->streamed_count--;
            return false;
        }
    }
    for (size_t f = 0; f < FIELD_COUNT; f++) {
        uint64_t *number = number_of(row, f);
        *number = (fields[f].is_sum ? *number : 0) + number_in(launch, f);
    }
    return true;
}

void wpi_streamed_deinit(wp_run_record *record) {
    for (size_t i = 0; i < record->streamed_count; i++) {
        wpi_free(record->streamed[i].name);
        wpi_free(record->streamed[i].display_name);
        wpi_free(record->streamed[i].windows);
    }
    wpi_free(record->streamed);
    record->streamed = NULL;
    record->streamed_count = 0;
}

/* ---- JSON ---- */

json_t *wpi_streamed_to_json(const wp_run_record *record) {
    json_t *array = json_array();
    for (size_t i = 0; i < record->streamed_count; i++) {
        const wp_run_streamed *row = &record->streamed[i];
        json_t *object = json_object();
        wpi_json_set(object, "name", wpi_json_string(row->name));
        wpi_json_set(object, "display_name", wpi_json_string(row->display_name));
        if (row->windows != NULL) wpi_json_set(object, "windows", wpi_json_string(row->windows));
        for (size_t f = 0; f < FIELD_COUNT; f++)
            wpi_json_set(object, fields[f].name, wpi_json_number(number_in(row, f)));
        wpi_json_append(array, object);
    }
    return array;
}

void wpi_streamed_from_json(wpi_json_reader *r, const json_t *array, wp_run_record *out) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        wp_run_streamed *row = add_row(out);
        WP_CHECK(row != NULL);
        row->name = wpi_json_read_string(r, object, "name");
        row->display_name = wpi_json_read_string(r, object, "display_name");
        if (json_object_get(object, "windows") != NULL)
            row->windows = wpi_json_read_string(r, object, "windows");
        for (size_t f = 0; f < FIELD_COUNT; f++)
            *number_of(row, f) = wpi_json_read_number(r, object, fields[f].name);
    }
}

/* ---- for people ---- */

/* Stages in the order in which data pass through them. */
static const struct {
    const char *label;
    size_t work, wait; /* wait 0: an actor's, see wait_of */
} stages[] = {
    {"addresses", offsetof(wp_run_streamed, address_ns),
     offsetof(wp_run_streamed, address_wait_ns)},
    {"gather", offsetof(wp_run_streamed, gather_ns), 0},
    {"compute", offsetof(wp_run_streamed, compute_ns), offsetof(wp_run_streamed, compute_wait_ns)},
    {"store", offsetof(wp_run_streamed, store_ns), 0},
};
enum { STAGE_COUNT = sizeof stages / sizeof *stages };

static uint64_t at_offset(const wp_run_streamed *row, size_t offset) {
    return *(const uint64_t *)(const void *)((const char *)row + offset);
}

static uint64_t work_of(const wp_run_streamed *row, size_t stage) {
    return at_offset(row, stages[stage].work);
}

/* An actor waits while it does not work. With windows, an actor has several sets: UINT64_MAX. */
static uint64_t wait_of(const wp_run_streamed *row, size_t stage) {
    if (stages[stage].wait != 0) return at_offset(row, stages[stage].wait);
    const uint64_t work_ns = work_of(row, stage);
    return row->windows != NULL || work_ns == 0 || work_ns > row->stage_ns
               ? UINT64_MAX
               : row->stage_ns - work_ns;
}

/* A share of the kernel's time; "": unknown. */
static const char *share(const wp_run_streamed *row, uint64_t ns, char text[32]) {
    text[0] = '\0';
    if (row->stage_ns == 0 || ns == UINT64_MAX) return text;
    (void)snprintf(text, 32, "%.1f %%", 100.0 * (double)ns / (double)row->stage_ns);
    return text;
}

typedef void (*fact_fn)(wpi_text *out, const char *label, const char *value);

static void visit_facts(const wp_run_streamed *row, wpi_text *out, fact_fn fact) {
    char a[32], b[32], c[32], text[160];
    (void)snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64 " chunks", row->launches,
                   row->chunks);
    fact(out, "launches", text);
    if (row->windows != NULL) fact(out, "windows", row->windows);
    fact(out, "mapped", wpi_format_bytes(row->mapped_bytes, a));
    (void)snprintf(
        text, sizeof text, "%s, %.1f %%", wpi_format_bytes(row->read_bytes, a),
        row->mapped_bytes == 0 ? 0.0 : 100.0 * (double)row->read_bytes / (double)row->mapped_bytes);
    /* A window's last part may not be read, and may be filled again for a neighbour. */
    fact(out, row->windows != NULL ? "filled into windows" : "read by the kernel", text);
    fact(out, "sent to the device", wpi_format_bytes(row->sent_bytes, a));
    fact(out, "sent more than once", wpi_format_bytes(row->repeated_bytes, a));
    fact(out, "addresses and patterns", wpi_format_bytes(row->address_bytes, a));
    if (row->written_bytes != 0)
        fact(out, "written by the kernel", wpi_format_bytes(row->written_bytes, a));
    (void)snprintf(text, sizeof text, "%" PRIu64 " sets of %" PRIu64 " slots: %s, pinned %s",
                   row->sets, row->slots, wpi_format_bytes(row->device_bytes, a),
                   wpi_format_bytes(row->pinned_bytes, b));
    fact(out, "buffers", text);
    if (row->kept_bytes != 0) {
        (void)snprintf(text, sizeof text, "%s, sent %s", wpi_format_bytes(row->kept_bytes, a),
                       wpi_format_bytes(row->kept_sent_bytes, b));
        fact(out, "kept on the device", text);
    }
    if (row->host_bytes == 0) return;
    (void)snprintf(text, sizeof text, "read %s, written %s, in %s of host memory",
                   wpi_format_bytes(row->file_read_bytes, a),
                   wpi_format_bytes(row->file_written_bytes, b),
                   wpi_format_bytes(row->host_bytes, c));
    fact(out, "files", text);
}

static void text_fact(wpi_text *out, const char *label, const char *value) {
    wpi_text_appendf(out, "  %-*s %s\n", NAME_WIDTH, label, value);
}

void wpi_streamed_text(const wp_run_record *record, wpi_text *out) {
    char time[32], work[32], wait[32];
    for (size_t i = 0; i < record->streamed_count; i++) {
        const wp_run_streamed *row = &record->streamed[i];
        char *name = wpi_cxx_name_short(row->display_name, NAME_WIDTH);
        wpi_text_appendf(out, "\n  %-*s %s\n", NAME_WIDTH, "streamed kernel", name);
        wpi_free(name);
        visit_facts(row, out, text_fact);
        wpi_text_appendf(out, "  %-*s %10s %10s   of %s\n", NAME_WIDTH, "stage", "at work",
                         "waiting", wpi_format_duration(row->time_ns, time));
        for (size_t s = 0; s < STAGE_COUNT; s++)
            wpi_text_appendf(out, "  %-*s %10s %10s\n", NAME_WIDTH, stages[s].label,
                             share(row, work_of(row, s), work), share(row, wait_of(row, s), wait));
    }
}

static void html_fact(wpi_text *out, const char *label, const char *value) {
    wpi_text_append(out, "<tr>");
    wpi_page_element(out, "td", label);
    wpi_page_element(out, "td", value);
    wpi_text_append(out, "</tr>\n");
}

void wpi_streamed_html(const wp_run_record *record, wpi_text *out) {
    static const char *const names[] = {"stage", "at work", "waiting", NULL};
    char work[32], wait[32];
    for (size_t i = 0; i < record->streamed_count; i++) {
        const wp_run_streamed *row = &record->streamed[i];
        char *name = wpi_cxx_name_short(row->display_name, NAME_WIDTH);
        char *title = wpi_format("Streamed kernel %s", name);
        wpi_page_begin_table(out, title);
        visit_facts(row, out, html_fact);
        wpi_page_end_table(out);
        wpi_page_begin_table(out, NULL);
        wpi_text_append(out, "<tr>");
        for (size_t n = 0; names[n] != NULL; n++)
            wpi_page_element(out, "th", names[n]);
        wpi_text_append(out, "</tr>\n");
        for (size_t s = 0; s < STAGE_COUNT; s++) {
            wpi_text_append(out, "<tr>");
            wpi_page_element(out, "td", stages[s].label);
            wpi_page_element(out, "td", share(row, work_of(row, s), work));
            wpi_page_element(out, "td", share(row, wait_of(row, s), wait));
            wpi_text_append(out, "</tr>\n");
        }
        wpi_page_end_table(out);
        wpi_free(title);
        wpi_free(name);
    }
}
