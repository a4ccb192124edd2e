/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Tracks the program's memcpy and memmove into page-locked memory, and the host memory that was
 * filled by work with simulated time. docs/rooms/host.md has the rules.
 *
 *     wpcc -Wl,--wrap=memcpy ──► __wrap_memcpy ──► bytes of this thread, lines of memory
 *     wp_device_host_work ─────────────────────► bytes of this thread that are declared
 *     the thread's next call of the device ◄──── what it copied and did not declare
 *
 * Bytes that a thread both copies and declares between two calls count once. Threads that never
 * call a device share an account, which the next calling thread pays.
 *
 * Nothing is counted unless a device with a host model is open. Thread rule: any thread.
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

/** Bytes of a thread since they were last taken. */
typedef struct wpi_host_account {
    uint64_t copied_bytes, declared_bytes;
} wpi_host_account;

/** Replaces the calling thread's account by `next`, and returns the old one: an actor's step and a
 * host function have their own accounts. */
wpi_host_account wpi_host_copies_exchange(wpi_host_account next);
/** The calling thread has declared work. */
void wpi_host_copies_declare(const wp_host_work *work);
/** Takes the work of the calling thread's copies beyond the declared bytes, and empties its
 * account. `is_thread`: it calls as a host thread, which also pays the common account. False:
 * none. */
bool wpi_host_copies_take(bool is_thread, wp_host_work *out);

/** A copy of the device or a fill has written host memory. */
void wpi_host_memory_fill(const void *first, size_t bytes);
/** Counts the bytes that neither copies nor declared work have filled. Declared work has no
 * addresses: its bytes are credited to the first copies that need them. */
uint64_t wpi_host_memory_undeclared(const void *first, size_t bytes);
/** The memory is freed. */
void wpi_host_memory_forget(const void *first, size_t bytes);

#endif
