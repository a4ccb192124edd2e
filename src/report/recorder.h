/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The recorder: devices and the CUDA runtime report their work to it; at exit it writes a run
 * record (include/warpage/report.h) to the file named by WARPAGE_RUN_RECORD.
 *
 *     const uint64_t start_ns = wpi_report_is_on() ? now_ns() : 0;
 *     ...
 *     if (wpi_report_is_on()) wpi_report_kernel(name, grid, block, start_ns, now_ns());
 *
 * Without the variable every call returns at once: one load and a branch. Callable from any thread.
 */
#ifndef WP_REPORT_RECORDER_H
#define WP_REPORT_RECORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"
#include "warpage/report.h"

/** Set before main; do not write. */
extern bool wpi_report_enabled;

static inline bool wpi_report_is_on(void) {
    return wpi_report_enabled;
}

/** One launch. `name` is copied. Times in ns of the device's clock. `queue`, which may be NULL, is
 *  for the timeline, which identifies queues by their addresses. */
void wpi_report_kernel(const void *queue, const char *name, const uint32_t grid[3],
                       const uint32_t block[3], uint64_t start_ns, uint64_t end_ns);
/** … which the kernel `parent` launched. Both names are as there. */
void wpi_report_launched_by(const char *name, const char *parent);
/** Blocks of it were swapped out while they waited for kernels that they launched. */
void wpi_report_swapped(const char *name, uint64_t blocks);
/** Counters of a launch on a simulated GPU, reported before by wpi_report_kernel, in the columns of
 *  wpi_report_simulation; always the same number. */
void wpi_report_kernel_values(const char *name, const uint64_t *values, size_t value_count,
                              bool is_overlapped);
void wpi_report_copy(const void *queue, wp_copy_kind kind, uint64_t bytes, uint64_t start_ns,
                     uint64_t end_ns);
/** A streamed launch that has ended; its name is copied. */
void wpi_report_streamed(const wp_run_streamed *launch);
/** Host work takes simulated time on the device. */
void wpi_report_host_model(void);
/** The program has copied to page-locked memory, which took simulated time. */
void wpi_report_host_copied(uint64_t bytes);
/** Bytes of a copy to the device came from memory that no declared work has filled. */
void wpi_report_host_undeclared(uint64_t bytes);
/** Host threads have influenced simulated times; the larger value counts. */
void wpi_report_host_threads(wp_run_host_threads what);
/** Launches of a cached kernel that have ended; strings are copied. */
void wpi_report_cached(const wp_run_cached *launches);
/** Device and managed memory now allocated; the record keeps the maximum. */
void wpi_report_memory(uint64_t in_use_bytes);
/** The device in use; the last call counts. Strings are copied. */
void wpi_report_device(const char *spec, const char *name);

/** A policy file that the device loaded, with the hash of its bytes. Recorded once for each path;
 * copied. */
void wpi_report_policy_file(const char *path, uint64_t hash);

/** Counters of a simulated GPU so far; the last call counts. Takes ownership (simulation.h). */
void wpi_report_simulation(wp_run_simulation *simulation);
/** `collect` is called before the record is written, to report final values; NULL: none. */
void wpi_report_set_collector(void (*collect)(void *object), void *object);

/** Whether the report includes this launch (selection.h). Call once for each, in order. */
bool wpi_report_selects(const char *name);
/** Whether launches may be left out. */
bool wpi_report_is_selective(void);

/** Whether phases (wp_timeline_phase) are kept. */
bool wpi_report_has_timeline(void);

/** Whether the record should have events of pages of managed memory. */
bool wpi_report_wants_pages(void);
/** Whether the record should have counts by line of the source. */
bool wpi_report_wants_lines(void);

/** The name under which the kernel is reported where there are several devices: each has rows of
 * its own. Appended to `out`, which is empty. */
const char *wpi_report_name_on(const char *name, uint32_t device, wpi_text *out);
/** A kernel's demangled name; for wpi_free; NULL: out of memory. From the program's C++ runtime, if
 *  it has one, or from the function set below. */
char *wpi_report_display_name(const char *name);
/** Sets a function that demangles names, and returns NULL for unknown ones. NULL: none. */
void wpi_report_set_namer(char *(*namer)(const char *name));
/** Sets the recorded program, if it is not this process. Copied. */
void wpi_report_program(char *const *arguments, size_t count);

/** Writes the record; registered with atexit. Does nothing in forked children. */
void wpi_report_write_at_exit(void);

/** For tests: starts an empty record that goes to `path` (copied), or stops recording (NULL). */
void wpi_report_restart(const char *path);

#endif
