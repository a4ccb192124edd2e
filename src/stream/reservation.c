/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "stream/reservation.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/memory_map.h"

/* Aligned accesses do not begin in one block and end in the next. */
enum { FILE_ALIGNMENT = 16 };

typedef struct part {
    uintptr_t first, outer;
    char *host;            /* of `first`; of a file: NULL */
    wpi_mapped_file *file; /* NULL: memory */
    uint64_t offset;       /* in the file, of `first` */
} part;

typedef struct reservation {
    uintptr_t first;
    size_t size_bytes;
    part *parts; /* by address, without overlap */
    size_t part_count;
    wpi_mapped_file *files;
    struct reservation *next;
} reservation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static reservation *reservations;
static atomic_uint count;

static bool find_reserved(const void *address, void **base, size_t *size_bytes) {
    return wpi_reservation_find(address, base, size_bytes, NULL);
}

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
    wpi_memory_map_set_reserved(find_reserved);
    *out = base;
    return WP_STATUS_OK;
}

/* It is in no list. */
static wp_status destroy(reservation *r, bool keeps, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    atomic_fetch_sub(&count, 1);
    while (r->files != NULL) {
        wpi_mapped_file *file = r->files;
        r->files = file->next;
        const wp_status closed = wpi_file_blocks_close(file, keeps && status == WP_STATUS_OK, err);
        if (status == WP_STATUS_OK) status = closed;
    }
    (void)munmap((void *)r->first, r->size_bytes);
    wpi_free(r->parts);
    wpi_free(r);
    return status;
}

wp_status wpi_reservation_free(void *base, bool keeps, wp_error *err) {
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
    return destroy(gone, keeps, err);
}

void wpi_reservations_spoil(void) {
    pthread_mutex_lock(&lock);
    for (reservation *r = reservations; r != NULL; r = r->next)
        for (wpi_mapped_file *f = r->files; f != NULL; f = f->next)
            __atomic_store_n(&f->has_failed, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

void wpi_reservations_free(void) {
    pthread_mutex_lock(&lock);
    reservation *all = reservations;
    reservations = NULL;
    pthread_mutex_unlock(&lock);
    while (all != NULL) {
        reservation *gone = all;
        all = all->next;
        const wp_status ignored = destroy(gone, false, NULL);
        (void)ignored;
    }
}

static reservation *find_locked(uintptr_t address) {
    reservation *r = reservations;
    while (r != NULL && (address < r->first || address - r->first >= r->size_bytes))
        r = r->next;
    return r;
}

/* A part from `first` on. */
static part tail_of(part p, uintptr_t first) {
    return (part){.first = first,
                  .outer = p.outer,
                  .host = p.host != NULL ? p.host + (first - p.first) : NULL,
                  .file = p.file,
                  .offset = p.offset + (first - p.first)};
}

/* The parts with `added` in place of what it covers. False: out of memory. */
static bool add_part(reservation *r, part added) {
    part *parts = wpi_calloc(r->part_count + 2, sizeof *parts);
    size_t made = 0;
    bool is_in = false;
    if (parts == NULL) return false;
    for (size_t i = 0; i < r->part_count; i++) {
        const part p = r->parts[i];
        if (p.first < added.first) {
            parts[made] = p;
            if (p.outer > added.first) parts[made].outer = added.first;
            made++;
        }
        if (!is_in && p.outer > added.first) {
            parts[made++] = added;
            is_in = true;
        }
        if (p.outer > added.outer)
            parts[made++] = tail_of(p, p.first > added.outer ? p.first : added.outer);
    }
    if (!is_in) parts[made++] = added;
    wpi_free(r->parts);
    r->parts = parts;
    r->part_count = made;
    return true;
}

/* `added` has no addresses yet, but what they are tied to. */
static wp_status map_locked(uintptr_t first, size_t size_bytes, part added, wp_error *err) {
    reservation *r = find_locked(first);
    if (r == NULL)
        return WP_FAIL(err, INVALID, "%p is not an address of streamingMalloc's", (void *)first);
    if (size_bytes == 0 || (added.host == NULL && added.file == NULL))
        return WP_FAIL(err, INVALID, "a mapping of 0 bytes, or without host memory");
    if (size_bytes > r->size_bytes - (first - r->first))
        return WP_FAIL(err, INVALID,
                       "streamingMap: %zu bytes from offset %zu on, but %zu bytes were reserved",
                       size_bytes, (size_t)(first - r->first), r->size_bytes);
    added.first = first;
    added.outer = first + size_bytes;
    if (!add_part(r, added)) return WP_FAIL(err, NOMEM, "streamingMap");
    if (added.file == NULL) return WP_STATUS_OK;
    added.file->next = r->files;
    r->files = added.file;
    return WP_STATUS_OK;
}

static wp_status map_part(void *address, size_t size_bytes, part added, wp_error *err) {
    pthread_mutex_lock(&lock);
    const wp_status status = map_locked((uintptr_t)address, size_bytes, added, err);
    pthread_mutex_unlock(&lock);
    return status;
}

wp_status wpi_reservation_map(void *address, void *host, size_t size_bytes, wp_error *err) {
    return map_part(address, size_bytes, (part){.host = host}, err);
}

/* Another file of any reservation with this target. */
static bool is_target_locked(const char *target) {
    for (const reservation *r = reservations; r != NULL; r = r->next)
        for (const wpi_mapped_file *f = r->files; f != NULL; f = f->next)
            if (f->target_name != NULL && strcmp(f->target_name, target) == 0) return true;
    return false;
}

wp_status wpi_reservation_map_file(void *address, const char *source, const char *target,
                                   uint64_t offset, uint64_t size_bytes, wp_error *err) {
    wpi_mapped_file *file;
    if (source == NULL && target == NULL)
        return WP_FAIL(err, INVALID, "streamingMapFile: no file to read, and none to write");
    if ((uintptr_t)address % FILE_ALIGNMENT != 0 || offset % FILE_ALIGNMENT != 0)
        return WP_FAIL(err, INVALID,
                       "streamingMapFile: the address and the offset in the file have to be "
                       "multiples of %d",
                       FILE_ALIGNMENT);
    pthread_mutex_lock(&lock);
    const bool is_taken = target != NULL && is_target_locked(target);
    pthread_mutex_unlock(&lock);
    if (is_taken)
        return WP_FAIL(err, INVALID,
                       "streamingMapFile: %s is the target of another mapping; map all of it at "
                       "once",
                       target);
    WP_TRY(wpi_file_blocks_open(source, target, offset, size_bytes, &file, err));
    const wp_status status =
        map_part(address, size_bytes, (part){.file = file, .offset = offset}, err);
    if (status != WP_STATUS_OK) {
        const wp_status ignored = wpi_file_blocks_close(file, false, NULL);
        (void)ignored;
    }
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

bool wpi_reservation_nearest(uint64_t address, void **base, size_t *size_bytes) {
    const reservation *nearest = NULL;
    pthread_mutex_lock(&lock);
    for (const reservation *r = reservations; r != NULL; r = r->next)
        if (r->first <= address && (nearest == NULL || r->first > nearest->first)) nearest = r;
    if (nearest != NULL) {
        *base = (void *)nearest->first;
        *size_bytes = nearest->size_bytes;
    }
    pthread_mutex_unlock(&lock);
    return nearest != NULL;
}

bool wpi_reservation_has_file(const void *address) {
    pthread_mutex_lock(&lock);
    const reservation *r = find_locked((uintptr_t)address);
    const bool has_file = r != NULL && r->files != NULL;
    pthread_mutex_unlock(&lock);
    return has_file;
}

static bool have_same_host(const reservation *a, const reservation *b) {
    for (size_t i = 0; i < a->part_count; i++) {
        const part *p = &a->parts[i];
        for (size_t n = 0; n < b->part_count && p->host != NULL; n++) {
            const part *q = &b->parts[n];
            if (q->host != NULL && p->host < q->host + (q->outer - q->first) &&
                q->host < p->host + (p->outer - p->first))
                return true;
        }
    }
    return false;
}

bool wpi_reservation_is_same(const void *address, const void *other) {
    pthread_mutex_lock(&lock);
    const reservation *a = find_locked((uintptr_t)address);
    const bool is_same = a != NULL && a == find_locked((uintptr_t)other);
    pthread_mutex_unlock(&lock);
    return is_same;
}

bool wpi_reservation_shares(const void *address, const void *other) {
    pthread_mutex_lock(&lock);
    const reservation *a = find_locked((uintptr_t)address), *b = find_locked((uintptr_t)other);
    const bool shares = a != NULL && b != NULL && a != b && have_same_host(a, b);
    pthread_mutex_unlock(&lock);
    return shares;
}

/* ---- cursors ---- */

/* Parts that continue each other, in addresses and in host memory, count as one. */
static void join_later_parts(const reservation *r, size_t i, wpi_reservation_cursor *cursor) {
    for (size_t n = i + 1; n < r->part_count; n++) {
        const part *next = &r->parts[n];
        if (next->first != cursor->outer || next->host == NULL ||
            next->host != cursor->host + (cursor->outer - cursor->first))
            break;
        cursor->outer = next->outer;
    }
}

static bool find_part(uintptr_t address, wpi_reservation_cursor *cursor, part *found) {
    bool is_found = false;
    pthread_mutex_lock(&lock);
    const reservation *r = find_locked(address);
    for (size_t i = 0; r != NULL && i < r->part_count && !is_found; i++) {
        const part *p = &r->parts[i];
        if (address < p->first || address >= p->outer) continue;
        cursor->first = p->first;
        cursor->outer = p->outer;
        cursor->host = p->host;
        if (p->file == NULL) join_later_parts(r, i, cursor);
        *found = *p;
        is_found = true;
    }
    pthread_mutex_unlock(&lock);
    return is_found;
}

/* The block of the part's file with the address, as far as the part goes. */
static bool take_block(wpi_reservation_cursor *cursor, const part *p, uintptr_t address,
                       bool is_write) {
    const uint64_t offset = p->offset + (address - p->first);
    if (is_write && p->file->target_name == NULL) {
        const wp_status ignored =
            WP_FAIL(&cursor->failure, INVALID,
                    "the kernel writes to offset %" PRIu64
                    " of %s, which is mapped for reading: name a target in streamingMapFile",
                    offset, p->file->source_name);
        (void)ignored;
        return false;
    }
    if (wpi_file_block_take(p->file, offset, is_write, &cursor->counts, &cursor->block,
                            &cursor->failure) != WP_STATUS_OK)
        return false;
    const uint64_t begin = cursor->block->index * p->file->block_bytes,
                   end = begin + p->file->block_bytes;
    const uint64_t first = begin > p->offset ? begin : p->offset;
    cursor->first = p->first + (first - p->offset);
    cursor->host = cursor->block->memory + (first - begin);
    if (end < p->offset + (p->outer - p->first)) cursor->outer = p->first + (end - p->offset);
    cursor->is_written = is_write;
    return true;
}

void wpi_reservation_leave(wpi_reservation_cursor *cursor) {
    wpi_file_block_give(cursor->block);
    cursor->block = NULL;
    cursor->first = cursor->outer = 0;
}

static bool move_to(wpi_reservation_cursor *cursor, uintptr_t address, bool is_write) {
    part p;
    wpi_reservation_leave(cursor);
    if (!find_part(address, cursor, &p)) return false;
    if (p.file == NULL || take_block(cursor, &p, address, is_write)) return true;
    cursor->first = cursor->outer = 0;
    return false;
}

void *wpi_reservation_host(wpi_reservation_cursor *cursor, uint64_t address, uint32_t bytes,
                           bool is_write) {
    const uintptr_t at = (uintptr_t)address;
    const bool is_other_use = is_write && cursor->block != NULL && !cursor->is_written;
    if ((at < cursor->first || at >= cursor->outer || is_other_use) &&
        !move_to(cursor, at, is_write))
        return NULL;
    return bytes <= cursor->outer - at ? cursor->host + (at - cursor->first) : NULL;
}
