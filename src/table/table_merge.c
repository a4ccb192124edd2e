/* SPDX-License-Identifier: Apache-2.0 */
/* A key page that left with values pending had its keys made again later. In the finished table a
 * key is one entry: the values of the newer one are put behind those of the older one, which takes
 * their place. Entries that were not pending when they left have no newer one. */
#include <string.h>

#include "table/table_state.h"

static wp_table_entry *entry_at(const wp_table *table, uint64_t place) {
    return (wp_table_entry *)(void *)wpi_table_host(table, place);
}

static bool is_same_key(const wp_table *table, const wp_table_entry *a, const wp_table_entry *b) {
    return a->hash == b->hash && a->key_bytes == b->key_bytes &&
           memcmp(wp_table_entry_key(&table->view, a), wp_table_entry_key(&table->view, b),
                  a->key_bytes) == 0;
}

static uint64_t *first_value(wp_table_entry *entry) {
    return (uint64_t *)(void *)(entry + 1);
}

/* Puts the values of the entry that *link leads to behind those of `older`, and unlinks it. */
static void absorb(const wp_table *table, uint64_t *link, wp_table_entry *older) {
    wp_table_entry *newer = entry_at(table, *link);
    uint64_t *tail = first_value(older);
    while (*tail != 0)
        tail = &((wp_table_value *)(void *)wpi_table_host(table, *tail))->next;
    *tail = *first_value(newer);
    *link = newer->next;
}

/* Newer entries come first. For each pending one, from the front: what was made again of it is
 * before it, and has itself absorbed what was made again of that. */
void wpi_table_merge(wp_table *table) {
    for (uint64_t b = 0; b <= table->view.bucket_mask; b++) {
        uint64_t head = wp_table_bucket_place(table->buckets[b]);
        for (uint64_t place = head; place != 0; place = entry_at(table, place)->next) {
            wp_table_entry *older = entry_at(table, place);
            if ((older->state & WP_TABLE_ENTRY_PENDING) == 0) continue;
            for (uint64_t *link = &head; *link != place;) {
                wp_table_entry *newer = entry_at(table, *link);
                if (is_same_key(table, newer, older))
                    absorb(table, link, older);
                else
                    link = &newer->next;
            }
        }
        table->buckets[b] = wp_table_bucket_of(head);
    }
}
