/* SPDX-License-Identifier: Apache-2.0 */
/** The programs behind a figure's claims: run once for each of its `runs`. */
#ifndef WP_STUDY_CLAIMS_RUN_H
#define WP_STUDY_CLAIMS_RUN_H

#include <jansson.h>

#include "study/claims.h"

/** A member's text; NULL: there is none. */
static inline const char *wpi_json_text(const json_t *object, const char *key) {
    return json_string_value(json_object_get(object, key));
}

/** Puts an object with the values of each run, by name, into `all`. As wpi_figure_run. */
WP_NODISCARD wp_status wpi_claims_run(const wpi_figure *figure, const char *wpcc,
                                      void (*say)(const char *text), json_t *all, wp_error *err);

#endif
