/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host's side of one set of buffers: two state machines, driven by an actor (warpage/host.h)
 * that serves one of them or several (stream_server.h).
 *
 *     gather: WAIT ─asked─┬────────────────────────────────────────────────────┬► LINES ─► SEND ─►
 * WAIT └► COUNTS ─fetched─► ADDRESSES ─fetched─► (on the device) ┘ store:  WAIT ─wrote─► RETURN
 * ─returned─► LINES ─► TELL ─► WAIT
 *
 * A step never waits: it says which word it waits for. What a state declares as work takes its time
 * before the next step.
 */
#ifndef WP_STREAM_STREAM_ACTOR_H
#define WP_STREAM_STREAM_ACTOR_H

#include <stdatomic.h>

#include "stream/reservation.h"
#include "stream/sent_bytes.h"
#include "stream/stream_buffers.h"
#include "stream/stream_timeline.h"
#include "warpage/host.h"

/** What one actor has counted. */
typedef struct wpi_stream_counts {
    uint64_t chunks, accesses, useful_bytes, copied_bytes;
    uint64_t words;          /* addresses, bases and strides */
    uint64_t fetched_bytes;  /* … by copies, with what is behind the last of each thread */
    uint64_t repeated_bytes; /* of those sent, that had been sent before; not always counted */
    uint64_t worked_ns;
} wpi_stream_counts;

typedef struct wpi_stream_side wpi_stream_side;
struct wpi_stream_side {
    wp_actor_answer (*step)(wp_actor *actor, wpi_stream_side *side);
    const uint32_t *awaited; /* the word that it waits for to change from this: */
    uint32_t awaited_value;
    bool has_ended;
    const wpi_stream_buffers *buffers;
    const char *kernel_name;
    bool reads_own;      /* data are gathered when writes of three chunks before are in place */
    wp_queue *down, *up; /* copies to the device, and back */
    uint32_t set;
    uint32_t chunk;   /* the next to serve */
    uint32_t thread;  /* whose access is visited */
    uint32_t fetches; /* of addresses from the device, so far */
    uint32_t state;
    /* Of the chunk; lines: of host memory that it touches. */
    uint64_t words, accesses, bytes, lines, lines_in_order;
    uint32_t slots[WPI_STREAM_ROWS]; /* of the chunk: most that a thread used */
    uint64_t since_ns;               /* the chunk's work began */
    wpi_reservation_cursor cursor, index_cursor;
    wpi_sent_bytes *sent;                    /* of the launch; may be empty */
    uint64_t moved_bytes, index_moved_bytes; /* of files, that were charged */
    wpi_stream_counts counts;
    wpi_stream_spans spans;
    atomic_bool *is_reported; /* whether a failure of the launch is in the log */
    bool has_failed;
    wp_error failure;
};

wp_actor_answer wpi_stream_gather_step(wp_actor *actor, wpi_stream_side *side);
wp_actor_answer wpi_stream_store_step(wp_actor *actor, wpi_stream_side *side);

/* ---- shared by the two ---- */

/** Ends the step: the side waits for `word` to change. */
wp_actor_answer wpi_stream_await(wpi_stream_side *side, const uint32_t *word, uint32_t value);
/** How many slots of a row, or for writes of a class, each thread used in the chunk. */
const uint32_t *wpi_stream_counts_of(const wpi_stream_side *side, bool is_write, uint32_t row);

/** Queues copies of what address threads left in device memory: counts; then, when these are there,
 * patterns and words. buffers->fetched counts both. */
bool wpi_stream_fetch_counts(wpi_stream_side *side);
bool wpi_stream_fetch_addresses(wpi_stream_side *side);
/** Counts what the chunk used: slots, accesses, bytes, lines; not those lines that are found by
 * following an index: a visit does. */
void wpi_stream_count_chunk(wpi_stream_side *side, bool is_write);
/** Counts the reads of a chunk that is filled on the device. */
void wpi_stream_count_filled(wpi_stream_side *side);
/** Visits the slots of a counted chunk, row by row. */
typedef bool (*wpi_stream_visit)(wpi_stream_side *side, uint32_t class, uint64_t address,
                                 void *place);
/** False: a visit failed. `places`: the chunk's copy of data or values on the host. */
bool wpi_stream_visit_chunk(wpi_stream_side *side, bool is_write, char *places,
                            wpi_stream_visit visit);
/** The buffer of the chunk that the side is at. */
uint64_t wpi_stream_buffer(const wpi_stream_side *side);
uint32_t *wpi_stream_word(uint32_t *words, uint32_t set);
/** The chunk is done: counts the time since it began. */
void wpi_stream_note_worked(const wp_actor *actor, wpi_stream_side *side);
/** Logs a failure, but only the first of a launch. */
void wpi_stream_report(atomic_bool *is_reported, const wp_error *failure);
/** Logs the failure; the kernel traps. */
wp_actor_answer wpi_stream_fail(wpi_stream_side *side);
/** A thread of the block accessed what is not mapped, or what a file did not give. */
void wpi_stream_note_outside(wpi_stream_side *side, const wpi_reservation_cursor *cursor,
                             bool is_write, uint32_t bytes, uint64_t address);
/** The same error, for others. */
void wpi_stream_fail_outside(wp_error *err, const wpi_reservation_cursor *cursor,
                             const char *kernel_name, uint32_t block, uint32_t thread,
                             bool is_write, uint32_t bytes, uint64_t address);
/** The work of moving what the cursor's files read and wrote since the last time. */
void wpi_stream_add_file_work(const wpi_reservation_cursor *cursor, uint64_t *moved_bytes,
                              wp_host_work *work);
/** Copies one value of a class. */
void wpi_stream_copy(uint32_t class, void *to, const void *from);
/** The work of touching the chunk's lines of host memory, at random. */
wp_host_work wpi_stream_lines(const wpi_stream_side *side);
/** Declares work; the next step comes after it. */
wp_actor_answer wpi_stream_spend(wp_actor *actor, wpi_stream_side *side, const wp_host_work *work);
/** Copies what the chunk used of each class. */
wp_status wpi_stream_copy_classes(wpi_stream_side *side, bool is_write, char *dst, const char *src,
                                  wp_queue *queue);

#endif
