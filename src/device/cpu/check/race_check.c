/* SPDX-License-Identifier: Apache-2.0 */
/* Races between the threads of a block (base/abi.h, wp_rt_race; race_table.h), said as findings.
 * Races between blocks are not looked for: their order is often kept by atomic counters that are
 * far from the data. */
#include "device/cpu/check/race_check.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "device/cpu/check/findings.h"
#include "device/cpu/check/race_table.h"

/* Of a launch, the first blocks are watched, and then one in some: what races does so in most. */
#define WATCHED_FIRST 256u
#define WATCHED_EVERY 16u

/* Memory of the allocation that a site last accessed. */
typedef struct extent {
    uintptr_t first, outer;
} extent;

struct wpi_races {
    wpi_race_table *table;
    extent *extents; /* by site */
    size_t site_capacity;
    const wp_check_site *sites; /* whose extents these are */
    uint64_t removals;          /* of the memory map, when they were last emptied */
    bool is_watched;            /* the block that now runs */
};

/* ---- storage ---- */

static wpi_races *new_races(void) {
    wpi_races *r = wpi_calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->table = wpi_race_table_new();
    if (r->table != NULL) return r;
    wpi_free(r);
    return NULL;
}

bool wpi_races_prepare(wpi_block *block) {
    const wpi_cpu_kernel *kernel = block->launch->kernel;
    if (block->races == NULL) block->races = new_races();
    wpi_races *r = block->races;
    if (r == NULL) return false;
    if (r->site_capacity < kernel->site_count) {
        wpi_free(r->extents);
        r->extents = wpi_calloc(kernel->site_count, sizeof *r->extents);
        r->site_capacity = r->extents != NULL ? kernel->site_count : 0;
        if (r->extents == NULL) return false;
    }
    const uint64_t removals = wpi_memory_map_removals(wpi_memory_map_global());
    if (r->sites != kernel->sites || r->removals != removals)
        memset(r->extents, 0, r->site_capacity * sizeof *r->extents);
    r->sites = kernel->sites;
    r->removals = removals;
    return wpi_race_table_prepare(r->table, block->launch->thread_count,
                                  kernel->code->shared_static_bytes +
                                      block->launch->shared_dynamic_bytes);
}

void wpi_races_begin(wpi_block *block, uint64_t number) {
    wpi_races *r = block->races;
    if (r == NULL) return;
    r->is_watched = number < WATCHED_FIRST || number % WATCHED_EVERY == 0;
    wpi_race_table_begin(r->table, block->pub.shared);
}

void wpi_races_release(wpi_block *block) {
    if (block->races == NULL) return;
    wpi_race_table_free(block->races->table);
    wpi_free(block->races->extents);
    wpi_free(block->races);
    block->races = NULL;
}

void wpi_races_barrier(wpi_block *block) {
    if (block->races != NULL) wpi_race_table_barrier(block->races->table);
}

/* ---- reports ---- */

static void say_memory(wpi_text *text, const wpi_block *block, const wp_check_site *site,
                       uintptr_t address) {
    const uintptr_t shared = (uintptr_t)block->pub.shared;
    wpi_memory_entry entry;
    if (address - shared < block->pub.shared_bytes) {
        wpi_text_appendf(text, "at byte %zu of the block's shared memory",
                         (size_t)(address - shared));
        if (site->name != NULL) wpi_text_appendf(text, ", in %s", site->name);
        return;
    }
    if (!wpi_memory_map_find(wpi_memory_map_global(), (const void *)address, &entry)) // NOLINT
        return;
    wpi_text_appendf(text, "at byte %zu of the %s",
                     (size_t)(address - (uintptr_t)entry.allocation.base),
                     wpi_finding_allocation_kind(&entry));
    if (site->name != NULL) wpi_text_appendf(text, " %s", site->name);
    wpi_finding_say_caller(text, &entry);
}

static void say_other(wpi_text *text, const wpi_block *block, const wpi_race_access *earlier) {
    static const char *const verbs[] = {"read", "wrote", "updated atomically"};
    const wp_check_site *site = &block->launch->kernel->sites[earlier->site];
    wpi_text_append(text, ",\n    which thread ");
    wpi_finding_say_thread(text, block, earlier->thread);
    wpi_text_appendf(text, " %s", verbs[site->access]);
    if (site->file != NULL) wpi_text_appendf(text, " at %s:%" PRIu32, site->file, site->line);
}

static void report(wpi_block *block, const wpi_race_access *earlier, const wpi_race_access *now,
                   uintptr_t address, uint64_t size_bytes) {
    static const char *const verbs[] = {"reads", "writes", "updates atomically"};
    const wpi_cpu_kernel *kernel = block->launch->kernel;
    const wp_check_site *site = &kernel->sites[now->site], *other = &kernel->sites[earlier->site];
    const bool is_warp = now->thread / WP_WARP_LANES == earlier->thread / WP_WARP_LANES;
    const wpi_finding_kind what = is_warp ? WPI_FINDING_WARP_RACE : WPI_FINDING_BLOCK_RACE;
    if (wpi_finding_note(kernel, site, other, what)) {
        const uint32_t *at = block->pub.block_idx;
        wpi_text text = {0};
        wpi_finding_begin(&text, kernel, site, what);
        wpi_text_append(&text, "    thread ");
        wpi_finding_say_thread(&text, block, now->thread);
        wpi_text_appendf(
            &text, " of block (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") %s %" PRIu64 " byte%s ", at[0],
            at[1], at[2], verbs[site->access], size_bytes, wpi_finding_plural(size_bytes));
        say_memory(&text, block, site, address);
        say_other(&text, block, earlier);
        wpi_text_append(&text,
                        is_warp ? ", with no __syncwarp() in between.\n"
                                  "    Since Volta lanes need not be in step; wpcc --lockstep, or "
                                  "WARPAGE_LOCKSTEP=1, keeps them so, as older GPUs do"
                                : ", with no __syncthreads() in between");
        wpi_finding_finish(&text, block);
    }
    wpi_finding_stop(block, what, false);
}

/* ---- calls of kernels ---- */

/* Whether all threads of the block may reach the memory under this address: shared memory, and what
 * is allocated or a variable. Stacks and the heap of kernels are not. */
static bool is_common(wpi_block *block, uintptr_t address, uint64_t size_bytes, uint32_t site) {
    if (address - (uintptr_t)block->pub.shared < block->pub.shared_bytes) return true;
    extent *known = &block->races->extents[site];
    if (address >= known->first && address + size_bytes <= known->outer) return true;
    wpi_memory_entry entry;
    if (!wpi_memory_map_find(wpi_memory_map_global(), (const void *)address, &entry)) // NOLINT
        return false;
    known->first = (uintptr_t)entry.allocation.base;
    known->outer = known->first + entry.allocation.size_bytes;
    return true;
}

static uint8_t flags_of(const wp_check_site *site) {
    uint32_t flags = site->access != WP_CHECK_LOAD ? WPI_RACE_WRITE : 0;
    if (site->access == WP_CHECK_ATOMIC || (site->flags & WP_CHECK_SITE_ATOMIC) != 0)
        flags |= WPI_RACE_ATOMIC;
    if ((site->flags & WP_CHECK_SITE_VOLATILE) != 0) flags |= WPI_RACE_VOLATILE;
    if ((site->flags & WP_CHECK_SITE_VALUE) != 0) flags |= WPI_RACE_VALUE;
    return (uint8_t)flags;
}

void wp_rt_race(const void *pointer, uint64_t size_bytes, uint64_t value, uint32_t site,
                uint32_t thread) {
    wpi_block *block = (wpi_block *)wp_rt_block; /* its first member */
    const uintptr_t address = (uintptr_t)pointer;
    if (!block->races->is_watched || size_bytes == 0 ||
        !is_common(block, address, size_bytes, site))
        return;
    const wpi_race_access now = {.site = site,
                                 .thread = (uint16_t)thread,
                                 .flags = flags_of(&block->launch->kernel->sites[site])};
    wpi_race_access earlier;
    if (wpi_race_table_access(block->races->table, &now, address, size_bytes, value, &earlier))
        report(block, &earlier, &now, address, size_bytes);
}

void wp_rt_race_sync(uint32_t thread) {
    const wpi_races *r = ((wpi_block *)wp_rt_block)->races;
    if (r->is_watched) wpi_race_table_sync(r->table, thread);
}
