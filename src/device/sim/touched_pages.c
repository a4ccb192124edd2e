/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* madvise, syscall */
#include "device/sim/touched_pages.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"

#define IS_MAPPED (UINT64_C(1) << 63) /* of an entry of /proc/self/pagemap */
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

/* Registers userfaultfd: where pages could be write-protected, the kernel maps them one at a time.
 * None is ever protected.
 */
static int open_faults(void) {
    struct uffdio_api api = {.api = UFFD_API};
    const int faults = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (faults >= 0 && ioctl(faults, UFFDIO_API, &api) == 0) return faults;
    if (faults >= 0) (void)close(faults);
    return -1;
}

bool wpi_touch_init(wpi_touch *touch) {
    touch->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    touch->faults = touch->pagemap >= 0 ? open_faults() : -1;
    return touch->pagemap >= 0;
}

void wpi_touch_deinit(wpi_touch *touch) {
    if (touch->pagemap >= 0) (void)close(touch->pagemap);
    if (touch->faults >= 0) (void)close(touch->faults);
    *touch = (wpi_touch){-1, -1};
}

void wpi_touch_watch(const wpi_touch *touch, uint64_t address, uint64_t bytes) {
    const uint64_t whole = (bytes + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES * WPI_PAGE_BYTES;
    struct uffdio_register range = {.range = {address, whole}, .mode = UFFDIO_REGISTER_MODE_WP};
    (void)madvise((void *)(uintptr_t)address, whole, MADV_NOHUGEPAGE);
    if (touch->faults >= 0) (void)ioctl(touch->faults, UFFDIO_REGISTER, &range);
}

void wpi_touch_forget(uint64_t address, uint64_t bytes) {
    (void)madvise((void *)(uintptr_t)address, bytes, MADV_DONTNEED);
}

void wpi_touch_find(const wpi_touch *touch, uint64_t address, uint64_t bytes, wpi_pages *out) {
    uint64_t entries[WPI_CHUNK_PAGES];
    const uint64_t count = (bytes + WPI_PAGE_BYTES - 1) / WPI_PAGE_BYTES;
    const size_t size = (size_t)count * sizeof entries[0];
    const off_t at = (off_t)(address / WPI_PAGE_BYTES * sizeof entries[0]);
    WP_ASSERT(count <= WPI_CHUNK_PAGES);
    if (touch->pagemap < 0 || pread(touch->pagemap, entries, size, at) != (ssize_t)size) return;
    for (uint32_t page = 0; page < count; page++)
        if ((entries[page] & IS_MAPPED) != 0) wpi_pages_add(out, page);
}
