/* SPDX-License-Identifier: Apache-2.0 */
/**
 * memcpy and memmove by the program into page-locked memory, and which host memory something has
 * filled that takes simulated time. docs/rooms/host.md has the rules.
 *
 *     wpcc -Wl,--wrap=memcpy ──► __wrap_memcpy ──► bytes of this thread, lines of memory
 *     wp_device_host_work ─────────────────────► bytes of this thread that are declared
 *     the thread's next call of the device ◄──── what it copied and did not declare
 *
 * Bytes that a thread both copies and declares between two calls count once. Threads that never
 * call a device have one account together, which the next thread that calls pays.
 *
 * Nothing is counted while no device with a host model is open. Thread rule: any thread.
 */
#ifndef WP_DEVICE_HOST_COPIES_H
#define WP_DEVICE_HOST_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/host.h"

/** A device with a host model opens or closes. */
void wpi_host_copies_begin(void);
void wpi_host_copies_end(void);

/** Bytes of one thread since it was last asked. */
typedef struct wpi_host_account {
    uint64_t copied_bytes, declared_bytes;
} wpi_host_account;

/** The calling thread's account is `next` from now on: a step of an actor and a host function have
 * accounts of their own. The account until now. */
wpi_host_account wpi_host_copies_exchange(wpi_host_account next);
/** The calling thread has declared work. */
void wpi_host_copies_declare(const wp_host_work *work);
/** What the calling thread has copied beyond what it declared, as work; the account is empty then.
 * `is_thread`: it calls as a host thread, which pays the common account, too. False: nothing. */
bool wpi_host_copies_take(bool is_thread, wp_host_work *out);

/** A copy of the device or a fill has written host memory. */
void wpi_host_memory_fill(const void *first, size_t bytes);
/** How many of the bytes no copy and no declared work has filled. Declared work names no addresses:
 * its bytes are credited to the first copies that need them. */
uint64_t wpi_host_memory_undeclared(const void *first, size_t bytes);
/** The memory is freed. */
void wpi_host_memory_forget(const void *first, size_t bytes);

#endif
