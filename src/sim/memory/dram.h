/* SPDX-License-Identifier: Apache-2.0 */
/**
 * DRAM: channels with banks and open rows. Every transfer occupies its channel's bus; a bank is
 * busy while it opens a row. Lines map to channels in chunks of 256 bytes, spread by XOR.
 *
 *     request ─► bus turn ──────────────┐
 *        └─────► row open? else activate┴─► later of both + latency
 *
 * Writes count from the time they are queued at. A channel transfers `write_batch` lines of them,
 * then returns to reads: each batch costs `turnaround` of its bus.
 *
 * A real controller serves requests to the same row together. Here the last `row_window` rows of a
 * bank count as open, as if their requests had been reordered.
 */
#ifndef WP_SIM_DRAM_H
#define WP_SIM_DRAM_H

#include "sim/engine/divide.h"
#include "sim/engine/reserve.h"
#include "sim/engine/statistics.h"
#include "sim/profile/profile.h"

typedef struct wpi_dram_row {
    uint64_t row;     /* + 1; 0: none */
    wpi_time_ps open; /* since */
} wpi_dram_row;

/* A channel since it last turned from reads to writes. */
typedef struct wpi_dram_turn {
    uint32_t written_sectors; /* of the present batch */
    bool has_read;
} wpi_dram_turn;

typedef struct wpi_dram {
    const wpi_profile *profile;
    wpi_divider channel_count, bank_count;
    uint32_t row_bits;
    wpi_bus *channels;
    wpi_dram_turn *turns;   /* [channels] */
    wpi_time_ps *bank_free; /* [channels * banks] */
    wpi_dram_row *rows;     /* [channels * banks][row_window], last used first */
    wpi_time_ps sector_ps;  /* of a channel's bus */
    uint32_t batch_sectors;
    uint64_t read_bytes, written_bytes, row_hits, row_misses;
    wpi_utilisation utilisation;
} wpi_dram;

WP_NODISCARD wp_status wpi_dram_init(wpi_dram *dram, const wpi_profile *profile, wp_error *err);
void wpi_dram_deinit(wpi_dram *dram); /* `{0}` is fine */

/** Reads sectors of a line for a request that arrives at `time`. Returns when the data are at L2;
 * *access_ps: the latency without queueing. */
wpi_time_ps wpi_dram_read(wpi_dram *dram, uint64_t line, uint32_t sectors, wpi_time_ps time,
                          wpi_time_ps *access_ps);
/** Writes sectors. Returns when the channel's queue has room for them. */
wpi_time_ps wpi_dram_write(wpi_dram *dram, uint64_t line, uint32_t sectors, wpi_time_ps time);
void wpi_dram_statistics(const wpi_dram *dram, wpi_visit visit, void *object);

#endif
