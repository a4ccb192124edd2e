/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The addresses of one thread's reads in a chunk: from patterns and words, and, where an address
 * depends on an index, by reading the index in host memory.
 */
#ifndef WP_STREAM_STREAM_READS_H
#define WP_STREAM_STREAM_READS_H

#include "stream/stream_actor.h"

enum { WPI_STREAM_LINE_BYTES = 64 };

/** One row's entries, one after the other. */
typedef struct wpi_stream_entries {
    const wpi_stream_stride *pattern; /* [site * half] */
    const uint64_t *word;             /* the next */
    uint32_t class, half;
    uint32_t pattern_left, sites, site; /* of the next entry */
    uint64_t turn;
    uint64_t run; /* the next entry, if any is left of the run */
    uint32_t run_left, run_step;
    bool begins_run, is_followed; /* the latter: of a row that is none of the classes */
    uint64_t words;               /* so far */
    uint64_t last_line;           /* of host memory, that was touched by following an index */
} wpi_stream_entries;

typedef struct wpi_stream_reads {
    uint32_t row;
    wpi_stream_entries of[WPI_STREAM_ROWS]; /* of this row and those that it needs */
} wpi_stream_reads;

void wpi_stream_reads_begin(const wpi_stream_side *side, uint32_t row, uint32_t thread,
                            wpi_stream_reads *reads);
/** False: an index is not mapped, which is noted as the side's failure. Counts the lines that it
 * touches, apart from those of addresses that need no index. */
bool wpi_stream_reads_next(wpi_stream_side *side, wpi_stream_reads *reads, uint64_t *address);

/** Adds words, and lines unless they are only known by following an index, of `count` entries. */
void wpi_stream_count_reads(wpi_stream_side *side, uint32_t row, uint32_t thread, uint32_t count);

#endif
