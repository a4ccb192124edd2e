/* SPDX-License-Identifier: Apache-2.0 */
/** A plan of calls for a program's managed memory, one for each group of allocations: as hints of a
 * replay, as a name, and as code. */
#ifndef WP_STUDY_ADVICE_PLAN_H
#define WP_STUDY_ADVICE_PLAN_H

#include "base/text.h"
#include "study/managed_groups.h"

typedef enum wpi_call {
    WP_CALL_NONE = 0,
    WP_CALL_HOST,        /* preferred location on the host, accessed by the device over the link */
    WP_CALL_DEVICE,      /* preferred location on the device */
    WP_CALL_READ_MOSTLY, /* of memory that the device only reads */
    WP_CALL_PREFETCH,    /* before each launch */
    WP_CALL_COUNT
} wpi_call;

typedef struct wpi_advice_plan {
    wpi_call *calls; /* [group_count] */
    size_t group_count;
    bool prefetches_others; /* those without a call */
} wpi_advice_plan;

void wpi_advice_plan_init(wpi_advice_plan *plan, const wpi_managed_groups *groups);
void wpi_advice_plan_copy(wpi_advice_plan *plan, const wpi_advice_plan *from);
void wpi_advice_plan_deinit(wpi_advice_plan *plan); /* `{0}` is fine */

/** How many groups have that call. */
size_t wpi_advice_plan_count(const wpi_advice_plan *plan, wpi_call call);

/** "pin to host: edges; prefetch: state"; for wpi_free, as the next two. */
char *wpi_advice_plan_name(const wpi_advice_plan *plan, const wpi_managed_groups *groups);
/** The CUDA calls, with names. */
char *wpi_advice_plan_how(const wpi_advice_plan *plan, const wpi_managed_groups *groups);
/** As wp_trace_replay takes them. */
char *wpi_advice_plan_hints(const wpi_advice_plan *plan, const wpi_managed_groups *groups);
/** Lines of CUDA. */
void wpi_advice_plan_code(const wpi_advice_plan *plan, const wpi_managed_groups *groups,
                          wpi_strings *out);

#endif
