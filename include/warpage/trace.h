/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Traces: files that record what a program did on a simulated GPU. `warpage trace record` records
 * one; it can be replayed on other simulated GPUs or with other parameters, without the program.
 *
 * For a damaged trace, all functions return an error that names the file and the offset.
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

/** A launch in a trace. Strings are valid during the visit. */
typedef struct wp_trace_launch_info {
    uint64_t number; /* from 1, in the order of the program's launches */
    const char *kernel;
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, registers;
    bool is_in_step; /* ran in step, so it was not recorded and cannot be replayed */
    uint64_t blocks, accesses, bytes; /* blocks of code that warps executed; memory accesses;
                                         size before compression */
} wp_trace_launch_info;

/** Properties of a whole trace. */
typedef struct wp_trace_info {
    const char *version, *device; /* device "": an imported trace */
    const char *const *program;   /* [program_count] */
    size_t program_count;
    bool has_exit_status;
    int exit_status;
    uint64_t file_bytes, launches, operations, accesses;
} wp_trace_info;

/** Opens a trace, calls `visit` with its properties, then `launch` for each launch. Either may be
 *  NULL. */
WP_NODISCARD WP_API wp_status wp_trace_read_info(
    const char *path, void (*visit)(void *object, const wp_trace_info *info),
    void (*launch)(void *object, const wp_trace_launch_info *info), void *object, wp_error *err);

/** Checks that the simulated GPU `device` ("sim:p100") can replay the trace. UNSUPPORTED if the
 *  program queried a property whose value differs on `device` (the message names it), or if a
 * kernel ran in step. */
WP_NODISCARD WP_API wp_status wp_trace_check(const char *path, const char *device, wp_error *err);

/** A managed allocation in a trace. Strings are valid during the visit. */
typedef struct wp_trace_allocation {
    uint64_t number; /* from 1, in the order of allocation */
    uint64_t bytes;
    uint64_t address; /* as in reports */
    const char *site; /* the code that allocated it, "main+0x1d in app"; "": unknown */
} wp_trace_allocation;

/** Calls `visit` for each managed allocation. */
WP_NODISCARD WP_API wp_status wp_trace_read_managed(
    const char *path, void (*visit)(void *object, const wp_trace_allocation *allocation),
    void *object, wp_error *err);

/** Replays a trace on a simulated GPU and writes the run record that the program would have written
 *  (include/warpage/report.h). `hints` (NULL: none) adds advice about managed allocations, by
 * number: "2=host;all=prefetch". The words are host, device, accessed-by, read-mostly, prefetch and
 * copy (docs/rooms/wpt.md). UNSUPPORTED as wp_trace_check; INVALID for malformed hints; otherwise
 * the error of the device. */
WP_NODISCARD WP_API wp_status wp_trace_replay(const char *path, const char *device,
                                              const char *hints, const char *record_path,
                                              wp_error *err);

/** Selects the launches that wp_trace_cut keeps. */
typedef struct wp_trace_selection {
    const char *kernels; /* extended regular expression on demangled names; NULL: all */
    uint64_t first_launch, outer_launch; /* half-open; 0, UINT64_MAX: all */
} wp_trace_selection;

/** Writes a trace with the selected launches and all other host operations. NOT_FOUND if the
 *  selection is empty. */
WP_NODISCARD WP_API wp_status wp_trace_cut(const char *path, const wp_trace_selection *selection,
                                           const char *out_path, wp_error *err);

/** Converts Accel-Sim's kernel traces (`kernelslist.g` and the `.traceg` files in its folder) to a
 *  trace. */
WP_NODISCARD WP_API wp_status wp_trace_import(const char *list_path, const char *out_path,
                                              wp_error *err);

/** Stores the exit status of the recorded program in its trace. */
WP_NODISCARD WP_API wp_status wp_trace_set_exit_status(const char *path, int status, wp_error *err);

#ifdef __cplusplus
}
#endif

#endif
