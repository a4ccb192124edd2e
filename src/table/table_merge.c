/* SPDX-License-Identifier: Apache-2.0 */
/* A key page that left with values pending had its keys made again later. In the finished table a
 * key is one entry: the values of the newer one are put behind those of the older one, which takes
 * their place. Entries that were not pending when they left have no newer one. A table of rows
 * (table_rows.c) has keys that were made again whatever their state. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
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

/* ---- tables of rows -------------------------------------------------------------------------- */

typedef struct link {
    wp_table_entry *entry; /* NULL: absorbed */
    uint64_t place;
    uint32_t hash, number; /* in the chain: newer ones first */
} link;

static int by_hash(const void *a, const void *b) {
    const link *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->number < y->number ? 1 : -1; /* the oldest first */
}

static int by_number(const void *a, const void *b) {
    const link *x = a, *y = b;
    return x->number < y->number ? -1 : 1;
}

/* The newer entry's value, or list of values, joins the older one's. */
static void join(const wp_table *table, wp_table_entry *older, wp_table_entry *newer) {
    if (table->view.organisation == WP_TABLE_COMBINING) {
        const char *value = wp_table_entry_value(newer);
        if (table->combine != WP_TABLE_NO_CALLBACK)
            table->combine(value, wp_table_entry_value(older));
        else
            wp_table_combine_word(&table->view, wp_table_entry_value(older),
                                  wp_table_word_of(value, 0, newer->value_bytes),
                                  newer->value_bytes);
        return;
    }
    uint64_t *tail = first_value(newer);
    if (*tail == 0) return;
    while (*tail != 0)
        tail = &((wp_table_value *)(void *)wpi_table_host(table, *tail))->next;
    *tail = *first_value(older);
    *first_value(older) = *first_value(newer);
    *first_value(newer) = 0;
}

/* Entries of a chain with one hash: nearly always one key. */
static bool join_equal(const wp_table *table, link *links, uint64_t count) {
    bool is_changed = false;
    for (uint64_t newer = 1; newer < count; newer++)
        for (uint64_t older = 0; older < newer; older++) {
            if (links[older].entry == NULL ||
                !is_same_key(table, links[older].entry, links[newer].entry))
                continue;
            join(table, links[older].entry, links[newer].entry);
            links[newer].entry = NULL;
            is_changed = true;
            break;
        }
    return is_changed;
}

static bool join_chain(const wp_table *table, link *links, uint64_t count) {
    bool is_changed = false;
    qsort(links, count, sizeof *links, by_hash);
    for (uint64_t first = 0, outer; first < count; first = outer) {
        for (outer = first + 1; outer < count && links[outer].hash == links[first].hash;)
            outer++;
        is_changed |= join_equal(table, links + first, outer - first);
    }
    return is_changed;
}

static wp_status read_chain(const wp_table *table, uint64_t place, link **links, uint64_t *capacity,
                            uint64_t *count, wp_error *err) {
    *count = 0;
    for (wp_table_entry *entry; place != 0; place = entry->next) {
        if (*count == *capacity) {
            const uint64_t more = *capacity == 0 ? 64 : *capacity * 2;
            link *memory = wpi_realloc(*links, more * sizeof *memory);
            if (memory == NULL)
                return WP_FAIL(err, NOMEM, "table: no host memory to merge a chain's keys");
            *links = memory;
            *capacity = more;
        }
        entry = entry_at(table, place);
        (*links)[*count] = (link){entry, place, entry->hash, (uint32_t)*count};
        (*count)++;
    }
    return WP_STATUS_OK;
}

static uint64_t relink(link *links, uint64_t count) {
    uint64_t head = 0;
    qsort(links, count, sizeof *links, by_number);
    for (uint64_t i = count; i-- > 0;) {
        if (links[i].entry == NULL) continue;
        links[i].entry->next = head;
        head = links[i].place;
    }
    return head;
}

wp_status wpi_table_merge_rows(wp_table *table, wp_error *err) {
    link *links = NULL;
    uint64_t capacity = 0, count;
    wp_status status = WP_STATUS_OK;
    for (uint64_t b = 0; b <= table->view.bucket_mask && status == WP_STATUS_OK; b++) {
        const uint64_t head = wp_table_bucket_place(table->buckets[b]);
        status = read_chain(table, head, &links, &capacity, &count, err);
        if (status == WP_STATUS_OK && count > 1 && join_chain(table, links, count))
            table->buckets[b] = wp_table_bucket_of(relink(links, count));
    }
    wpi_free(links);
    return status;
}
