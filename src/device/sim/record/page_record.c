/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/record/page_record.h"

#include <string.h>

#include "base/alloc.h"
#include "report/recorder.h"

static void *copy_of(const void *data, size_t count, size_t size) {
    void *copy = wpi_calloc(count + 1, size);
    WP_CHECK(copy != NULL);
    memcpy(copy, data, count * size);
    return copy;
}

static void copy_allocations(const wpi_page_history *h, const wpi_allocations *names,
                             wp_run_managed *out) {
    out->allocations = wpi_calloc(h->allocation_count + 1, sizeof *out->allocations);
    WP_CHECK(out->allocations != NULL);
    out->allocation_count = h->allocation_count;
    out->allocations_left_out = h->allocations_left_out;
    for (uint32_t i = 0; i < h->allocation_count; i++) {
        const wpi_history_allocation *from = &h->allocations[i];
        out->allocations[i] = (wp_run_managed_allocation){
            .name = wpi_strdup(wpi_allocations_name(names, from->address)),
            .address = from->address,
            .bytes = from->bytes,
            .page_count = from->page_count,
            .first_row = from->first_row,
            .row_count = from->row_count,
            .pages = copy_of(from->counts, from->page_count, sizeof from->counts[0])};
        WP_CHECK(out->allocations[i].name != NULL);
    }
}

static void copy_launches(const wpi_page_history *h, wp_run_managed *out) {
    out->launches = wpi_calloc(h->launch_count + 1, sizeof *out->launches);
    WP_CHECK(out->launches != NULL);
    out->launch_count = h->launch_count;
    out->launches_left_out = h->launches_left_out;
    for (uint32_t i = 0; i < h->launch_count; i++) {
        const wpi_history_launch *from = &h->launches[i];
        out->launches[i] = (wp_run_launch){.kernel = wpi_report_display_name(from->kernel),
                                           .start_ps = from->start_ps,
                                           .end_ps = from->end_ps};
        WP_CHECK(out->launches[i].kernel != NULL);
    }
}

static void copy_map(const wpi_page_history *h, wp_run_managed *out) {
    out->row_pages = (uint64_t)1 << h->row_bits;
    out->slice_ps = (uint64_t)1 << h->slice_bits;
    out->row_count = h->row_count;
    out->slice_count = h->slice_count;
    out->map = wpi_calloc(out->row_count * out->slice_count + 1, sizeof out->map[0]);
    WP_CHECK(out->map != NULL);
    for (size_t s = 0; s < out->slice_count; s++)
        memcpy(out->map[s * out->row_count], h->map[s], out->row_count * sizeof out->map[0]);
}

wp_run_managed *wpi_page_record_make(const wpi_page_history *history,
                                     const wpi_allocations *allocations) {
    wp_run_managed *out = wpi_calloc(1, sizeof *out);
    if (out == NULL) return NULL;
    copy_allocations(history, allocations, out);
    copy_launches(history, out);
    copy_map(history, out);
    return out;
}
