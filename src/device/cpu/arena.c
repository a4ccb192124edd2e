/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE, madvise */
#include "device/cpu/arena.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define UNIT_BYTES UINT64_C(0x200000)
#define PAGE_BYTES 4096u
#define PAGES (UNIT_BYTES / PAGE_BYTES)
#define PAGE_IS_OWN (UINT64_C(1) << 63 | UINT64_C(1) << 56) /* present, and mapped nowhere else */
#define COLLAPSE 25                                         /* MADV_COLLAPSE, since Linux 6.1 */
#define SKIP_BYTES UINT64_C(0x40000000)                     /* past foreign mappings */
#define TRIES_MAX 64
#define ZERO_MIN_BYTES (4 * UNIT_BYTES) /* smaller ranges are written as fast */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const uint64_t first_of[WPI_ARENA_AREA_COUNT + 1] = {
    WPI_ARENA_FIRST, WPI_ARENA_MANAGED_FIRST, WPI_ARENA_HOST_FIRST,
    WPI_ARENA_FIRST + WPI_ARENA_BYTES};
static uint64_t next_of[WPI_ARENA_AREA_COUNT] = {WPI_ARENA_FIRST, WPI_ARENA_MANAGED_FIRST,
                                                 WPI_ARENA_HOST_FIRST}; /* whole units */

/* Of devices other than the first, which begins at the area's start; 0: nothing allocated yet. */
static uint64_t next_on[WPI_ARENA_DEVICES];

static wpi_arena_area area_of(uint64_t address) {
    wpi_arena_area area = WPI_ARENA_DEVICE;
    while (address >= first_of[area + 1])
        area++;
    return area;
}

static uint64_t units(uint64_t bytes) {
    return (bytes + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES;
}

/* Maps memory at `address`; NULL: the place is taken, or the system does not support fixed
 * addresses. Shared pages keep their contents when the process unmaps them
 * (device/sim/touched_pages.h). */
static void *map_at(wpi_arena_area area, uint64_t address, size_t bytes) {
    void *wanted = (void *)(uintptr_t)address;
    const int sharing = area == WPI_ARENA_MANAGED ? MAP_SHARED : MAP_PRIVATE;
    void *got = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                     sharing | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) return got;
    if (got != MAP_FAILED) munmap(got, bytes);
    return NULL;
}

/* Under the lock. */
static void *map_after(wpi_arena_area area, uint64_t *next, uint64_t outer, size_t bytes,
                       size_t offset_bytes) {
    void *got = NULL;
    for (int i = 0; i < TRIES_MAX && got == NULL; i++) {
        const uint64_t left_bytes = outer - *next;
        if (bytes > left_bytes || units(offset_bytes + bytes) > left_bytes) break;
        got = map_at(area, *next + offset_bytes, bytes);
        *next += got != NULL ? units(offset_bytes + bytes) : SKIP_BYTES;
    }
    return got;
}

void *wpi_arena_map(wpi_arena_area area, size_t bytes, size_t offset_bytes) {
    pthread_mutex_lock(&lock);
    void *got = map_after(area, &next_of[area], first_of[area + 1], bytes, offset_bytes);
    pthread_mutex_unlock(&lock);
    return got;
}

void *wpi_arena_map_on(uint32_t device, size_t bytes, size_t offset_bytes) {
    if (device == 0) return wpi_arena_map(WPI_ARENA_DEVICE, bytes, offset_bytes);
    uint64_t *next = &next_on[device];
    pthread_mutex_lock(&lock);
    if (*next == 0) *next = wpi_arena_device_first(device);
    void *got =
        map_after(WPI_ARENA_DEVICE, next, wpi_arena_device_first(device + 1), bytes, offset_bytes);
    pthread_mutex_unlock(&lock);
    return got;
}

void wpi_arena_expect_whole(const void *memory, size_t bytes) {
    const uint64_t first = units((uintptr_t)memory);
    const uint64_t outer = ((uintptr_t)memory + bytes) / UNIT_BYTES * UNIT_BYTES;
    if (!wpi_arena_has((uintptr_t)memory) || first >= outer) return;
    (void)madvise((void *)(uintptr_t)first, outer - first, MADV_HUGEPAGE);
}

/* Whether all pages of a unit have been written. Pages that were only read map the system's shared
 * page of zeros. */
static bool is_written_all_over(int pagemap, uint64_t unit) {
    uint64_t entries[PAGES];
    uint32_t count = 0;
    if (pread(pagemap, entries, sizeof entries, (off_t)(unit / PAGE_BYTES * sizeof entries[0])) !=
        (ssize_t)sizeof entries)
        return false;
    for (uint32_t i = 0; i < PAGES; i++)
        count += (entries[i] & PAGE_IS_OWN) == PAGE_IS_OWN;
    return count > PAGES / 8 * 7;
}

void wpi_arena_condense(void) {
    const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) return;
    pthread_mutex_lock(&lock);
    const uint64_t outer = next_of[WPI_ARENA_DEVICE];
    pthread_mutex_unlock(&lock);
    for (uint64_t unit = WPI_ARENA_FIRST; unit < outer; unit += UNIT_BYTES) {
        void *memory = (void *)(uintptr_t)unit;
        if (!is_written_all_over(pagemap, unit)) continue;
        (void)madvise(memory, UNIT_BYTES, MADV_HUGEPAGE);
        (void)madvise(memory, UNIT_BYTES, COLLAPSE); /* older systems do it later */
    }
    (void)close(pagemap);
}

bool wpi_arena_zero(void *memory, size_t bytes) {
    const uint64_t first = (uintptr_t)memory, outer = first + bytes;
    const uint64_t first_whole = units(first), outer_whole = outer / UNIT_BYTES * UNIT_BYTES;
    if (bytes < ZERO_MIN_BYTES || first < WPI_ARENA_FIRST || outer > WPI_ARENA_MANAGED_FIRST)
        return false;
    void *whole = (void *)(uintptr_t)first_whole;
    const size_t whole_bytes = outer_whole - first_whole;
    /* Pages of a file, which other addresses may have, too, are taken out of it. */
    if (madvise(whole, whole_bytes, MADV_REMOVE) != 0 &&
        madvise(whole, whole_bytes, MADV_DONTNEED) != 0)
        return false;
    (void)madvise(whole, whole_bytes, MADV_NOHUGEPAGE);
    memset(memory, 0, first_whole - first);
    memset((void *)(uintptr_t)outer_whole, 0, outer - outer_whole);
    return true;
}

bool wpi_arena_unmap(void *memory, size_t bytes) {
    const uint64_t address = (uintptr_t)memory;
    if (!wpi_arena_has(address)) return false;
    pthread_mutex_lock(&lock);
    munmap(memory, bytes);
    const uint64_t unit = address / UNIT_BYTES * UNIT_BYTES;
    const wpi_arena_area area = area_of(address);
    const uint32_t device = area == WPI_ARENA_DEVICE ? wpi_arena_device_of(address) : 0;
    uint64_t *next = device != 0 && next_on[device] != 0 ? &next_on[device] : &next_of[area];
    if (unit + units(address - unit + bytes) == *next) *next = unit;
    pthread_mutex_unlock(&lock);
    return true;
}
