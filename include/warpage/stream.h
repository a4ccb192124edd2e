/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Streaming: an ordinary kernel, launched once, over host data of any size (BigKernel; thesis,
 * chapter 4).
 *
 *     streamingMalloc((void **)&d_particles, bytes);     reserves addresses, no memory
 *     streamingMap(d_particles, particles, bytes);       ties them to host memory
 *     assign<<<grid, block>>>(d_particles, count, d_centres);
 *     cudaDeviceSynchronize();                           what the kernel wrote is in `particles`
 *     streamingFree(d_particles);
 *
 * streamingMapFile ties them to a file in place of memory.
 *
 * A launch that passes a mapped address runs a second form of the kernel, with twice the threads:
 * half of them run ahead and send the addresses of the mapped data that the kernel is about to
 * read; the host gathers that data and copies it to buffers on the device; the other half computes
 * with it. Device memory is used for the buffers only. Only what is read crosses the link.
 *
 *     address threads ──addresses──► host gathers ──copy──► compute threads ──values──► host stores
 *
 * The launch is asynchronous, as any launch. Its host memory must stay in place until it is done.
 *
 * Threads can run ahead if addresses of reads, and branches around them, follow from arguments,
 * thread and block indices, and memory that the kernel does not write; and if the address is that
 * of an element whose index is read from mapped data that the kernel does not write,
 * `values[index[i]]`: the host follows the index. Otherwise, or if lanes of a warp have to be
 * together or a block has no room for as many threads again, the second form has windows and no
 * more threads than the first: a thread waits for the data from the address on that it comes to,
 * and asks again behind them. So has that of a kernel with a loop that reads single bytes one after
 * the other: there windows are faster, as to run ahead costs as much for a byte as for 16.
 *
 * A kernel may write mapped data anywhere. A thread sees its own writes, also if several parameters
 * are of one reservation; it must not read what another thread writes in the same launch. A kernel
 * with a barrier between such a write and read is refused, and so are two reservations of the same
 * host memory where one is written. What is refused is refused at the launch, with the line of the
 * source and the reason.
 *
 * Where the second form comes from: `wpcc --stream=KERNEL:PARAMETERS` puts it into the program;
 * otherwise it is compiled by wpcc at the first such launch, and kept (cpu and sim; on a GPU this
 * needs --stream).
 *
 * Errors: a CUDA error code; the sentence is on stderr. Thread rule: any thread.
 */
#ifndef WARPAGE_STREAM_H
#define WARPAGE_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"
#ifdef __CUDACC__
#include <driver_types.h>
#else
#include "warpage/cuda/driver_types.h"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Reserves addresses for `size_bytes` of mapped data. They are valid as arguments of kernels and
 * for arithmetic; neither host code nor cudaMemcpy can access them. cudaErrorInvalidValue: NULL or
 * 0 bytes; cudaErrorMemoryAllocation: no addresses left. */
WP_API cudaError_t streamingMalloc(void **out, size_t size_bytes);
/** Ties the addresses from `mapped` on, `size_bytes` of them, to host memory from `host` on, which
 * stays the caller's; any part of a reservation, any number of times: a later call replaces what
 * was mapped there. Must not be called while a launch uses the reservation. cudaErrorInvalidValue:
 * not within one reservation, NULL, or 0 bytes. */
WP_API cudaError_t streamingMap(void *mapped, void *host, size_t size_bytes);
/** Ties the addresses to bytes of a file, from `offset` on; files may be larger than host memory,
 * of which streamingOptions.host_bytes are used. `source` is read; NULL: zeros. Kernels write to
 * `target`; NULL: they must not write. `target` is a new file: all of the source (the same file is
 * allowed) with what the kernels wrote, or `offset + size_bytes` bytes. It appears under its name
 * when streamingFree returns cudaSuccess; before, and after an error, it does not exist or is what
 * it was. Address and offset are multiples of 16. cudaErrorInvalidValue: as streamingMap; a source
 * that is too short; no room on the disk. Host code sees what kernels wrote only in the finished
 * file. */
WP_API cudaError_t streamingMapFile(void *mapped, const char *source, const char *target,
                                    uint64_t offset, size_t size_bytes);
/** Gives the addresses back, after waiting for all work, and finishes files that kernels wrote.
 * NULL allowed. cudaErrorInvalidValue: not the start of a reservation, or a file could not be
 * written. */
WP_API cudaError_t streamingFree(void *mapped);

/** Keeps mapped data, `size_bytes` from `mapped` on, on the device from one launch to the next:
 * allocates so much device memory, beside streamingOptions.device_bytes. The next launch that
 * passes an address of the reservation copies them there, before its kernel, and returns when that
 * is done unless the host memory is page-locked; it and later launches on this device read them
 * there, and send what they write to the host and there. So they cross the
 * link once, until host code changes them, of which it tells by streamingForget.
 *
 *     streamingKeep(mapped, bytes / 2);
 *     for (...)                                     the first half is sent in the first turn,
 *         assign<<<grid, block>>>(mapped, ...);     the second half in each
 *
 * Of a reservation one range is kept, a multiple of 16 bytes unless it ends where the reservation
 * ends; a later call replaces it, 0 bytes: nothing is kept. streamingFree frees the memory, a
 * device reset, too. Waits for all work. cudaErrorInvalidValue: not within one reservation, an
 * address that is no multiple of 16, or a mapped file; cudaErrorMemoryAllocation. */
WP_API cudaError_t streamingKeep(void *mapped, size_t size_bytes);
/** Host code has changed what `size_bytes` from `mapped` on are mapped to: where they are kept on
 * the device, the next launch copies the range again. streamingMap does the same. Must not be
 * called while a launch uses the reservation. cudaErrorInvalidValue: not within one reservation. */
WP_API cudaError_t streamingForget(void *mapped, size_t size_bytes);

/** What a launch does without, to measure what it gains (thesis, section 4.4.2). */
typedef enum streamingVariant {
    streamingFull = 0,
    streamingVolume, /* only data that are read, but a thread's lie together, as in host memory:
                      * neighbouring threads read distant places */
    streamingOverlap /* all data, in pieces, in such a layout; no thread runs ahead: the launch has
                      * windows */
} streamingVariant;

/** How launches from now on are streamed. Zeros choose the default. */
typedef struct streamingOptions {
    uint64_t device_bytes; /* of device memory for buffers; 0: a quarter of what is free, at most
                            * 64 MiB */
    uint32_t slots;        /* reads of a thread in a chunk, at most; 0: as many as fit, up to 64. Of
                            * a window: granules, each as large as the largest read, at least 4
                            * bytes, rounded up to 32 bytes; 0: as many as fit, up to 512 bytes */
    uint32_t without_patterns; /* 1: every address is sent */
    uint32_t blocks;           /* blocks that have buffers at a time; 0: as many as run at once */
    streamingVariant variant;
    uint64_t host_bytes;      /* of host memory for blocks of mapped files; 0: 256 MiB. Takes effect
                               * when no file is mapped */
    uint64_t pinned_bytes;    /* of page-locked memory for buffers, at most; 0: no limit */
    uint32_t with_windows;    /* 1: windows, even where threads could run ahead */
    uint32_t without_windows; /* 1: threads run ahead wherever they can, also where windows are
                               * faster */
    uint32_t plan_only; /* 1: launches with mapped data do nothing, but streamingGetReport has what
                         * they would use: bytes, blocks, sets, slots, has_windows */
    /* Other ways that the thesis names (sections 4.3 and 4.3.3), for launches without windows: */
    uint32_t fetches_addresses; /* 1: threads that run ahead collect addresses in device memory, and
                                 * the host fetches them by copies */
    uint32_t with_flags;   /* 1: buffers have flags that say when they may be filled again, in place
                            * of a barrier of the block for each chunk. Not where data are kept */
    uint32_t host_threads; /* that serve a launch, at most, with windows, too; 0: two for each block
                            * that has buffers, one if it writes nothing; with windows up to four */
} streamingOptions;
/** cudaErrorInvalidValue: NULL, or no such variant. */
WP_API cudaError_t streamingSetOptions(const streamingOptions *options);

/** What the last streamed launch that has ended did, or the last one that was only planned: sums
 * over its blocks. Times are those of one address thread and one compute thread of each block. */
typedef struct streamingReport {
    uint64_t mapped_bytes;               /* in the reservations that were passed */
    uint64_t accesses;                   /* of the kernel to mapped data */
    uint64_t address_bytes;              /* that crossed the link: addresses and patterns */
    uint64_t sent_bytes;                 /* copied to the device, with what fills slots up */
    uint64_t read_bytes, written_bytes;  /* that the kernel asked for, and wrote */
    uint64_t chunks;                     /* that were exchanged */
    uint32_t blocks, sets;               /* of the launch; sets of buffers that they shared */
    uint32_t slots;                      /* of a thread in a chunk */
    uint64_t device_bytes, pinned_bytes; /* of buffers */
    uint64_t address_ns, address_wait_ns, gather_ns, compute_ns, compute_wait_ns, store_ns;
    uint64_t total_ns;                            /* of the kernel */
    uint64_t host_bytes;                          /* for blocks of mapped files */
    uint64_t file_read_bytes, file_written_bytes; /* from and to disk, until the launch ended */
    uint64_t file_wait_ns;                        /* on the clock, summed over actors */
    uint32_t has_windows;                         /* 1: no threads ran ahead */
    uint64_t kept_bytes;      /* of mapped data, on the device (streamingKeep) */
    uint64_t kept_sent_bytes; /* copied there before this launch; not in sent_bytes */
} streamingReport;
/** cudaErrorNotReady: no streamed launch has ended yet. */
WP_API cudaError_t streamingGetReport(streamingReport *out);

#ifdef __cplusplus
}

template <class T> static inline cudaError_t streamingMalloc(T **out, size_t size_bytes) {
    return streamingMalloc((void **)(void *)out, size_bytes);
}
#endif
#endif
