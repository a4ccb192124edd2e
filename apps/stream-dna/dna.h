/* SPDX-License-Identifier: Apache-2.0 */
/** Fragments of DNA, and their k-mers in a table that may be larger than device memory (--table). */
#ifndef DNA_H
#define DNA_H

#include "sepo/sepo.h"
#include "streaming/table.h"

#define BASES 36

typedef struct record {
    char bases[BASES];
    char quality[BASES]; /* from here on the kernel has no use for it */
    char name[28];
} record;

/* Bases are A 0, C 1, T 2, G 3: bits 1 and 2 of the letter. The complement differs in bit 1. */
#define COMPLEMENT 2u

/** Counts with warpage/table.h: all k-mers (key: the number + 1), sorted by key, which the caller
 *  frees. */
app_table_entry *app_dna_insert(const record *records, uint64_t count, uint32_t k,
                                const app_sepo_options *options, uint64_t *found,
                                unsigned long long *unclear);

#endif
