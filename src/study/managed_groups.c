/* SPDX-License-Identifier: Apache-2.0 */
#include "study/managed_groups.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

#define SMALL_PART 100u /* of all migrated pages: smaller parts do not matter */

void wpi_managed_groups_add(void *groups, const wp_trace_allocation *allocation) {
    wpi_managed_groups *g = groups;
    size_t i = 0;
    while (i < g->count &&
           (g->items[i].bytes != allocation->bytes || g->items[i].address != allocation->address ||
            strcmp(g->items[i].site, allocation->site) != 0))
        i++;
    if (i == g->count) {
        wpi_managed_group *items = wpi_realloc(g->items, (g->count + 1) * sizeof *items);
        WP_CHECK(items != NULL);
        g->items = items;
        items[g->count++] = (wpi_managed_group){
            .name = wpi_format("allocation %" PRIu64, allocation->number),
            .site = wpi_format("%s", allocation->site),
            .address = allocation->address,
            .bytes = allocation->bytes,
        };
    }
    g->items[i].count++;
    wpi_strings_addf(&g->items[i].numbers, "%" PRIu64, allocation->number);
}

/* ---- results of a run ---- */

static bool is_of(const wp_run_allocation *a, const wpi_managed_group *group) {
    return strcmp(a->kind, "managed") == 0 && a->bytes == group->bytes &&
           strcmp(a->site, group->site) == 0;
}

/* Its row, or a row that it shares with later allocations. */
static const wp_run_allocation *row_of(const wp_run_simulation *s, const wpi_managed_group *group) {
    const wp_run_allocation *later = NULL;
    for (size_t i = 0; i < s->allocation_count; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        if (!is_of(a, group)) continue;
        if (a->address == group->address) return a;
        if (a->count > 1) later = a;
    }
    return later;
}

static void describe(wpi_managed_group *group, const wp_run_allocation *row) {
    if (row == NULL) return;
    if (row->address == group->address) { /* else they are another group's */
        group->reads = row->touches.reads;
        group->writes = row->touches.writes;
        memcpy(group->moves, row->moves, sizeof group->moves);
    }
    if (row->name[0] == '\0') return;
    wpi_free(group->name);
    group->name = wpi_format("%s", row->name);
    group->is_named = true;
}

static bool is_same(const wpi_managed_group *a, const wpi_managed_group *b) {
    return a->bytes == b->bytes && strcmp(a->site, b->site) == 0 && a->is_named == b->is_named &&
           (!a->is_named || strcmp(a->name, b->name) == 0);
}

static void deinit(wpi_managed_group *group) {
    wpi_free(group->name);
    wpi_free(group->site);
    wpi_strings_deinit(&group->numbers);
}

static void merge(wpi_managed_group *into, wpi_managed_group *from) {
    into->count += from->count;
    into->reads += from->reads;
    into->writes += from->writes;
    for (uint32_t move = 0; move < WP_RUN_MOVES; move++)
        into->moves[move] += from->moves[move];
    wpi_strings_add_all(&into->numbers, &from->numbers);
    deinit(from);
}

void wpi_managed_groups_describe(wpi_managed_groups *groups, const wp_run_record *record) {
    size_t kept = 0;
    for (size_t i = 0; i < groups->count; i++) {
        wpi_managed_group *group = &groups->items[i];
        describe(group, row_of(record->simulation, group));
        size_t before = 0;
        while (before < kept && !is_same(&groups->items[before], group))
            before++;
        if (before < kept)
            merge(&groups->items[before], group);
        else
            groups->items[kept++] = *group;
    }
    groups->count = kept;
}

/* ---- selection ---- */

static uint64_t traffic_of(const wpi_managed_group *group) {
    uint64_t sum = 0;
    for (uint32_t move = 0; move < WP_RUN_MOVES; move++)
        sum += group->moves[move];
    return sum;
}

size_t wpi_managed_groups_order(const wpi_managed_groups *groups, size_t *out, size_t most) {
    uint64_t all = 0;
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        all += traffic_of(&groups->items[i]);
    for (size_t i = 0; i < groups->count; i++) {
        const uint64_t own = traffic_of(&groups->items[i]);
        if (own == 0 || own < all / SMALL_PART) continue;
        size_t at = count < most ? count++ : count;
        for (; at > 0 && own > traffic_of(&groups->items[out[at - 1]]); at--)
            if (at < most) out[at] = out[at - 1];
        if (at < most) out[at] = i;
    }
    return count;
}

void wpi_managed_groups_deinit(wpi_managed_groups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        deinit(&groups->items[i]);
    wpi_free(groups->items);
    *groups = (wpi_managed_groups){0};
}
