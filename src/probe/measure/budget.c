/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/budget.h"

#include "base/clock.h"
#include "base/units.h"

static wp_status take_sample(wpi_budget *b, wp_error *err) {
    char allowed[32];
    b->is_spent = b->is_spent || (b->allowed_ns != 0 && wpi_clock_ns() >= b->end_ns);
    if (b->is_spent)
        return WP_FAIL(err, UNSUPPORTED, "the budget of %s is spent",
                       wpi_format_duration(b->allowed_ns, allowed));
    b->samples++;
    return WP_STATUS_OK;
}

static wp_status chase(void *object, const wpi_chase *wanted, wpi_timing *out, wp_error *err) {
    wpi_budget *b = object;
    WP_TRY(take_sample(b, err));
    return b->inner->chase(b->inner->object, wanted, out, err);
}

static wp_status contest(void *object, const wpi_contest *wanted, wpi_timing *out, wp_error *err) {
    wpi_budget *b = object;
    WP_TRY(take_sample(b, err));
    return b->inner->contest(b->inner->object, wanted, out, err);
}

wpi_sampler wpi_budget_start(wpi_budget *budget, const wpi_sampler *inner, uint64_t allowed_ns) {
    *budget = (wpi_budget){
        .inner = inner, .end_ns = wpi_clock_ns() + allowed_ns, .allowed_ns = allowed_ns};
    return (wpi_sampler){.object = budget,
                         .memory_bytes = inner->memory_bytes,
                         .sm_count = inner->sm_count,
                         .chase = chase,
                         .contest = inner->contest != NULL ? contest : NULL};
}
