/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "stream/reservation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fail.h"

typedef struct part {
    uintptr_t first, outer;
    char *host; /* of `first` */
} part;

typedef struct reservation {
    uintptr_t first;
    size_t size_bytes;
    part *parts; /* by address, without overlap */
    size_t part_count;
    struct reservation *next;
} reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reservation *reservations;
static atomic_uint count;

wp_status wpi_reservation_create(size_t size_bytes, void **out, wp_error *err) {
    *out = NULL;
    if (size_bytes == 0) return WP_FAIL(err, INVALID, "a reservation of 0 bytes");
    reservation *r = wpi_calloc(1, sizeof *r);
    if (r == NULL) return WP_FAIL(err, NOMEM, "a reservation");
    void *base =
        mmap(NULL, size_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) {
        wpi_free(r);
        return WP_FAIL(err, NOMEM, "there are no addresses left for a reservation of %zu bytes",
                       size_bytes);
    }
    r->first = (uintptr_t)base;
    r->size_bytes = size_bytes;
    pthread_mutex_lock(&lock);
    r->next = reservations;
    reservations = r;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&count, 1);
    *out = base;
    return WP_STATUS_OK;
}

wp_status wpi_reservation_free(void *base, wp_error *err) {
    reservation *gone = NULL;
    pthread_mutex_lock(&lock);
    for (reservation **link = &reservations; *link != NULL && gone == NULL; link = &(*link)->next) {
        if ((*link)->first != (uintptr_t)base) continue;
        gone = *link;
        *link = gone->next;
        break;
    }
    pthread_mutex_unlock(&lock);
    if (gone == NULL)
        return WP_FAIL(err, INVALID, "%p is not what streamingMalloc returned, or is freed", base);
    atomic_fetch_sub(&count, 1);
    (void)munmap((void *)gone->first, gone->size_bytes);
    wpi_free(gone->parts);
    wpi_free(gone);
    return WP_STATUS_OK;
}

static reservation *find_locked(uintptr_t address) {
    reservation *r = reservations;
    while (r != NULL && (address < r->first || address - r->first >= r->size_bytes))
        r = r->next;
    return r;
}

/* The parts with `added` in place of what it covers. False: out of memory. */
static bool add_part(reservation *r, part added) {
    part *parts = wpi_calloc(r->part_count + 2, sizeof *parts);
    size_t made = 0;
    bool is_in = false;
    if (parts == NULL) return false;
    for (size_t i = 0; i < r->part_count; i++) {
        const part p = r->parts[i];
        if (p.first < added.first)
            parts[made++] = (part){p.first, p.outer < added.first ? p.outer : added.first, p.host};
        if (!is_in && p.outer > added.first) {
            parts[made++] = added;
            is_in = true;
        }
        if (p.outer > added.outer) {
            const uintptr_t first = p.first > added.outer ? p.first : added.outer;
            parts[made++] = (part){first, p.outer, p.host + (first - p.first)};
        }
    }
    if (!is_in) parts[made++] = added;
    wpi_free(r->parts);
    r->parts = parts;
    r->part_count = made;
    return true;
}

wp_status wpi_reservation_map(void *address, void *host, size_t size_bytes, wp_error *err) {
    const uintptr_t first = (uintptr_t)address;
    wp_status status = WP_STATUS_OK;
    pthread_mutex_lock(&lock);
    reservation *r = find_locked(first);
    if (r == NULL)
        status = WP_FAIL(err, INVALID, "%p is not an address of streamingMalloc's", address);
    else if (host == NULL || size_bytes == 0)
        status = WP_FAIL(err, INVALID, "streamingMap: no host memory, or 0 bytes");
    else if (size_bytes > r->size_bytes - (first - r->first))
        status = WP_FAIL(err, INVALID,
                         "streamingMap: %zu bytes from offset %zu on, but %zu bytes were reserved",
                         size_bytes, (size_t)(first - r->first), r->size_bytes);
    else if (!add_part(r, (part){first, first + size_bytes, host}))
        status = WP_FAIL(err, NOMEM, "streamingMap");
    pthread_mutex_unlock(&lock);
    return status;
}

bool wpi_reservation_any(void) {
    return atomic_load_explicit(&count, memory_order_relaxed) != 0;
}

bool wpi_reservation_find(const void *address, void **base, size_t *size_bytes,
                          uint64_t *mapped_bytes) {
    pthread_mutex_lock(&lock);
    const reservation *r = find_locked((uintptr_t)address);
    if (r != NULL && base != NULL) *base = (void *)r->first;
    if (r != NULL && size_bytes != NULL) *size_bytes = r->size_bytes;
    if (r != NULL && mapped_bytes != NULL) {
        *mapped_bytes = 0;
        for (size_t i = 0; i < r->part_count; i++)
            *mapped_bytes += r->parts[i].outer - r->parts[i].first;
    }
    pthread_mutex_unlock(&lock);
    return r != NULL;
}

/* Parts that continue each other, in addresses and in host memory, count as one. */
static bool move_to(wpi_reservation_cursor *cursor, uintptr_t address) {
    bool is_found = false;
    pthread_mutex_lock(&lock);
    const reservation *r = find_locked(address);
    for (size_t i = 0; r != NULL && i < r->part_count && !is_found; i++) {
        const part *p = &r->parts[i];
        if (address < p->first || address >= p->outer) continue;
        *cursor = (wpi_reservation_cursor){p->first, p->outer, p->host};
        for (size_t n = i + 1; n < r->part_count; n++) {
            const part *next = &r->parts[n];
            if (next->first != cursor->outer ||
                next->host != cursor->host + (cursor->outer - cursor->first))
                break;
            cursor->outer = next->outer;
        }
        is_found = true;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

void *wpi_reservation_host(wpi_reservation_cursor *cursor, uint64_t address, uint32_t bytes) {
    const uintptr_t at = (uintptr_t)address;
    if ((at < cursor->first || at >= cursor->outer) && !move_to(cursor, at)) return NULL;
    return bytes <= cursor->outer - at ? cursor->host + (at - cursor->first) : NULL;
}
