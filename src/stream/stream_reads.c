/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_reads.h"

#include <string.h>

static wpi_stream_entries entries_of(const wpi_stream_side *side, uint32_t r, uint32_t thread) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    const wpi_stream_requests *sent = &side->buffers->requests;
    const uint64_t buffer = wpi_stream_buffer(side), row = buffer * l->row_count + r;
    const char *words =
        sent->addresses + buffer * l->addresses_bytes + l->classes[r].address_offset;
    const uint64_t at = row * l->half + thread;
    const uint32_t count = sent->pattern_reads[at];
    return (wpi_stream_entries){.pattern =
                                    sent->patterns + row * WPI_STREAM_SITES * l->half + thread,
                                .word = (const uint64_t *)(const void *)words + thread,
                                .class = l->rows[r].class,
                                .half = l->half,
                                .pattern_left = count,
                                .sites = count == 0 ? 0 : sent->pattern_sites[at],
                                .words = count == 0 ? 0 : 2 * (uint64_t)sent->pattern_sites[at],
                                .is_followed = r >= WPI_STREAM_CLASSES,
                                .last_line = UINT64_MAX - 1};
}

static uint64_t next_of_pattern(wpi_stream_entries *e) {
    const wpi_stream_stride *site = &e->pattern[(uint64_t)e->site * e->half];
    const uint64_t entry = site->base + (uint64_t)site->stride * e->turn;
    e->pattern_left--;
    if (++e->site == e->sites) {
        e->site = 0;
        e->turn++;
    }
    return e->is_followed ? entry & WPI_STREAM_ENTRY : entry;
}

static void begin_run(wpi_stream_entries *e) {
    const uint64_t word = *e->word;
    const bool stays = e->is_followed && (word & WPI_STREAM_SAME) != 0;
    e->run = word & (e->is_followed ? WPI_STREAM_ENTRY : (UINT64_C(1) << WPI_STREAM_RUN_SHIFT) - 1);
    e->run_left = (uint32_t)(word >> WPI_STREAM_RUN_SHIFT) + 1;
    e->run_step = stays ? 0 : 1u << e->class;
    e->word += e->half;
    e->words++;
    e->begins_run = true;
}

static uint64_t next_entry(wpi_stream_entries *e) {
    e->begins_run = false;
    if (e->pattern_left != 0) return next_of_pattern(e);
    if (e->run_left == 0) begin_run(e);
    const uint64_t entry = e->run;
    e->run += e->run_step;
    e->run_left--;
    return entry;
}

/* ---- following ---- */

static uint64_t value_of(const wpi_stream_row *row, const void *from) {
    uint64_t value = 0;
    memcpy(&value, from, (size_t)1 << row->class);
    const uint32_t unused = 64 - (8u << row->class);
    return row->is_signed != 0 ? (uint64_t)((int64_t)(value << unused) >> unused) : value;
}

/* What an index points to is a miss, unless the read before was in the line or the one before it.
 */
static void count_line(wpi_stream_side *side, wpi_stream_entries *e, uint64_t address) {
    const uint64_t line = address / WPI_STREAM_LINE_BYTES;
    if (line == e->last_line) return;
    if (line == e->last_line + 1)
        side->lines_in_order++;
    else
        side->lines++;
    e->last_line = line;
}

static bool next_address(wpi_stream_side *side, wpi_stream_reads *reads, uint32_t r,
                         uint64_t *address) {
    const wpi_stream_row *row = &side->buffers->launch_source->rows[r];
    const wpi_stream_row *index = &side->buffers->launch_source->rows[row->index];
    const uint32_t bytes = 1u << index->class;
    uint64_t scale = (uint64_t)row->scale, at;
    *address = next_entry(&reads->of[r]);
    if (row->index == 0) return true;
    if (!next_address(side, reads, row->index, &at)) return false;
    const void *from = wpi_reservation_host(&side->index_cursor, at, bytes, false);
    if (from == NULL) {
        wpi_stream_note_outside(side, &side->index_cursor, false, bytes, at);
        return false;
    }
    if (row->factor != 0) scale *= next_entry(&reads->of[row->factor]);
    *address = (*address + value_of(index, from) * scale) & WPI_STREAM_ENTRY;
    count_line(side, &reads->of[r], *address);
    return true;
}

void wpi_stream_reads_begin(const wpi_stream_side *side, uint32_t row, uint32_t thread,
                            wpi_stream_reads *reads) {
    const wpi_stream_row *rows = side->buffers->launch_source->rows;
    reads->row = row;
    do {
        reads->of[row] = entries_of(side, row, thread);
        if (rows[row].factor != 0)
            reads->of[rows[row].factor] = entries_of(side, rows[row].factor, thread);
        row = rows[row].index;
    } while (row != 0);
}

bool wpi_stream_reads_next(wpi_stream_side *side, wpi_stream_reads *reads, uint64_t *address) {
    return next_address(side, reads, reads->row, address);
}

/* ---- counting ---- */

/* A line of host memory is a miss where a run begins, unless the read before was in it or in the
 * line before it. Lines of patterns, and later ones of a run, are read in order. */
void wpi_stream_count_reads(wpi_stream_side *side, uint32_t row, uint32_t thread, uint32_t count) {
    const wpi_stream_row *what = &side->buffers->launch_source->rows[row];
    wpi_stream_entries e = entries_of(side, row, thread);
    uint64_t last = UINT64_MAX - 1;
    for (uint32_t n = 0; n < count; n++) {
        const uint64_t line = next_entry(&e) / WPI_STREAM_LINE_BYTES;
        if (line == last || what->index != 0 || what->is_number != 0) continue;
        if (e.begins_run && line != last + 1)
            side->lines++;
        else
            side->lines_in_order++;
        last = line;
    }
    side->words += e.words;
}
