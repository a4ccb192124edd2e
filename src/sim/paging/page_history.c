/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/page_history.h"

#include <string.h>

#include "base/alloc.h"

#define NONE UINT32_MAX
#define SLICE_BITS 17u /* of the first slices: 131 ns */

typedef uint32_t cell[WP_RUN_PAGE_EVENTS];

/* ---- two become one -------------------------------------------------------------------------- */

static void add(uint32_t *sum, uint64_t more) {
    *sum = *sum + more < UINT32_MAX ? (uint32_t)(*sum + more) : UINT32_MAX;
}

static void add_cell(cell sum, const cell more) {
    for (uint32_t i = 0; i < WP_RUN_PAGE_EVENTS; i++)
        add(&sum[i], more[i]);
}

static void halve_slices(wpi_page_history *h) {
    for (uint32_t s = 0; s < WPI_HISTORY_SLICES / 2; s++) {
        if (s != 0) memcpy(h->map[s], h->map[2 * s], sizeof h->map[s]);
        for (uint32_t row = 0; row < h->row_count; row++)
            add_cell(h->map[s][row], h->map[2 * s + 1][row]);
    }
    memset(h->map[WPI_HISTORY_SLICES / 2], 0, sizeof h->map / 2);
    h->slice_count = (h->slice_count + 1) / 2;
    h->slice_bits++;
}

/* Adds rows of each allocation in pairs, in place: the destination never overtakes the source. */
static void halve_rows_of(const wpi_page_history *h, cell *rows) {
    uint32_t to = 0;
    for (uint32_t i = 0; i < h->allocation_count; i++) {
        const wpi_history_allocation *a = &h->allocations[i];
        const uint32_t outer = a->first_row + a->row_count;
        for (uint32_t from = a->first_row; from < outer; from += 2, to++) {
            if (to != from) memcpy(rows[to], rows[from], sizeof rows[to]);
            if (from + 1 < outer) add_cell(rows[to], rows[from + 1]);
        }
    }
    memset(rows[to], 0, (WPI_HISTORY_ROWS - to) * sizeof rows[to]);
}

static uint32_t rows_for(const wpi_page_history *h, uint64_t page_count) {
    return (uint32_t)((page_count + ((uint64_t)1 << h->row_bits) - 1) >> h->row_bits);
}

static void halve_rows(wpi_page_history *h) {
    for (uint32_t s = 0; s < h->slice_count; s++)
        halve_rows_of(h, h->map[s]);
    h->row_bits++;
    h->row_count = 0;
    for (uint32_t i = 0; i < h->allocation_count; i++) {
        wpi_history_allocation *a = &h->allocations[i];
        a->first_row = h->row_count;
        a->row_count = rows_for(h, a->page_count);
        h->row_count += a->row_count;
    }
}

/* ---- allocations ----------------------------------------------------------------------------- */

static wp_status grow(wpi_page_history *h, uint64_t chunk_count, wp_error *err) {
    if (chunk_count <= h->chunk_count) return WP_STATUS_OK;
    uint32_t *grown = wpi_realloc(h->allocation_of, chunk_count * sizeof *grown);
    if (grown == NULL) return WP_FAIL(err, NOMEM, "history of pages");
    for (uint64_t i = h->chunk_count; i < chunk_count; i++)
        grown[i] = NONE;
    h->allocation_of = grown;
    h->chunk_count = chunk_count;
    return WP_STATUS_OK;
}

static uint32_t find(const wpi_page_history *h, uint64_t address, uint64_t bytes) {
    for (uint32_t i = 0; i < h->allocation_count; i++)
        if (h->allocations[i].address == address && h->allocations[i].bytes == bytes) return i;
    return NONE;
}

/* *number is NONE if there is no room for another allocation. */
static wp_status make(wpi_page_history *h, uint64_t address, uint64_t bytes, uint64_t page_count,
                      uint32_t *number, wp_error *err) {
    *number = NONE;
    if (h->allocation_count == WPI_HISTORY_ALLOCATIONS) {
        h->allocations_left_out++;
        return WP_STATUS_OK;
    }
    wpi_history_allocation made = {.address = address, .bytes = bytes, .page_count = page_count};
    made.counts = wpi_calloc(page_count, sizeof made.counts[0]);
    if (made.counts == NULL)
        return WP_FAIL(err, NOMEM, "history of %llu pages", (unsigned long long)page_count);
    while (h->row_count + rows_for(h, page_count) > WPI_HISTORY_ROWS)
        halve_rows(h);
    made.first_row = h->row_count;
    made.row_count = rows_for(h, page_count);
    h->row_count += made.row_count;
    *number = h->allocation_count++;
    h->allocations[*number] = made;
    return WP_STATUS_OK;
}

wp_status wpi_page_history_add(wpi_page_history *history, uint64_t address, uint64_t bytes,
                               uint64_t page_count, wp_error *err) {
    const uint64_t first = (address - history->first) / WPI_CHUNK_BYTES;
    const uint64_t outer = first + (page_count + WPI_CHUNK_PAGES - 1) / WPI_CHUNK_PAGES;
    uint32_t number = find(history, address, bytes);
    WP_TRY(grow(history, outer, err));
    if (number == NONE) WP_TRY(make(history, address, bytes, page_count, &number, err));
    for (uint64_t chunk = first; chunk < outer; chunk++)
        history->allocation_of[chunk] = number;
    return WP_STATUS_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

static uint32_t slice_at(wpi_page_history *h, wpi_time_ps now) {
    const wpi_time_ps time = h->base_ps + now;
    while (time >> h->slice_bits >= WPI_HISTORY_SLICES)
        halve_slices(h);
    const uint32_t slice = (uint32_t)(time >> h->slice_bits);
    if (slice >= h->slice_count) h->slice_count = slice + 1;
    return slice;
}

void wpi_page_history_note(wpi_page_history *history, uint64_t address, wp_run_page_event event,
                           wpi_time_ps now) {
    const uint64_t chunk = (address - history->first) / WPI_CHUNK_BYTES;
    if (!history->is_counting || chunk >= history->chunk_count) return;
    const uint32_t number = history->allocation_of[chunk];
    if (number == NONE) return;
    const wpi_history_allocation *a = &history->allocations[number];
    const uint64_t page = (address - a->address) / WPI_PAGE_BYTES;
    if (page >= a->page_count) return; /* beyond the end of an allocation that was left out */
    const uint32_t slice = slice_at(history, now);
    a->counts[page][event]++;
    add(&history->map[slice][a->first_row + (uint32_t)(page >> history->row_bits)][event], 1);
}

void wpi_page_history_note_pages(wpi_page_history *history, uint64_t address,
                                 const wpi_pages *pages, wp_run_page_event event, wpi_time_ps now) {
    for (uint32_t page = wpi_pages_next(pages, 0); page < WPI_CHUNK_PAGES;
         page = wpi_pages_next(pages, page + 1))
        wpi_page_history_note(history, address + (uint64_t)page * WPI_PAGE_BYTES, event, now);
}

/* ---- launches -------------------------------------------------------------------------------- */

uint32_t wpi_page_history_began(wpi_page_history *history, const char *kernel, wpi_time_ps now) {
    char *name = history->launch_count < WPI_HISTORY_LAUNCHES ? wpi_strdup(kernel) : NULL;
    if (name == NULL) {
        history->launches_left_out++;
        return NONE;
    }
    history->launches[history->launch_count] =
        (wpi_history_launch){.kernel = name, .start_ps = history->base_ps + now};
    return history->launch_count++;
}

void wpi_page_history_ended(wpi_page_history *history, uint32_t launch, wpi_time_ps now) {
    if (launch < history->launch_count) history->launches[launch].end_ps = history->base_ps + now;
}

/* ---- life ------------------------------------------------------------------------------------ */

wp_status wpi_page_history_create(uint64_t first, wpi_page_history **out, wp_error *err) {
    wpi_page_history *h = wpi_calloc(1, sizeof *h);
    *out = h;
    if (h == NULL) return WP_FAIL(err, NOMEM, "history of pages: %zu bytes", sizeof *h);
    h->first = first;
    h->slice_bits = SLICE_BITS;
    return WP_STATUS_OK;
}

void wpi_page_history_destroy(wpi_page_history *history) {
    if (history == NULL) return;
    for (uint32_t i = 0; i < history->allocation_count; i++)
        wpi_free(history->allocations[i].counts);
    for (uint32_t i = 0; i < history->launch_count; i++)
        wpi_free(history->launches[i].kernel);
    wpi_free(history->allocation_of);
    wpi_free(history);
}

void wpi_page_history_set_base(wpi_page_history *history, wpi_time_ps base_ps) {
    history->base_ps = base_ps;
}

void wpi_page_history_count(wpi_page_history *history, bool is_counting) {
    history->is_counting = is_counting;
}
