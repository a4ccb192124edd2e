/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/tlb/census.h"

#include <stdio.h>

#include "base/alloc.h"

wp_status wpi_census_init(wpi_census *census, uint32_t tlb_count, wp_error *err) {
    *census = (wpi_census){.tlb_count = tlb_count};
    census->tlbs = wpi_calloc(tlb_count, sizeof *census->tlbs);
    if (census->tlbs == NULL || !wpi_index_init(&census->holders, 0))
        return WP_FAIL(err, NOMEM, "a census of %u TLBs", tlb_count);
    return WP_STATUS_OK;
}

void wpi_census_deinit(wpi_census *census) {
    wpi_index_deinit(&census->holders);
    wpi_free(census->tlbs);
    *census = (wpi_census){0};
}

void wpi_census_clear(wpi_census *census) {
    wpi_index_clear(&census->holders);
}

/* NULL: no TLB has it. */
static uint64_t *slot_of(const wpi_census *census, uint64_t page) {
    uint64_t *slot = &census->holders.slots[wpi_index_slot_of(&census->holders, page)];
    return *slot == WPI_INDEX_FREE ? NULL : slot;
}

void wpi_census_add(wpi_census *census, uint64_t page) {
    uint64_t *slot = slot_of(census, page);
    if (slot == NULL)
        wpi_index_add(&census->holders, page, 1);
    else
        ++*slot; /* the value is its low bits */
}

void wpi_census_remove(wpi_census *census, uint64_t page) {
    uint64_t *slot = slot_of(census, page);
    WP_CHECK(slot != NULL);
    if ((*slot & WPI_INDEX_VALUE_MASK) == 1)
        (void)wpi_index_take(&census->holders, page);
    else
        --*slot;
}

static uint32_t class_of(uint32_t others) {
    static const uint32_t last[WPI_CENSUS_CLASSES] = {0, 1, 4, 8, 12, UINT32_MAX};
    uint32_t class = 0;
    while (others > last[class])
        class ++;
    return class;
}

static uint32_t holders_of(const wpi_census *census, uint64_t page) {
    const uint32_t holders = wpi_index_find(&census->holders, page);
    return holders == WPI_INDEX_NONE ? 0 : holders;
}

void wpi_census_request(wpi_census *census, uint32_t tlb, uint64_t page) {
    census->held[class_of(holders_of(census, page))]++;
    census->tlbs[tlb].requests++;
}

void wpi_census_miss(wpi_census *census, uint32_t tlb, uint64_t page, bool neighbour_has) {
    census->had[class_of(holders_of(census, page))]++;
    census->tlbs[tlb].misses++;
    census->tlbs[tlb].neighbour_had += neighbour_has;
}

void wpi_census_statistics(const wpi_census *census, wpi_visit visit, void *object) {
    static const char *const names[WPI_CENSUS_CLASSES] = {"0", "1", "2_4", "5_8", "9_12", "more"};
    for (uint32_t i = 0; i < WPI_CENSUS_CLASSES; i++)
        wpi_visit_value(visit, object, "census.others_", names[i], "misses", census->had[i]);
    for (uint32_t i = 0; i < WPI_CENSUS_CLASSES; i++)
        wpi_visit_value(visit, object, "census.holders_", names[i], "requests", census->held[i]);
    for (uint32_t i = 0; i < census->tlb_count; i++) {
        char prefix[32];
        (void)snprintf(prefix, sizeof prefix, "census.tlb%u.", i);
        wpi_visit_value(visit, object, prefix, "requests", "requests", census->tlbs[i].requests);
        wpi_visit_value(visit, object, prefix, "misses", "requests", census->tlbs[i].misses);
        wpi_visit_value(visit, object, prefix, "neighbour_had", "requests",
                        census->tlbs[i].neighbour_had);
    }
}
