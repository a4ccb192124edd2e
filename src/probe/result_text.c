/* SPDX-License-Identifier: Apache-2.0 */
/* Text: levels are columns, as in Table 2 of Karnagel et al., DaMoN'17. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "probe/result.h"

#define TITLE_WIDTH 18
#define COLUMN_WIDTH 14
#define SURE 0.9 /* below it the confidence is printed */

static bool is_bytes(const char *name) {
    const size_t length = strlen(name);
    return length > 6 && strcmp(name + length - 6, "_bytes") == 0;
}

static void number_text(const wpi_level_field *field, const wpi_number *n, char out[32]) {
    if (!n->is_known)
        (void)snprintf(out, 32, "?");
    else if (wpi_level_field_is_name(field))
        (void)snprintf(out, 32, "%s", wpi_replacement_name(n));
    else if (is_bytes(field->name))
        (void)wpi_whole_bytes(n->value, out);
    else if (strcmp(field->name, "miss_cycles") == 0)
        (void)snprintf(out, 32, "+%.3g cycles", n->value >= 100 ? round(n->value) : n->value);
    else
        (void)snprintf(out, 32, "%.0f", n->value);
}

static void append_cell(wpi_text *out, const char *text, bool is_last) {
    wpi_text_appendf(out, "%*s%s", COLUMN_WIDTH, text, is_last ? "\n" : "");
}

/* Ways of sets that differ: "6 of 8, 1 of 17" in a line of its own, below. */
static void append_unequal(const wpi_level *level, uint32_t number, wpi_text *out) {
    if (level->way_group_count < 2) return;
    wpi_text_appendf(out, "L%" PRIu32 "'s sets differ:", number);
    for (uint32_t g = 0; g < level->way_group_count; g++)
        wpi_text_appendf(out, "%s %" PRIu32 " of %" PRIu32 " ways", g != 0 ? "," : "",
                         level->way_groups[g].count, level->way_groups[g].ways);
    wpi_text_append(out, "\n");
}

static void sharing_text(const wpi_level *level, char out[32]) {
    const wpi_sharing_groups *s = &level->sharing;
    uint32_t sizes[WPI_PROBE_SMS_MAX] = {0}, least = UINT32_MAX, most = 0;
    (void)snprintf(out, 32, "?");
    if (!s->count.is_known) return;
    for (uint32_t sm = 0; sm < s->sm_count; sm++)
        sizes[s->group_of[sm]]++;
    for (uint32_t g = 0; g < (uint32_t)s->count.value; g++) {
        if (sizes[g] < least) least = sizes[g];
        if (sizes[g] > most) most = sizes[g];
    }
    if (most == s->sm_count && most > 1)
        (void)snprintf(out, 32, "all %" PRIu32 " SMs", most);
    else if (least == most)
        (void)snprintf(out, 32, "%" PRIu32 " SM%s", most, most > 1 ? "s" : "");
    else
        (void)snprintf(out, 32, "%" PRIu32 " to %" PRIu32 " SMs", least, most);
}

/* Curves from files and processors never have names: their table needs no row of question marks. */
static bool has_row(const wpi_level_field *field, const wpi_hierarchy *h) {
    bool is_known = field->title != NULL && !wpi_level_field_is_name(field);
    for (uint32_t l = 0; l < h->level_count && field->title != NULL; l++)
        is_known |= field->number(&h->levels[l])->is_known;
    return is_known;
}

static void append_table(const wpi_hierarchy *h, wpi_text *out) {
    const uint32_t last = h->level_count - 1;
    char text[32];
    wpi_text_appendf(out, "%-*s", TITLE_WIDTH, "");
    for (uint32_t l = 0; l <= last; l++) {
        (void)snprintf(text, sizeof text, "L%" PRIu32 " TLB", l + 1);
        append_cell(out, text, l == last);
    }
    for (const wpi_level_field *f = wpi_level_fields; f->name != NULL; f++) {
        if (!has_row(f, h)) continue;
        wpi_text_appendf(out, "%-*s", TITLE_WIDTH, f->title);
        for (uint32_t l = 0; l <= last; l++) {
            number_text(f, f->number(&h->levels[l]), text);
            append_cell(out, text, l == last);
        }
    }
    wpi_text_appendf(out, "%-*s", TITLE_WIDTH, "Shared by");
    for (uint32_t l = 0; l <= last; l++) {
        sharing_text(&h->levels[l], text);
        append_cell(out, text, l == last);
    }
    wpi_text_appendf(out, "%-*s", TITLE_WIDTH, "Confidence");
    for (uint32_t l = 0; l <= last; l++) {
        (void)snprintf(text, sizeof text, "%.2f", wpi_level_confidence(&h->levels[l]));
        append_cell(out, text, l == last);
    }
}

static void append_groups(const wpi_hierarchy *h, wpi_text *out) {
    for (uint32_t l = 0; l < h->level_count; l++) {
        const wpi_sharing_groups *s = &h->levels[l].sharing;
        if (!s->count.is_known || s->count.value < 2 || (uint32_t)s->count.value == s->sm_count)
            continue;
        wpi_text_appendf(out, "SMs that share an L%" PRIu32 " TLB: ", l + 1);
        wpi_sharing_text(s, out);
        wpi_text_append(out, "\n");
    }
    if (h->missing_count == 0) return;
    wpi_text_append(out, "SMs that seem to be switched off, in a regular floorplan:");
    for (uint32_t i = 0; i < h->missing_count; i++)
        wpi_text_appendf(out, "%s %" PRIu32, i != 0 ? "," : "", h->missing_sms[i]);
    wpi_text_append(out, "\n");
}

static void append_reason(const wpi_number *n, const char *what, wpi_text *out) {
    if (n->reason[0] == '\0' || (n->is_known && n->confidence >= SURE)) return;
    wpi_text_appendf(out, "  %s: %s\n", what, n->reason);
}

static void append_reasons(const wpi_hierarchy *h, wpi_text *out) {
    wpi_text reasons = {0};
    char what[64];
    append_reason(&h->levels_known, "levels", &reasons);
    append_reason(&h->base_cycles, "a hit's cycles", &reasons);
    for (uint32_t l = 0; l < h->level_count; l++) {
        for (const wpi_level_field *f = wpi_level_fields; f->name != NULL; f++) {
            if (f->title == NULL) continue;
            (void)snprintf(what, sizeof what, "L%" PRIu32 " %s", l + 1, f->name);
            append_reason(f->number(&h->levels[l]), what, &reasons);
        }
        (void)snprintf(what, sizeof what, "L%" PRIu32 " sharing", l + 1);
        append_reason(&h->levels[l].sharing.count, what, &reasons);
    }
    if (reasons.length != 0) {
        wpi_text_append(out, "Unknown or unsure:\n");
        wpi_text_append(out, wpi_text_string(&reasons));
    }
    wpi_text_deinit(&reasons);
}

static void append_hierarchy(const wpi_hierarchy *h, wpi_text *out) {
    if (h->level_count == 0)
        wpi_text_append(out, "No TLB was found.\n");
    else
        append_table(h, out);
    for (uint32_t l = 0; l < h->level_count; l++)
        append_unequal(&h->levels[l], l + 1, out);
    append_groups(h, out);
    if (h->base_cycles.is_known)
        wpi_text_appendf(out, "A load that misses none takes %.4g cycles.\n", h->base_cycles.value);
    append_reasons(h, out);
}

void wpi_probe_result_text(const wpi_probe_result *result, wpi_text *out) {
    wpi_text_appendf(out, "%s (%s)\n", result->name, result->spec);
    if (result->huge_tlbs != NULL) wpi_text_append(out, "\nPages of 4 KiB\n");
    if (result->tlbs != NULL) append_hierarchy(result->tlbs, out);
    if (result->huge_tlbs != NULL) {
        wpi_text_append(out, "\nPages of 2 MiB\n");
        append_hierarchy(result->huge_tlbs, out);
    }
    if (result->notes.count != 0) wpi_text_append(out, "\n");
    for (size_t i = 0; i < result->notes.count; i++)
        wpi_text_appendf(out, "%s\n", result->notes.items[i]);
    if (result->conditions.count != 0) wpi_text_append(out, "\nMeasured under\n");
    for (size_t i = 0; i + 1 < result->conditions.count; i += 2)
        wpi_text_appendf(out, "  %-16s %s\n", result->conditions.items[i],
                         result->conditions.items[i + 1]);
}
