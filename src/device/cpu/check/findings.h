/* SPDX-License-Identifier: Apache-2.0 */
/** What the checker found: counted, said the first time, and summed up when the program ends.
 * Callable from any thread. */
#ifndef WP_DEVICE_CPU_FINDINGS_H
#define WP_DEVICE_CPU_FINDINGS_H

#include "base/text.h"
#include "device/cpu/check/access_check.h"

typedef enum wpi_finding_kind {
    WPI_FINDING_OUT_OF_BOUNDS = 0,
    WPI_FINDING_MISALIGNED,
    WPI_FINDING_FREED,
    WPI_FINDING_DIVERGENT,
    WPI_FINDING_DENIED,
    WPI_FINDING_WARP_RACE,
    WPI_FINDING_BLOCK_RACE,
    WPI_FINDING_KIND_COUNT /* must be last */
} wpi_finding_kind;

/** Counts a finding; true the first time. `other`: of a race, the earlier access; else NULL. */
bool wpi_finding_note(const wpi_cpu_kernel *kernel, const wp_check_site *site,
                      const wp_check_site *other, wpi_finding_kind what);

/** Begins the report of a finding: its place and title. */
void wpi_finding_begin(wpi_text *text, const wpi_cpu_kernel *kernel, const wp_check_site *site,
                       wpi_finding_kind what);
/** Writes the report at once, after the kernel's earlier output, and frees the text. */
void wpi_finding_finish(wpi_text *text, const wpi_block *block);
/** Ends the kernel if the user wants that at the first finding. */
void wpi_finding_stop(wpi_block *block, wpi_finding_kind what, bool has_thread);

/* ---- parts of reports ---- */

const char *wpi_finding_plural(uint64_t count);
const char *wpi_finding_allocation_kind(const wpi_memory_entry *entry);
/** ", number 2, allocated by main+0x12"; nothing for memory that the program did not allocate. */
void wpi_finding_say_caller(wpi_text *text, const wpi_memory_entry *entry);
/** "(3,0,0)": the thread of linear index `t`. */
void wpi_finding_say_thread(wpi_text *text, const wpi_block *block, uint32_t t);
bool wpi_finding_is_same_line(const wp_check_site *a, const wp_check_site *b);

#endif
