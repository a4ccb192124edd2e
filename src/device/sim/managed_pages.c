/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/managed_pages.h"

#include "base/alloc.h"
#include "base/units.h"

void wpi_managed_init(wpi_managed *managed) {
    *managed = (wpi_managed){0};
    (void)wpi_touch_init(&managed->touch);
}

void wpi_managed_deinit(wpi_managed *managed) {
    wpi_touch_deinit(&managed->touch);
    wpi_foresight_deinit(&managed->foresight);
    wpi_free(managed->ranges);
    managed->ranges = NULL;
}

bool wpi_managed_has_place(wpi_managed_range range) {
    return range.address % WPI_CHUNK_BYTES == 0 && range.address >= WPI_ARENA_MANAGED_FIRST &&
           range.address < WPI_ARENA_HOST_FIRST &&
           range.bytes <= WPI_ARENA_HOST_FIRST - range.address;
}

static uint64_t host_of(wpi_managed_range range) {
    return range.host != 0 ? range.host : range.address;
}

bool wpi_managed_has(const wpi_managed *managed, uint64_t address) {
    for (size_t i = 0; i < managed->count; i++)
        if (address - managed->ranges[i].address < managed->ranges[i].bytes) return true;
    return false;
}

/* Registers a range with the model, if pages migrate. */
static wp_status tell(wpi_memory *memory, wpi_managed_range range, wp_error *err) {
    wpi_paging *paging = wpi_memory_paging(memory);
    if (paging == NULL) return WP_STATUS_OK;
    return wpi_paging_add(paging, range.address, range.bytes, err);
}

void wpi_managed_use_on_host(wpi_memory *memory, wpi_managed_range range) {
    wpi_paging *paging = wpi_memory_paging(memory);
    if (paging == NULL) return;
    wpi_paging_use_on_host(paging, (wpi_paging_range){range.address, range.bytes});
}

wp_status wpi_managed_begin(wpi_managed *managed, wpi_memory *memory, wp_error *err) {
    WP_TRY(wpi_memory_manage(memory, WPI_ARENA_MANAGED_FIRST, err));
    wpi_paging *paging = wpi_memory_paging(memory);
    if (paging != NULL) wpi_paging_set_foresight(paging, &managed->foresight);
    for (size_t i = 0; i < managed->count; i++) {
        WP_TRY(tell(memory, managed->ranges[i], err));
        wpi_managed_use_on_host(memory, managed->ranges[i]);
    }
    return WP_STATUS_OK;
}

static void grow(wpi_footprint_bytes *of, uint64_t bytes) {
    of->bytes += bytes;
    if (of->bytes > of->most) of->most = of->bytes;
}

wp_status wpi_managed_add(wpi_managed *managed, wpi_memory *memory, wpi_managed_range range,
                          wp_error *err) {
    if (managed->count == managed->capacity) {
        const size_t capacity = managed->capacity == 0 ? 16 : 2 * managed->capacity;
        wpi_managed_range *ranges = wpi_realloc(managed->ranges, capacity * sizeof *ranges);
        if (ranges == NULL) return WP_FAIL(err, NOMEM, "managed memory");
        managed->ranges = ranges;
        managed->capacity = capacity;
    }
    WP_TRY(tell(memory, range, err));
    managed->ranges[managed->count++] = range;
    wpi_touch_watch(&managed->touch, host_of(range), range.bytes);
    if (!wpi_touch_is_seen(&managed->touch)) wpi_managed_use_on_host(memory, range);
    grow(&managed->asked, range.bytes);
    grow(&managed->trees, wpi_residency_tree_bytes(range.bytes));
    return WP_STATUS_OK;
}

void wpi_managed_remove(wpi_managed *managed, wpi_memory *memory, uint64_t address) {
    size_t i = 0;
    while (i < managed->count && managed->ranges[i].address != address)
        i++;
    if (i == managed->count) return;
    wpi_paging *paging = wpi_memory_paging(memory);
    if (paging != NULL) wpi_paging_remove(paging, address, managed->ranges[i].bytes);
    managed->asked.bytes -= managed->ranges[i].bytes;
    managed->trees.bytes -= wpi_residency_tree_bytes(managed->ranges[i].bytes);
    managed->ranges[i] = managed->ranges[--managed->count];
}

void wpi_managed_remove_all(wpi_managed *managed, wpi_memory *memory) {
    while (managed->count != 0)
        wpi_managed_remove(managed, memory, managed->ranges[managed->count - 1].address);
}

void wpi_managed_forget_touched(const wpi_managed *managed) {
    for (size_t i = 0; i < managed->count; i++)
        wpi_touch_forget(host_of(managed->ranges[i]), managed->ranges[i].bytes);
}

void wpi_managed_visit_touched(const wpi_managed *managed, wpi_managed_visit visit, void *object) {
    for (size_t i = 0; i < managed->count; i++) {
        const wpi_managed_range range = managed->ranges[i];
        for (uint64_t at = 0; at < range.bytes; at += WPI_CHUNK_BYTES) {
            const uint64_t left = range.bytes - at;
            wpi_pages touched = {{0}};
            wpi_touch_find(&managed->touch, host_of(range) + at,
                           left < WPI_CHUNK_BYTES ? left : WPI_CHUNK_BYTES, &touched);
            if (!wpi_pages_is_empty(&touched)) visit(object, range.address + at, &touched);
        }
    }
}

/* Device memory for managed pages: the device's, or, oversubscribed, a share of the program's
 * largest allocated size. */
static uint64_t room_bytes(const wpi_managed *managed, const wpi_profile *profile,
                           uint64_t taken_bytes) {
    const wpi_footprint_bytes *footprint =
        profile->paging.rounds_up ? &managed->trees : &managed->asked;
    if (profile->paging.oversubscribe_percent != 0)
        return footprint->most * 100 / profile->paging.oversubscribe_percent;
    return profile->memory_bytes > taken_bytes ? profile->memory_bytes - taken_bytes : 0;
}

/* Fewer pages than an eviction or a large page may need. */
static wp_status fail_for_room(const wpi_managed *managed, const wpi_profile *profile,
                               uint64_t bytes, wp_error *err) {
    char room[32], all[32];
    const wpi_footprint_bytes *footprint =
        profile->paging.rounds_up ? &managed->trees : &managed->asked;
    if (profile->paging.oversubscribe_percent == 0)
        return WP_FAIL(err, INVALID,
                       "managed memory gets %s of device memory but needs at least 2 MiB: raise "
                       "gpu.memory",
                       wpi_format_bytes(bytes, room));
    return WP_FAIL(err, INVALID,
                   "the program's %s of managed memory, oversubscribed by %u %%, get %s of device "
                   "memory but need at least 2 MiB: give the program a larger input, or lower "
                   "--oversubscribe (paging.oversubscribe)",
                   wpi_format_bytes(footprint->most, all), profile->paging.oversubscribe_percent,
                   wpi_format_bytes(bytes, room));
}

wp_status wpi_managed_make_room(const wpi_managed *managed, wpi_memory *memory,
                                const wpi_profile *profile, uint64_t taken_bytes, wp_error *err) {
    wpi_paging *paging = wpi_memory_paging(memory);
    const uint64_t frames = room_bytes(managed, profile, taken_bytes) / WPI_PAGE_BYTES;
    if (managed->count == 0) return WP_STATUS_OK;
    if (frames < WPI_CHUNK_PAGES)
        return fail_for_room(managed, profile, frames * WPI_PAGE_BYTES, err);
    wpi_paging_set_frames(paging, frames);
    return WP_STATUS_OK;
}
