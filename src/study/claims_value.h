/* SPDX-License-Identifier: Apache-2.0 */
/** What a claim is about, computed from what runs gave. docs/rooms/repro.md has the forms. */
#ifndef WP_STUDY_CLAIMS_VALUE_H
#define WP_STUDY_CLAIMS_VALUE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fail.h"

/** What came out of all runs, and the one whose values are meant by a name without a run. */
typedef struct wpi_outcome {
    const json_t *values; /* run -> name -> value */
    const char *run;      /* NULL: every name has its run */
} wpi_outcome;

/** It has one of the forms, and `runs` (an object) has the runs it names; what values they give
 * shows later. */
bool wpi_claims_value_is_valid(const json_t *value, const json_t *runs);
/** Of a valid one. PARSE: no run gave a value of that name, or it is not finite. */
WP_NODISCARD wp_status wpi_claims_value(const json_t *value, const wpi_outcome *from, double *out,
                                        wp_error *err);

#endif
