/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/paging/foresight.h"

#include <string.h>

#include "base/alloc.h"

void wpi_foresight_init(wpi_foresight *foresight, uint32_t window) {
    *foresight = (wpi_foresight){.window = window};
}

void wpi_foresight_deinit(wpi_foresight *foresight) {
    wpi_free(foresight->last);
    wpi_free(foresight->pages);
    wpi_free(foresight->launches);
    wpi_free(foresight->future.first);
    wpi_free(foresight->future.times);
    wpi_free(foresight->future.cursors);
    *foresight = (wpi_foresight){0};
}

/* Grows an array so that it has item `number`; new items are 0. Ends the process if memory is
 * exhausted. */
static uint32_t *room_for(uint32_t *items, uint32_t *capacity, uint32_t number) {
    if (number < *capacity) return items;
    const uint32_t grown = number < 1024 ? 2048 : 2 * number;
    items = wpi_realloc(items, (size_t)grown * sizeof *items);
    WP_CHECK(items != NULL);
    memset(items + *capacity, 0, (size_t)(grown - *capacity) * sizeof *items);
    *capacity = grown;
    return items;
}

void wpi_foresight_note(wpi_foresight *foresight) {
    WP_CHECK(!foresight->has_future);
    foresight->is_noting = true;
}

/* Sorts notes by page: counts them, sums the counts to offsets, then places each. */
static void sort_by_page(wpi_future *f) {
    for (uint32_t i = 0; i < f->count; i++)
        f->first[f->pages[i] + 1]++;
    for (uint32_t page = 0; page < f->page_count; page++) {
        f->first[page + 1] += f->first[page];
        f->cursors[page] = f->first[page];
    }
    for (uint32_t i = 0; i < f->count; i++)
        f->times[f->cursors[f->pages[i]]++] = i;
    memcpy(f->cursors, f->first, f->page_count * sizeof *f->cursors);
}

wp_status wpi_foresight_take(wpi_foresight *foresight, uint32_t *pages, uint32_t count,
                             uint32_t *launches, uint32_t launch_count, wp_error *err) {
    WP_CHECK(!foresight->is_noting && !foresight->has_future);
    wpi_future *f = &foresight->future;
    foresight->pages = pages;
    foresight->launches = launches;
    foresight->earlier_launches = launch_count;
    *f = (wpi_future){.pages = pages, .count = count};
    for (uint32_t i = 0; i < count; i++)
        if (pages[i] >= f->page_count) f->page_count = pages[i] + 1;
    f->first = wpi_calloc((size_t)f->page_count + 1, sizeof *f->first);
    f->cursors = wpi_calloc((size_t)f->page_count + 1, sizeof *f->cursors);
    f->times = wpi_calloc((size_t)count + 1, sizeof *f->times);
    if (f->first == NULL || f->cursors == NULL || f->times == NULL)
        return WP_FAIL(err, NOMEM, "%u notes of pages", count);
    sort_by_page(f);
    foresight->has_future = true;
    return WP_STATUS_OK;
}

/* Advances time, not beyond the end of the launch: notes that this run has in excess of the earlier
 * one do not count. */
static void go_on(wpi_foresight *f) {
    const uint32_t outer =
        f->launch_count < f->earlier_launches ? f->launches[f->launch_count] : f->future.count;
    if (f->future.now < outer) f->future.now++;
}

bool wpi_foresight_touch(wpi_foresight *foresight, wpi_page_number used) {
    const uint32_t page = (uint32_t)used.v;
    foresight->last = room_for(foresight->last, &foresight->last_count, page);
    const uint32_t last = foresight->last[page];
    if (last != 0 && foresight->count - last < foresight->window) return false;
    WP_CHECK(foresight->count < UINT32_MAX / 4);
    if (foresight->is_noting) {
        foresight->pages = room_for(foresight->pages, &foresight->page_capacity, foresight->count);
        foresight->pages[foresight->count] = page;
    }
    foresight->last[page] = ++foresight->count;
    if (foresight->has_future) go_on(foresight);
    return true;
}

wp_status wpi_foresight_launch(wpi_foresight *foresight, wp_error *err) {
    const uint32_t number = foresight->launch_count++;
    if (foresight->is_noting) {
        foresight->launches = room_for(foresight->launches, &foresight->launch_capacity, number);
        foresight->launches[number] = foresight->count;
    }
    if (!foresight->has_future) return WP_STATUS_OK;
    if (number >= foresight->earlier_launches)
        return WP_FAIL(err, INVALID,
                       "this is launch %u, but the recorded run had %u launches: record its pages "
                       "again, with the same program and arguments",
                       number + 1, foresight->earlier_launches);
    if (foresight->future.now < foresight->launches[number])
        foresight->future.now = foresight->launches[number];
    return WP_STATUS_OK;
}
