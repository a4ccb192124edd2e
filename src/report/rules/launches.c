/* SPDX-License-Identifier: Apache-2.0 */
/* The GPU is idle between launches. */
#include <inttypes.h>

#include "base/text.h"
#include "base/time.h"
#include "base/units.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const wp_run_record *r = f->record;
    const wp_run_simulation *s = r->simulation;
    uint64_t launches = 0, busy_ps = wpi_fact_count(f, "kernel_time_ps");
    char idle_text[32], all_text[32];
    for (size_t i = 0; i < r->kernel_count; i++)
        launches += r->kernels[i].launches;
    for (size_t kind = 0; kind < WP_COPY_KIND_COUNT; kind++)
        busy_ps += r->copies[kind].time_ns * WP_PS_PER_NS;
    if (s->counted_ps != s->time_ps || s->time_ps == 0 || launches < 2 || busy_ps >= s->time_ps)
        return false; /* the launches that were left out took time, too */
    const uint64_t idle_ps = s->time_ps - busy_ps;
    out->weight = (double)idle_ps / (double)s->time_ps;
    if (out->weight < .2) return false;
    out->evidence = wpi_format("For %s of %s neither a kernel nor a copy runs: %" PRIu64
                               " launches, %.1f us apart",
                               wpi_format_duration(idle_ps / WP_PS_PER_NS, idle_text),
                               wpi_format_duration(s->time_ps / WP_PS_PER_NS, all_text), launches,
                               (double)idle_ps * 1e-6 / (double)launches);
    out->remedy = wpi_format("Launch fewer, larger kernels: merge those that follow each other, or "
                             "loop in the kernel with a barrier of the grid");
    out->ideal = wpi_format("gpu.launch_latency=0ns");
    out->ideal_name = "launches that cost nothing";
    return true;
}

const wpi_rule wpi_rule_launches = {.name = "launches", .is_of_run = true, .find = find};
