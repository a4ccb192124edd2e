/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/memory/dram.h"

#include "base/alloc.h"

#define CHUNK_LINES 2u

wp_status wpi_dram_init(wpi_dram *dram, const wpi_profile *profile, wp_error *err) {
    const uint32_t channels = profile->dram.channels, banks = channels * profile->dram.banks;
    *dram = (wpi_dram){.profile = profile,
                       .channel_count = wpi_divider_of(channels),
                       .bank_count = wpi_divider_of(profile->dram.banks),
                       .row_bits = (uint32_t)__builtin_ctzll(profile->dram.row_bytes)};
    dram->sector_ps =
        wpi_bytes_ps(WPI_SECTOR_BYTES * (uint64_t)channels, profile->dram.bytes_per_s) * 100 /
        profile->dram.efficiency_percent;
    dram->batch_sectors = profile->dram.write_batch * (WPI_LINE_BYTES / WPI_SECTOR_BYTES);
    dram->channels = wpi_calloc(channels, sizeof *dram->channels);
    dram->turns = wpi_calloc(channels, sizeof *dram->turns);
    dram->bank_free = wpi_calloc(banks, sizeof *dram->bank_free);
    dram->rows = wpi_calloc((size_t)banks * profile->dram.row_window, sizeof *dram->rows);
    wpi_utilisation_init(&dram->utilisation, profile->slice_ps, channels);
    if (dram->channels != NULL && dram->turns != NULL && dram->bank_free != NULL &&
        dram->rows != NULL)
        return WP_STATUS_OK;
    wpi_dram_deinit(dram);
    return WP_FAIL(err, NOMEM, "%u DRAM banks", banks);
}

void wpi_dram_deinit(wpi_dram *dram) {
    wpi_free(dram->channels);
    wpi_free(dram->turns);
    wpi_free(dram->bank_free);
    wpi_free(dram->rows);
    *dram = (wpi_dram){0};
}

/* Where a line lies. */
typedef struct place {
    uint32_t channel, bank; /* the bank counts over all channels */
    uint64_t row;
} place;

static place place_of(const wpi_dram *dram, uint64_t line) {
    const uint64_t chunk = line / CHUNK_LINES;
    const uint64_t in_channel_bytes =
        wpi_divide(&dram->channel_count, chunk) * CHUNK_LINES * WPI_LINE_BYTES;
    const uint64_t row = in_channel_bytes >> dram->row_bits;
    const uint64_t across = wpi_divide(&dram->bank_count, row);
    place out;
    out.channel =
        wpi_remainder(&dram->channel_count, chunk ^ chunk >> 6 ^ chunk >> 12 ^ chunk >> 19);
    out.bank = out.channel * dram->profile->dram.banks +
               wpi_remainder(&dram->bank_count, row ^ across ^ across >> 5);
    out.row = row;
    return out;
}

/* Returns when the row is open for a request at `time`. */
static wpi_time_ps open_row(wpi_dram *dram, const place *at, wpi_time_ps time, bool *was_open) {
    const uint32_t window = dram->profile->dram.row_window;
    wpi_dram_row *rows = &dram->rows[(size_t)at->bank * window];
    uint32_t i = 0;
    while (i < window && rows[i].row != at->row + 1)
        i++;
    *was_open = i < window;
    wpi_dram_row row = {0};
    if (*was_open) {
        dram->row_hits++;
        row = rows[i];
    } else {
        dram->row_misses++;
        i = window - 1;
        const wpi_time_ps begin =
            dram->bank_free[at->bank] > time ? dram->bank_free[at->bank] : time;
        row = (wpi_dram_row){at->row + 1, begin + dram->profile->dram.row_miss_ps};
        dram->bank_free[at->bank] = row.open;
    }
    for (; i > 0; i--)
        rows[i] = rows[i - 1];
    rows[0] = row;
    return row.open > time ? row.open : time;
}

/* Returns when the transfer can begin. */
static wpi_time_ps transfer(wpi_dram *dram, const place *at, uint32_t sectors, wpi_time_ps time,
                            bool *was_open) {
    const wpi_time_ps taken_ps = sectors * dram->sector_ps;
    const wpi_time_ps turn = wpi_bus_take(&dram->channels[at->channel], time, taken_ps);
    const wpi_time_ps open = open_row(dram, at, time, was_open);
    wpi_utilisation_add(&dram->utilisation, turn, turn + taken_ps);
    return turn > open ? turn : open;
}

/* A batch of writes is complete: the channel turns, if it has read since the last one. */
static void count_writes(wpi_dram *dram, uint32_t channel, uint32_t sectors) {
    wpi_dram_turn *turn = &dram->turns[channel];
    turn->written_sectors += sectors;
    if (turn->written_sectors < dram->batch_sectors) return;
    turn->written_sectors -= dram->batch_sectors;
    if (!turn->has_read) return;
    turn->has_read = false;
    dram->channels[channel].free += dram->profile->dram.turnaround_ps;
}

wpi_time_ps wpi_dram_read(wpi_dram *dram, uint64_t line, uint32_t sectors, wpi_time_ps time,
                          wpi_time_ps *access_ps) {
    const place at = place_of(dram, line);
    bool was_open = false;
    const wpi_time_ps begin = transfer(dram, &at, sectors, time, &was_open);
    dram->turns[at.channel].has_read = true;
    dram->read_bytes += sectors * WPI_SECTOR_BYTES;
    *access_ps = dram->profile->dram.latency_ps + (was_open ? 0 : dram->profile->dram.row_miss_ps);
    return begin + dram->profile->dram.latency_ps;
}

wpi_time_ps wpi_dram_write(wpi_dram *dram, uint64_t line, uint32_t sectors, wpi_time_ps time) {
    const place at = place_of(dram, line);
    const wpi_time_ps line_ps = WPI_LINE_BYTES / WPI_SECTOR_BYTES * dram->sector_ps;
    const wpi_time_ps queue_ps = dram->profile->dram.queue * line_ps;
    bool was_open = false;
    (void)transfer(dram, &at, sectors, time, &was_open);
    count_writes(dram, at.channel, sectors);
    dram->written_bytes += sectors * WPI_SECTOR_BYTES;
    const wpi_time_ps free = dram->channels[at.channel].free;
    return free > time + queue_ps ? free - queue_ps : time;
}

void wpi_dram_statistics(const wpi_dram *dram, wpi_visit visit, void *object) {
    const char *prefix = "dram.";
    wpi_visit_value(visit, object, prefix, "read", "bytes", dram->read_bytes);
    wpi_visit_value(visit, object, prefix, "written", "bytes", dram->written_bytes);
    wpi_visit_value(visit, object, prefix, "row_hits", "requests", dram->row_hits);
    wpi_visit_value(visit, object, prefix, "row_misses", "requests", dram->row_misses);
    wpi_visit_utilisation(visit, object, prefix, "utilisation", &dram->utilisation);
}
