/* SPDX-License-Identifier: Apache-2.0 */
/* The delay of a miss is the latency of the next level, at the last level that of the walk. */
#include <math.h>

#include "probe/infer/plan.h"

#define PROFILE_LEVELS_MAX 4u /* of a simulated GPU */
#define LINE_CHARS_MAX 198u   /* of a profile */

static wp_status check(const wpi_hierarchy *h, wp_error *err) {
    if (h->level_count == 0)
        return WP_FAIL(err, INVALID, "no TLB level was found: nothing to write");
    if (h->level_count > PROFILE_LEVELS_MAX)
        return WP_FAIL(err, INVALID, "%u levels: a profile has at most %u", h->level_count,
                       PROFILE_LEVELS_MAX);
    for (uint32_t i = 0; i < h->level_count; i++) {
        const wpi_level *l = &h->levels[i];
        const wpi_number *const needed[] = {&l->page_bytes, &l->fill_bytes, &l->entries,
                                            &l->miss_cycles};
        static const char *const names[] = {"page", "fill", "entries", "delay"};
        for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
            if (!needed[k]->is_known)
                return WP_FAIL(err, INVALID, "L%u: a profile needs the %s, which is unknown: %s",
                               i + 1, names[k], needed[k]->reason);
    }
    return WP_STATUS_OK;
}

static void write_bytes(wpi_text *out, const char *key, double bytes) {
    const bool is_kib = fmod(bytes, 1024) == 0;
    wpi_text_appendf(out, "%s = %.0f%s\n", key, is_kib ? bytes / 1024 : bytes,
                     is_kib ? "KiB" : "B");
}

static void write_floorplan(const wpi_hierarchy *h, const wpi_plan *plan, wpi_text *out) {
    if (h->sm_count == 0) return;
    wpi_text_appendf(out, "\n[floorplan]\ngpcs = %u\ntpcs = %u\nsms = %u\norder = %s\ndisabled =",
                     plan->gpcs, plan->tpcs, plan->sms, plan->is_row ? "row" : "round-robin");
    for (uint32_t i = 0; i < h->missing_count; i++)
        wpi_text_appendf(out, "%s%u", i == 0 ? " " : ",", h->missing_sms[i]);
    wpi_text_append(out, "\n");
}

/* Lists groups that no floorplan has. */
static wp_status write_groups(const wpi_level *l, uint32_t number, wpi_text *out, wp_error *err) {
    wpi_text groups = {0}, line = {0};
    wpi_sharing_text(&l->sharing, &groups);
    wpi_text_append(&line, "groups = ");
    for (const char *at = wpi_text_string(&groups); *at != '\0'; at++)
        if (*at != ' ') wpi_text_append_n(&line, at, 1);
    const bool fits = line.length <= LINE_CHARS_MAX;
    wpi_text_append(&line, "\n");
    if (fits) wpi_text_append(out, "sharing = groups\n");
    if (fits) wpi_text_append(out, wpi_text_string(&line));
    wpi_text_deinit(&groups);
    wpi_text_deinit(&line);
    if (fits) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID,
                   "L%u: its sharing groups match no floorplan and are too many "
                   "for a line of a profile",
                   number + 1);
}

static wp_status write_sharing(const wpi_hierarchy *h, const wpi_plan *plan, uint32_t number,
                               wpi_text *out, wp_error *err) {
    const wpi_level *l = &h->levels[number];
    if (h->sm_count == 0) return WP_STATUS_OK;
    if (!l->sharing.count.is_known) {
        wpi_text_appendf(out, "; sharing is not known: %s\nsharing = sm\n",
                         l->sharing.count.reason);
        return WP_STATUS_OK;
    }
    const char *name = wpi_plan_sharing(plan, &l->sharing);
    if (name == NULL) return write_groups(l, number, out, err);
    wpi_text_appendf(out, "sharing = %s\n", name);
    return WP_STATUS_OK;
}

static void write_sets(const wpi_level *l, wpi_text *out) {
    if (l->way_group_count == 0) wpi_text_append(out, "; sets and ways are not known: one set\n");
    const bool is_equal = l->way_group_count < 2;
    const uint32_t ways = l->way_group_count == 1 ? l->way_groups[0].ways : 0;
    wpi_text_appendf(out, "hash = modulo\nways = %u\nsets =", is_equal ? ways : 0);
    for (uint32_t i = 0; !is_equal && i < l->way_group_count; i++)
        wpi_text_appendf(out, "%s%ux%u", i == 0 ? " " : ",", l->way_groups[i].count,
                         l->way_groups[i].ways);
    wpi_text_append(out, "\n");
}

static wp_status write_level(const wpi_hierarchy *h, const wpi_plan *plan, uint32_t number,
                             wpi_text *out, wp_error *err) {
    const wpi_level *l = &h->levels[number];
    wpi_text_appendf(out, "\n[tlb.l%u]\nentries = %.0f\n", number + 1, l->entries.value);
    write_sets(l, out);
    write_bytes(out, "coverage", l->page_bytes.value);
    if (l->replacement.is_known)
        wpi_text_appendf(out, "replacement = %s\n",
                         wpi_level_replacement_names[(wpi_level_replacement)l->replacement.value]);
    wpi_text_appendf(out, "fill = %.0f\n", l->fill_bytes.value / h->levels[0].fill_bytes.value);
    if (number > 0)
        wpi_text_appendf(out, "latency = %.0fcycles\n", h->levels[number - 1].miss_cycles.value);
    return write_sharing(h, plan, number, out, err);
}

wp_status wpi_profile_write(const wpi_hierarchy *h, const char *base, const char *title,
                            wpi_text *out, wp_error *err) {
    wpi_plan plan;
    WP_TRY(check(h, err));
    wpi_plan_init(&plan, h);
    wpi_text_append(out,
                    "; TLBs as probed; all else is of the profile that this one is based on.\n");
    wpi_text_appendf(out, "[gpu]\nbase = %s\ntitle = %s\n", base, title);
    write_floorplan(h, &plan, out);
    wpi_text_append(out, "\n[page]\n");
    write_bytes(out, "bytes", h->levels[0].fill_bytes.value);
    wpi_text_appendf(out, "\n[tlb]\nlevels = %u\n", h->level_count);
    for (uint32_t i = 0; i < h->level_count; i++)
        WP_TRY(write_level(h, &plan, i, out, err));
    wpi_text_appendf(out, "\n[walker]\nlevels = 1\nlevel_latency = %.0fcycles\ncache_entries = 0\n",
                     h->levels[h->level_count - 1].miss_cycles.value);
    return WP_STATUS_OK;
}
