/* SPDX-License-Identifier: Apache-2.0 */
/* The verdict as text, as a section of the page, and as JSON. */
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "report/rules/verdict.h"

#define COLUMNS 100u

/* ---- text ---- */

/* Wraps words at COLUMNS; each line begins with `indent`, the first one with `first`. */
static void append_wrapped(const char *text, const char *first, const char *indent, wpi_text *out) {
    size_t column = wpi_text_columns(first);
    wpi_text_append(out, first);
    for (bool is_first = true; *text != '\0'; is_first = false) {
        const size_t length = strcspn(text, " ");
        char *word = wpi_format("%.*s", (int)length, text);
        const size_t width = wpi_text_columns(word);
        if (!is_first && column + 1 + width > COLUMNS) {
            wpi_text_appendf(out, "\n%s", indent);
            column = wpi_text_columns(indent);
        } else if (!is_first) {
            wpi_text_append(out, " ");
            column++;
        }
        wpi_text_append(out, word);
        wpi_free(word);
        column += width;
        text += length + strspn(text + length, " ");
    }
    wpi_text_append(out, "\n");
}

/* "       gather.cu:12  sum += table[index[k * n + i]];" */
static void append_place(const wp_run_record *record, const wpi_verdict_line *line, wpi_text *out) {
    wpi_verdict_place place;
    wpi_verdict_place_find(record, line, &place);
    if (place.text != NULL) {
        char *at = wpi_format("       %s:%u  ", place.base, place.line);
        const size_t width = wpi_text_columns(at);
        wpi_text_append(out, at);
        size_t bytes = 0;
        for (size_t left = width < COLUMNS ? COLUMNS - width : 1; place.text[bytes] != '\0';
             bytes++)
            if (((unsigned char)place.text[bytes] & 0xc0) != 0x80 && left-- == 0) break;
        wpi_text_appendf(out, "%.*s\n", (int)bytes, place.text);
        wpi_free(at);
    }
    wpi_verdict_place_deinit(&place);
}

void wpi_verdict_text(const wp_run_record *record, wpi_text *out) {
    wpi_verdict v;
    wpi_verdict_make(record, &v);
    if (v.count != 0) wpi_text_append(out, "\n  what holds it back\n");
    for (size_t i = 0; i < v.count; i++) {
        char *evidence = wpi_verdict_evidence(record, &v.lines[i]);
        char *remedy = wpi_verdict_remedy(&v.lines[i]);
        char *gain = wpi_verdict_gain(record, &v.lines[i]);
        char *first = wpi_format("  %zu. ", i + 1);
        char *all = wpi_format("%s %s%s%s", evidence, remedy, gain != NULL ? " " : "",
                               gain != NULL ? gain : "");
        append_wrapped(all, first, "     ", out);
        append_place(record, &v.lines[i], out);
        wpi_free(all);
        wpi_free(first);
        wpi_free(gain);
        wpi_free(remedy);
        wpi_free(evidence);
    }
    wpi_verdict_deinit(&v);
}

/* ---- the page ---- */

static void append_sentence(wpi_text *out, const char *tag, char *sentence) {
    if (sentence == NULL) return;
    wpi_text_appendf(out, "<%s>", tag);
    wpi_page_words(out, sentence);
    wpi_text_appendf(out, "</%s> ", tag);
    wpi_free(sentence);
}

/* The line, linked to its row in the source (html_source.c). */
static void append_place_html(const wp_run_record *record, const wpi_verdict_line *line,
                              wpi_text *out) {
    wpi_verdict_place place;
    wpi_verdict_place_find(record, line, &place);
    if (place.file != NULL) {
        wpi_text_appendf(out, "<a class=place href=\"#k%zu-%u-%u\"><span>",
                         (size_t)(line->kernel - record->kernels), place.file_number, place.line);
        wpi_text_append_html(out, place.base);
        wpi_text_appendf(out, ":%u</span> <code>", place.line);
        wpi_text_append_html(out, place.text != NULL ? place.text : "");
        wpi_text_append(out, "</code></a>");
    }
    wpi_verdict_place_deinit(&place);
}

void wpi_verdict_html(const wp_run_record *record, wpi_text *out) {
    wpi_verdict v;
    wpi_verdict_make(record, &v);
    if (v.count != 0) wpi_text_append(out, "<h2>What holds it back</h2>\n<ol class=verdict>\n");
    for (size_t i = 0; i < v.count; i++) {
        wpi_text_append(out, "<li>");
        append_sentence(out, "strong", wpi_verdict_evidence(record, &v.lines[i]));
        append_place_html(record, &v.lines[i], out);
        append_sentence(out, "span", wpi_verdict_remedy(&v.lines[i]));
        append_sentence(out, "em", wpi_verdict_gain(record, &v.lines[i]));
        wpi_text_append(out, "</li>\n");
    }
    if (v.count != 0) wpi_text_append(out, "</ol>\n");
    wpi_verdict_deinit(&v);
}

/* ---- JSON ---- */

static void set_text(json_t *object, const char *key, const char *text) {
    if (text != NULL) wpi_json_set(object, key, wpi_json_string(text));
}

static void place_to_json(const wp_run_record *record, const wpi_verdict_line *line,
                          json_t *object) {
    wpi_verdict_place place;
    wpi_verdict_place_find(record, line, &place);
    set_text(object, "file", place.file);
    if (place.file != NULL) {
        wpi_json_set(object, "line", wpi_json_number(place.line));
        wpi_json_set(object, "line_share", json_real(place.share));
    }
    wpi_verdict_place_deinit(&place);
}

static void estimate_to_json(const wp_run_record *record, const wp_run_estimate *e,
                             json_t *object) {
    json_t *times = json_array();
    for (size_t k = 0; k < record->kernel_count; k++)
        wpi_json_append(times, wpi_json_number(e->kernel_times_ns[k]));
    wpi_json_set(object, "ideal_time_ns", wpi_json_number(e->time_ns));
    wpi_json_set(object, "ideal_kernel_times_ns", times);
}

static json_t *line_to_json(const wp_run_record *record, const wpi_verdict_line *line) {
    json_t *object = json_object();
    set_text(object, "rule", line->rule->name);
    if (line->kernel != NULL) set_text(object, "kernel", line->kernel->name);
    wpi_json_set(object, "weight", json_real(line->finding.weight));
    set_text(object, "evidence", line->finding.evidence);
    set_text(object, "remedy", line->finding.remedy);
    set_text(object, "bound", line->finding.bound);
    set_text(object, "ideal_settings", line->finding.ideal);
    place_to_json(record, line, object);
    for (size_t i = 0; i < record->estimate_count; i++)
        if (strcmp(record->estimates[i].rule, line->rule->name) == 0)
            estimate_to_json(record, &record->estimates[i], object);
    return object;
}

json_t *wpi_verdict_to_json(const wp_run_record *record) {
    json_t *array = json_array();
    wpi_verdict v;
    wpi_verdict_make(record, &v);
    for (size_t i = 0; i < v.count; i++)
        wpi_json_append(array, line_to_json(record, &v.lines[i]));
    wpi_verdict_deinit(&v);
    return array;
}

void wpi_verdict_from_json(wpi_json_reader *r, const json_t *array, wp_run_record *out) {
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *object = json_array_get(array, i);
        if (json_object_get(object, "ideal_time_ns") == NULL) continue;
        wp_run_estimate *e = wpi_estimate_add(out, wpi_json_read_string(r, object, "rule"));
        const json_t *times = json_object_get(object, "ideal_kernel_times_ns");
        e->time_ns = wpi_json_read_number(r, object, "ideal_time_ns");
        for (size_t k = 0; k < out->kernel_count; k++) {
            const json_int_t ns = json_integer_value(json_array_get(times, k));
            e->kernel_times_ns[k] = ns > 0 ? (uint64_t)ns : 0;
        }
    }
}
