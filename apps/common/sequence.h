/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sequences of letters: proteins or DNA, from FASTA files or generated, and how alike letters are.
 */
#ifndef APP_SEQUENCE_H
#define APP_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_sequence {
    char *letter; /* A to Z, or '*'; malloc'ed, NUL after the last */
    size_t count;
    char title[96];
} app_sequence;

/** Reads the first sequence of a FASTA file, or a file of letters alone; plain or `.zst`. */
void app_sequence_read(app_sequence *sequence, const char *path);
/** A random protein, seeded. */
void app_sequence_generate(app_sequence *sequence, size_t count, uint64_t seed);
/** A sequence of `count` letters that `from` could have turned into: of twenty letters about one
 *  was replaced, one lost, and one put in. */
void app_sequence_mutate(app_sequence *sequence, const app_sequence *from, size_t count,
                         uint64_t seed);
void app_sequence_free(app_sequence *sequence);

/** How alike two amino acids are: BLOSUM62, -4 to 11. Letters that stand for none count as X. */
int app_protein_similarity(char a, char b);
/** The same for DNA: 5 for equal letters, -4 for others. */
int app_dna_similarity(char a, char b);

#ifdef __cplusplus
}
#endif
#endif
