/* SPDX-License-Identifier: Apache-2.0 */
/* Searches by kernels in a finished table that is larger than device memory (the exercise that the
 * thesis leaves, chapter 7): parts of the table are brought back into the heap; a search that needs
 * an absent one is postponed.
 *
 *     begin    segments that searches wait for are copied into the heap, newest first, until it is
 * full …        kernels: wp_table_seek_next goes on until it needs a segment that is absent, and
 * marks it end      the marks are read
 *
 * Chains lead from newer entries to older ones, so searches that wait for older segments gather
 * while newer ones are brought. A segment is found by its place, as in wp_table_find; that it is
 * absent is a NULL in the device's list of segments. In each pass but the first at least one marked
 * segment is brought, so at least one search goes on, even if none ends. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "table/table_state.h"

typedef struct search {
    wp_table *table;
    wp_postpone *postpone;
    uint32_t *wanted;           /* the host's copy of the marks */
    wp_table_segment *segments; /* … and of the device's list */
    bool has_begun;
} search;

/* What the last pass left in the heap is found there by its place. A heap on the host is all there.
 */
static void list_at_first(const search *s) {
    const wp_table *table = s->table;
    for (uint64_t i = 0; i < table->segment_count; i++) {
        s->segments[i] = table->segments[i];
        if (!wpi_table_heap_is_on_host(table)) s->segments[i].memory = NULL;
    }
}

static uint64_t bytes_of(const wp_table_segment *segment) {
    return segment->outer - segment->first;
}

/* Copies the segments that are waited for, as many as fit. */
static wp_status bring(search *s, uint64_t *count, wp_error *err) {
    wp_table *table = s->table;
    wp_table_view *view = &table->view;
    const uint64_t heap_bytes = view->page_count << view->page_shift;
    uint64_t used = 0;
    *count = 0;
    for (uint64_t i = 0; i < table->segment_count; i++)
        s->segments[i].memory = NULL;
    for (uint64_t i = table->segment_count; i-- > 0;) {
        const uint64_t bytes = bytes_of(&table->segments[i]);
        if (s->wanted[i] == 0 || bytes > heap_bytes - used) continue;
        s->segments[i].memory = view->heap + used;
        WP_TRY(
            wp_queue_copy(table->queue, view->heap + used, table->segments[i].memory, bytes, err));
        table->report.to_device_bytes += bytes;
        used += bytes;
        ++*count;
    }
    /* The heap no longer has what the last pass left there: all places are below the base. */
    if (*count != 0 && table->segments[table->segment_count - 1].outer > view->base)
        view->base += heap_bytes;
    return WP_STATUS_OK;
}

static wp_status begin(void *object, wp_error *err) {
    search *s = object;
    wp_table *table = s->table;
    uint64_t brought = 0;
    if (table->segment_count == 0) return WP_STATUS_OK;
    if (!s->has_begun)
        list_at_first(s);
    else if (!wpi_table_heap_is_on_host(table))
        WP_TRY(bring(s, &brought, err));
    if (!s->has_begun || brought != 0) {
        wpi_postpone_moved(s->postpone);
        WP_TRY(wpi_table_send(table, table->device_segments, s->segments,
                              table->segment_count * sizeof *s->segments, err));
    }
    s->has_begun = true;
    return wp_queue_fill(table->queue, table->view.wanted, 0, 4, table->segment_count, err);
}

static wp_status end(void *object, const wp_postpone_facts *facts, wp_error *err) {
    search *s = object;
    (void)facts;
    if (s->table->segment_count == 0) return WP_STATUS_OK;
    return wpi_table_fetch(s->table, s->wanted, s->table->view.wanted,
                           s->table->segment_count * sizeof *s->wanted, err);
}

static wp_status prepare(search *s, wp_error *err) {
    wp_table *table = s->table;
    const uint64_t count = table->segment_count;
    s->wanted = wpi_calloc(count + 1, sizeof *s->wanted);
    s->segments = wpi_calloc(count + 1, sizeof *s->segments);
    if (s->wanted == NULL || s->segments == NULL)
        return WP_FAIL(err, NOMEM, "table: no host memory for a list of %" PRIu64 " parts", count);
    return wp_memory_alloc(table->device, WP_MEMORY_DEVICE, (count + 1) * sizeof *s->wanted, 0,
                           (void **)&table->view.wanted, err);
}

wp_status wp_table_search(wp_table *table, wp_postpone *postpone, const wp_requester *requester,
                          wp_postpone_facts *facts, wp_error *err) {
    if (table->device == NULL || table->view.heap == NULL)
        return WP_FAIL(err, INVALID,
                       "table: a table that was opened from a file has no device memory for "
                       "searches by kernels; search it on the host by wp_table_find_next");
    if (table->is_failed)
        return WP_FAIL(err, INVALID,
                       "table: an earlier run of this table failed; it can only be "
                       "closed");
    search s = {.table = table, .postpone = postpone};
    const wp_requestee requestee = {.object = &s, .begin = begin, .end = end};
    wp_status status = prepare(&s, err);
    if (status == WP_STATUS_OK)
        status = wp_postpone_run(postpone, requester, &requestee, facts, err);
    /* The list for wp_table_find again, also after a failure. */
    const wp_status listed = wpi_table_list_segments(table, status == WP_STATUS_OK ? err : NULL);
    if (table->view.wanted != NULL) (void)!wp_memory_free(table->device, table->view.wanted, NULL);
    table->view.wanted = NULL;
    wpi_free(s.wanted);
    wpi_free(s.segments);
    return status != WP_STATUS_OK ? status : listed;
}
