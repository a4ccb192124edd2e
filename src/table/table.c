/* SPDX-License-Identifier: Apache-2.0 */
/* A table's memory: what there is of it, and how large it is. */
#include <inttypes.h>

#include "base/alloc.h"
#include "table/table_state.h"

#define BUCKETS_DEFAULT ((uint64_t)1 << 16)
#define BUCKETS_MAX ((uint64_t)1 << 40)
#define GROUPS_MAX ((uint64_t)1 << 30)
#define PAGE_BYTES_MIN ((uint64_t)64)
#define PAGE_BYTES_MAX ((uint64_t)1 << 30)
#define PAGES_PER_GROUP 8u
#define GROUPS_DEFAULT_MAX                                                                         \
    512u /* each touches a page of the heap, and of host memory behind it                          \
          */

static uint64_t power_at_least(uint64_t value) {
    uint64_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

static uint64_t power_at_most(uint64_t value) {
    uint64_t power = 1;
    while (power <= value / 2)
        power *= 2;
    return power;
}

static uint32_t log2_of(uint64_t power) {
    return (uint32_t)__builtin_ctzll(power);
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static wp_status check_spec(const wp_table_spec *spec, wp_error *err) {
    if ((unsigned)spec->organisation >= WP_TABLE_ORGANISATION_COUNT)
        return WP_FAIL(err, INVALID, "table: there is no organisation %d", (int)spec->organisation);
    if ((unsigned)spec->combiner >= WP_TABLE_COMBINER_COUNT)
        return WP_FAIL(err, INVALID, "table: there is no combiner %d", (int)spec->combiner);
    if (spec->bucket_count > BUCKETS_MAX)
        return WP_FAIL(err, INVALID, "table: %" PRIu64 " buckets; at most 2^40 are possible",
                       spec->bucket_count);
    if (spec->page_bytes != 0 &&
        (spec->page_bytes < PAGE_BYTES_MIN || spec->page_bytes > PAGE_BYTES_MAX))
        return WP_FAIL(err, INVALID,
                       "table: pages of %" PRIu64 " bytes; 64 bytes to 1 GiB are "
                       "possible",
                       spec->page_bytes);
    if (spec->halt_pct > 100)
        return WP_FAIL(err, INVALID, "table: halting at %u%% of the groups; 1 to 100 are possible",
                       spec->halt_pct);
    if (spec->postpone_pct > 99)
        return WP_FAIL(err, INVALID,
                       "table: postponing %u%% of the inserts for a test; at most 99 "
                       "are possible",
                       spec->postpone_pct);
    return WP_STATUS_OK;
}

static uint64_t default_page_bytes(uint64_t heap_bytes) {
    uint64_t bytes = power_at_most(heap_bytes / 4096 + 1);
    if (bytes < 4096) bytes = 4096;
    if (bytes > (1u << 18)) bytes = 1u << 18;
    if (bytes > heap_bytes && heap_bytes >= PAGE_BYTES_MIN) bytes = power_at_most(heap_bytes);
    return bytes;
}

static wp_status choose_pages(wp_table_view *view, const wp_table_spec *spec, uint64_t heap_bytes,
                              wp_error *err) {
    const uint64_t page_bytes =
        spec->page_bytes != 0 ? power_at_least(spec->page_bytes) : default_page_bytes(heap_bytes);
    view->page_bytes = (uint32_t)page_bytes;
    view->page_shift = log2_of(page_bytes);
    view->page_count = heap_bytes >> view->page_shift;
    if (view->page_count == 0)
        return WP_FAIL(err, INVALID,
                       "table: a heap of %" PRIu64 " bytes holds no page; %" PRIu64
                       " bytes are needed",
                       heap_bytes, page_bytes);
    if (view->page_count >= UINT32_MAX)
        return WP_FAIL(err, INVALID,
                       "table: a heap of %" PRIu64 " pages; use pages of more than %" PRIu64
                       " bytes",
                       view->page_count, page_bytes);
    return WP_STATUS_OK;
}

static void choose_groups(wp_table *table, const wp_table_spec *spec) {
    wp_table_view *view = &table->view;
    const uint64_t buckets = view->bucket_mask + 1;
    uint64_t of_group = spec->buckets_per_group;
    if (of_group == 0) {
        uint64_t groups = power_at_most(view->page_count / PAGES_PER_GROUP + 1);
        if (groups > GROUPS_DEFAULT_MAX) groups = GROUPS_DEFAULT_MAX;
        if (groups > buckets) groups = buckets;
        of_group = buckets / groups;
    }
    of_group = of_group > buckets ? buckets : power_at_least(of_group);
    if (buckets / of_group > GROUPS_MAX) of_group = buckets / GROUPS_MAX;
    view->group_shift = log2_of(of_group);
    table->groups = buckets / of_group;
    const uint32_t halt_pct = spec->halt_pct == 0 ? 50 : spec->halt_pct;
    view->halt_groups = wpi_table_heap_postpones(table) ? (table->groups * halt_pct + 99) / 100 : 1;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static wp_status take(wp_table *table, uint64_t bytes, void *out, wp_error *err) {
    return wp_memory_alloc(table->device, WP_MEMORY_DEVICE, bytes, 0, (void **)out, err);
}

static wp_status take_zeros(wp_table *table, uint64_t bytes, void *out, wp_error *err) {
    WP_TRY(take(table, bytes, out, err));
    return wp_queue_fill(table->queue, *(void **)out, 0, 4, bytes / 4, err);
}

static wp_status take_host(wp_table *table, wp_error *err) {
    table->pages = wpi_calloc(table->view.page_count, sizeof *table->pages);
    table->buckets = wpi_calloc(table->view.bucket_mask + 1, sizeof *table->buckets);
    if (table->pages == NULL || table->buckets == NULL)
        return WP_FAIL(err, NOMEM,
                       "table: no host memory for %" PRIu64 " buckets and the state of "
                       "%" PRIu64 " pages",
                       table->view.bucket_mask + 1, table->view.page_count);
    return WP_STATUS_OK;
}

static wp_status make(wp_table *table, const wp_table_spec *spec, wp_error *err) {
    wp_table_view *view = &table->view;
    const uint64_t buckets =
        spec->bucket_count == 0 ? BUCKETS_DEFAULT : power_at_least(spec->bucket_count);
    view->organisation = (uint32_t)spec->organisation;
    view->combiner = (uint32_t)spec->combiner;
    view->postpone_pct = spec->postpone_pct;
    view->seed = spec->seed;
    view->bucket_mask = buckets - 1;
    WP_TRY(take_zeros(table, buckets * sizeof *view->buckets, &view->buckets, err));
    WP_TRY(take_zeros(table, sizeof *view->control, &view->control, err));

    uint64_t heap_bytes = spec->heap_bytes, total_bytes;
    if (heap_bytes == 0) {
        wp_memory_info(table->device, &heap_bytes, &total_bytes);
        heap_bytes -= heap_bytes / 32;
    }
    WP_TRY(choose_pages(view, spec, heap_bytes, err));
    choose_groups(table, spec);
    WP_TRY(take_zeros(table, view->page_count * sizeof *view->pages, &view->pages, err));
    WP_TRY(take_zeros(table, table->groups * 2 * sizeof *view->streams, &view->streams, err));
    WP_TRY(
        take_zeros(table, table->groups * sizeof *view->group_is_full, &view->group_is_full, err));
    if (spec->heap_bytes == 0) { /* the state of the pages was taken from it */
        wp_memory_info(table->device, &heap_bytes, &total_bytes);
        heap_bytes -= heap_bytes / 32;
        if (heap_bytes >> view->page_shift < view->page_count)
            view->page_count = heap_bytes >> view->page_shift;
        if (view->page_count == 0)
            return WP_FAIL(err, DEVICE_NOMEM,
                           "table: %" PRIu64 " bytes of device memory are left "
                           "for the heap; a page of %u bytes is needed",
                           heap_bytes, view->page_bytes);
    }
    WP_TRY(wpi_table_heap_take(table, err));
    WP_TRY(take_host(table, err));
    view->base = view->page_bytes; /* no place is 0 */
    view->key_pages_max = view->page_count;
    table->key_pages_max = wpi_table_keep_max(table);
    table->report = (wp_table_report){.heap_bytes = view->page_count << view->page_shift,
                                      .page_bytes = view->page_bytes,
                                      .pages = view->page_count,
                                      .bucket_count = buckets,
                                      .groups = table->groups};
    return wp_queue_wait(table->queue, err);
}

wp_status wp_table_create(wp_device *device, const wp_table_spec *spec, wp_table **out,
                          wp_error *err) {
    *out = NULL;
    if (device == NULL) return WP_FAIL(err, INVALID, "table: there is no device");
    WP_TRY(check_spec(spec, err));
    WP_TRY(wpi_table_heap_check(device, spec, err));
    wp_table *table = wpi_calloc(1, sizeof *table);
    if (table == NULL) return WP_FAIL(err, NOMEM, "table: no host memory");
    table->device = device;
    table->queue = wp_device_default_queue(device);
    table->heap_kind = spec->heap_kind;
    table->host_bytes_max = spec->host_bytes;
    wp_status status = WP_STATUS_OK;
    if (spec->spill_folder != NULL &&
        (table->spill_folder = wpi_strdup(spec->spill_folder)) == NULL)
        status = WP_FAIL(err, NOMEM, "table: no host memory");
    if (status == WP_STATUS_OK) status = make(table, spec, err);
    if (status != WP_STATUS_OK)
        wp_table_close(table);
    else
        *out = table;
    return status;
}

static void give(wp_table *table, void *memory) {
    if (memory == NULL) return;
    if (table->device == NULL) {
        wpi_free(memory);
        return;
    }
    const wp_status ignored = wp_memory_free(table->device, memory, NULL);
    (void)ignored; /* fails only where the device has freed it */
}

void wp_table_close(wp_table *table) {
    if (table == NULL) return;
    const wp_table_view *view = &table->view;
    give(table, view->buckets);
    give(table, view->heap);
    give(table, view->pages);
    give(table, view->streams);
    give(table, view->group_is_full);
    give(table, view->entry_locks);
    give(table, view->control);
    give(table, table->device_segments);
    for (uint64_t i = 0; i < table->block_count; i++)
        if (table->blocks[i].is_in_file)
            wpi_table_spill_give(table->blocks[i].memory, table->blocks[i].bytes);
        else
            give(table, table->blocks[i].memory);
    wpi_table_spill_close(table);
    if (table->map != NULL) {
        table->buckets = NULL; /* in the file */
        wpi_table_unmap(table->map);
    }
    wpi_free(table->blocks);
    wpi_free(table->segments);
    wpi_free(table->listed);
    wpi_free(table->buckets);
    wpi_free(table->pages);
    wpi_free(table->kept);
    wpi_free(table->kept_memory);
    wpi_free(table);
}

wp_table_view wp_table_get_view(const wp_table *table) {
    return table->view;
}

void wp_table_get_report(const wp_table *table, wp_table_report *out) {
    *out = table->report;
}

/* ---- places in host memory ------------------------------------------------------------------- */

char *wpi_table_host(const wp_table *table, uint64_t place) {
    uint64_t first = 0, outer = table->segment_count;
    while (first < outer) {
        const uint64_t middle = first + (outer - first) / 2;
        const wp_table_segment *segment = &table->segments[middle];
        if (place < segment->first)
            outer = middle;
        else if (place >= segment->outer)
            first = middle + 1;
        else
            return segment->memory + (place - segment->first);
    }
    return NULL;
}

/* Room for one more item. */
static wp_status grow(void **items, uint64_t count, uint64_t *capacity, size_t item_bytes,
                      wp_error *err) {
    if (count < *capacity) return WP_STATUS_OK;
    const uint64_t more = *capacity == 0 ? 16 : *capacity * 2;
    void *memory = wpi_realloc(*items, more * item_bytes);
    if (memory == NULL)
        return WP_FAIL(err, NOMEM, "table: no host memory for a list of %" PRIu64 " parts", more);
    *items = memory;
    *capacity = more;
    return WP_STATUS_OK;
}

wp_status wpi_table_segment_add(wp_table *table, uint64_t first, uint64_t outer, wp_error *err) {
    WP_TRY(grow((void **)&table->segments, table->segment_count, &table->segment_capacity,
                sizeof *table->segments, err));
    table->segments[table->segment_count++] = (wp_table_segment){first, outer, NULL};
    return WP_STATUS_OK;
}

wp_status wpi_table_block_add(wp_table *table, uint64_t bytes, char **memory, wp_error *err) {
    *memory = NULL;
    if (bytes == 0) return WP_STATUS_OK;
    WP_TRY(grow((void **)&table->blocks, table->block_count, &table->block_capacity,
                sizeof *table->blocks, err));
    const uint64_t most = table->host_bytes_max;
    if (most != 0 && (bytes > most || table->report.host_bytes > most - bytes))
        table->is_spilling = true;
    if (table->is_spilling)
        WP_TRY(wpi_table_spill_add(table, bytes, memory, err));
    else if (table->device != NULL)
        WP_TRY(wp_memory_alloc(table->device, WP_MEMORY_PINNED, bytes, 0, (void **)memory, err));
    else if ((*memory = wpi_malloc(bytes)) == NULL)
        return WP_FAIL(err, NOMEM, "table: no host memory for %" PRIu64 " bytes of it", bytes);
    table->blocks[table->block_count++] = (wpi_table_block){*memory, bytes, table->is_spilling};
    if (!table->is_spilling) table->report.host_bytes += bytes;
    return WP_STATUS_OK;
}

wp_status wpi_table_fetch(const wp_table *table, void *to, const void *from, uint64_t bytes,
                          wp_error *err) {
    WP_TRY(wp_queue_copy(table->queue, to, from, bytes, err));
    return wp_queue_wait(table->queue, err);
}

wp_status wpi_table_send(wp_table *table, void *to, const void *from, uint64_t bytes,
                         wp_error *err) {
    table->report.to_device_bytes += bytes;
    WP_TRY(wp_queue_copy(table->queue, to, from, bytes, err));
    return wp_queue_wait(table->queue, err);
}
