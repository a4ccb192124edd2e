/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sweeps in claims.json: runs and claims of a product of lists, written once.
 *
 *     "sweep": [{
 *         "over": {"app": [{"name": "bfs", "gain": 1.3}, {"name": "nw", "gain": 2}], "size": [1,
 * 4]}, "runs": {"{app.name}-{size}": {"device": "cpu", "arguments": ["{app.name}", "{size}M"]}},
 *         "claims": [{"claim": "{app.name}, {size}M", "published": "{app.gain}", ...}]
 *     }]
 *
 * Each list of `over` is a variable. In every string {variable}, or {variable.member}, becomes its
 * value; a string that is only that becomes the value itself, which may be a number, list or
 * object. The results are added to the figure's `runs` and `claims`, in the order of the lists, the
 * last one fastest.
 */
#ifndef WP_STUDY_CLAIMS_SWEEP_H
#define WP_STUDY_CLAIMS_SWEEP_H

#include <jansson.h>

#include "base/fail.h"

/** Expands the sweeps of a figure, which then has none. PARSE, with `path` in the message: no list,
 * an empty one, a variable that does not exist, a run or a claim that is made twice. */
WP_NODISCARD wp_status wpi_claims_expand(json_t *figure, const char *path, wp_error *err);

#endif
