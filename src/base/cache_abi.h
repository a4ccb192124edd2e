/* SPDX-License-Identifier: Apache-2.0 */
/** The software cache (docs/rooms/cache.md): definitions for the compiler, the device library and
 * the launch. */
#ifndef WP_BASE_CACHE_ABI_H
#define WP_BASE_CACHE_ABI_H

#include <stdint.h>

enum {
    WPI_CACHE_STRUCTURES = 8,   /* of a kernel, at most */
    WPI_CACHE_WAYS = 4,         /* lines of a structure, at most */
    WPI_CACHE_LINE_BYTES = 16,  /* by default; 8, 16, 24 or 32 */
    WPI_CACHE_ALIGN_BYTES = 16, /* of the first line in shared memory */
    WPI_CACHE_ROW_BYTES = 128,  /* of shared memory's banks, each once */
    WPI_CACHE_THRESHOLD = 64,   /* accesses after which a thread leaves monitoring, by default */
    WPI_CACHE_REASON = 192,     /* bytes of text */
    WPI_CACHE_NAME = 32
};

/** The parameter `lines` of a cached form: how many structures get lines, and from these bits on
 * which ones may, the hit rate above which a structure is worth some, in percent, the accesses that
 * a thread monitors, and whether loops over consecutive elements load whole lines (cache_run.c). */
#define WPI_CACHE_MAY_SHIFT 4
#define WPI_CACHE_HITS_SHIFT 12
#define WPI_CACHE_THRESHOLD_SHIFT 19
#define WPI_CACHE_RUNS_SHIFT 31
#define WPI_CACHE_FIELD(lines, from, to) ((lines) >> (from) & ((1u << ((to) - (from))) - 1))
#define WPI_CACHE_HITS_PCT 50

/** What is constant in a kernel, as the device library gets it: lines of a structure, and from this
 * bit on the bytes that are left free behind each WPI_CACHE_ROW_BYTES of lines, so that the banks
 * of a warp's lines differ. */
#define WPI_CACHE_PAD_SHIFT 8

/** Bytes of shared memory for one line of each thread of a block. */
static inline uint32_t wpi_cache_row_bytes(uint32_t threads, uint32_t line_bytes,
                                           uint32_t pad_bytes) {
    const uint32_t each = WPI_CACHE_ROW_BYTES / line_bytes;
    const uint32_t bytes = threads * line_bytes + (threads + each - 1) / each * pad_bytes;
    return (bytes + WPI_CACHE_ALIGN_BYTES - 1) / WPI_CACHE_ALIGN_BYTES * WPI_CACHE_ALIGN_BYTES;
}

/** The name of the cached form follows from the kernel's, and that of its facts from that. */
#define WPI_CACHE_SUFFIX "cache"
#define WPI_CACHE_FACTS "$cache$facts"
/** … and of the variable with its counts. */
#define WPI_CACHE_COUNTS "$cache$counts"

#define WPI_CACHE_VARIABLE UINT32_MAX

/** Where the kernel as written runs: what L1 must have lines for, if it is to hold a line until it
 * is read again. */
enum {
    WPI_CACHE_L1_NONE = 0, /* nothing is read again */
    WPI_CACHE_L1_THREADS,  /* one for each thread of an SM: lanes are in lines of their own */
    WPI_CACHE_L1_WARPS     /* for each warp: its lanes read the same or neighbouring elements */
};
#define WPI_CACHE_L1_LINE_BYTES 128

/** What the compiler found in a kernel: a device variable `<kernel>$cache$facts`. */
typedef struct wpi_cache_facts {
    uint32_t structures;                        /* 0: there is no cached form */
    uint32_t written;                           /* bits: structures that the loops write */
    uint32_t parameters[WPI_CACHE_STRUCTURES];  /* of the kernel, or WPI_CACHE_VARIABLE */
    uint32_t loops;                             /* that were copied */
    uint32_t accesses;                          /* in them: through a line, where cached */
    uint32_t outside;                           /* in them: to no structure */
    uint32_t instructions, cached_instructions; /* of the kernel and of its cached form, in LLVM's
                                                   bitcode */
    uint32_t line_bytes, ways, pad_bytes;
    uint32_t together; /* bits: structures in copied loops, but in no loop that data may end … */
    uint32_t alike;    /* … and those of which lanes read the same address, which are not in it */
    uint32_t runs;     /* bits: structures of which loops load or store whole lines */
    uint32_t l1;       /* WPI_CACHE_L1_NONE … */
    uint32_t apart;    /* bits: structures that a loop accesses at addresses that are far apart for
                          neighbouring threads of a row (threadIdx.x) … */
    uint32_t rows;     /* … and at addresses that depend on the row */
    char names[WPI_CACHE_STRUCTURES][WPI_CACHE_NAME];
    char reason[WPI_CACHE_REASON]; /* why there is no cached form, or "" */
} wpi_cache_facts;

/** Counts of a kernel's launches, in device memory: added up by all threads. Each loop that is left
 * counts as a thread. */
typedef struct wpi_cache_counts {
    uint64_t accesses[WPI_CACHE_STRUCTURES], hits[WPI_CACHE_STRUCTURES]; /* while monitoring */
    uint64_t chosen[WPI_CACHE_STRUCTURES];  /* threads that cache the structure … */
    uint64_t seldom[WPI_CACHE_STRUCTURES];  /* … whose accesses hit too seldom */
    uint64_t crowded[WPI_CACHE_STRUCTURES]; /* … that had no line left for it */
    uint64_t left, stayed;                  /* threads that left monitoring; that ended in it */
    uint64_t filled_lines, flushed_lines;
    uint64_t runs; /* loops that a thread went through 16 bytes at a time */
} wpi_cache_counts;

/** What a thread does at the accesses of a nest of loops. */
enum {
    WPI_CACHE_MONITORED, /* counts hits */
    WPI_CACHE_CACHED,
    WPI_CACHE_PLAIN /* has chosen to cache nothing */
};

/** A thread's state: in registers after all has been inlined. `delta`: from an address in the line
 * to its byte in shared memory, so that an access adds it and no more; 0: the structure is not
 * cached. line + delta is the line's place, also while `line` is WPI_CACHE_NONE. */
typedef struct wpi_cache_thread {
    uint64_t line[WPI_CACHE_STRUCTURES][WPI_CACHE_WAYS]; /* its address, or WPI_CACHE_NONE */
    uint64_t delta[WPI_CACHE_STRUCTURES][WPI_CACHE_WAYS];
    uint32_t dirty[WPI_CACHE_STRUCTURES][WPI_CACHE_WAYS]; /* bytes */
    uint32_t seen[WPI_CACHE_STRUCTURES];                  /* monitoring: hits << 16 | accesses */
    uint32_t next[WPI_CACHE_STRUCTURES]; /* the line that is filled next, of several */
    uint32_t mode;                       /* WPI_CACHE_MONITORED … */
    uint32_t calls;                      /* monitored in the nest so far … */
    uint32_t leave;                      /* … and at which the loop that runs is left */
    uint32_t filled, flushed;            /* lines */
    uint32_t runs;                       /* begun */
} wpi_cache_thread;

/* No address of a line: those are even. */
#define WPI_CACHE_NONE UINT64_C(1)

#endif
