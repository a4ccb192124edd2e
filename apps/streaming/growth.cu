/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"

#define MOST_OF_MEAN 10.0

app_growth app_growth_measure(const uint32_t *keys, uint64_t rows, uint32_t distinct,
                              uint64_t seed) {
    app_growth growth = {0.0, 1.0, NULL, seed};
    uint64_t *rows_of = (uint64_t *)app_allocate(distinct, sizeof *rows_of, "the keys");
    uint64_t half_rows = 0, half_distinct = 0, common = 0;
    memset(rows_of, 0, distinct * sizeof *rows_of);
    for (uint64_t i = 0; i < rows; i++) {
        if (app_random_at(seed, i) & 1u) {
            half_rows++;
            half_distinct += rows_of[keys[i]]++ == 0;
        }
    }
    for (uint64_t i = 0; i < rows; i++) {
        rows_of[keys[i]] += (app_random_at(seed, i) & 1u) == 0;
    }
    if (half_rows < rows && half_distinct != 0) {
        growth.exponent =
            log((double)distinct / (double)half_distinct) / log((double)rows / (double)half_rows);
        growth.exponent = fmin(fmax(growth.exponent, 0.0), 1.0);
    }
    growth.is_common = (bool *)app_allocate(distinct, sizeof(bool), "the keys");
    for (uint32_t k = 0; k < distinct; k++) {
        growth.is_common[k] = (double)rows_of[k] * (double)distinct > MOST_OF_MEAN * (double)rows;
        common += growth.is_common[k];
    }
    growth.scale = (double)distinct / (double)(distinct - common); /* some are below the mean */
    free(rows_of);
    return growth;
}

void app_growth_free(app_growth *growth) {
    free(growth->is_common);
    growth->is_common = NULL;
}

bool app_growth_renames(const app_growth *growth, uint64_t key, uint64_t copy) {
    if (copy == 0 || growth->is_common[key]) {
        return false;
    }
    const double share =
        pow((double)copy + 1.0, growth->exponent) - pow((double)copy, growth->exponent);
    app_random random = {app_random_at(growth->seed, copy), key};
    return app_random_unit(&random) < share * growth->scale;
}
