/* SPDX-License-Identifier: Apache-2.0 */
/* The program copies for a large part of its time. */
#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const wp_run_record *r = f->record;
    const uint64_t copies_ns = r->copies[WP_COPY_H2D].time_ns + r->copies[WP_COPY_D2H].time_ns;
    const uint64_t bytes = r->copies[WP_COPY_H2D].bytes + r->copies[WP_COPY_D2H].bytes;
    const double all_ns = (double)(r->simulation->time_ps / WP_PS_PER_NS);
    const double kernels_ns = (double)wpi_fact_count(f, "kernel_time_ps") / WP_PS_PER_NS;
    char copied[32], text[32];
    if (all_ns <= 0 || (double)copies_ns < .3 * all_ns) return false;
    const double longer = (double)copies_ns > kernels_ns ? (double)copies_ns : kernels_ns;
    out->weight = (double)copies_ns / all_ns;
    if (out->weight > 1) out->weight = 1;
    out->evidence = wpi_format("Copies between host and device take %s, %.0f %% of the run, for %s",
                               wpi_format_duration(copies_ns, copied), 100 * out->weight,
                               wpi_format_bytes(bytes, text));
    out->remedy = wpi_format("Copy while kernels run: pieces in several streams from page-locked "
                             "memory, or `streamingMalloc`; leave data that are used again on the "
                             "device");
    if (longer < all_ns)
        out->bound = wpi_format(
            "at most %.1f times as fast, if copies and kernels overlapped fully", all_ns / longer);
    return true;
}

const wpi_rule wpi_rule_copies = {.name = "copies", .is_of_run = true, .find = find};
