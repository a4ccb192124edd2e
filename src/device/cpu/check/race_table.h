/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the threads of a block accessed since their last barrier, to find accesses that race: of
 * different threads, to one byte, at least one of them a write, not both atomic, and with no
 * synchronisation of the threads in between.
 *
 * Each meeting of threads, and each atomic operation or fence, is a release and then an acquisition
 * by the thread, numbered by a clock of the block:
 *
 *     thread a   access … release at 6, acquires at 8
 *     thread b            release at 7, acquires at 9 … access
 *
 * The accesses are in order if the first release of a after its own is before the last acquisition
 * of b. A volatile read is an acquisition, too: of what was published with an atomic or a fence.
 * This takes any two threads that synchronise for threads that do so with each other: what is
 * found is a race, but not all races are found.
 *
 * For every four bytes there are the last write and two reads by different threads. Those of shared
 * memory are an array; others are found by a hash, and may push out older ones where a block
 * touches hundreds of thousands of words between barriers. A table belongs to one thread of the
 * host. */
#ifndef WP_DEVICE_CPU_RACE_TABLE_H
#define WP_DEVICE_CPU_RACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wpi_race_table wpi_race_table;

#define WPI_RACE_WRITE 1u
#define WPI_RACE_ATOMIC 2u
#define WPI_RACE_VOLATILE 4u
#define WPI_RACE_VALUE 8u /* of a write: the value is known */

typedef struct wpi_race_access {
    uint32_t site;   /* the caller's */
    uint16_t thread; /* linear index in the block */
    uint8_t flags;   /* WPI_RACE_… */
} wpi_race_access;

/** NULL: out of memory. */
wpi_race_table *wpi_race_table_new(void);
void wpi_race_table_free(wpi_race_table *table); /* NULL is fine */
/** Makes room for a block of `threads` threads with so much shared memory. False: out of memory. */
bool wpi_race_table_prepare(wpi_race_table *table, uint32_t threads, size_t shared_bytes);
/** A block begins, whose shared memory is here. */
void wpi_race_table_begin(wpi_race_table *table, const void *shared);

/** Enters an access of 1 or more bytes. `value`: the first eight bytes that a write puts there; the
 * same value again is no race. True: it races with `earlier`, the first such that is found. */
bool wpi_race_table_access(wpi_race_table *table, const wpi_race_access *now, uintptr_t address,
                           uint64_t size_bytes, uint64_t value, wpi_race_access *earlier);
/** The thread meets others: called before and after. Or it does an atomic operation or a fence. */
void wpi_race_table_sync(wpi_race_table *table, uint32_t thread);
/** All threads have met. */
void wpi_race_table_barrier(wpi_race_table *table);

#endif
