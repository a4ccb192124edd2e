/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/growth.h"

#include <math.h>
#include <stdlib.h>

#include "common/random.h"
#include "common/report.h"

app_growth app_growth_measure(const uint32_t *keys, uint64_t rows, uint32_t distinct,
                              uint64_t seed) {
    app_growth growth = {0.0, seed};
    uint64_t *first = (uint64_t *)app_allocate(distinct, sizeof *first, "the keys");
    uint64_t half_rows = 0, half_distinct = 0, all_distinct = 0;
    bool *is_seen = (bool *)first; /* two flags a key: in the half, in all */
    for (uint64_t i = 0; i < 2 * (uint64_t)distinct; i++) {
        is_seen[i] = false;
    }
    for (uint64_t i = 0; i < rows; i++) {
        bool *seen = is_seen + 2 * (uint64_t)keys[i];
        if (app_random_at(seed, i) & 1u) {
            half_rows++;
            half_distinct += !seen[0];
            seen[0] = true;
        }
        all_distinct += !seen[1];
        seen[1] = true;
    }
    if (half_rows != 0 && half_rows < rows && half_distinct != 0) {
        growth.exponent = log((double)all_distinct / (double)half_distinct) /
                          log((double)rows / (double)half_rows);
    }
    growth.exponent = fmin(fmax(growth.exponent, 0.0), 1.0);
    free(first);
    return growth;
}

bool app_growth_renames(const app_growth *growth, uint64_t key, uint64_t copy) {
    if (copy == 0) {
        return false;
    }
    app_random random = {app_random_at(growth->seed, copy), key};
    return app_random_unit(&random) <
           pow((double)copy + 1.0, growth->exponent) - pow((double)copy, growth->exponent);
}
