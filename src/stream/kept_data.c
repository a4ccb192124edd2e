/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/kept_data.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/device.h"
#include "stream/kept_fill.h"
#include "stream/reservation.h"
#include "warpage/host.h"

enum { ALIGNMENT = 16 }; /* no aligned access has bytes on both sides of such an address */

typedef struct kept {
    wp_device *device;
    uintptr_t base, first, outer; /* base: of the reservation */
    void *memory;
    wp_event *filled;
    bool is_filled; /* it has been queued: others wait for the event */
    struct kept *next;
} kept;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept *all;

static void free_kept(kept *k) {
    if (k == NULL) return;
    if (k->memory != NULL) {
        const wp_status ignored = wp_memory_free(k->device, k->memory, NULL);
        (void)ignored;
    }
    wp_event_destroy(k->filled);
    wpi_free(k);
}

static kept *find_locked(uintptr_t base) {
    kept *k = all;
    while (k != NULL && k->base != base)
        k = k->next;
    return k;
}

static uintptr_t base_of(const void *address) {
    void *base = NULL;
    return wpi_reservation_find(address, &base, NULL, NULL) ? (uintptr_t)base : 0;
}

void wpi_kept_data_free(const void *base) {
    kept *gone = NULL;
    pthread_mutex_lock(&lock);
    for (kept **link = &all; *link != NULL && gone == NULL; link = &(*link)->next) {
        if ((*link)->base != (uintptr_t)base) continue;
        gone = *link;
        *link = gone->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    free_kept(gone);
}

void wpi_kept_data_free_all(void) {
    pthread_mutex_lock(&lock);
    kept *k = all;
    all = NULL;
    pthread_mutex_unlock(&lock);
    while (k != NULL) {
        kept *gone = k;
        k = k->next;
        free_kept(gone);
    }
}

static wp_status create(wp_device *device, uintptr_t base, uintptr_t first, uintptr_t outer,
                        wp_error *err) {
    kept *k = wpi_calloc(1, sizeof *k);
    wp_status status;
    if (k == NULL) return WP_FAIL(err, NOMEM, "data that are kept on the device");
    *k = (kept){.device = device, .base = base, .first = first, .outer = outer};
    WP_TRY_GOTO(wp_memory_alloc(device, WP_MEMORY_DEVICE, outer - first, 0, &k->memory, err),
                failed);
    WP_TRY_GOTO(wp_event_create(device, &k->filled, err), failed);
    pthread_mutex_lock(&lock);
    k->next = all;
    all = k;
    pthread_mutex_unlock(&lock);
    return WP_STATUS_OK;
failed:
    free_kept(k);
    return status;
}

wp_status wpi_kept_data_set(wp_device *device, void *address, size_t size_bytes, wp_error *err) {
    const uintptr_t first = (uintptr_t)address;
    void *base;
    size_t all_bytes;
    if (!wpi_reservation_find(address, &base, &all_bytes, NULL))
        return WP_FAIL(err, INVALID, "%p is not an address of streamingMalloc's", address);
    const uintptr_t end = (uintptr_t)base + all_bytes;
    if (size_bytes > end - first)
        return WP_FAIL(err, INVALID,
                       "streamingKeep: %zu bytes from offset %zu on, but %zu bytes were reserved",
                       size_bytes, (size_t)(first - (uintptr_t)base), all_bytes);
    if (first % ALIGNMENT != 0)
        return WP_FAIL(err, INVALID, "streamingKeep: %p is not a multiple of %d", address,
                       ALIGNMENT);
    if (wpi_reservation_has_file(address))
        return WP_FAIL(err, INVALID,
                       "streamingKeep: %p is mapped to a file; only data in host memory are kept "
                       "on the device",
                       address);
    wpi_kept_data_free(base);
    const uintptr_t outer = first + size_bytes;
    const uintptr_t whole = outer == end ? outer : outer / ALIGNMENT * ALIGNMENT;
    return whole == first ? WP_STATUS_OK : create(device, (uintptr_t)base, first, whole, err);
}

void wpi_kept_data_forget(const void *address, size_t size_bytes) {
    const uintptr_t first = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    for (kept *k = all; k != NULL; k = k->next)
        if (first < k->outer && k->first < first + size_bytes) k->is_filled = false;
    pthread_mutex_unlock(&lock);
}

bool wpi_kept_data_has(const void *address) {
    const uintptr_t base = base_of(address);
    pthread_mutex_lock(&lock);
    const bool has = base != 0 && find_locked(base) != NULL;
    pthread_mutex_unlock(&lock);
    return has;
}

/* ---- a launch ---- */

/* Host memory that is page-locked is copied as it is; other goes through memory that is: much of it
 * by threads of the host, which begin when what was queued before is done. */
static wp_status copy_part(wp_queue *queue, const wpi_kept_part *part, size_t piece_bytes,
                           wpi_kept_fill *staged, wp_error *err) {
    const wp_host_work staging = {.read_bytes = part->bytes, .written_bytes = part->bytes};
    wp_allocation ignored;
    if (!wp_memory_find(queue->device, part->host, &ignored)) {
        if (piece_bytes != 0 && part->bytes > piece_bytes)
            return wpi_kept_fill_add(staged, part, piece_bytes, err);
        WP_TRY(wp_queue_host_work(queue, &staging, err));
    }
    return wp_queue_copy(queue, part->to, part->host, part->bytes, err);
}

static wp_status copy_parts(wp_queue *queue, const kept *k, size_t piece_bytes,
                            wpi_kept_fill *staged, wp_error *err) {
    wpi_reservation_cursor cursor = {0};
    for (uintptr_t at = k->first; at < k->outer; at = cursor.outer) {
        const void *host = wpi_reservation_host(&cursor, at, 1, false);
        if (host == NULL)
            return WP_FAIL(err, INVALID,
                           "streamingKeep: nothing is mapped at offset %zu of the streaming "
                           "reservation %p, which is kept on the device",
                           (size_t)(at - k->base), (void *)k->base);
        const uintptr_t outer = cursor.outer < k->outer ? cursor.outer : k->outer;
        const wpi_kept_part part = {host, (char *)k->memory + (at - k->first), outer - at};
        WP_TRY(copy_part(queue, &part, piece_bytes, staged, err));
    }
    return WP_STATUS_OK;
}

static wp_status fill(wp_queue *queue, const kept *k, size_t piece_bytes, wp_error *err) {
    wpi_kept_fill staged = {0};
    wp_status status;
    WP_TRY_GOTO(copy_parts(queue, k, piece_bytes, &staged, err), done);
    WP_TRY_GOTO(wp_event_record(k->filled, queue, err), done);
    if (staged.count == 0) goto done;
    WP_TRY_GOTO(wp_event_wait(k->filled, err), done);
    status = wpi_kept_fill_run(&staged, k->device, piece_bytes, err);
done:
    wpi_kept_fill_deinit(&staged);
    return status;
}

static wp_status use_locked(wp_queue *queue, kept *k, bool is_written, wpi_kept_use *use,
                            wp_error *err) {
    const wpi_stream_kept range = {k->first, k->outer - k->first, k->memory};
    for (uint32_t i = 0; i < use->count; i++)
        if (use->ranges[i].first == range.first) return WP_STATUS_OK;
    if (queue->device != k->device || use->count == WPI_STREAM_KEPT) {
        if (is_written) k->is_filled = false; /* in host memory only */
        return WP_STATUS_OK;
    }
    if (k->is_filled) {
        WP_TRY(wp_queue_wait_event(queue, k->filled, err));
    } else {
        WP_TRY(fill(queue, k, wpi_kept_fill_piece_bytes(use->pinned_bytes_max), err));
        k->is_filled = true;
        use->sent_bytes += range.bytes;
    }
    use->bytes += range.bytes;
    use->ranges[use->count++] = range;
    return WP_STATUS_OK;
}

wp_status wpi_kept_data_use(wp_queue *queue, const void *address, bool is_written,
                            wpi_kept_use *use, wp_error *err) {
    const uintptr_t base = base_of(address);
    pthread_mutex_lock(&lock);
    kept *k = find_locked(base);
    const wp_status status = k != NULL ? use_locked(queue, k, is_written, use, err) : WP_STATUS_OK;
    pthread_mutex_unlock(&lock);
    return status;
}
