/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of heaps: SePo's, and three others to compare it with (thesis, section 6.6.4), which take
 * one pass and fail when they are full.
 *
 * Only entries are in the heap. For one in host memory the locks of entries are taken out of it, so
 * that threads that wait for a lock do not wait across the link. */
#include <inttypes.h>

#include "table/table_state.h"

#define ATTACH_GLOBAL 1u /* cudaMemAttachGlobal: any kernel may access it */

typedef struct heap_kind {
    wp_memory_kind memory;
    wp_status full;
    const char *where;
} heap_kind;

static const heap_kind kinds[WP_TABLE_HEAP_KIND_COUNT] = {
    [WP_TABLE_HEAP_SEPO] = {WP_MEMORY_DEVICE, WP_STATUS_DEVICE_NOMEM, "in device memory"},
    [WP_TABLE_HEAP_MEMORY] = {WP_MEMORY_DEVICE, WP_STATUS_DEVICE_NOMEM, "in device memory"},
    [WP_TABLE_HEAP_PINNED] = {WP_MEMORY_PINNED, WP_STATUS_NOMEM, "in page-locked host memory"},
    [WP_TABLE_HEAP_MANAGED] = {WP_MEMORY_MANAGED, WP_STATUS_NOMEM, "of managed memory"}};

bool wpi_table_heap_postpones(const wp_table *table) {
    return table->heap_kind == WP_TABLE_HEAP_SEPO;
}

bool wpi_table_heap_is_on_host(const wp_table *table) {
    return kinds[table->heap_kind].memory != WP_MEMORY_DEVICE;
}

wp_status wpi_table_heap_check(wp_device *device, const wp_table_spec *spec, wp_error *err) {
    if ((unsigned)spec->heap_kind >= WP_TABLE_HEAP_KIND_COUNT)
        return WP_FAIL(err, INVALID, "table: there is no kind of heap %d", (int)spec->heap_kind);
    const heap_kind *kind = &kinds[spec->heap_kind];
    if (kind->memory != WP_MEMORY_DEVICE && spec->heap_bytes == 0)
        return WP_FAIL(err, INVALID, "table: a heap %s has no default size; set heap_bytes",
                       kind->where);
    if (kind->memory != WP_MEMORY_DEVICE && spec->host_bytes != 0 &&
        spec->heap_bytes > spec->host_bytes)
        return WP_FAIL(err, INVALID,
                       "table: a heap of %" PRIu64 " bytes %s exceeds host_bytes, %" PRIu64
                       "; use WP_TABLE_HEAP_SEPO, which goes on in a file",
                       spec->heap_bytes, kind->where, spec->host_bytes);
    if (spec->postpone_pct != 0 && spec->heap_kind != WP_TABLE_HEAP_SEPO)
        return WP_FAIL(err, INVALID,
                       "table: a heap %s that does not postpone cannot postpone %u%% of the "
                       "inserts; use WP_TABLE_HEAP_SEPO",
                       kind->where, spec->postpone_pct);
    if (spec->heap_kind != WP_TABLE_HEAP_MANAGED) return WP_STATUS_OK;
    const wp_device_info *info = wp_device_get_info(device);
    uint64_t free_bytes, total_bytes;
    wp_memory_info(device, &free_bytes, &total_bytes);
    if (!info->has_page_faults && spec->heap_bytes > free_bytes)
        return WP_FAIL(err, UNSUPPORTED,
                       "table: %" PRIu64 " bytes of managed memory on %s (compute capability "
                       "%u.%u), which has no page faults: all of it must be resident, and %" PRIu64
                       " bytes are free; use WP_TABLE_HEAP_SEPO",
                       spec->heap_bytes, info->name, info->compute_major, info->compute_minor,
                       free_bytes);
    return WP_STATUS_OK;
}

wp_status wpi_table_heap_take(wp_table *table, wp_error *err) {
    wp_table_view *view = &table->view;
    if (wpi_table_heap_is_on_host(table) && view->combiner == WP_TABLE_CALLBACK) {
        const uint64_t buckets = view->bucket_mask + 1;
        WP_TRY(wp_memory_alloc(table->device, WP_MEMORY_DEVICE, buckets * sizeof(uint32_t), 0,
                               (void **)&view->entry_locks, err));
        WP_TRY(wp_queue_fill(table->queue, view->entry_locks, 0, 4, buckets, err));
    }
    const wp_memory_kind memory = kinds[table->heap_kind].memory;
    return wp_memory_alloc(table->device, memory, view->page_count << view->page_shift,
                           memory == WP_MEMORY_MANAGED ? ATTACH_GLOBAL : 0, (void **)&view->heap,
                           err);
}

/* Managed pages that kernels used last move to the host, which reads the table from now on. */
wp_status wpi_table_heap_settle(wp_table *table, wp_error *err) {
    if (table->heap_kind == WP_TABLE_HEAP_MANAGED)
        for (uint64_t i = 0; i < table->segment_count; i++) {
            const wp_table_segment *segment = &table->segments[i];
            WP_TRY(wp_queue_prefetch(table->queue, segment->memory, segment->outer - segment->first,
                                     false, err));
        }
    return wp_queue_wait(table->queue, err);
}

wp_status wpi_table_heap_full(const wp_table *table, const wp_postpone_facts *facts,
                              wp_error *err) {
    const heap_kind *kind = &kinds[table->heap_kind];
    const uint64_t left = facts->postponed_units, units = left + facts->done_units;
    return wpi_fail(err, kind->full, __FILE__, __LINE__,
                    "table: a heap of %" PRIu64 " bytes %s is full, and %" PRIu64 " of %" PRIu64
                    " units are left; choose a larger one, or WP_TABLE_HEAP_SEPO, which goes on in "
                    "further passes",
                    table->report.heap_bytes, kind->where, left, units);
}
