/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Memory and events that processes of one machine share, on devices whose kernels use host
 * addresses.
 *
 * A handle names a file in memory by its owner's process, descriptor and inode; another process
 * opens it as /proc/<process>/fd/<descriptor>. The owner keeps it open while the object lives, and
 * the inode says whether the descriptor is still the same file.
 */
#ifndef WP_CUDART_PROCESS_H
#define WP_CUDART_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/cudart.h"

/** What the 64 bytes of a handle hold. */
typedef struct wpi_shared_handle {
    uint64_t magic;
    int64_t process;
    int64_t file;
    uint64_t inode;
    uint64_t size_bytes;
} wpi_shared_handle;

#define WPI_SHARED_MEMORY_MAGIC 0x776172706d656d31u /* "warpmem1" */
#define WPI_SHARED_EVENT_MAGIC 0x7761727065766e31u  /* "warpevn1" */

/** The handle of a file of `size_bytes` that this process has open. */
bool wpi_shared_describe(int file, uint64_t magic, uint64_t size_bytes, wpi_shared_handle *out);
/** A descriptor of the file; negative: there is none, or no longer. */
int wpi_shared_open(const wpi_shared_handle *handle, uint64_t magic);

/** A device allocation is freed, or all: other processes keep what they have open. */
void wpi_shared_memory_forget(const void *base);
void wpi_shared_memory_forget_all(const wp_device *device);

/**
 * An event's state in shared memory: how often it was recorded, and which of these records is done.
 * Thread rule: any thread of any process.
 */
typedef struct wpi_shared_event wpi_shared_event;

/** NULL: the system has no memory. */
wpi_shared_event *wpi_shared_event_create(void);
wpi_shared_event *wpi_shared_event_open(const wpi_shared_handle *handle);
bool wpi_shared_event_describe(const wpi_shared_event *event, wpi_shared_handle *out);
/** Work that was queued keeps the state. */
void wpi_shared_event_release(wpi_shared_event *event);
/** Behind the work that the queue has. */
cudaError_t wpi_shared_event_record(wpi_shared_event *event, wp_queue *queue);
/** Work that comes to the queue later starts after the last record before this call. */
cudaError_t wpi_shared_event_queue_wait(wpi_shared_event *event, wp_queue *queue);
bool wpi_shared_event_is_done(const wpi_shared_event *event);
void wpi_shared_event_wait(const wpi_shared_event *event);

#endif
