/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of a kernel with windows and the host (docs/rooms/stream.md).
 *
 * A thread has a window for each mapped parameter: a copy, in device memory, of some of its bytes.
 * A read outside of it asks the host for a window that begins there, and waits. A region is one
 * warp's window. The host lays a thread's bytes out in `source`, pieces of 16 bytes of the lanes
 * side by side, [piece][lane]; the thread reads them over the link and stores them to `data`,
 * [granule][lane], so that lanes that are equally far read neighbouring granules; in the original
 * layout a lane's content lies together, [lane][granule].
 *
 * A request is the thread's word in `wants`, then its number in the ring of its group of sets: at
 * ticket % size, doubled, plus 1 in every other lap, so that the host sees which are new. A thread
 * has one request at a time, so no ring overflows. The answer is a word: the bytes of the window,
 * doubled, plus 1 in every other one, so that it differs from the one before.
 *
 * A window of data that are kept on the device (wpi_stream_kept) is these data: no request, and the
 * content lies as in host memory.
 *
 * Writes collect in a list of the warp, [slot][lane]. A request carries them along: the host stores
 * them before it reads.
 */
#ifndef WP_BASE_STREAM_WINDOW_ABI_H
#define WP_BASE_STREAM_WINDOW_ABI_H

#include "base/stream_abi.h"

enum {
    WPI_WINDOW_LANES = 32,
    WPI_WINDOW_PIECE = 16,       /* bytes; a window has an even number of them */
    WPI_WINDOW_BYTES_SHIFT = 48, /* of a word in `wants`: above the address, bytes of the read … */
    WPI_WINDOW_NUMBER_SHIFT = 56 /* … and the window */
};
/* Of an address in a write list: above it, the class of the write. */
#define WPI_WINDOW_ADDRESS ((UINT64_C(1) << WPI_WINDOW_BYTES_SHIFT) - 1)

/** In device memory; kernels only read it. A set is a block's. */
typedef struct wpi_window_launch {
    uint32_t threads; /* of a block, in whole warps */
    uint32_t set_count, sets_per_group, group_count;
    uint32_t group_threads;              /* of sets_per_group sets */
    uint32_t windows, granule, granules; /* of a thread; the class of a granule; of a window */
    uint32_t write_slots, value_class;   /* of a thread; of a slot in `values` */
    uint32_t ring_shift;                 /* a ring has 1 << ring_shift words */
    uint32_t step, lane_step;            /* granules from one of a lane to its next, to a lane's */
    uint64_t region_bytes;
    char *data;             /* device, [window][set][warp] of region_bytes */
    char *source;           /* pinned, as data */
    uint64_t *wants;        /* pinned, [set][thread] */
    uint32_t *ring;         /* pinned, [group] */
    uint32_t *tickets;      /* device, a word a group */
    uint32_t *answers;      /* device, [set][thread] */
    uint32_t *write_counts; /* pinned, [set][thread] */
    uint64_t *targets;      /* pinned, [set][warp][slot][lane] */
    char *values;           /* device, as targets, of 1 << value_class bytes */
    uint32_t *block;        /* pinned, a word a set: the block that has it */
    uint32_t *busy;         /* device, a word a set: 1 while a block has it */
    uint64_t *times;        /* device, [set][WPI_STREAM_TIMES]: of a thread, summed */
    uint32_t kept_count;
    wpi_stream_kept kept[WPI_STREAM_KEPT];
} wpi_window_launch;

/** A thread's part in it: private, and in registers after all has been inlined. */
typedef struct wpi_window_thread {
    const wpi_window_launch *launch;
    uint32_t thread; /* of the block */
    uint32_t writes, kept_count;
    uint64_t slot;                      /* in `targets`, of the first write */
    void *epoch_at;                     /* shared: of its warp */
    uint32_t epoch[WPI_STREAM_WINDOWS]; /* refills of the warp that this lane knows of */
    uint32_t valid[WPI_STREAM_WINDOWS]; /* bytes */
    uint64_t first[WPI_STREAM_WINDOWS]; /* address */
    uint32_t gaps[WPI_STREAM_WINDOWS];  /* granules between one and the next */
    char *content[WPI_STREAM_WINDOWS];
} wpi_window_thread;

#endif
