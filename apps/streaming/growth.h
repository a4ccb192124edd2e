/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Input that is enlarged with keys that grow in number as in the data.
 *
 * A file's rows are taken again and again. If they were only repeated, the number of different keys
 * (users, words, merchants) would stay, which no larger data set of that kind shows. The number of
 * different keys in n rows is taken to be proportional to n^e (Heaps' law), with e measured on the
 * file: all of its rows against a random half. After c copies there are to be c^e times the file's
 * keys; so in copy c (0: the file itself) a share of (c + 1)^e - c^e of the keys gets new names.
 * Which keys these are depends on the seed, the copy and the key alone. Common keys, which more
 * than ten times the mean of rows have, are not among them, as new keys are rare ones.
 */
#ifndef APP_STREAMING_GROWTH_H
#define APP_STREAMING_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

typedef struct app_growth {
    double exponent;
    double scale; /* all keys over those that are not common */
    bool *is_common;
    uint64_t seed;
} app_growth;

/** `keys` are numbers below `distinct`, one a row. The exponent is from 0 to 1. */
app_growth app_growth_measure(const uint32_t *keys, uint64_t rows, uint32_t distinct,
                              uint64_t seed);
void app_growth_free(app_growth *growth);
/** Whether the key has a name of its own in this copy. */
bool app_growth_renames(const app_growth *growth, uint64_t key, uint64_t copy);

#endif
