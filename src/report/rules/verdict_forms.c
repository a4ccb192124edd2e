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
        wpi_free(all);
        wpi_free(first);
        wpi_free(gain);
        wpi_free(remedy);
        wpi_free(evidence);
    }
    wpi_verdict_deinit(&v);
}

/* ---- the page ---- */

/* What is between `…` becomes code. */
static void append_sentence(wpi_text *out, const char *tag, char *sentence) {
    if (sentence == NULL) return;
    bool is_code = false;
    wpi_text_appendf(out, "<%s>", tag);
    for (const char *at = sentence; *at != '\0';) {
        const size_t length = strcspn(at, "`");
        char *part = wpi_format("%.*s", (int)length, at);
        wpi_text_append_html(out, part);
        wpi_free(part);
        at += length;
        if (*at != '`') break;
        is_code = !is_code;
        wpi_text_append(out, is_code ? "<code>" : "</code>");
        at++;
    }
    wpi_text_appendf(out, "%s</%s> ", is_code ? "</code>" : "", tag);
    wpi_free(sentence);
}

void wpi_verdict_html(const wp_run_record *record, wpi_text *out) {
    wpi_verdict v;
    wpi_verdict_make(record, &v);
    if (v.count != 0) wpi_text_append(out, "<h2>What holds it back</h2>\n<ol class=verdict>\n");
    for (size_t i = 0; i < v.count; i++) {
        wpi_text_append(out, "<li>");
        append_sentence(out, "strong", wpi_verdict_evidence(record, &v.lines[i]));
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

static json_t *line_to_json(const wp_run_record *record, const wpi_verdict_line *line) {
    json_t *object = json_object();
    set_text(object, "rule", line->rule->name);
    if (line->kernel != NULL) set_text(object, "kernel", line->kernel->name);
    wpi_json_set(object, "weight", json_real(line->finding.weight));
    set_text(object, "evidence", line->finding.evidence);
    set_text(object, "remedy", line->finding.remedy);
    set_text(object, "bound", line->finding.bound);
    set_text(object, "ideal_settings", line->finding.ideal);
    for (size_t i = 0; i < record->estimate_count; i++)
        if (strcmp(record->estimates[i].rule, line->rule->name) == 0)
            wpi_json_set(object, "ideal_time_ns", wpi_json_number(record->estimates[i].time_ns));
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
    const size_t count = json_array_size(array);
    if (count == 0) return;
    out->estimates = wpi_calloc(count, sizeof *out->estimates);
    WP_CHECK(out->estimates != NULL);
    for (size_t i = 0; i < count; i++) {
        const json_t *object = json_array_get(array, i);
        if (json_object_get(object, "ideal_time_ns") == NULL) continue;
        wp_run_estimate *e = &out->estimates[out->estimate_count++];
        e->rule = wpi_json_read_string(r, object, "rule");
        e->time_ns = wpi_json_read_number(r, object, "ideal_time_ns");
    }
}
