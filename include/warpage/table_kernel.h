/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The functions of a table that kernels, and threads of the host, call (warpage/table.h declares
 * them): words and keys, memory, chains, values, insert, find. Included by warpage/table.h.
 */
#ifndef WARPAGE_TABLE_KERNEL_H
#define WARPAGE_TABLE_KERNEL_H

#include <string.h>

#include "warpage/table.h"

/* ---- words and keys -------------------------------------------------------------------------- */

WP_WORD_CALL uint64_t wp_table_align(uint64_t bytes) {
    return (bytes + 7u) & ~(uint64_t)7u;
}

/* Up to eight bytes, at least one, as a word, the first in the lowest. Of fewer than eight, pieces
 * that overlap. */
WP_WORD_CALL uint64_t wp_table_word_of(const char *bytes, uint64_t at, uint64_t end) {
    const uint64_t count = end - at;
    const char *from = bytes + at;
    if (count >= 8u) {
        uint64_t word;
        memcpy(&word, from, 8);
        return word;
    }
    if (count >= 4u) {
        uint32_t low, high;
        memcpy(&low, from, 4);
        memcpy(&high, from + count - 4u, 4);
        return low | (uint64_t)high << (count - 4u) * 8u;
    }
    const uint64_t middle = count / 2u;
    return (uint64_t)(unsigned char)from[0] | (uint64_t)(unsigned char)from[middle] << middle * 8u |
           (uint64_t)(unsigned char)from[count - 1u] << (count - 1u) * 8u;
}

/* The hash of a key: the low half selects the bucket, the high half is kept in the entry. */
WP_WORD_CALL uint64_t wp_table_hash(const void *key, uint64_t key_bytes) {
    uint64_t hash = key_bytes * UINT64_C(0x9e3779b97f4a7c15) + 1u;
    for (uint64_t at = 0; at < key_bytes; at += 8u) {
        hash ^= wp_table_word_of((const char *)key, at, key_bytes);
        hash *= UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    hash *= UINT64_C(0xc4ceb9fe1a85ec53);
    return hash ^ hash >> 29;
}

WP_WORD_CALL wp_table_entry *wp_table_entry_at(const wp_table_view *table, uint64_t place) {
    return (wp_table_entry *)(void *)(table->heap + (place - table->base));
}
WP_WORD_CALL char *wp_table_entry_value(const wp_table_entry *entry) {
    return (char *)(uintptr_t)(entry + 1);
}
WP_WORD_CALL const char *wp_table_entry_key(const wp_table_view *table,
                                            const wp_table_entry *entry) {
    const uint64_t before =
        table->organisation == WP_TABLE_MULTIVALUED ? 8u : wp_table_align(entry->value_bytes);
    return (const char *)(entry + 1) + before;
}

/* Keys in entries are aligned, and padded with bytes of 0: they are compared by words. */
WP_WORD_CALL bool wp_table_has_key(const wp_table_view *table, const wp_table_entry *entry,
                                   uint32_t hash, const void *key, uint32_t key_bytes) {
    if (wp_word_load32(&entry->hash) != hash || wp_word_load32(&entry->key_bytes) != key_bytes)
        return false;
    const uint64_t before = table->organisation == WP_TABLE_MULTIVALUED
                                ? 8u
                                : wp_table_align(wp_word_load32(&entry->value_bytes));
    const char *own = (const char *)(entry + 1) + before;
    for (uint64_t at = 0; at < key_bytes; at += 8u)
        if (wp_word_load64((const uint64_t *)(const void *)(own + at)) !=
            wp_table_word_of((const char *)key, at, key_bytes))
            return false;
    return true;
}

/* To aligned memory, padded with 0 to words. */
WP_WORD_CALL void wp_table_copy(char *to, const void *from, uint32_t bytes) {
    for (uint64_t at = 0; at < bytes; at += 8u) {
        const uint64_t word = wp_table_word_of((const char *)from, at, bytes);
        *(uint64_t *)(void *)(to + at) = word;
    }
}

WP_WORD_CALL wp_answer wp_table_fault(const wp_table_view *table, uint32_t kind, uint64_t a,
                                      uint64_t b) {
    if (wp_word_swap_if32(&table->control->fault, WP_TABLE_FAULT_NONE, kind) ==
        WP_TABLE_FAULT_NONE) {
        table->control->fault_a = a;
        table->control->fault_b = b;
    }
    return WP_REFUSED;
}

WP_WORD_CALL wp_table_view wp_table_view_as(const wp_table_view *table,
                                            wp_table_organisation organisation) {
    wp_table_view view = *table;
    view.organisation = organisation;
    return view;
}

/* ---- memory. A stream is the keys or the values of a group; it fills one page after the other.
 *
 * Nothing waits here. Two threads that want the next page of a stream nearly always find the same
 * one: a page is claimed by writing into it which page of which stream it follows, in the order of
 * pages, and the second thread meets the first one's claim. Where it does not, it returns its page.
 */

WP_WORD_CALL uint64_t wp_table_place_of(const wp_table_view *table, uint64_t page, uint64_t used) {
    return table->base + (page << table->page_shift) + used;
}

/* Multi-valued: whether keys may have `count` more pages in this pass, so that values get the
 * others. Pages are counted when they are taken, not when they are asked for: thousands of threads
 * may ask for the same one. So keys may get a few too many, as many as are taken at the same time.
 */
WP_WORD_CALL bool wp_table_may_take(const wp_table_view *table, uint32_t stream, uint64_t count) {
    if (table->organisation != WP_TABLE_MULTIVALUED || stream % 2u != 0) return true;
    return wp_word_load64(&table->control->key_pages) + count <= table->key_pages_max;
}
WP_WORD_CALL void wp_table_take(const wp_table_view *table, uint32_t stream, uint64_t count) {
    if (table->organisation == WP_TABLE_MULTIVALUED && stream % 2u == 0)
        (void)wp_word_add64(&table->control->key_pages, count);
}

/* The page + 1 that follows page `before` (+ 1; 0: none) of the stream, which is its last one; 0:
 * there is none left. `first` is control->first_free, read before streams[stream] was. */
WP_WORD_CALL uint32_t wp_table_next_page(const wp_table_view *table, uint32_t stream,
                                         uint32_t before, uint64_t first, bool *is_taken) {
    const uint64_t owner = (uint64_t)(stream + 1u) << 32 | before;
    const uint64_t outer = wp_word_load64(&table->control->runs_first);
    uint32_t next = 0;
    *is_taken = false;
    if (!wp_table_may_take(table, stream, 1)) return 0;
    for (uint64_t p = first; p < outer && next == 0; p++) {
        uint64_t found = wp_word_load64(&table->pages[p].owner);
        if (found == 0) {
            found = wp_word_swap_if64(&table->pages[p].owner, 0, owner);
            *is_taken = found == 0;
        }
        if (*is_taken || found == owner) next = (uint32_t)p + 1u;
    }
    if (*is_taken) wp_table_take(table, stream, 1);
    return next;
}

/* first_free is that of all streams: a claim may be below it before its stream has gone on, and
 * another thread then claims a second page behind the same one. The stream goes on to one of them;
 * the other, in which nothing was allocated, is free again. It can no longer become the stream's
 * page, because the stream never returns to the page before. */
WP_WORD_CALL void wp_table_return_page(const wp_table_view *table, uint32_t stream, uint64_t page) {
    wp_word_fence();
    if (wp_word_load32(&table->pages[page].used) != 0) return; /* it was the one, and is full */
    wp_table_take(table, stream, (uint64_t)0 - 1u);
    (void)wp_word_exchange64(&table->pages[page].owner, 0);
    (void)wp_word_min64(&table->control->first_free, page);
}

/* A run of adjacent pages from the heap's end, for what is longer than a page. Single pages come
 * from the other end; where both meet, the run gives up. */
WP_WORD_CALL uint64_t wp_table_take_run(const wp_table_view *table, uint32_t stream,
                                        uint64_t bytes) {
    const uint64_t count = (bytes + table->page_bytes - 1u) >> table->page_shift;
    const uint64_t taken = wp_word_load64(&table->control->first_free);
    uint64_t first = wp_word_load64(&table->control->runs_first);
    if (!wp_table_may_take(table, stream, count)) return 0;
    for (;;) {
        if (first < taken + count) return 0;
        const uint64_t found = wp_word_swap_if64(&table->control->runs_first, first, first - count);
        if (found == first) break;
        first = found;
    }
    first -= count;
    const uint64_t owner = (uint64_t)(stream + 1u) << 32 | UINT32_MAX;
    bool is_free = true;
    for (uint64_t i = 0; i < count; i++)
        if (wp_word_swap_if64(&table->pages[first + i].owner, 0, owner) != 0) {
            is_free = false;
        } else {
            table->pages[first + i].run = UINT32_MAX;
        }
    if (!is_free) return 0;
    wp_table_take(table, stream, count);
    table->pages[first].run = (uint32_t)count;
    table->pages[first].used = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    return wp_table_place_of(table, first, 0);
}

#define WP_TABLE_SMALL_BYTES 1024u

/* Place of `bytes` (a multiple of 8) in a page; 0: it is full. What is small is taken by an
 * addition, which never fails because others allocate, too: swaps of as many threads as a GPU has
 * succeed one at a time. The addition that exceeds the page says where its content ends. */
WP_WORD_CALL uint64_t wp_table_allocate_in(const wp_table_view *table, uint64_t page,
                                           uint32_t bytes) {
    wp_table_page *p = &table->pages[page];
    uint64_t at = wp_word_load32(&p->used);
    if (bytes <= WP_TABLE_SMALL_BYTES) {
        if (at + bytes > table->page_bytes) return 0;
        at = wp_word_add32(&p->used, bytes);
        if (at + bytes <= table->page_bytes) return wp_table_place_of(table, page, at);
        if (at <= table->page_bytes) p->end = (uint32_t)at;
        return 0;
    }
    while (at + bytes <= table->page_bytes) {
        const uint32_t found = wp_word_swap_if32(&p->used, (uint32_t)at, (uint32_t)at + bytes);
        if (found == at) return wp_table_place_of(table, page, at);
        at = found;
    }
    return 0;
}

/* Place of `bytes` (a multiple of 8) of the stream; 0: there is no memory. */
WP_WORD_CALL uint64_t wp_table_allocate(const wp_table_view *table, uint32_t stream,
                                        uint64_t bytes) {
    if (bytes > table->page_bytes) return wp_table_take_run(table, stream, bytes);
    uint32_t page = wp_word_load32(&table->streams[stream]);
    for (;;) {
        wp_word_retries(); /* in a round that does not end, some thread has taken a page */
        if (page != 0) {
            const uint64_t place = wp_table_allocate_in(table, page - 1u, (uint32_t)bytes);
            if (place != 0) return place;
        }
        const uint64_t first_free = wp_word_load64(&table->control->first_free);
        wp_word_fence();
        const uint32_t now = wp_word_load32(&table->streams[stream]);
        if (now == page) {
            bool is_taken;
            const uint32_t next = wp_table_next_page(table, stream, page, first_free, &is_taken);
            if (next == 0) return 0;
            const uint32_t found = wp_word_swap_if32(&table->streams[stream], page, next);
            wp_word_fence();
            if (is_taken && found != page && found != next) {
                wp_table_return_page(table, stream, next - 1u);
                page = found;
                continue;
            }
            (void)wp_word_max64(&table->control->first_free, next);
            page = found == page ? next : found;
        } else {
            page = now;
        }
    }
}

/* For tests: postponed although there is memory. */
WP_WORD_CALL bool wp_table_is_unlucky(const wp_table_view *table, uint64_t hash) {
    if (table->postpone_pct == 0) return false;
    uint64_t x = (hash ^ table->seed) + table->pass_tag * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return (x >> 33) % 100u < table->postpone_pct;
}

/* ---- chains. A bucket is one word: the place of the newest entry, and the pass in which the
 * bucket was closed. Entries of this pass come first; the first place below `base` ends a search,
 * because all pairs of the keys behind it are in the table already. */

WP_WORD_CALL uint64_t wp_table_bucket_place(uint64_t bucket) {
    return (bucket & WP_TABLE_PLACE_MASK) << 3;
}
WP_WORD_CALL bool wp_table_is_closed(const wp_table_view *table, uint64_t bucket) {
    return bucket >> WP_TABLE_TAG_SHIFT == table->pass_tag;
}
/* The word that links an entry, in a bucket that is neither locked nor closed. */
WP_WORD_CALL uint64_t wp_table_bucket_of(uint64_t place) {
    return place >> 3;
}

/* The resident entry with this key among those before the entry at `stop`, or 0. */
WP_WORD_CALL wp_table_entry *wp_table_resident(const wp_table_view *table, uint64_t place,
                                               uint64_t stop, uint32_t hash, const void *key,
                                               uint32_t key_bytes) {
    while (place >= table->base && place != stop) {
        wp_table_entry *entry = wp_table_entry_at(table, place);
        if (wp_table_has_key(table, entry, hash, key, key_bytes)) return entry;
        place = wp_word_load64(&entry->next);
    }
    return (wp_table_entry *)0;
}

/* ---- values --------------------------------------------------------------------------------- */

/* By the built-in combiner, in a word of 4 or 8 bytes. */
WP_WORD_CALL void wp_table_combine_word(const wp_table_view *table, void *existing, uint64_t word,
                                        uint32_t bytes) {
    if (bytes == 4u) {
        uint32_t *word32 = (uint32_t *)existing;
        if (table->combiner == WP_TABLE_ADD) wp_word_sum32(word32, (uint32_t)word);
        if (table->combiner == WP_TABLE_MIN) (void)wp_word_min32(word32, (uint32_t)word);
        if (table->combiner == WP_TABLE_MAX) (void)wp_word_max32(word32, (uint32_t)word);
        if (table->combiner == WP_TABLE_OR) (void)wp_word_or32(word32, (uint32_t)word);
    } else {
        uint64_t *word64 = (uint64_t *)existing;
        if (table->combiner == WP_TABLE_ADD) wp_word_sum64(word64, word);
        if (table->combiner == WP_TABLE_MIN) (void)wp_word_min64(word64, word);
        if (table->combiner == WP_TABLE_MAX) (void)wp_word_max64(word64, word);
        if (table->combiner == WP_TABLE_OR) (void)wp_word_or64(word64, word);
    }
}

WP_WORD_CALL wp_answer wp_table_combine_with(const wp_table_view *table, wp_table_entry *entry,
                                             uint64_t hash, const void *value, uint32_t value_bytes,
                                             wp_table_combine combine) {
    char *existing = wp_table_entry_value(entry);
    const uint32_t existing_bytes = wp_word_load32(&entry->value_bytes);
    if (existing_bytes != value_bytes)
        return wp_table_fault(table, WP_TABLE_FAULT_VALUE_SIZE, value_bytes, existing_bytes);
    if (combine != WP_TABLE_NO_CALLBACK) {
        uint32_t *lock = table->entry_locks == NULL
                             ? &entry->state
                             : &table->entry_locks[hash & table->bucket_mask];
        uint32_t is_done = 0;
        while (is_done == 0) { /* the callback inside the loop: lanes may share the entry */
            if (wp_word_swap_if32(lock, 0, WP_TABLE_ENTRY_LOCKED) == 0) {
                wp_word_fence();
                combine(value, existing);
                wp_word_fence();
                (void)wp_word_exchange32(lock, 0);
                is_done = 1;
            }
            is_done = wp_word_meet(is_done);
        }
        return WP_DONE;
    }
    wp_table_combine_word(table, existing, wp_table_word_of((const char *)value, 0, value_bytes),
                          value_bytes);
    return WP_DONE;
}

WP_WORD_CALL void wp_table_fill_value(const wp_table_view *table, uint64_t place, uint64_t next,
                                      const void *value, uint32_t value_bytes) {
    wp_table_value *node = (wp_table_value *)(void *)wp_table_entry_at(table, place);
    node->next = next;
    node->value_bytes = value_bytes;
    node->reserved = 0;
    wp_table_copy((char *)(node + 1), value, value_bytes);
}

/* Adds a value to the list of a resident key, or marks the key: its page must stay. */
WP_WORD_CALL wp_answer wp_table_add_value(const wp_table_view *table, wp_table_entry *entry,
                                          uint64_t hash, const void *value, uint32_t value_bytes) {
    const uint32_t group = (uint32_t)((hash & table->bucket_mask) >> table->group_shift);
    const uint64_t bytes = sizeof(wp_table_value) + wp_table_align(value_bytes);
    const uint64_t luck = wp_table_hash(value, value_bytes) ^ hash;
    const uint64_t place =
        wp_table_is_unlucky(table, luck) ? 0 : wp_table_allocate(table, group * 2u + 1u, bytes);
    if (place == 0) {
        (void)wp_word_or32(&entry->state, WP_TABLE_ENTRY_PENDING);
        const uint64_t page = (uint64_t)((const char *)entry - table->heap) >> table->page_shift;
        (void)wp_word_or32(&table->pages[page].is_pending, 1u);
        return WP_POSTPONE;
    }
    uint64_t *first = (uint64_t *)(void *)(entry + 1);
    uint64_t next = wp_word_load64(first);
    wp_table_value *node = (wp_table_value *)(void *)wp_table_entry_at(table, place);
    wp_table_fill_value(table, place, next, value, value_bytes);
    for (;;) {
        wp_word_fence();
        const uint64_t found = wp_word_swap_if64(first, next, place);
        if (found == next) return WP_DONE;
        next = found;
        node->next = next;
    }
}

/* ---- insert --------------------------------------------------------------------------------- */

/* Bytes of a new entry with what is allocated together with it. */
WP_WORD_CALL uint64_t wp_table_entry_bytes(const wp_table_view *table, uint64_t key_bytes,
                                           uint64_t value_bytes) {
    const uint64_t key = sizeof(wp_table_entry) + wp_table_align(key_bytes);
    if (table->organisation != WP_TABLE_MULTIVALUED) return key + wp_table_align(value_bytes);
    return key + 8u +
           (table->is_packed ? sizeof(wp_table_value) + wp_table_align(value_bytes) : 0u);
}

WP_WORD_CALL void wp_table_fill_entry(const wp_table_view *table, uint64_t place, uint64_t hash,
                                      const void *key, uint32_t key_bytes, const void *value,
                                      uint32_t value_bytes) {
    wp_table_entry *entry = wp_table_entry_at(table, place);
    char *behind = (char *)(entry + 1);
    entry->key_bytes = key_bytes;
    entry->value_bytes = value_bytes;
    entry->hash = (uint32_t)(hash >> 32);
    entry->state = 0;
    if (table->organisation != WP_TABLE_MULTIVALUED) {
        wp_table_copy(behind, value, value_bytes);
        wp_table_copy(behind + wp_table_align(value_bytes), key, key_bytes);
        return;
    }
    wp_table_copy(behind + 8, key, key_bytes);
    uint64_t first = 0;
    if (table->is_packed) {
        first = place + sizeof(wp_table_entry) + 8u + wp_table_align(key_bytes);
        wp_table_fill_value(table, first, 0, value, value_bytes);
    }
    *(uint64_t *)(void *)behind = first;
}

/* A basic table stops when so many groups have postponed. */
WP_WORD_CALL wp_answer wp_table_postpone_basic(const wp_table_view *table, uint32_t group) {
    if (wp_word_exchange32(&table->group_is_full[group], 1u) == 0)
        (void)wp_word_add64(&table->control->full_groups, 1u);
    return WP_POSTPONE;
}

WP_WORD_CALL wp_answer wp_table_insert_basic(const wp_table_view *table, uint64_t hash,
                                             const void *key, uint32_t key_bytes, const void *value,
                                             uint32_t value_bytes) {
    const uint32_t group = (uint32_t)((hash & table->bucket_mask) >> table->group_shift);
    if (wp_word_load64(&table->control->full_groups) >= table->halt_groups) return WP_POSTPONE;
    if (wp_table_is_unlucky(table, hash)) return wp_table_postpone_basic(table, group);
    const uint64_t bytes = wp_table_entry_bytes(table, key_bytes, value_bytes);
    const uint64_t place = wp_table_allocate(table, group * 2u, bytes);
    if (place == 0) return wp_table_postpone_basic(table, group);
    uint64_t *bucket = &table->buckets[hash & table->bucket_mask];
    wp_table_entry *entry = wp_table_entry_at(table, place);
    wp_table_fill_entry(table, place, hash, key, key_bytes, value, value_bytes);
    uint64_t head = wp_word_load64(bucket);
    for (;;) {
        entry->next = wp_table_bucket_place(head);
        wp_word_fence();
        const uint64_t found = wp_word_swap_if64(bucket, head, wp_table_bucket_of(place));
        if (found == head) return WP_DONE;
        head = found;
    }
}

/* Makes a key that is not there, in a locked bucket, and unlocks it; or closes the bucket for the
 * pass: no later insert can make the key, so that the next pass makes it once. Returns its place;
 * 0: closed. */
WP_WORD_CALL uint64_t wp_table_make_key(const wp_table_view *table, uint64_t hash, const void *key,
                                        uint32_t key_bytes, const void *value, uint32_t value_bytes,
                                        uint64_t *bucket, uint64_t head) {
    const uint32_t group = (uint32_t)((hash & table->bucket_mask) >> table->group_shift);
    const uint64_t bytes = wp_table_entry_bytes(table, key_bytes, value_bytes);
    const uint64_t place =
        wp_table_is_unlucky(table, hash) ? 0 : wp_table_allocate(table, group * 2u, bytes);
    uint64_t becomes = (head & WP_TABLE_PLACE_MASK) | (uint64_t)table->pass_tag
                                                          << WP_TABLE_TAG_SHIFT;
    if (place != 0) {
        wp_table_fill_entry(table, place, hash, key, key_bytes, value, value_bytes);
        wp_table_entry_at(table, place)->next = wp_table_bucket_place(head);
        becomes = wp_table_bucket_of(place);
    }
    wp_word_fence();
    (void)wp_word_exchange64(bucket, becomes);
    return place;
}

/* Finds the key or makes it. What is searched needs no lock: links of entries do not change. Only a
 * key that is not there is made under the bucket's lock, which was taken by a swap from the head
 * that the search began at. The critical section is inside the loop: lanes of a warp that waited
 * for it in a loop before it would never let the owner go on, on GPUs before Volta. */
WP_WORD_CALL wp_answer wp_table_insert_key(const wp_table_view *table, uint64_t hash,
                                           const void *key, uint32_t key_bytes, const void *value,
                                           uint32_t value_bytes, wp_table_combine combine) {
    uint64_t *bucket = &table->buckets[hash & table->bucket_mask];
    const bool is_multivalued = table->organisation == WP_TABLE_MULTIVALUED;
    wp_table_entry *entry = (wp_table_entry *)0;
    uint64_t head = wp_word_load64(bucket);
    uint64_t searched = 0; /* entries from here on do not have the key */
    bool is_new = false;
    do {
        const uint64_t first = wp_table_bucket_place(head);
        entry = wp_table_resident(table, first, searched, (uint32_t)(hash >> 32), key, key_bytes);
        searched = first;
        if (entry == (wp_table_entry *)0 && !wp_table_is_closed(table, head)) {
            if ((head & WP_TABLE_BUCKET_LOCKED) == 0 &&
                wp_word_swap_if64(bucket, head, head | WP_TABLE_BUCKET_LOCKED) == head) {
                const uint64_t place = wp_table_make_key(table, hash, key, key_bytes, value,
                                                         value_bytes, bucket, head);
                if (place != 0) entry = wp_table_entry_at(table, place);
                is_new = true;
            }
            head = wp_word_load64(bucket);
        }
        /* A bucket that was closed meanwhile may have got the key before. */
    } while (entry == (wp_table_entry *)0 &&
             !(wp_table_is_closed(table, head) && wp_table_bucket_place(head) == searched));
    if (entry == (wp_table_entry *)0) return WP_POSTPONE;
    if (is_new && (!is_multivalued || table->is_packed)) return WP_DONE;
    return is_multivalued ? wp_table_add_value(table, entry, hash, value, value_bytes)
                          : wp_table_combine_with(table, entry, hash, value, value_bytes, combine);
}

/* `hash`: wp_table_hash of the key. */
WP_WORD_CALL wp_answer wp_table_insert_hashed(const wp_table_view *table, uint64_t hash,
                                              const void *key, uint32_t key_bytes,
                                              const void *value, uint32_t value_bytes,
                                              wp_table_combine combine) {
    const bool is_multivalued = table->organisation == WP_TABLE_MULTIVALUED;
    const uint64_t bytes = sizeof(wp_table_entry) + wp_table_align(key_bytes) +
                           wp_table_align(value_bytes) +
                           (is_multivalued ? 8u + sizeof(wp_table_value) : 0u);
    if (bytes > table->page_count << table->page_shift)
        return wp_table_fault(table, WP_TABLE_FAULT_TOO_LARGE, bytes, 0);
    if (table->organisation == WP_TABLE_BASIC)
        return wp_table_insert_basic(table, hash, key, key_bytes, value, value_bytes);
    if (table->organisation == WP_TABLE_COMBINING) {
        if (table->combiner == WP_TABLE_CALLBACK ? combine == WP_TABLE_NO_CALLBACK
                                                 : combine != WP_TABLE_NO_CALLBACK)
            return wp_table_fault(table, WP_TABLE_FAULT_NO_CALLBACK, 0, 0);
        if (table->combiner != WP_TABLE_CALLBACK && value_bytes != 4u && value_bytes != 8u)
            return wp_table_fault(table, WP_TABLE_FAULT_VALUE_SIZE, value_bytes, 8u);
    }
    return wp_table_insert_key(table, hash, key, key_bytes, value, value_bytes, combine);
}

WP_WORD_CALL wp_answer wp_table_insert_with(const wp_table_view *table, const void *key,
                                            uint64_t key_bytes, const void *value,
                                            uint64_t value_bytes, wp_table_combine combine) {
    if ((key_bytes | value_bytes) >> 32 != 0)
        return wp_table_fault(table, WP_TABLE_FAULT_TOO_LONG, key_bytes, value_bytes);
    return wp_table_insert_hashed(table, wp_table_hash(key, key_bytes), key, (uint32_t)key_bytes,
                                  value, (uint32_t)value_bytes, combine);
}

WP_WORD_CALL wp_answer wp_table_insert(const wp_table_view *table, const void *key,
                                       uint64_t key_bytes, const void *value,
                                       uint64_t value_bytes) {
    return wp_table_insert_with(table, key, key_bytes, value, value_bytes, WP_TABLE_NO_CALLBACK);
}

WP_WORD_CALL void wp_table_emit_with(const wp_table_view *table, wp_attempt *attempt,
                                     const void *key, uint64_t key_bytes, const void *value,
                                     uint64_t value_bytes, wp_table_combine combine) {
    if (wp_attempt_wants(attempt))
        wp_attempt_note(attempt,
                        wp_table_insert_with(table, key, key_bytes, value, value_bytes, combine));
}
WP_WORD_CALL void wp_table_emit(const wp_table_view *table, wp_attempt *attempt, const void *key,
                                uint64_t key_bytes, const void *value, uint64_t value_bytes) {
    wp_table_emit_with(table, attempt, key, key_bytes, value, value_bytes, WP_TABLE_NO_CALLBACK);
}

/* ---- find, in a table that no run is adding to ----------------------------------------------- */

/* The segment that a place below the base is in. */
WP_WORD_CALL uint64_t wp_table_segment_of(const wp_table_view *table, uint64_t place) {
    uint64_t first = 0;
    uint64_t outer = table->segment_count;
    while (outer - first > 1u) {
        const uint64_t middle = first + (outer - first) / 2u;
        if (table->segments[middle].first <= place)
            first = middle;
        else
            outer = middle;
    }
    return first;
}

/* Where a place is: in the heap, or in host memory, which kernels read over the link. NULL: it is
 * in a file, or has not been brought back. */
WP_WORD_CALL const char *wp_table_locate(const wp_table_view *table, uint64_t place) {
    if (place >= table->base) return table->heap + (place - table->base);
    const wp_table_segment *segment = &table->segments[wp_table_segment_of(table, place)];
    return segment->memory == NULL ? NULL : segment->memory + (place - segment->first);
}

WP_WORD_CALL uint64_t wp_table_find(const wp_table_view *table, const void *key, uint32_t key_bytes,
                                    uint64_t place) {
    const uint64_t hash = wp_table_hash(key, key_bytes);
    if (place == 0)
        place = wp_table_bucket_place(table->buckets[hash & table->bucket_mask]);
    else
        place = ((const wp_table_entry *)(const void *)wp_table_locate(table, place))->next;
    while (place != 0) {
        const wp_table_entry *entry =
            (const wp_table_entry *)(const void *)wp_table_locate(table, place);
        if (entry == NULL) {
            (void)wp_table_fault(table, WP_TABLE_FAULT_ABSENT, 0, 0);
            return 0;
        }
        if (wp_table_has_key(table, entry, (uint32_t)(hash >> 32), key, key_bytes)) return place;
        place = entry->next;
    }
    return 0;
}
WP_WORD_CALL const void *wp_table_value_at(const wp_table_view *table, uint64_t place,
                                           uint32_t *value_bytes) {
    const wp_table_entry *entry =
        (const wp_table_entry *)(const void *)wp_table_locate(table, place);
    *value_bytes = table->organisation == WP_TABLE_MULTIVALUED ? 0 : entry->value_bytes;
    return table->organisation == WP_TABLE_MULTIVALUED ? NULL : (const void *)(entry + 1);
}
WP_WORD_CALL const void *wp_table_next_value(const wp_table_view *table, uint64_t place,
                                             uint64_t *value_place, uint32_t *value_bytes) {
    const wp_table_entry *entry =
        (const wp_table_entry *)(const void *)wp_table_locate(table, place);
    *value_place =
        *value_place == 0
            ? *(const uint64_t *)(const void *)(entry + 1)
            : ((const wp_table_value *)(const void *)wp_table_locate(table, *value_place))->next;
    if (*value_place == 0) return NULL;
    const wp_table_value *node =
        (const wp_table_value *)(const void *)wp_table_locate(table, *value_place);
    if (node == NULL) {
        (void)wp_table_fault(table, WP_TABLE_FAULT_ABSENT, 0, 0);
        return NULL;
    }
    *value_bytes = node->value_bytes;
    return (const void *)(node + 1);
}

/* ---- searches over passes, during wp_table_search -------------------------------------------- */

/* Where a place is; NULL: its segment is absent, and is marked for a later pass. */
WP_WORD_CALL const char *wp_table_bring(const wp_table_view *table, uint64_t place) {
    const char *memory = wp_table_locate(table, place);
    if (memory == NULL && table->wanted != NULL) {
        uint32_t *wanted = &table->wanted[wp_table_segment_of(table, place)];
        if (wp_word_load32(wanted) == 0) (void)wp_word_or32(wanted, 1u);
    }
    return memory;
}

WP_WORD_CALL wp_answer wp_table_seek_next(const wp_table_view *table, wp_table_seek *seek,
                                          const void *key, uint32_t key_bytes, const void **value,
                                          uint32_t *value_bytes) {
    const uint64_t hash = wp_table_hash(key, key_bytes);
    *value = NULL;
    *value_bytes = 0;
    if (seek->stage == WP_TABLE_SEEK_BEGIN) {
        seek->place = wp_table_bucket_place(table->buckets[hash & table->bucket_mask]);
        seek->stage = WP_TABLE_SEEK_ENTRY;
    }
    while (seek->stage == WP_TABLE_SEEK_ENTRY && seek->place != 0) {
        const wp_table_entry *entry =
            (const wp_table_entry *)(const void *)wp_table_bring(table, seek->place);
        if (entry == NULL) return WP_POSTPONE;
        seek->place = entry->next;
        if (!wp_table_has_key(table, entry, (uint32_t)(hash >> 32), key, key_bytes)) continue;
        if (table->organisation == WP_TABLE_MULTIVALUED) {
            seek->place = *(const uint64_t *)(const void *)(entry + 1);
            seek->stage = WP_TABLE_SEEK_VALUE;
        } else {
            if (table->organisation == WP_TABLE_COMBINING) seek->stage = WP_TABLE_SEEK_END;
            *value = (const void *)(entry + 1);
            *value_bytes = entry->value_bytes;
            return WP_DONE;
        }
    }
    if (seek->stage == WP_TABLE_SEEK_VALUE && seek->place != 0) {
        const wp_table_value *node =
            (const wp_table_value *)(const void *)wp_table_bring(table, seek->place);
        if (node == NULL) return WP_POSTPONE;
        seek->place = node->next;
        *value = (const void *)(node + 1);
        *value_bytes = node->value_bytes;
        return WP_DONE;
    }
    seek->stage = WP_TABLE_SEEK_END;
    return WP_DONE;
}

#endif
