/* SPDX-License-Identifier: Apache-2.0 */
/** A claim's value, computed from the results of runs. docs/rooms/repro.md has the forms. */
#ifndef WP_STUDY_CLAIMS_VALUE_H
#define WP_STUDY_CLAIMS_VALUE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fail.h"

/** The results of all runs, and the run of names without one. */
typedef struct wpi_outcome {
    const json_t *values; /* run -> name -> value */
    const char *run;      /* NULL: every name has its run */
} wpi_outcome;

/** The name in "name" or "run:name", before either of which "-" may stand. `*run` is the caller's;
 * NULL: there is none. */
const char *wpi_claims_value_name(const char *text, char **run);
/** Whether the value has one of the forms, and its runs are in `runs` (an object). The names of
 * values are checked later. */
bool wpi_claims_value_is_valid(const json_t *value, const json_t *runs);
/** Whether a name in the value is of this run: "run:name". */
bool wpi_claims_value_names_run(const json_t *value, const char *run);
/** Of a valid one. PARSE: no run gave a value of that name, or it is not finite. */
WP_NODISCARD wp_status wpi_claims_value(const json_t *value, const wpi_outcome *from, double *out,
                                        wp_error *err);

#endif
