/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which pages of a range the host has touched, whatever with: its own instructions, memcpy,
 * read(2). The process's page table knows: a page that was forgotten is mapped again when it is
 * touched. Needs no rights, and no access ever fails.
 *
 * Without userfaultfd (Linux 5.19, seccomp rules) reading maps the 64 KiB around a page; writing
 * does not. Ranges are of shared memory (arena.h, managed): it keeps what is in it when it is
 * forgotten. Thread rule: one thread at a time.
 */
#ifndef WP_DEVICE_SIM_TOUCH_H
#define WP_DEVICE_SIM_TOUCH_H

#include <stdbool.h>

#include "policy/pages.h"

typedef struct wpi_touch {
    int pagemap, faults; /* descriptors; -1: there is none */
} wpi_touch;

/** False: the system does not say; nothing is ever found then. */
bool wpi_touch_init(wpi_touch *touch);
void wpi_touch_deinit(wpi_touch *touch);
/** Whether anything can be found. */
static inline bool wpi_touch_is_seen(const wpi_touch *touch) {
    return touch->pagemap >= 0;
}
/** A range, of whole pages, that will be looked at. */
void wpi_touch_watch(const wpi_touch *touch, uint64_t address, uint64_t bytes);
/** From now on none of its pages was touched. */
void wpi_touch_forget(uint64_t address, uint64_t bytes);
/** Adds the pages touched since then, of one chunk that begins at `address`. */
void wpi_touch_find(const wpi_touch *touch, uint64_t address, uint64_t bytes, wpi_pages *out);

#endif
