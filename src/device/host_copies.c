/* SPDX-License-Identifier: Apache-2.0 */
/* Filled memory is tracked by lines of 64 bytes, with a mask for each 4 KiB. */
#include "device/host_copies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "device/device.h"
#include "device/memory_map.h"

#define uthash_malloc(size) wpi_malloc(size)
#define uthash_free(memory, size) wpi_free(memory)
#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define LINE_BYTES 64u
#define PAGE_LINES 64u
#define PAGE_BYTES (LINE_BYTES * PAGE_LINES)

typedef struct filled_page {
    uintptr_t number;
    uint64_t lines; /* a bit each */
    UT_hash_handle hh;
} filled_page;

static atomic_uint watching; /* devices with a host model */

static _Thread_local wpi_host_account mine;
static _Thread_local bool is_caller; /* the thread has called a device, so it pays for its copies */
static _Thread_local uint64_t counted_in;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static filled_page *filled;
static uint64_t credit_bytes; /* of declared work, not yet used by copies to the device */
/* The common account of threads that call no device, and the number of times that it was paid. */
static uint64_t shared_bytes, shared_turn = 1;
static uint32_t shared_threads;

/* ---- filled memory, under the lock ----------------------------------------------------------- */

static filled_page *page_of(uintptr_t number, bool is_made) {
    filled_page *page;
    HASH_FIND(hh, filled, &number, sizeof number, page);
    if (page != NULL || !is_made) return page;
    page = wpi_calloc(1, sizeof *page);
    if (page == NULL) return NULL;
    page->number = number;
    HASH_ADD(hh, filled, number, sizeof page->number, page);
    if (page->hh.tbl != NULL) return page;
    wpi_free(page);
    return NULL;
}

/* The lines of page `number` within the lines [first, outer). */
static uint64_t lines_in(uintptr_t number, uintptr_t first, uintptr_t outer) {
    const uintptr_t begin = number * PAGE_LINES, end = begin + PAGE_LINES;
    const uintptr_t from = first > begin ? first - begin : 0;
    const uintptr_t to = (outer < end ? outer : end) - begin;
    const uint64_t below_to = to == PAGE_LINES ? UINT64_MAX : (UINT64_C(1) << to) - 1;
    return below_to & ~((UINT64_C(1) << from) - 1);
}

static void mark(uintptr_t first, uintptr_t outer, bool is_filled) {
    const uintptr_t first_line = first / LINE_BYTES, outer_line = (outer - 1) / LINE_BYTES + 1;
    for (uintptr_t n = first / PAGE_BYTES; n <= (outer - 1) / PAGE_BYTES; n++) {
        filled_page *page = page_of(n, is_filled);
        if (page == NULL) continue;
        const uint64_t lines = lines_in(n, first_line, outer_line);
        page->lines = is_filled ? page->lines | lines : page->lines & ~lines;
        if (page->lines != 0) continue;
        HASH_DEL(filled, page);
        wpi_free(page);
    }
}

/* How many bytes of [first, outer) are in `lines` of page `number`. */
static uint64_t bytes_in(uintptr_t number, uint64_t lines, uintptr_t first, uintptr_t outer) {
    uint64_t bytes = (uint64_t)__builtin_popcountll(lines) * LINE_BYTES;
    const uintptr_t first_line = first / LINE_BYTES, last_line = (outer - 1) / LINE_BYTES;
    if (first_line / PAGE_LINES == number && (lines >> first_line % PAGE_LINES & 1) != 0)
        bytes -= first % LINE_BYTES;
    if (last_line / PAGE_LINES == number && (lines >> last_line % PAGE_LINES & 1) != 0)
        bytes -= LINE_BYTES - 1 - (outer - 1) % LINE_BYTES;
    return bytes;
}

/* Counts the bytes of [first, outer) in unfilled lines. If the credit covers a page's unfilled
 * bytes, they are marked as filled, and not counted. */
static uint64_t count_unfilled(uintptr_t first, uintptr_t outer) {
    const uintptr_t first_line = first / LINE_BYTES, outer_line = (outer - 1) / LINE_BYTES + 1;
    uint64_t unfilled_bytes = 0;
    for (uintptr_t n = first / PAGE_BYTES; n <= (outer - 1) / PAGE_BYTES; n++) {
        const filled_page *page = page_of(n, false);
        const uint64_t lines =
            lines_in(n, first_line, outer_line) & ~(page != NULL ? page->lines : 0);
        const uint64_t bytes = bytes_in(n, lines, first, outer);
        filled_page *made = bytes != 0 && credit_bytes >= bytes ? page_of(n, true) : NULL;
        if (made != NULL) {
            made->lines |= lines;
            credit_bytes -= bytes;
        } else {
            unfilled_bytes += bytes;
        }
    }
    return unfilled_bytes;
}

/* ---- what threads copy ----------------------------------------------------------------------- */

static void count_shared(size_t bytes) {
    shared_bytes += bytes;
    if (counted_in == shared_turn) return;
    counted_in = shared_turn;
    shared_threads++;
}

static bool is_page_locked(const void *address) {
    wpi_memory_entry entry;
    return wpi_memory_map_find(wpi_memory_map_global(), address, &entry) &&
           (entry.allocation.kind == WP_MEMORY_PINNED ||
            entry.allocation.kind == WP_MEMORY_REGISTERED);
}

static void count_copy(const void *to, size_t bytes) {
    if (!is_page_locked(to)) return;
    pthread_mutex_lock(&lock);
    mark((uintptr_t)to, (uintptr_t)to + bytes, true);
    if (is_caller)
        mine.copied_bytes += bytes;
    else
        count_shared(bytes);
    pthread_mutex_unlock(&lock);
}

static bool is_watching(void) {
    return atomic_load_explicit(&watching, memory_order_relaxed) != 0;
}

/* Called by programs that wpcc has linked, in place of memcpy and memmove. */
WP_API void *__wrap_memcpy(void *to, const void *from, size_t bytes);
WP_API void *__wrap_memmove(void *to, const void *from, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes) {
    memcpy(to, from, bytes);
    if (is_watching() && bytes != 0) count_copy(to, bytes);
    return to;
}

void *__wrap_memmove(void *to, const void *from, size_t bytes) {
    memmove(to, from, bytes);
    if (is_watching() && bytes != 0) count_copy(to, bytes);
    return to;
}

/* ---- what they pay --------------------------------------------------------------------------- */

void wpi_host_copies_begin(void) {
    atomic_fetch_add(&watching, 1);
}

void wpi_host_copies_end(void) {
    filled_page *page, *next;
    if (atomic_fetch_sub(&watching, 1) != 1) return;
    pthread_mutex_lock(&lock);
    HASH_ITER(hh, filled, page, next) {
        HASH_DEL(filled, page);
        wpi_free(page);
    }
    credit_bytes = 0;
    shared_bytes = 0;
    shared_threads = 0;
    pthread_mutex_unlock(&lock);
}

wpi_host_account wpi_host_copies_exchange(wpi_host_account next) {
    const wpi_host_account until_now = mine;
    mine = next;
    is_caller = true;
    return until_now;
}

void wpi_host_copies_declare(const wp_host_work *work) {
    is_caller = true;
    mine.declared_bytes += work->written_bytes;
}

bool wpi_host_copies_take(bool is_thread, wp_host_work *out) {
    if (!is_watching()) return false;
    const wpi_host_account account = wpi_host_copies_exchange((wpi_host_account){0});
    uint64_t bytes = 0;
    pthread_mutex_lock(&lock);
    if (account.declared_bytes > account.copied_bytes)
        credit_bytes += account.declared_bytes - account.copied_bytes;
    else
        bytes = account.copied_bytes - account.declared_bytes;
    uint32_t threads = bytes != 0;
    if (is_thread && shared_bytes != 0) {
        threads += shared_threads;
        bytes += shared_bytes;
        shared_bytes = 0;
        shared_threads = 0;
        shared_turn++;
    }
    pthread_mutex_unlock(&lock);
    *out = (wp_host_work){.read_bytes = bytes, .written_bytes = bytes, .threads = threads};
    return bytes != 0;
}

void wpi_host_memory_fill(const void *first, size_t bytes) {
    if (!is_watching() || bytes == 0) return;
    pthread_mutex_lock(&lock);
    mark((uintptr_t)first, (uintptr_t)first + bytes, true);
    pthread_mutex_unlock(&lock);
}

uint64_t wpi_host_memory_undeclared(const void *first, size_t bytes) {
    if (!is_watching() || bytes == 0) return 0;
    pthread_mutex_lock(&lock);
    const uint64_t undeclared = count_unfilled((uintptr_t)first, (uintptr_t)first + bytes);
    pthread_mutex_unlock(&lock);
    return undeclared;
}

void wpi_host_memory_forget(const void *first, size_t bytes) {
    if (!is_watching() || bytes == 0) return;
    pthread_mutex_lock(&lock);
    if (filled != NULL) mark((uintptr_t)first, (uintptr_t)first + bytes, false);
    pthread_mutex_unlock(&lock);
}
