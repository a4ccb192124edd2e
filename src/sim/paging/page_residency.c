/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/page_residency.h"

#include <string.h>

#include "base/alloc.h"

void wpi_residency_init(wpi_residency *residency, uint64_t first, uint64_t frames) {
    *residency = (wpi_residency){.first = first, .frames = frames};
}

void wpi_residency_deinit(wpi_residency *residency) {
    wpi_free(residency->chunks);
    wpi_free(residency->page_ages);
    *residency = (wpi_residency){0};
}

static wp_status grow(wpi_residency *r, uint32_t count, wp_error *err) {
    if (count <= r->chunk_count) return WP_STATUS_OK;
    wpi_chunk *chunks = wpi_malloc_aligned(_Alignof(wpi_chunk), count * sizeof *chunks);
    if (chunks == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", count);
    memset(chunks + r->chunk_count, 0, (count - r->chunk_count) * sizeof *chunks);
    if (r->chunk_count > 0) memcpy(chunks, r->chunks, r->chunk_count * sizeof *chunks);
    wpi_free(r->chunks);
    r->chunks = chunks;
    r->chunk_count = count;
    return WP_STATUS_OK;
}

/* Whole chunks, and a rest whose tree has a power of two of blocks. */
static uint32_t tree_pages(uint32_t pages) {
    uint32_t tree = WPI_BLOCK_PAGES;
    while (tree < pages)
        tree *= 2;
    return tree;
}

uint64_t wpi_residency_tree_bytes(uint64_t bytes) {
    const uint64_t rest = bytes % WPI_CHUNK_BYTES;
    const uint32_t pages = (uint32_t)((rest + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES);
    return rest == 0 ? bytes : bytes - rest + (uint64_t)tree_pages(pages) * WPI_PAGE_BYTES;
}

/* The number of chunks, including those of an allocation at `address`. */
static uint64_t outer_of(const wpi_residency *r, uint64_t address, uint64_t bytes) {
    WP_CHECK(address >= r->first && address % WPI_CHUNK_BYTES == 0 && bytes > 0);
    const uint64_t pages = (bytes + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES;
    const uint64_t outer =
        (address - r->first) / WPI_CHUNK_BYTES + (pages + WPI_CHUNK_PAGES - 1) / WPI_CHUNK_PAGES;
    return outer > r->chunk_count ? outer : r->chunk_count;
}

wp_status wpi_residency_count(const wpi_residency *residency, uint64_t address, uint64_t bytes,
                              uint32_t *count, wp_error *err) {
    const uint64_t outer = outer_of(residency, address, bytes);
    *count = (uint32_t)outer;
    if (outer > UINT32_MAX)
        return WP_FAIL(err, NOMEM, "managed memory beyond %u chunks", UINT32_MAX);
    return WP_STATUS_OK;
}

wp_status wpi_residency_reserve(wpi_residency *residency, uint32_t count, wp_error *err) {
    return grow(residency, count, err);
}

wp_status wpi_residency_grow_words(uint64_t **words, uint32_t before, uint32_t after, uint32_t each,
                                   wp_error *err) {
    uint64_t *grown = wpi_realloc(*words, (size_t)after * each * sizeof *grown);
    if (grown == NULL) return WP_FAIL(err, NOMEM, "%u chunks of managed memory", after);
    for (size_t i = (size_t)before * each; i < (size_t)after * each; i++)
        grown[i] = 0;
    *words = grown;
    return WP_STATUS_OK;
}

wp_status wpi_residency_reserve_ages(wpi_residency *residency, uint32_t count, wp_error *err) {
    return wpi_residency_grow_words(&residency->page_ages, residency->chunk_count, count,
                                    WPI_CHUNK_PAGES, err);
}

wp_status wpi_residency_add(wpi_residency *residency, uint64_t address, uint64_t bytes,
                            wp_error *err) {
    uint32_t count;
    WP_TRY(wpi_residency_count(residency, address, bytes, &count, err));
    WP_TRY(grow(residency, count, err));
    uint64_t pages = (bytes + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES;
    const uint64_t number = (address - residency->first) / WPI_CHUNK_BYTES;
    for (wpi_chunk *chunk = &residency->chunks[number]; pages > 0; chunk++) {
        WP_CHECK(chunk->page_count == 0);
        chunk->page_count = pages < WPI_CHUNK_PAGES ? (uint32_t)pages : WPI_CHUNK_PAGES;
        chunk->tree_pages = tree_pages(chunk->page_count);
        pages -= chunk->page_count;
    }
    return WP_STATUS_OK;
}

void wpi_residency_set_untouched(wpi_residency *residency, uint64_t address, uint64_t bytes) {
    for (uint64_t at = address; at < address + bytes; at += WPI_CHUNK_BYTES) {
        wpi_chunk *chunk = wpi_residency_chunk(residency, at);
        wpi_pages_add_range(&chunk->untouched, 0, chunk->page_count);
    }
}

void wpi_residency_remove(wpi_residency *residency, uint64_t address, uint64_t bytes) {
    for (uint64_t at = address; at < address + bytes; at += WPI_CHUNK_BYTES) {
        wpi_chunk *chunk = wpi_residency_chunk(residency, at);
        WP_CHECK(chunk != NULL && !wpi_chunk_is_busy(chunk));
        residency->used -= wpi_pages_count(&chunk->resident);
        *chunk = (wpi_chunk){0};
    }
}

/* ---- counters ---- */

static void halve_accesses(wpi_residency *r) {
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
            uint32_t *counter = &r->chunks[i].blocks[block].counter;
            *counter = wpi_counter_round_trips(*counter) << WPI_COUNTER_BITS |
                       wpi_counter_accesses(*counter) / 2;
        }
    }
}

static void halve_round_trips(wpi_residency *r) {
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
            uint32_t *counter = &r->chunks[i].blocks[block].counter;
            *counter = wpi_counter_round_trips(*counter) / 2 << WPI_COUNTER_BITS |
                       wpi_counter_accesses(*counter);
        }
    }
}

static void count_access(wpi_residency *r, uint32_t *counter) {
    if (wpi_counter_accesses(*counter) == WPI_COUNTER_MAX) halve_accesses(r);
    ++*counter;
}

static void count_round_trip(wpi_residency *r, uint32_t *counter) {
    if (wpi_counter_round_trips(*counter) == WPI_ROUND_TRIPS_MAX) halve_round_trips(r);
    *counter += 1u << WPI_COUNTER_BITS;
}

/* ---- pages ---- */

static wpi_chunk_number number_of(const wpi_residency *r, const wpi_chunk *chunk) {
    return (wpi_chunk_number){(uint32_t)(chunk - r->chunks)};
}

static void note_age(wpi_residency *r, wpi_chunk *chunk, wpi_page_number page) {
    chunk->age = chunk->blocks[wpi_block_index(wpi_page_block(page))].age = ++r->clock;
    if (r->has_unlisted) wpi_pages_remove(&chunk->unlisted, wpi_page_index(page));
    if (r->page_ages != NULL) r->page_ages[page.v] = r->clock;
}

/* As note_age for each page. */
static void note_ages(wpi_residency *r, wpi_chunk *chunk, const wpi_pages *pages) {
    if (r->page_ages != NULL) {
        for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
             page = wpi_pages_next(pages, page + 1))
            note_age(r, chunk, wpi_page_in(number_of(r, chunk), page));
        return;
    }
    for (uint32_t block = wpi_pages_next_block(pages, 0); block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(pages, block + 1)) {
        r->clock += wpi_block_count(pages, block);
        chunk->age = chunk->blocks[block].age = r->clock;
    }
}

void wpi_residency_touch(wpi_residency *residency, wpi_page_number page) {
    wpi_chunk *chunk = wpi_residency_chunk_of(residency, page);
    count_access(residency, &chunk->blocks[wpi_block_index(wpi_page_block(page))].counter);
    note_age(residency, chunk, page);
}

void wpi_residency_hold(wpi_residency *residency, wpi_block_number block) {
    wpi_residency_block_at(residency, block)->in_use++;
    wpi_residency_chunk_at(residency, wpi_block_chunk(block))->in_use++;
}

bool wpi_residency_let_go(wpi_residency *residency, wpi_block_number block) {
    wpi_chunk_block *own = wpi_residency_block_at(residency, block);
    WP_ASSERT(own->in_use > 0);
    wpi_residency_chunk_at(residency, wpi_block_chunk(block))->in_use--;
    return --own->in_use == 0;
}

void wpi_residency_use(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    note_ages(residency, chunk, pages);
    chunk->unlisted = wpi_pages_without(&chunk->unlisted, pages);
}

void wpi_residency_write(wpi_residency *residency, wpi_page_number page) {
    wpi_chunk *chunk = wpi_residency_chunk_of(residency, page);
    WP_ASSERT(wpi_pages_has(&chunk->resident, wpi_page_index(page)));
    wpi_pages_add(&chunk->dirty, wpi_page_index(page));
    chunk->is_written = true;
}

static bool has_frames(const wpi_chunk *chunk) {
    return !wpi_pages_is_empty(&chunk->resident) || !wpi_pages_is_empty(&chunk->coming);
}

static bool are_in(const wpi_pages *pages, const wpi_pages *set) {
    const wpi_pages strange = wpi_pages_without(pages, set);
    return wpi_pages_is_empty(&strange);
}

static bool are_apart(const wpi_pages *pages, const wpi_pages *set) {
    const wpi_pages common = wpi_pages_and(pages, set);
    return wpi_pages_is_empty(&common);
}

void wpi_residency_plan(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    (void)residency;
    WP_CHECK(are_apart(pages, &chunk->resident) && are_apart(pages, &chunk->coming) &&
             are_apart(pages, &chunk->planned));
    chunk->planned = wpi_pages_or(&chunk->planned, pages);
    chunk->untouched = wpi_pages_without(&chunk->untouched, pages);
}

void wpi_residency_fetch(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    const uint32_t count = wpi_pages_count(pages);
    WP_CHECK(are_in(pages, &chunk->planned) && count <= wpi_residency_free(residency));
    chunk->frames_age = ++residency->clock;
    chunk->planned = wpi_pages_without(&chunk->planned, pages);
    chunk->coming = wpi_pages_or(&chunk->coming, pages);
    residency->coming += count;
}

uint32_t wpi_residency_arrive(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    const uint32_t count = wpi_pages_count(pages);
    WP_CHECK(are_in(pages, &chunk->coming));
    chunk->coming = wpi_pages_without(&chunk->coming, pages);
    chunk->resident = wpi_pages_or(&chunk->resident, pages);
    chunk->is_whole = wpi_pages_is_full(&chunk->resident);
    residency->coming -= count;
    residency->used += count;
    note_ages(residency, chunk, pages);
    const wpi_pages again = wpi_pages_and(pages, &chunk->left);
    return wpi_pages_count(&again);
}

void wpi_residency_make(wpi_chunk *chunk, const wpi_pages *pages) {
    WP_CHECK(are_in(pages, &chunk->resident));
    chunk->dirty = wpi_pages_or(&chunk->dirty, pages);
    chunk->is_written = true;
}

uint32_t wpi_residency_count_new_blocks(wpi_chunk *chunk, const wpi_pages *pages) {
    uint32_t count = 0;
    if (chunk->came == UINT32_MAX) return 0;
    for (uint32_t block = wpi_pages_next_block(pages, 0); block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(pages, block + 1)) {
        const uint32_t bit = 1u << block;
        count += (chunk->came & bit) == 0;
        chunk->came |= bit;
    }
    return count;
}

void wpi_residency_leave(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    const uint32_t count = wpi_pages_count(pages);
    WP_CHECK(are_in(pages, &chunk->resident));
    for (uint32_t block = wpi_pages_next_block(pages, 0); block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(pages, block + 1)) {
        WP_CHECK(chunk->blocks[block].in_use == 0);
        chunk->blocks[block].remote_bytes = chunk->blocks[block].local_bytes = 0;
    }
    chunk->dirty = wpi_pages_without(&chunk->dirty, pages);
    chunk->unused = wpi_pages_without(&chunk->unused, pages);
    chunk->unlisted = wpi_pages_without(&chunk->unlisted, pages);
    chunk->resident = wpi_pages_without(&chunk->resident, pages);
    chunk->is_whole = false;
    residency->used -= count;
    residency->leaving += count;
    if (!has_frames(chunk)) chunk->is_written = false;
}

void wpi_residency_evict(wpi_residency *residency, wpi_chunk *chunk, const wpi_pages *pages) {
    wpi_residency_leave(residency, chunk, pages);
    chunk->left = wpi_pages_or(&chunk->left, pages);
    for (uint32_t block = wpi_pages_next_block(pages, 0); block < WPI_CHUNK_BLOCKS;
         block = wpi_pages_next_block(pages, block + 1)) {
        count_round_trip(residency, &chunk->blocks[block].counter);
        chunk->blocks[block].evictions++;
    }
}

void wpi_residency_set_touched(wpi_chunk *chunk, const wpi_pages *pages) {
    chunk->untouched = wpi_pages_without(&chunk->untouched, pages);
}

void wpi_residency_set_page_touched(wpi_residency *residency, wpi_page_number page) {
    wpi_pages_remove(&wpi_residency_chunk_of(residency, page)->untouched, wpi_page_index(page));
}

void wpi_residency_set_unused(wpi_chunk *chunk, const wpi_pages *pages) {
    chunk->unused = wpi_pages_or(&chunk->unused, pages);
}

bool wpi_residency_take_unused(wpi_residency *residency, wpi_page_number page) {
    wpi_pages *unused = &wpi_residency_chunk_of(residency, page)->unused;
    if (!wpi_pages_has(unused, wpi_page_index(page))) return false;
    wpi_pages_remove(unused, wpi_page_index(page));
    return true;
}

void wpi_residency_set_unlisted(wpi_residency *residency, wpi_chunk *chunk,
                                const wpi_pages *pages) {
    chunk->unlisted = *pages;
    if (!wpi_pages_is_empty(pages)) residency->has_unlisted = true;
}

wpi_pages wpi_residency_here(const wpi_chunk *chunk) {
    const wpi_pages moving = wpi_pages_or(&chunk->coming, &chunk->planned);
    return wpi_pages_or(&chunk->resident, &moving);
}

wpi_pages wpi_residency_idle(const wpi_chunk *chunk) {
    wpi_pages idle = chunk->resident;
    for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++) {
        if (!wpi_block_is_busy(chunk, block)) continue;
        wpi_pages busy = {{0}};
        const uint32_t page = block * WPI_BLOCK_PAGES;
        wpi_pages_add_range(&busy, page, page + WPI_BLOCK_PAGES);
        idle = wpi_pages_without(&idle, &busy);
    }
    return idle;
}

void wpi_residency_set_frames(wpi_residency *residency, uint64_t frames) {
    const uint64_t taken = residency->frames - wpi_residency_free(residency);
    const uint64_t all = frames + residency->lent;
    residency->frames = all > taken ? all : taken; /* never fewer than are taken */
}

void wpi_residency_lend(wpi_residency *residency, uint64_t frames) {
    const uint64_t own = residency->frames - residency->lent;
    residency->lent = frames;
    wpi_residency_set_frames(residency, own);
}

void wpi_residency_release(wpi_residency *residency, uint64_t frames) {
    WP_CHECK(frames <= residency->leaving);
    residency->leaving -= frames;
}
