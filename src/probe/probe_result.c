/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/result.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"

#define FIELD(member)                                                                              \
    static const wpi_number *get_##member(const wpi_level *level) {                                \
        return &level->member;                                                                     \
    }
FIELD(entries)
FIELD(page_bytes)
FIELD(fill_bytes)
FIELD(fill_pages)
FIELD(sets)
FIELD(ways)
FIELD(replacement)
FIELD(miss_cycles)
FIELD(reach_bytes)
FIELD(plateau_bytes)
#undef FIELD

const wpi_level_field wpi_level_fields[] = {{"entries", "Entries", get_entries},
                                            {"page_bytes", "Page size", get_page_bytes},
                                            {"fill_bytes", "Filled by a miss", get_fill_bytes},
                                            {"fill_pages", NULL, get_fill_pages},
                                            {"reach_bytes", "Cacheable memory", get_reach_bytes},
                                            {"plateau_bytes", NULL, get_plateau_bytes},
                                            {"sets", "Sets", get_sets},
                                            {"ways", "Ways", get_ways},
                                            {"replacement", "Replacement", get_replacement},
                                            {"miss_cycles", "Delay on miss", get_miss_cycles},
                                            {0}};

const char *wpi_replacement_name(const wpi_number *replacement) {
    return wpi_level_replacement_names[(wpi_level_replacement)replacement->value];
}

bool wpi_level_field_is_name(const wpi_level_field *field) {
    return field->number == get_replacement;
}

double wpi_level_confidence(const wpi_level *level) {
    const wpi_number *const numbers[] = {&level->entries, &level->page_bytes, &level->miss_cycles};
    double least = 1;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i]->confidence < least) least = numbers[i]->confidence;
    return least;
}

const char *wpi_whole_bytes(double bytes, char out[32]) {
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    uint64_t left = (uint64_t)bytes;
    unsigned unit = 0;
    while (unit < 4 && left != 0 && left % 1024 == 0) {
        left /= 1024;
        unit++;
    }
    (void)snprintf(out, 32, "%" PRIu64 " %s", left, units[unit]);
    return out;
}

void wpi_probe_result_deinit(wpi_probe_result *result) {
    wpi_strings_deinit(&result->conditions);
    wpi_strings_deinit(&result->notes);
    wpi_hierarchy_destroy(result->tlbs);
    wpi_hierarchy_destroy(result->huge_tlbs);
    *result = (wpi_probe_result){0};
}

/* "l2.groups 5", "l2.groups_of_3 3", … */
static void append_groups(const wpi_sharing_groups *s, const char *prefix, uint32_t level,
                          wpi_text *out) {
    uint32_t sizes[WPI_PROBE_SMS_MAX] = {0}, counts[WPI_PROBE_SMS_MAX + 1] = {0};
    if (!s->count.is_known) return;
    for (uint32_t sm = 0; sm < s->sm_count; sm++)
        sizes[s->group_of[sm]]++;
    for (uint32_t g = 0; g < (uint32_t)s->count.value; g++)
        counts[sizes[g]]++;
    wpi_text_appendf(out, "%sl%" PRIu32 ".groups %g\n", prefix, level, s->count.value);
    for (uint32_t size = 1; size <= s->sm_count; size++)
        if (counts[size] != 0)
            wpi_text_appendf(out, "%sl%" PRIu32 ".groups_of_%" PRIu32 " %" PRIu32 "\n", prefix,
                             level, size, counts[size]);
}

static void append_values(const wpi_hierarchy *h, const char *prefix, wpi_text *out) {
    if (h->base_cycles.is_known)
        wpi_text_appendf(out, "%sbase_cycles %g\n", prefix, h->base_cycles.value);
    wpi_text_appendf(out, "%slevels %" PRIu32 "\n", prefix, h->level_count);
    for (uint32_t l = 0; l < h->level_count; l++) {
        const wpi_level *level = &h->levels[l];
        for (const wpi_level_field *f = wpi_level_fields; f->name != NULL; f++)
            if (wpi_level_field_is_name(f) && f->number(level)->is_known)
                wpi_text_appendf(out, "%sl%" PRIu32 ".%s %s\n", prefix, l + 1, f->name,
                                 wpi_replacement_name(f->number(level)));
            else if (f->number(level)->is_known)
                wpi_text_appendf(out, "%sl%" PRIu32 ".%s %.12g\n", prefix, l + 1, f->name,
                                 f->number(level)->value);
        append_groups(&level->sharing, prefix, l + 1, out);
    }
    for (uint32_t i = 0; i < h->missing_count; i++)
        wpi_text_appendf(out, "%smissing_sm.%" PRIu32 " %" PRIu32 "\n", prefix, i + 1,
                         h->missing_sms[i]);
    wpi_text_appendf(out, "%smissing_sms %" PRIu32 "\n", prefix, h->missing_count);
}

void wpi_probe_result_values(const wpi_probe_result *result, wpi_text *out) {
    if (result->tlbs != NULL) append_values(result->tlbs, "", out);
    if (result->huge_tlbs != NULL) append_values(result->huge_tlbs, "huge.", out);
}
