/* SPDX-License-Identifier: Apache-2.0 */
/* Passes over the heap (thesis, section 6.3.3):
 *
 *     begin    the heap is empty, but for key pages that stay; buckets are open
 *     …        kernels insert
 *     halts    basic: so many groups have postponed
 *     end      pages leave: each range of content is a new segment, near ones go in one copy
 *
 * Pages are numbered anew in each pass: page p of a pass has the places from base + p * page_bytes
 * on, and base grows by the heap's size from pass to pass. So a place says on the device whether it
 * is resident, and in host memory where it is, without a second pointer. */
#include <inttypes.h>

#include "base/alloc.h"
#include "table/table_state.h"

#define COPY_GAP_BYTES                                                                             \
    16384u /* a link copies these in the time that a further copy takes to start */
#define FIRST_PAGES_OF_HEAP 8u /* groups have their first pages if that is 1/8 of all, at most */

/* ---- pages for keys ----------------------------------------------------------------------------
 *
 * Multi-valued tables. A key whose values do not all fit stays with its page, and so do all other
 * keys of the page, until their values are in the table. New keys take pages that these values
 * need, and add pending keys of their own; a key page that may not stay is made again later, as if
 * it had never been there. So after the first pass keys get a part of the heap, small enough for
 * the values of its keys to fit in the rest: a half at first, and less as long as passes end with
 * most key pages still pending, more when they leave pages unused. */

static uint64_t key_pages_least(const wp_table *table) {
    const uint64_t part = table->view.page_count / 16, most = wpi_table_keep_max(table);
    const uint64_t least = part < table->groups ? table->groups : part;
    return least < 1 ? 1 : least > most ? most : least;
}

static uint64_t pages_free(const wp_table *table) {
    uint64_t count = 0;
    for (uint64_t page = 0; page < table->view.page_count; page++)
        count += table->pages[page].owner == 0;
    return count;
}

/* After a pass: `table->kept_pages` of those that keys had have values pending. */
static void adapt_key_pages(wp_table *table) {
    const uint64_t most = wpi_table_keep_max(table), least = key_pages_least(table);
    uint64_t max = table->key_pages_max;
    if (pages_free(table) > table->view.page_count / 4)
        max *= 2;
    else if (table->report.passes > 1 && table->kept_pages > table->control.key_pages / 2)
        max /= 2;
    max = max > most ? most : max < least ? least : max;
    table->key_pages_max = max == 0 ? 1 : max;
}

static uint64_t key_pages_of_pass(const wp_table *table) {
    const uint64_t most = wpi_table_keep_max(table), all = table->kept_pages + table->key_pages_max;
    if (table->report.passes <= 1 || table->view.is_packed != 0) return table->view.page_count;
    return all < most || most == 0 ? all : most;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static wp_status clear(wp_table *table, void *memory, uint64_t bytes, wp_error *err) {
    return wp_queue_fill(table->queue, memory, 0, 4, bytes / 4, err);
}

/* Each group's first page, where pages are plenty: thousands of threads that insert at the same
 * time would else look for them one behind the other, each past the pages of all others.
 * Multi-valued tables count the pages that keys take. */
static wp_status give_first_pages(wp_table *table, wp_error *err) {
    const wp_table_view *view = &table->view;
    const uint64_t groups = table->groups;
    if (view->organisation == WP_TABLE_MULTIVALUED ||
        groups > view->page_count / FIRST_PAGES_OF_HEAP)
        return WP_STATUS_OK;
    uint32_t *streams = wpi_calloc(groups * 2, sizeof *streams);
    wp_table_page *pages = table->pages;
    if (streams == NULL) return WP_FAIL(err, NOMEM, "table: no host memory for its groups");
    for (uint64_t group = 0; group < groups; group++) {
        streams[group * 2] = (uint32_t)group + 1;
        pages[group] = (wp_table_page){.owner = (group * 2 + 1) << 32};
    }
    wp_status status =
        wpi_table_send(table, view->streams, streams, groups * 2 * sizeof *streams, err);
    if (status == WP_STATUS_OK)
        status = wpi_table_send(table, view->pages, pages, groups * sizeof *pages, err);
    wpi_free(streams);
    table->control.first_free = groups;
    return status;
}

wp_status wpi_table_begin(void *object, wp_error *err) {
    wp_table *table = object;
    wp_table_view *view = &table->view;
    const uint64_t old_base = view->base;
    const uint64_t heap_bytes = view->page_count << view->page_shift;
    if (old_base > (WP_TABLE_PLACE_MASK << 3) - 2 * heap_bytes)
        return WP_FAIL(err, INVALID,
                       "table: %" PRIu64 " passes over a heap of %" PRIu64
                       " bytes reach 2^51 bytes, more than places can number; save the table and "
                       "begin another one",
                       table->report.passes, heap_bytes);
    const uint64_t pass = table->report.passes++;
    view->pass_tag = (uint32_t)(pass % WP_TABLE_TAGS) + 1;
    if (pass != 0) view->base += heap_bytes;
    WP_TRY(clear(table, view->pages, view->page_count * sizeof *view->pages, err));
    WP_TRY(clear(table, view->streams, table->groups * 2 * sizeof *view->streams, err));
    WP_TRY(clear(table, view->group_is_full, table->groups * sizeof *view->group_is_full, err));
    table->control = (wp_table_control){.first_free = table->kept_pages,
                                        .runs_first = view->page_count,
                                        .key_pages = table->kept_pages};
    view->key_pages_max = key_pages_of_pass(table);
    WP_TRY(give_first_pages(table, err));
    WP_TRY(wpi_table_send(table, view->control, &table->control, sizeof table->control, err));
    return table->kept_count != 0 ? wpi_table_put_back(table, old_base, err) : WP_STATUS_OK;
}

wp_status wpi_table_halts(void *object, bool *out, wp_error *err) {
    wp_table *table = object;
    *out = false;
    WP_TRY(
        wpi_table_fetch(table, &table->control, table->view.control, sizeof table->control, err));
    *out = table->control.full_groups >= table->view.halt_groups;
    return WP_STATUS_OK;
}

/* ---- end ------------------------------------------------------------------------------------- */

static wp_status say_fault(const wp_table *table, const wp_table_control *control, wp_error *err) {
    const uint64_t a = control->fault_a, b = control->fault_b;
    switch (control->fault) {
    case WP_TABLE_FAULT_TOO_LARGE:
        return WP_FAIL(err, INVALID,
                       "table: a pair takes %" PRIu64 " bytes and the heap has %" PRIu64
                       "; a larger heap is needed",
                       a, table->report.heap_bytes);
    case WP_TABLE_FAULT_VALUE_SIZE:
        return WP_FAIL(err, INVALID,
                       "table: a value of %" PRIu64 " bytes was to be combined with "
                       "one of %" PRIu64 "; a value keeps its size (built-in combiners: 4 or 8 "
                       "bytes), and a multi-valued table takes values of any size",
                       a, b);
    case WP_TABLE_FAULT_TOO_LONG:
        return WP_FAIL(err, INVALID,
                       "table: a key of %" PRIu64 " bytes with a value of %" PRIu64
                       "; each must be shorter than 4 GiB, so divide it into several pairs",
                       a, b);
    default:
        return WP_FAIL(err, INVALID,
                       "table: wp_table_insert_with takes a callback if, and only if, "
                       "the table's combiner is WP_TABLE_CALLBACK");
    }
}

/* The state of the heap's pages, with where their content ends in `used`. */
static wp_status fetch_pages(wp_table *table, wp_error *err) {
    const wp_table_view *view = &table->view;
    WP_TRY(wpi_table_fetch(table, table->pages, view->pages, view->page_count * sizeof *view->pages,
                           err));
    for (uint64_t page = 0; page < view->page_count; page++) {
        wp_table_page *p = &table->pages[page];
        if (p->run == 0 && p->used > view->page_bytes) p->used = p->end;
    }
    return WP_STATUS_OK;
}

/* Pages of a run move together. A page without content was claimed in vain. */
static uint64_t pages_at(const wp_table *table, uint64_t page) {
    const wp_table_page *p = &table->pages[page];
    return p->used == 0 ? 0 : p->run > 1 && p->run != UINT32_MAX ? p->run : 1;
}

/* Where the content of a page (of a run: of its pages) ends. */
static uint64_t end_of(const wp_table *table, uint64_t page, uint64_t count) {
    const uint32_t used = table->pages[page].used;
    return wp_table_place_of(&table->view, page,
                             used == UINT32_MAX ? count << table->view.page_shift : used);
}

/* Adds segments for the pages that leave. Adjacent pages are one segment, but for a page that is
 * less than 7/8 full: a segment ends with its content, so that the rest is neither copied nor kept.
 */
static wp_status choose_segments(wp_table *table, bool may_stay, wp_error *err) {
    const wp_table_view *view = &table->view;
    uint64_t first = 0, outer = 0; /* places of the segment being made; equal: none */
    table->kept_count = 0;
    table->kept_pages = 0;
    for (uint64_t page = 0, count; page < view->page_count; page += count == 0 ? 1 : count) {
        count = pages_at(table, page);
        const bool stays = count != 0 && may_stay && wpi_table_stays(table, page);
        const uint64_t start = wp_table_place_of(view, page, 0);
        if (outer != first && (count == 0 || stays || start - outer > view->page_bytes / 8)) {
            WP_TRY(wpi_table_segment_add(table, first, outer, err));
            first = outer = 0;
        }
        if (count == 0) continue;
        if (stays) {
            WP_TRY(wpi_table_keep(table, page, err));
            continue;
        }
        if (outer == first) first = start;
        outer = end_of(table, page, count);
        table->report.unused_bytes += wp_table_place_of(view, page + count, 0) - outer;
        if (table->pages[page].is_pending != 0) table->has_split_keys = true;
    }
    return outer != first ? wpi_table_segment_add(table, first, outer, err) : WP_STATUS_OK;
}

/* A heap in host memory is the finished table: its segments stay where they are. */
static wp_status leave_pages(wp_table *table, wp_error *err) {
    const wp_table_view *view = &table->view;
    WP_TRY(choose_segments(table, false, err));
    for (uint64_t i = 0; i < table->segment_count; i++) {
        wp_table_segment *segment = &table->segments[i];
        segment->memory = view->heap + (segment->first - view->base);
        table->report.table_bytes += segment->outer - segment->first;
    }
    table->report.host_bytes = table->report.table_bytes;
    return wpi_table_heap_settle(table, err);
}

/* Segments that one copy brings to the host: [first, outer) of them. Small gaps are copied, too. */
static uint64_t segments_of_copy(const wp_table *table, uint64_t first) {
    const wp_table_segment *segments = table->segments;
    uint64_t outer = first + 1;
    while (outer < table->segment_count &&
           segments[outer].first - segments[outer - 1].outer <= COPY_GAP_BYTES)
        outer++;
    return outer;
}

/* One block of host memory for all that leaves in a pass, with the gaps within copies. */
static wp_status move_pages(wp_table *table, bool may_stay, wp_error *err) {
    const wp_table_view *view = &table->view;
    const uint64_t before = table->segment_count;
    uint64_t bytes = 0;
    char *memory;
    WP_TRY(choose_segments(table, may_stay, err));
    wp_table_segment *segments = table->segments;
    for (uint64_t i = before, outer; i < table->segment_count; i = outer) {
        outer = segments_of_copy(table, i);
        bytes += segments[outer - 1].outer - segments[i].first;
    }
    WP_TRY(wpi_table_block_add(table, bytes, &memory, err));
    table->report.to_host_bytes += bytes;
    for (uint64_t i = before, outer; i < table->segment_count; i = outer) {
        const uint64_t first = segments[i].first;
        outer = segments_of_copy(table, i);
        for (uint64_t s = i; s < outer; s++) {
            segments[s].memory = memory + (segments[s].first - first);
            table->report.table_bytes += segments[s].outer - segments[s].first;
        }
        const uint64_t copied_bytes = segments[outer - 1].outer - first;
        WP_TRY(wp_queue_copy(table->queue, memory, view->heap + (first - view->base), copied_bytes,
                             err));
        memory += copied_bytes;
    }
    WP_TRY(wp_queue_wait(table->queue, err));
    if (bytes != 0 && table->is_spilling) {
        const wpi_table_block *block = &table->blocks[table->block_count - 1];
        wpi_table_spill_release(block->memory, block->bytes);
    }
    return WP_STATUS_OK;
}

static wp_status end(wp_table *table, const wp_postpone_facts *facts, wp_error *err) {
    wp_table_view *view = &table->view;
    WP_TRY(wpi_table_fetch(table, &table->control, view->control, sizeof table->control, err));
    if (table->control.fault != WP_TABLE_FAULT_NONE) return say_fault(table, &table->control, err);
    if (facts->postponed_units != 0 && !wpi_table_heap_postpones(table))
        return wpi_table_heap_full(table, facts, err);
    WP_TRY(fetch_pages(table, err));
    if (wpi_table_heap_is_on_host(table)) return leave_pages(table, err);
    const bool is_multivalued = view->organisation == WP_TABLE_MULTIVALUED;
    /* Keys have taken all memory, or a value needs more of it than they leave. From now on nothing
     * stays: keys with pending values are made again, and the copies are merged in the end. */
    if (is_multivalued && facts->served == 0) view->is_packed = 1;
    const bool may_stay = is_multivalued && view->is_packed == 0 && facts->postponed_units != 0;
    WP_TRY(move_pages(table, may_stay, err));
    table->report.pages_kept += table->kept_pages;
    if (is_multivalued) adapt_key_pages(table);
    return WP_STATUS_OK;
}

wp_status wpi_table_end(void *object, const wp_postpone_facts *facts, wp_error *err) {
    return end(object, facts, err);
}

/* ---- after the last pass --------------------------------------------------------------------- */

/* A run that ends with units postponed: pages that had stayed leave after all. Their keys are put
 * back first, so that chains are right. */
static wp_status flush(wp_table *table, wp_error *err) {
    if (table->kept_count == 0) return WP_STATUS_OK;
    WP_TRY(wpi_table_begin(table, err));
    table->report.passes--;
    table->report.pages_kept -= table->kept_pages;
    table->has_split_keys = true;
    WP_TRY(fetch_pages(table, err));
    return move_pages(table, false, err);
}

/* What is in a file is NULL for kernels. Blocks and segments have the same order. */
static wp_status list(wp_table *table, wp_error *err) {
    wp_table_segment *segments = wpi_calloc(table->segment_count + 1, sizeof *segments);
    uint64_t block = 0;
    wpi_free(table->listed);
    table->listed = segments;
    if (segments == NULL) return WP_FAIL(err, NOMEM, "table: no host memory for a list of parts");
    for (uint64_t i = 0; i < table->segment_count; i++) {
        const wp_table_segment *segment = &table->segments[i];
        const wpi_table_block *blocks = table->blocks;
        while (block < table->block_count &&
               (segment->memory < blocks[block].memory ||
                segment->memory >= blocks[block].memory + blocks[block].bytes))
            block++;
        segments[i] = *segment;
        if (block < table->block_count && blocks[block].is_in_file) segments[i].memory = NULL;
    }
    return WP_STATUS_OK;
}

wp_status wpi_table_list_segments(wp_table *table, wp_error *err) {
    const uint64_t bytes = table->segment_count * sizeof *table->segments;
    if (table->device_segments != NULL) {
        WP_TRY(wp_memory_free(table->device, table->device_segments, err));
        table->device_segments = NULL;
    }
    table->view.segments = NULL;
    table->view.segment_count = table->segment_count;
    if (bytes == 0) return WP_STATUS_OK;
    WP_TRY(wp_memory_alloc(table->device, WP_MEMORY_DEVICE, bytes, 0,
                           (void **)&table->device_segments, err));
    table->view.segments = table->device_segments;
    WP_TRY(list(table, err));
    return wpi_table_send(table, table->device_segments, table->listed, bytes, err);
}

wp_status wpi_table_settle(wp_table *table, wp_error *err) {
    const uint64_t buckets = table->view.bucket_mask + 1;
    WP_TRY(flush(table, err));
    WP_TRY(wpi_table_fetch(table, table->buckets, table->view.buckets,
                           buckets * sizeof *table->buckets, err));
    table->report.to_host_bytes += buckets * sizeof *table->buckets;
    for (uint64_t b = 0; b < buckets; b++)
        table->buckets[b] &= WP_TABLE_PLACE_MASK;
    if (table->is_of_rows ? table->has_remade_keys : table->has_split_keys) {
        if (table->is_of_rows)
            WP_TRY(wpi_table_merge_rows(table, err));
        else
            wpi_table_merge(table);
        WP_TRY(wpi_table_send(table, table->view.buckets, table->buckets,
                              buckets * sizeof *table->buckets, err));
        /* What the heap has is no longer right: all places are below the base. */
        table->view.base += table->view.page_count << table->view.page_shift;
    }
    wpi_table_count(table);
    return wpi_table_list_segments(table, err);
}

wp_status wp_table_run(wp_table *table, wp_postpone *postpone, const wp_requester *requester,
                       wp_postpone_facts *facts, wp_error *err) {
    wp_postpone_facts own;
    if (facts == NULL) facts = &own;
    if (table->device == NULL || table->view.heap == NULL)
        return WP_FAIL(err, INVALID,
                       "table: a table that was opened from a file cannot be added to");
    if (table->is_failed && !table->is_pass_open)
        return WP_FAIL(err, INVALID,
                       "table: an earlier run of this table failed; it can only be "
                       "closed");
    if (table->postpone != NULL && table->postpone != postpone)
        return WP_FAIL(err, INVALID,
                       "table: it was filled from other units; a table is filled by "
                       "the runs of one wp_postpone");
    if (table->is_of_rows)
        return WP_FAIL(err, INVALID, "table: rows have been added to it, so it takes no units");
    const wp_requestee requestee = {
        .object = table,
        .begin = wpi_table_begin,
        .halts = table->view.organisation == WP_TABLE_BASIC ? wpi_table_halts : NULL,
        .end = wpi_table_end};
    table->postpone = postpone;
    table->is_failed = true;
    table->runs++;
    WP_TRY(wp_postpone_run(postpone, requester, &requestee, facts, err));
    WP_TRY(wpi_table_settle(table, err));
    table->is_failed = false;
    return WP_STATUS_OK;
}
