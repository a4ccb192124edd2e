/* SPDX-License-Identifier: Apache-2.0 */
#include "report/cached.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "base/units.h"

#define NAME_WIDTH 34

enum { HITS_PCT = 50 }; /* in records that do not say */

/* The numbers of a row and of a structure: names in JSON, and whether launches are summed. */
typedef struct field {
    const char *name;
    size_t offset;
    bool is_sum;
    bool is_new; /* records of older versions lack it: 0 */
} field;

static const field fields[] = {
#define FIELD(name, is_sum) {#name, offsetof(wp_run_cached, name), is_sum, false}
    FIELD(launches, true),
    FIELD(plain_launches, true),
    {"l1_launches", offsetof(wp_run_cached, l1_launches), true, true},
    {"hits_pct", offsetof(wp_run_cached, hits_pct), false, true},
    FIELD(lines, false),
    FIELD(threads_per_sm, false),
    FIELD(shared_left_bytes, false),
    FIELD(registers, false),
    FIELD(plain_registers, false),
    FIELD(registers_per_sm, false),
    FIELD(instructions, false),
    FIELD(cached_instructions, false),
    FIELD(left, true),
    FIELD(stayed, true),
    FIELD(runs, true),
    FIELD(filled_lines, true),
    FIELD(flushed_lines, true),
#undef FIELD
};
enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static const field parts[] = {
#define FIELD(name, is_sum) {#name, offsetof(wp_run_cached_structure, name), is_sum, false}
    FIELD(parameter, false), FIELD(accesses, true), FIELD(hits, true),
    FIELD(chosen, true),     FIELD(seldom, true),   FIELD(crowded, true),
#undef FIELD
};
enum { PART_COUNT = sizeof parts / sizeof *parts };

static uint64_t *number_of(void *row, const field *f) {
    return (uint64_t *)(void *)((char *)row + f->offset);
}

static uint64_t number_in(const void *row, const field *f) {
    return *(const uint64_t *)(const void *)((const char *)row + f->offset);
}

/* `keeps`: what is no sum stays as it is. */
static void merge(void *to, const void *from, const field *list, size_t count, bool keeps) {
    for (size_t i = 0; i < count; i++) {
        uint64_t *number = number_of(to, &list[i]);
        if (list[i].is_sum)
            *number += number_in(from, &list[i]);
        else if (!keeps)
            *number = number_in(from, &list[i]);
    }
}

static bool is_plain(const wp_run_cached *row) {
    return row->plain_launches == row->launches;
}

static wp_run_cached *add_row(wp_run_record *record) {
    wp_run_cached *rows = wpi_realloc(record->cached, (record->cached_count + 1) * sizeof *rows);
    if (rows == NULL) return NULL;
    record->cached = rows;
    rows[record->cached_count] = (wp_run_cached){0};
    return &rows[record->cached_count++];
}

static void free_row(wp_run_cached *row) {
    wpi_free(row->name);
    wpi_free(row->display_name);
    wpi_free(row->reason);
}

static wp_run_cached *new_row(wp_run_record *record, const wp_run_cached *launches) {
    wp_run_cached *row = add_row(record);
    if (row == NULL) return NULL;
    row->name = wpi_strdup(launches->name);
    row->display_name = wpi_cxx_demangle(launches->name);
    if (row->display_name == NULL) row->display_name = wpi_strdup(launches->name);
    if (launches->reason != NULL) row->reason = wpi_strdup(launches->reason);
    row->has_counts = launches->has_counts;
    row->registers_are_estimated = launches->registers_are_estimated;
    row->structure_count = launches->structure_count;
    for (size_t s = 0; s < launches->structure_count; s++) {
        memcpy(row->structures[s].name, launches->structures[s].name,
               sizeof row->structures[s].name);
        row->structures[s].is_written = launches->structures[s].is_written;
        row->structures[s].is_run = launches->structures[s].is_run;
        row->structures[s].is_alike = launches->structures[s].is_alike;
        row->structures[s].is_left_out = launches->structures[s].is_left_out;
    }
    if (row->name != NULL && row->display_name != NULL &&
        (launches->reason == NULL || row->reason != NULL))
        return row;
    free_row(row);
    record->cached_count--;
    return NULL;
}

bool wpi_cached_add(wp_run_record *record, const wp_run_cached *launches) {
    wp_run_cached *row = NULL;
    for (size_t i = 0; i < record->cached_count && row == NULL; i++)
        if (strcmp(record->cached[i].name, launches->name) == 0) row = &record->cached[i];
    if (row == NULL) row = new_row(record, launches);
    if (row == NULL) return false;
    if (row->reason == NULL && launches->reason != NULL) {
        row->reason = wpi_strdup(launches->reason);
        if (row->reason == NULL) return false;
    }
    /* Lines and the like are those of the last launch that cached. */
    const bool keeps = is_plain(launches) && !is_plain(row);
    merge(row, launches, fields, FIELD_COUNT, keeps);
    for (size_t s = 0; s < row->structure_count; s++)
        merge(&row->structures[s], &launches->structures[s], parts, PART_COUNT, keeps);
    return true;
}

void wpi_cached_deinit(wp_run_record *record) {
    for (size_t i = 0; i < record->cached_count; i++)
        free_row(&record->cached[i]);
    wpi_free(record->cached);
    record->cached = NULL;
    record->cached_count = 0;
}

/* ---- JSON ---- */

static void numbers_to_json(json_t *object, const void *row, const field *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        wpi_json_set(object, list[i].name, wpi_json_number(number_in(row, &list[i])));
}

static json_t *structure_to_json(const wp_run_cached_structure *s) {
    json_t *object = json_object();
    wpi_json_set(object, "name", wpi_json_string(s->name));
    wpi_json_set(object, "is_written", json_boolean(s->is_written));
    wpi_json_set(object, "is_run", json_boolean(s->is_run));
    wpi_json_set(object, "is_alike", json_boolean(s->is_alike));
    wpi_json_set(object, "is_left_out", json_boolean(s->is_left_out));
    numbers_to_json(object, s, parts, PART_COUNT);
    return object;
}

json_t *wpi_cached_to_json(const wp_run_record *record) {
    json_t *array = json_array();
    for (size_t i = 0; i < record->cached_count; i++) {
        const wp_run_cached *row = &record->cached[i];
        json_t *object = json_object(), *structures = json_array();
        wpi_json_set(object, "name", wpi_json_string(row->name));
        wpi_json_set(object, "display_name", wpi_json_string(row->display_name));
        if (row->reason != NULL) wpi_json_set(object, "reason", wpi_json_string(row->reason));
        wpi_json_set(object, "has_counts", json_boolean(row->has_counts));
        wpi_json_set(object, "registers_are_estimated", json_boolean(row->registers_are_estimated));
        numbers_to_json(object, row, fields, FIELD_COUNT);
        for (size_t s = 0; s < row->structure_count; s++)
            wpi_json_append(structures, structure_to_json(&row->structures[s]));
        wpi_json_set(object, "structures", structures);
        wpi_json_append(array, object);
    }
    return array;
}

static void numbers_from_json(wpi_json_reader *r, const json_t *object, void *row,
                              const field *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!list[i].is_new || json_object_get(object, list[i].name) != NULL)
            *number_of(row, &list[i]) = wpi_json_read_number(r, object, list[i].name);
}

static void structure_from_json(wpi_json_reader *r, const json_t *object,
                                wp_run_cached_structure *out) {
    char *name = wpi_json_read_string(r, object, "name");
    (void)snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : "");
    wpi_free(name);
    out->is_written = json_is_true(json_object_get(object, "is_written"));
    out->is_run = json_is_true(json_object_get(object, "is_run"));
    out->is_alike = json_is_true(json_object_get(object, "is_alike"));
    out->is_left_out = json_is_true(json_object_get(object, "is_left_out"));
    numbers_from_json(r, object, out, parts, PART_COUNT);
}

void wpi_cached_from_json(wpi_json_reader *r, const json_t *array, wp_run_record *out) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        const json_t *structures = json_object_get(object, "structures");
        wp_run_cached *row = add_row(out);
        WP_CHECK(row != NULL);
        row->name = wpi_json_read_string(r, object, "name");
        row->display_name = wpi_json_read_string(r, object, "display_name");
        if (json_object_get(object, "reason") != NULL)
            row->reason = wpi_json_read_string(r, object, "reason");
        row->has_counts = json_is_true(json_object_get(object, "has_counts"));
        row->registers_are_estimated =
            json_is_true(json_object_get(object, "registers_are_estimated"));
        row->hits_pct = HITS_PCT;
        numbers_from_json(r, object, row, fields, FIELD_COUNT);
        for (size_t s = 0; s < json_array_size(structures) && s < WP_RUN_CACHED_STRUCTURES; s++) {
            structure_from_json(r, json_array_get(structures, s), &row->structures[s]);
            row->structure_count = s + 1;
        }
    }
}

/* ---- for people ---- */

typedef void (*fact_fn)(wpi_text *out, const char *label, const char *value);

static double pct(uint64_t part, uint64_t all) {
    return all == 0 ? 0.0 : 100.0 * (double)part / (double)all;
}

/* The threads' decisions, which mostly agree. */
static void describe_choice(const wp_run_cached_structure *s, uint64_t hits_pct, char *text,
                            size_t size) {
    const uint64_t all = s->chosen + s->seldom + s->crowded;
    if (all == 0)
        (void)snprintf(text, size, "no thread left monitoring");
    else if (s->chosen == all)
        (void)snprintf(text, size, "cached");
    else if (s->seldom == all && s->is_alike)
        (void)snprintf(text, size, "not cached: the lanes of a warp read one address");
    else if (s->seldom == all && s->is_left_out)
        (void)snprintf(text, size,
                       "not cached: loops access it that end where data say, or in which lanes "
                       "meet");
    else if (s->seldom == all)
        (void)snprintf(text, size, "not cached: at most %" PRIu64 " %% hits", hits_pct);
    else if (s->crowded == all)
        (void)snprintf(text, size, "not cached: no line left");
    else
        (void)snprintf(text, size,
                       "cached by %.1f %% of the threads; too few hits for %.1f %%, no line "
                       "left for %.1f %%",
                       pct(s->chosen, all), pct(s->seldom, all), pct(s->crowded, all));
}

static void visit_structures(const wp_run_cached *row, wpi_text *out, fact_fn fact) {
    char label[80], choice[128], text[256];
    for (size_t i = 0; i < row->structure_count; i++) {
        const wp_run_cached_structure *s = &row->structures[i];
        const char *access = s->is_written ? "read-write" : "read-only";
        if (s->parameter == UINT32_MAX)
            (void)snprintf(label, sizeof label, "variable %s, %s", s->name, access);
        else
            (void)snprintf(label, sizeof label, "parameter %" PRIu64 "%s%s, %s", s->parameter,
                           s->name[0] != '\0' ? " " : "", s->name, access);
        describe_choice(s, row->hits_pct, choice, sizeof choice);
        const char *run = s->is_run ? "16 bytes at a time where loops allow it" : "";
        if (s->is_run && s->accesses == 0)
            (void)snprintf(text, sizeof text, "%s", run);
        else
            (void)snprintf(text, sizeof text, "%s%s%.1f %% hits of %" PRIu64 " monitored; %s", run,
                           s->is_run ? "; " : "", pct(s->hits, s->accesses), s->accesses, choice);
        fact(out, label, text);
    }
}

static void visit_counts(const wp_run_cached *row, wpi_text *out, fact_fn fact) {
    char text[96];
    visit_structures(row, out, fact);
    (void)snprintf(text, sizeof text, "%" PRIu64 " left monitoring, %" PRIu64 " ended in it",
                   row->left, row->stayed);
    fact(out, "threads", text);
    if (row->runs != 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " begun by threads", row->runs);
        fact(out, "loops, 16 bytes at a time", text);
    }
    (void)snprintf(text, sizeof text, "%" PRIu64 " filled, %" PRIu64 " flushed", row->filled_lines,
                   row->flushed_lines);
    fact(out, "lines", text);
}

/* The share is of all registers of an SM: those that the cache adds to its resident threads. */
static void visit_registers(const wp_run_cached *row, wpi_text *out, fact_fn fact) {
    char text[160], share[64] = "";
    const uint64_t added =
        row->registers > row->plain_registers ? row->registers - row->plain_registers : 0;
    if (row->registers_per_sm != 0)
        (void)snprintf(share, sizeof share, "; the difference is %.1f %% of an SM's",
                       pct(added * row->threads_per_sm, row->registers_per_sm));
    (void)snprintf(text, sizeof text, "%" PRIu64 " a thread, %" PRIu64 " without the cache (%s)%s",
                   row->registers, row->plain_registers,
                   row->registers_are_estimated ? "estimated" : "the driver's numbers", share);
    fact(out, "registers", text);
}

static void visit_facts(const wp_run_cached *row, wpi_text *out, fact_fn fact) {
    char left[32], text[160];
    (void)snprintf(text, sizeof text, "%" PRIu64 ", %" PRIu64 " of them plain", row->launches,
                   row->plain_launches);
    fact(out, "launches", text);
    if (row->reason != NULL && row->plain_launches != 0) fact(out, "plain because", row->reason);
    if (row->l1_launches != 0) {
        (void)snprintf(text, sizeof text, "in %" PRIu64 " of the plain launches", row->l1_launches);
        fact(out, "hardware's L1", text);
    }
    if (row->plain_launches == row->launches) return;
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 ": %s of shared memory left, %" PRIu64 " threads an SM%s", row->lines,
                   wpi_format_bytes(row->shared_left_bytes, left), row->threads_per_sm,
                   row->lines == 0 ? "; nothing is cached" : "");
    fact(out, "lines a thread", text);
    visit_registers(row, out, fact);
    (void)snprintf(
        text, sizeof text, "%" PRIu64 " added to the kernel's %" PRIu64 " (LLVM's, in the code)",
        row->cached_instructions > row->instructions ? row->cached_instructions - row->instructions
                                                     : 0,
        row->instructions);
    fact(out, "instructions", text);
    if (row->has_counts) visit_counts(row, out, fact);
}

static void text_fact(wpi_text *out, const char *label, const char *value) {
    wpi_text_appendf(out, "  %-*s %s\n", NAME_WIDTH, label, value);
}

void wpi_cached_text(const wp_run_record *record, wpi_text *out) {
    for (size_t i = 0; i < record->cached_count; i++) {
        char *name = wpi_cxx_name_short(record->cached[i].display_name, NAME_WIDTH);
        wpi_text_appendf(out, "\n  %-*s %s\n", NAME_WIDTH, "cached kernel", name);
        wpi_free(name);
        visit_facts(&record->cached[i], out, text_fact);
    }
}

static void html_fact(wpi_text *out, const char *label, const char *value) {
    wpi_text_append(out, "<tr>");
    wpi_page_element(out, "td", label);
    wpi_page_element(out, "td", value);
    wpi_text_append(out, "</tr>\n");
}

void wpi_cached_html(const wp_run_record *record, wpi_text *out) {
    for (size_t i = 0; i < record->cached_count; i++) {
        char *name = wpi_cxx_name_short(record->cached[i].display_name, NAME_WIDTH);
        char *title = wpi_format("Cached kernel %s", name);
        wpi_page_begin_table(out, title);
        visit_facts(&record->cached[i], out, html_fact);
        wpi_page_end_table(out);
        wpi_free(title);
        wpi_free(name);
    }
}
