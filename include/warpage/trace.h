/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Traces: what a program did on a simulated GPU, in a file. Recorded once (`warpage trace record`),
 * replayed on other simulated GPUs or with other numbers, without the program.
 *
 * All functions answer with one sentence that names file and offset when a trace is damaged.
 * Thread rule: one call at a time.
 */
#ifndef WARPAGE_TRACE_H
#define WARPAGE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A launch of a trace. Strings live as long as the info. */
typedef struct wp_trace_launch_info {
    uint64_t number; /* from 1, in the order in which the program launched */
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers;
    bool is_in_step;                  /* not recorded: it cannot be replayed */
    uint64_t blocks, accesses, bytes; /* of code executed by warps; of memory; before compression */
} wp_trace_launch_info;

/** What a trace as a whole says of itself. */
typedef struct wp_trace_info {
    const char *version, *device; /* device "": it was imported */
    const char *const *program;   /* [program_count] */
    size_t program_count;
    bool has_exit_status;
    int exit_status;
    uint64_t file_bytes, launches, operations, accesses;
} wp_trace_info;

/** Opens a trace, calls `visit` with what it is, then `launch` with each launch; both optional. */
WP_NODISCARD WP_API wp_status wp_trace_read_info(
    const char *path, void (*visit)(void *object, const wp_trace_info *info),
    void (*launch)(void *object, const wp_trace_launch_info *info), void *object, wp_error *err);

/** Whether the simulated GPU `device` ("sim:p100") may replay the trace. UNSUPPORTED: it would have
 *  told the program something else (which is said), or a kernel runs in step. */
WP_NODISCARD WP_API wp_status wp_trace_check(const char *path, const char *device, wp_error *err);

/** A managed allocation of a trace. Strings live during the visit. */
typedef struct wp_trace_allocation {
    uint64_t number; /* from 1, in the order in which the program asked */
    uint64_t bytes;
    uint64_t address; /* as in reports */
    const char *site; /* who asked, "main+0x1d in app"; "" */
} wp_trace_allocation;

/** Calls `visit` with each managed allocation. */
WP_NODISCARD WP_API wp_status wp_trace_read_managed(
    const char *path, void (*visit)(void *object, const wp_trace_allocation *allocation),
    void *object, wp_error *err);

/** Replays a trace on a simulated GPU and writes the run record, as the program itself would have
 *  (include/warpage/report.h). `hints` (NULL: none) is what the program might have said of its
 *  managed memory: "2=host;all=prefetch", words are host, device, accessed-by, read-mostly,
 *  prefetch and copy
 *  (docs/rooms/wpt.md). UNSUPPORTED as wp_trace_check; INVALID: no such hints; else the error of
 *  the device. */
WP_NODISCARD WP_API wp_status wp_trace_replay(const char *path, const char *device,
                                              const char *hints, const char *record_path,
                                              wp_error *err);

/** Which launches a cut keeps. */
typedef struct wp_trace_selection {
    const char *kernels; /* extended regular expression, of names for people; NULL: all */
    uint64_t first_launch, outer_launch; /* half-open; 0, UINT64_MAX: all */
} wp_trace_selection;

/** A trace of some of the launches, and everything else that the host did. NOT_FOUND: none is left.
 */
WP_NODISCARD WP_API wp_status wp_trace_cut(const char *path, const wp_trace_selection *selection,
                                           const char *out_path, wp_error *err);

/** Accel-Sim's kernel traces (`kernelslist.g` with `.traceg` files beside it) as a trace. */
WP_NODISCARD WP_API wp_status wp_trace_import(const char *list_path, const char *out_path,
                                              wp_error *err);

/** The exit status of the program that was recorded, for whoever learns it later. */
WP_NODISCARD WP_API wp_status wp_trace_set_exit_status(const char *path, int status, wp_error *err);

#ifdef __cplusplus
}
#endif

#endif
