/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The pages of a range that the host has touched, by any means: instructions, memcpy, read(2).
 * Found in the process's page table: a page that was unmapped is mapped again when it is touched.
 * Needs no privileges, and no access ever fails.
 *
 * Without userfaultfd (before Linux 5.19, or by seccomp rules) a read maps the 64 KiB around a
 * page; a write does not. Ranges are shared memory (arena.h, managed), which keeps its contents
 * when unmapped. Thread rule: one thread at a time.
 */
#ifndef WP_DEVICE_SIM_TOUCH_H
#define WP_DEVICE_SIM_TOUCH_H

#include <stdbool.h>

#include "policy/pages.h"

typedef struct wpi_touch {
    int pagemap, faults; /* descriptors; -1: there is none */
} wpi_touch;

/** False: the system does not report touches; none is ever found then. */
bool wpi_touch_init(wpi_touch *touch);
void wpi_touch_deinit(wpi_touch *touch);
/** Whether touches can be found. */
static inline bool wpi_touch_is_seen(const wpi_touch *touch) {
    return touch->pagemap >= 0;
}
/** Registers a range of whole pages. */
void wpi_touch_watch(const wpi_touch *touch, uint64_t address, uint64_t bytes);
/** Resets the range: no page counts as touched. */
void wpi_touch_forget(uint64_t address, uint64_t bytes);
/** Adds the pages touched since then to `out`; the range is in the chunk that begins at
 * `address`. */
void wpi_touch_find(const wpi_touch *touch, uint64_t address, uint64_t bytes, wpi_pages *out);

#endif
