/* SPDX-License-Identifier: Apache-2.0 */
/* Multi-valued tables: a page with keys whose values are pending stays on the device, so that the
 * next pass finds these keys.
 *
 * It stays as if its keys were inserted anew at the start of the next pass: pages that stay move
 * to the heap's start and get places of that pass, and their keys are taken out of their chains
 * and put in front. Then resident entries come first in every chain, as in other tables. The host
 * does this: it has read the buckets, and chains of the pass that has ended, the other pages of
 * which are in host memory by now.
 *
 *     bucket ─► k1 (left) ─► k2 (stays) ─► k3 (left) ─► older passes
 *     bucket ─► k2' ─► k1 ─► k3 ─► older passes
 *
 * Values have left, so their places are final. */
#include <string.h>

#include "base/alloc.h"
#include "table/table_state.h"
#include "warpage/host.h"

static uint64_t run_of(const wp_table *table, uint64_t page) {
    const uint32_t run = table->pages[page].run;
    return run > 1 ? run : 1;
}

static bool has_keys(const wp_table *table, uint64_t page) {
    return ((table->pages[page].owner >> 32) - 1) % 2 == 0;
}

uint64_t wpi_table_keep_max(const wp_table *table) {
    return table->view.page_count / 2;
}

/* At most half of the pages stay: values need some. Only after the first pass, in which keys may
 * take any page, can there be more that should. */
bool wpi_table_stays(const wp_table *table, uint64_t page) {
    return table->pages[page].is_pending != 0 && has_keys(table, page) &&
           table->kept_pages + run_of(table, page) <= wpi_table_keep_max(table);
}

wp_status wpi_table_keep(wp_table *table, uint64_t page, wp_error *err) {
    const wp_table_view *view = &table->view;
    const uint64_t count = run_of(table, page);
    if (table->kept == NULL) {
        const uint64_t most = wpi_table_keep_max(table);
        table->kept = wpi_calloc(most, sizeof *table->kept);
        table->kept_memory = wpi_malloc(most << view->page_shift);
        if (table->kept == NULL || table->kept_memory == NULL)
            return WP_FAIL(err, NOMEM, "table: no host memory for the pages that stay");
    }
    const uint64_t bytes = count << view->page_shift;
    char *to = table->kept_memory + (table->kept_pages << view->page_shift);
    table->kept[table->kept_count++] = page;
    table->kept_pages += count;
    table->report.to_host_bytes += bytes;
    return wp_queue_copy(table->queue, to, view->heap + (page << view->page_shift), bytes, err);
}

/* ---- putting back ---------------------------------------------------------------------------- */

/* Whether the place of the old pass is in a page that stays; `*at` is where it lies in
 * kept_memory. Kept pages are in order; an entry begins in the first page of a run. */
static bool find_kept(const wp_table *table, uint64_t old_base, uint64_t place, uint64_t *at) {
    const uint64_t page = (place - old_base) >> table->view.page_shift;
    uint64_t first = 0, outer = table->kept_count;
    while (first < outer) {
        const uint64_t middle = first + (outer - first) / 2;
        if (table->kept[middle] < page)
            first = middle + 1;
        else
            outer = middle;
    }
    if (first == table->kept_count || table->kept[first] != page) return false;
    *at = ((uint64_t)table->pages[page].end << table->view.page_shift) +
          ((place - old_base) & (table->view.page_bytes - 1));
    return true;
}

static void relink(wp_table *table, uint64_t old_base, uint64_t *bucket) {
    uint64_t place = wp_table_bucket_place(*bucket);
    if (place >= table->view.base) return; /* done: its first entry has a new place */
    uint64_t left = 0, stays = 0, at;
    uint64_t *left_tail = &left, *stays_tail = NULL;
    while (place >= old_base) {
        const bool is_kept = find_kept(table, old_base, place, &at);
        char *memory = is_kept ? table->kept_memory + at : wpi_table_host(table, place);
        wp_table_entry *entry = (wp_table_entry *)(void *)memory;
        const uint64_t next = entry->next;
        if (is_kept) {
            entry->next = stays;
            if (stays_tail == NULL) stays_tail = &entry->next;
            stays = table->view.base + at;
        } else {
            *left_tail = place;
            left_tail = &entry->next;
        }
        place = next;
    }
    *left_tail = place;
    if (stays_tail != NULL) *stays_tail = left;
    *bucket = wp_table_bucket_of(stays != 0 ? stays : left);
}

static void relink_page(wp_table *table, uint64_t old_base, char *memory, uint64_t used) {
    for (uint64_t at = 0; at < used;) {
        const wp_table_entry *entry = (const wp_table_entry *)(const void *)(memory + at);
        const uint64_t hash =
            wp_table_hash(wp_table_entry_key(&table->view, entry), entry->key_bytes);
        at += wp_table_entry_bytes(&table->view, entry->key_bytes, entry->value_bytes);
        relink(table, old_base, &table->buckets[hash & table->view.bucket_mask]);
    }
}

wp_status wpi_table_put_back(wp_table *table, uint64_t old_base, wp_error *err) {
    const wp_table_view *view = &table->view;
    const uint64_t buckets_bytes = (view->bucket_mask + 1) * sizeof *table->buckets;
    WP_TRY(wpi_table_fetch(table, table->buckets, view->buckets, buckets_bytes, err));
    table->report.to_host_bytes += buckets_bytes;
    uint64_t before = 0;
    for (uint64_t i = 0; i < table->kept_count; i++) { /* where each one lies among them */
        table->pages[table->kept[i]].end = (uint32_t)before;
        before += run_of(table, table->kept[i]);
    }
    before = 0;
    for (uint64_t i = 0; i < table->kept_count; i++) {
        const wp_table_page *page = &table->pages[table->kept[i]];
        relink_page(table, old_base, table->kept_memory + (before << view->page_shift), page->used);
        before += run_of(table, table->kept[i]);
    }
    before = 0;
    for (uint64_t i = 0; i < table->kept_count; i++) { /* kept[i] >= before: none is overwritten */
        const wp_table_page page = table->pages[table->kept[i]];
        const uint64_t count = run_of(table, table->kept[i]);
        const uint64_t owner = WPI_TABLE_KEPT((page.owner >> 32) - 1);
        for (uint64_t p = before; p < before + count; p++)
            table->pages[p] = (wp_table_page){.owner = owner, .run = count > 1 ? UINT32_MAX : 0};
        table->pages[before].used = page.used;
        if (count > 1) table->pages[before].run = (uint32_t)count;
        before += count;
    }
    /* The host has gone through the chains of these pages, entry by entry. */
    const wp_host_work work = {.read_bytes = before << view->page_shift,
                               .written_bytes = before << view->page_shift,
                               .pattern = WP_HOST_RANDOM,
                               .access_bytes = 64};
    WP_TRY(wp_device_host_work(table->device, &work, err));
    WP_TRY(wpi_table_send(table, view->pages, table->pages, before * sizeof *table->pages, err));
    WP_TRY(wpi_table_send(table, view->heap, table->kept_memory, before << view->page_shift, err));
    return wpi_table_send(table, view->buckets, table->buckets, buckets_bytes, err);
}
