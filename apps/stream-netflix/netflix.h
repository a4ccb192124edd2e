/* SPDX-License-Identifier: Apache-2.0 */
/** Pairs of ratings, and how alike two users rate, by a table that may be larger than device memory
 *  (--table). */
#ifndef NETFLIX_H
#define NETFLIX_H

#include "sepo/sepo.h"

#define LARGEST_RATING 10u

typedef struct record {
    uint32_t user[2];
    uint16_t rating[2]; /* 0 to 10 */
    uint32_t movie;     /* from here on the kernel has no use for it */
    uint64_t time[2];
    uint64_t number;
} record;

/** Adds up the similarity of each two users over movies, and prints the `top` most similar ones.
 *  False: the check found a difference. */
bool app_netflix_insert(const record *records, uint64_t count, const app_sepo_options *options,
                        uint64_t top, bool is_checked);

#endif
