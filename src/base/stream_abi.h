/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of a streamed kernel and the host (docs/rooms/stream.md): buffers, words, counts.
 *
 * A launch has sets of buffers; a block takes a set when it starts and gives it back when it ends.
 * A set counts its chunks from 0, over all blocks that have it; chunk n lies in buffer
 * n % WPI_STREAM_BUFFERS. In a buffer, row r has `slots × half` places, [slot][thread]; data in
 * the original layout are [thread][slot]. Where slots are in lines of 16 bytes, a thread's next 16
 * bytes are a place: [slot / n][thread][slot % n]. Words of different sets are WPI_STREAM_WORD
 * apart. For kernels with windows see stream_window_abi.h.
 *
 * A row is a sequence of addresses of each thread. Rows 0 to 4 are the classes of accesses. The
 * others are of reads that the host finds by following an index, `values[index[i]]`: a row of
 * entries to which the index is added, and behind it a row of the index's addresses
 * (wpi_stream_row). A kernel that has such rows has no lines.
 */
#ifndef WP_BASE_STREAM_ABI_H
#define WP_BASE_STREAM_ABI_H

#include <stdint.h>

enum {
    WPI_STREAM_CLASSES = 5,   /* accesses of 1, 2, 4, 8, 16 bytes */
    WPI_STREAM_FOLLOWED = 11, /* rows, at most, for reads through an index */
    WPI_STREAM_ROWS = WPI_STREAM_CLASSES + WPI_STREAM_FOLLOWED,
    WPI_STREAM_BUFFERS = 3,
    WPI_STREAM_WORD = 16,       /* in units of 4 bytes */
    WPI_STREAM_PARAMETERS = 60, /* that may be mapped: bits of a mask */
    WPI_STREAM_LINE_CLASS = 4,  /* a line of slots has 1 << 4 bytes */
    WPI_STREAM_SITES = 8,       /* reads in a turn of a loop, at most, that can be a pattern */
    WPI_STREAM_WINDOWS = 4,     /* of a thread, at most */
    WPI_STREAM_KEPT = 8,        /* ranges, at most, that a launch finds on the device */
    WPI_STREAM_REASON = 192,    /* bytes of text */
    WPI_STREAM_TIMES = 3,       /* nanoseconds: of work, of waiting; since when */
    WPI_STREAM_LOG_SETS = 8,    /* that have logs, of the first so many events */
    WPI_STREAM_LOG_EVENTS = 511
};
/* A word of a read: the address of a run of reads one behind the other, and, from this bit on, how
 * many follow the first. */
#define WPI_STREAM_RUN_SHIFT 48
#define WPI_STREAM_RUN_MAX 65536u
/* Of a mask: slots are in lines, and the kernel has a form with the software cache, too
 * (cache_abi.h). */
#define WPI_STREAM_LINES (UINT64_C(1) << 62)
/* Of a mask: parameters may be of the same memory, through one of which the kernel writes. */
#define WPI_STREAM_ALIASES (UINT64_C(1) << 61)
/* Of a mask: threads run ahead wherever they can, also where windows are faster. */
#define WPI_STREAM_AHEAD (UINT64_C(1) << 60)
/* Of a word, or of a pattern's base, in a row that is none of the classes: what is added up to an
 * address wraps at so many bits. */
#define WPI_STREAM_ENTRY ((UINT64_C(1) << 47) - 1)
/* Of such a word: the reads of the run are all of this address. */
#define WPI_STREAM_SAME (UINT64_C(1) << 47)
/* Of a mask: the kernel gets windows, although it could do without. */
#define WPI_STREAM_ALL_DATA (UINT64_C(1) << 63)
#define WPI_STREAM_END UINT32_C(0xffffffff) /* to actors: the launch is over; to kernels: trap */

/** Why a thread is at the head of the chunk loop: its slots are used up, it has ended, or it is at
 * a barrier of the kernel. */
typedef enum wpi_stream_kind {
    WPI_STREAM_WANTS = 0,
    WPI_STREAM_DONE,
    WPI_STREAM_WAITS
} wpi_stream_kind;

/** What happens then: nothing more, the next chunk, or those at a barrier go on. */
typedef enum wpi_stream_answer {
    WPI_STREAM_ENDS = 0,
    WPI_STREAM_CHUNK,
    WPI_STREAM_RELEASED
} wpi_stream_answer;

/** How the host finds the addresses of a row's reads: the n-th is the row's n-th entry, plus the
 * n-th value of the row `index` times the scale. */
typedef struct wpi_stream_row {
    uint8_t class;     /* of what is read */
    uint8_t is_index;  /* the host uses it: no data are sent */
    uint8_t is_signed; /* as an index */
    uint8_t index;     /* 0: entries are addresses, of row `index` nothing is added */
    uint8_t factor;    /* 0, or the row whose n-th entry is a factor of the scale */
    uint8_t is_number; /* entries are factors */
    uint8_t reserved[2];
    int64_t scale;
} wpi_stream_row;

/** One row. Offsets are from the start of a buffer. Only classes are written. */
typedef struct wpi_stream_class {
    uint32_t read_slots, write_slots; /* of a thread, in a chunk */
    uint64_t address_offset;          /* words of reads, 8 bytes a slot */
    uint64_t data_offset;             /* device, and the pinned copy that is sent */
    uint64_t read_step, thread_step;  /* bytes to the thread's next place, to the next thread */
    uint64_t target_offset;           /* addresses of writes, 8 bytes a slot; pinned */
    uint64_t value_offset;            /* device, and the pinned copy that comes back */
} wpi_stream_class;

/** The addresses of one read in a loop: in its turn i, `base + i * stride`. */
typedef struct wpi_stream_stride {
    uint64_t base;
    int64_t stride;
} wpi_stream_stride;

/** Mapped data that are on the device: read there, and written there, too. Begins at a multiple of
 * 16, and ends at one or where nothing more is mapped: an aligned access is inside or outside. */
typedef struct wpi_stream_kept {
    uint64_t first, bytes; /* addresses as the program has them */
    char *memory;
} wpi_stream_kept;

/** In device memory; kernels only read it. */
typedef struct wpi_stream_launch {
    wpi_stream_class classes[WPI_STREAM_ROWS];
    wpi_stream_row rows[WPI_STREAM_ROWS];
    uint32_t row_count;                 /* of these */
    uint32_t block_x, block_y, block_z; /* as the program launched it */
    uint32_t threads;                   /* of such a block */
    uint32_t half;                      /* … in whole warps: address threads, compute threads */
    uint32_t set_count;
    char *addresses, *data, *targets, *values; /* [set][buffer] of so many bytes: */
    uint64_t addresses_bytes, data_bytes, targets_bytes, values_bytes;
    /* What address threads send is pinned, or, if the host fetches it by copies, in device memory.
     */
    uint32_t *read_counts;  /* [set][buffer][row][half] */
    uint32_t *write_counts; /* pinned, [set][buffer][class][half] */
    /* So many of a thread's reads in this chunk, of this row, are the turns of a loop with so
     * many sites: their addresses follow from `patterns`, those of later reads from words. As
     * read_counts. */
    uint32_t *pattern_reads, *pattern_sites;
    wpi_stream_stride *patterns; /* [set][buffer][row][WPI_STREAM_SITES][half] */
    uint32_t looks_for_patterns;
    uint32_t has_lines; /* a place is a line of slots */
    uint32_t *asked;    /* pinned, a word a set: chunks whose addresses are there */
    uint32_t *answered; /* device: chunks whose data are there */
    uint32_t *wrote;    /* pinned: chunks whose writes are there */
    uint32_t *stored;   /* device: chunks whose writes are in host memory */
    uint32_t *block;    /* pinned, a word a set: the block that has it */
    uint32_t *busy;     /* device, a word a set: 1 while a block has it */
    uint32_t *chunks;   /* device, a word a set: chunks of the blocks before */
    uint64_t *times;    /* device, [set][2][WPI_STREAM_TIMES]: of a thread of each half, summed */
    /* NULL, or behind `times`, [set][2]: a count, then what the time until then was
     * (wpi_stream_time), in the lower two bits of nanoseconds. */
    uint64_t *log;
    /* Data on the device. Address threads fill the slots of a chunk themselves if all of its reads
     * are patterns in such data, and say so. */
    uint32_t kept_count;
    /* 1: flags say when a buffer may be filled again, in place of a barrier of the block for each
     * chunk. Nothing is kept then. */
    uint32_t has_flags;
    uint32_t *filled; /* pinned, a word a buffer: 1 if there is nothing to send */
    uint32_t *taken;  /* with flags, device: chunks whose addresses the host has read */
    uint32_t *used;   /* with flags, pinned: chunks whose data have been computed with */
    wpi_stream_kept kept[WPI_STREAM_KEPT];
} wpi_stream_launch;

/** Indices of times, and what an event of a log says. SINCE: the thread begins. */
enum wpi_stream_time { WPI_STREAM_WORKED, WPI_STREAM_WAITED, WPI_STREAM_SINCE };

/** Follows the name of a streamed kernel in that of the variable with its facts. */
#define WPI_STREAM_FACTS "$facts"

/** Binary logarithm of the slots of class k in a place. */
static inline uint32_t wpi_stream_line_shift(uint32_t has_lines, uint32_t k) {
    return has_lines && k < WPI_STREAM_LINE_CLASS ? WPI_STREAM_LINE_CLASS - k : 0;
}

static inline uint64_t wpi_stream_places(uint64_t slots, uint32_t line_shift) {
    return (slots + (UINT64_C(1) << line_shift) - 1) >> line_shift;
}

/** What the compiler knows of a streamed kernel: a device variable.
 * A buffer must have as many slots of each row as `need` says. */
typedef struct wpi_stream_facts {
    uint32_t read_need[WPI_STREAM_ROWS], write_need[WPI_STREAM_CLASSES];
    uint32_t followed_count; /* rows behind those of classes: */
    wpi_stream_row followed[WPI_STREAM_FOLLOWED];
    uint32_t reads_own; /* 1: a thread may read what it has written */
    /* Not 0: the kernel has no address threads, but so many windows a thread, in granules of one
     * class; writes are of this class at most. Why: */
    uint32_t windows, granule, value_class;
    char reason[WPI_STREAM_REASON];
    uint64_t steering; /* parameters through which the address slice reads memory … */
    uint64_t written;  /* … and through which the kernel writes: never the same memory */
    uint64_t
        mapped_written; /* mapped parameters through which it writes: others have other memory */
    uint32_t has_lines; /* slots are in lines */
    uint32_t prefers_windows; /* it has windows as they are faster */
} wpi_stream_facts;

/** A thread's part in it: private, and in registers after all has been inlined. */
typedef struct wpi_stream_thread {
    const wpi_stream_launch *launch;
    uint32_t x, y, z;    /* threadIdx, as the program sees it */
    uint32_t thread;     /* in its half */
    uint32_t set, first; /* the set's chunks before this block */
    uint32_t chunk;      /* of this block; WPI_STREAM_END: none yet */
    uint32_t kept_count; /* of the launch, as … */
    uint32_t has_flags;  /* … this */
    uint32_t reads[WPI_STREAM_ROWS], writes[WPI_STREAM_CLASSES]; /* slots taken in this chunk */
    uint32_t allowed[WPI_STREAM_CLASSES];                        /* writes, at most */
    char *read_at[WPI_STREAM_ROWS];                              /* the next slot, or word */
    uint64_t line[WPI_STREAM_CLASSES][2]; /* what is left of the line that was loaded last */
    uint64_t run[WPI_STREAM_ROWS];        /* its first address … */
    uint32_t run_reads[WPI_STREAM_ROWS], run_most; /* … and reads, at most */
    uint32_t run_stays[WPI_STREAM_ROWS];           /* all of the first address */
    /* The pattern so far: of the reads before `broken`; the loop, its reads, the next of them. */
    uint32_t broken[WPI_STREAM_ROWS], loop[WPI_STREAM_ROWS];
    uint32_t sites[WPI_STREAM_ROWS], site[WPI_STREAM_ROWS];
    uint64_t base[WPI_STREAM_ROWS]; /* of site 0, in this turn */
    int64_t stride[WPI_STREAM_ROWS], delta[WPI_STREAM_ROWS][WPI_STREAM_SITES];
    char *target_at[WPI_STREAM_CLASSES], *value_at[WPI_STREAM_CLASSES];
    uint64_t lowest[WPI_STREAM_CLASSES], highest[WPI_STREAM_CLASSES]; /* that may be read again */
} wpi_stream_thread;

#endif
