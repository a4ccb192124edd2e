/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/table.h"

#include <stdlib.h>

#include "common/report.h"

app_table app_table_create(app_state *state, int variant, uint64_t keys, const char *name) {
    app_table table = {NULL, 63};
    while (table.mask / 2 < keys) { /* half of it stays free, so that searches are short */
        table.mask = 2 * table.mask + 1;
    }
    app_state_create(state, variant, NULL, (table.mask + 2) * sizeof(app_table_entry), name);
    table.entry = (app_table_entry *)state->data;
    return table;
}

app_table app_table_move(app_state *state, int variant, const app_table *from, const char *name) {
    app_table table = *from;
    app_state_create(state, variant, from->entry, (from->mask + 2) * sizeof(app_table_entry), name);
    table.entry = (app_table_entry *)state->data;
    return table;
}

static int by_key(const void *x, const void *y) {
    const app_table_entry *a = (const app_table_entry *)x, *b = (const app_table_entry *)y;
    return (a->key > b->key) - (a->key < b->key);
}

app_table_entry *app_table_take(const app_state *state, uint64_t *count, const char *option) {
    app_table_entry *all = (app_table_entry *)app_state_copy(state);
    const uint64_t room = state->bytes / sizeof *all - 1;
    uint64_t kept = 0;
    if (all[room].count != 0) {
        app_fail("the table of %s is too small: %s keys found no room; see %s", state->name,
                 app_count(all[room].count), option);
    }
    for (uint64_t i = 0; i < room; i++) {
        if (all[i].key != 0) {
            all[kept++] = all[i];
        }
    }
    if (kept != 0) {
        qsort(all, kept, sizeof *all, by_key);
    }
    *count = kept;
    return all;
}

uint64_t app_table_compare(const app_table_entry *a, uint64_t a_count, const app_table_entry *b,
                           uint64_t b_count) {
    uint64_t i = 0, j = 0, different = 0;
    while (i < a_count || j < b_count) {
        const int order = i == a_count ? 1 : j == b_count ? -1 : by_key(&a[i], &b[j]);
        different += order != 0 || a[i].count != b[j].count || a[i].note != b[j].note;
        i += order <= 0;
        j += order >= 0;
    }
    return different;
}
