/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory that processes share. The first request for a handle moves an allocation's pages to
 * a file in memory, at the same address; other processes map the file at addresses of their own.
 */
#define _GNU_SOURCE /* memfd_create */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cudart/process/process.h"
#include "device/device.h"

/* ---- files ---- */

bool wpi_shared_describe(int file, uint64_t magic, uint64_t size_bytes, wpi_shared_handle *out) {
    struct stat facts;
    if (fstat(file, &facts) != 0) return false;
    *out = (wpi_shared_handle){.magic = magic,
                               .process = getpid(),
                               .file = file,
                               .inode = facts.st_ino,
                               .size_bytes = size_bytes};
    return true;
}

int wpi_shared_open(const wpi_shared_handle *handle, uint64_t magic) {
    char path[64];
    struct stat facts;
    if (handle->magic != magic) return -1;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)handle->process,
             (long long)handle->file);
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return -1;
    if (fstat(file, &facts) == 0 && facts.st_ino == handle->inode && S_ISREG(facts.st_mode) &&
        (uint64_t)facts.st_size >= handle->size_bytes)
        return file;
    (void)close(file);
    return -1;
}

/* ---- allocations whose handles were given out ---- */

typedef struct exported {
    struct exported *next;
    const wp_device *device;
    const void *base;
    int file;
} exported;

typedef struct opened {
    struct opened *next;
    wp_device *device;
    void *base;
    size_t mapped_bytes;
    wpi_shared_handle handle;
    unsigned uses;
} opened;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static exported *all_exported;
static opened *all_opened;

static size_t whole_pages(size_t bytes) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

static bool write_all(int file, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        const ssize_t written = pwrite(file, from + at, bytes - at, (off_t)at);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += (size_t)written;
    }
    return true;
}

/* Moves the pages of an allocation to a file; negative: the system has no memory. No work is in
 * progress. */
static int move_to_file(void *base, size_t bytes) {
    const int file = memfd_create("warpage-shared", MFD_CLOEXEC);
    if (file < 0) return -1;
    if (ftruncate(file, (off_t)bytes) == 0 && write_all(file, base, bytes) &&
        mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED)
        return file;
    (void)close(file);
    return -1;
}

/* Under the lock. */
static cudaError_t file_of(const wp_allocation *allocation, wp_device *device, int *file) {
    for (const exported *e = all_exported; e != NULL; e = e->next)
        if (e->base == allocation->base) {
            *file = e->file;
            return cudaSuccess;
        }
    wp_error err = {0};
    WPI_TRY(wpi_result(wp_device_wait(device, &err), &err));
    exported *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    *file = move_to_file(allocation->base, whole_pages(allocation->size_bytes));
    if (*file < 0) {
        wpi_free(made);
        return cudaErrorMemoryAllocation;
    }
    *made =
        (exported){.next = all_exported, .device = device, .base = allocation->base, .file = *file};
    all_exported = made;
    return cudaSuccess;
}

WP_API cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *devPtr) {
    wp_device *device;
    wp_allocation allocation;
    WPI_TRY(wpi_enter(&device));
    if (handle == NULL || !wpi_allocation_find(devPtr, &allocation, &device) ||
        allocation.kind != WP_MEMORY_DEVICE || allocation.flags == WPI_ALLOCATION_MAPPED)
        return wpi_note(cudaErrorInvalidValue);
    if (device->ops->range_reserve == NULL) return wpi_note(cudaErrorNotSupported);
    int file = -1;
    wpi_shared_handle described;
    pthread_mutex_lock(&lock);
    cudaError_t error = file_of(&allocation, device, &file);
    if (error == cudaSuccess &&
        !wpi_shared_describe(file, WPI_SHARED_MEMORY_MAGIC, allocation.size_bytes, &described))
        error = cudaErrorUnknown;
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess) return wpi_note(error);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &described, sizeof described);
    return cudaSuccess;
}

static void forget(const void *base, const wp_device *device) {
    pthread_mutex_lock(&lock);
    for (exported **link = &all_exported; *link != NULL;) {
        exported *e = *link;
        if (e->base != base && e->device != device) {
            link = &e->next;
            continue;
        }
        *link = e->next;
        (void)close(e->file);
        wpi_free(e);
    }
    pthread_mutex_unlock(&lock);
}

void wpi_shared_memory_forget(const void *base) {
    forget(base, NULL);
}

/* ---- memory of other processes ---- */

/* Under the lock. */
static cudaError_t map_file(wp_device *device, const wpi_shared_handle *handle, opened **out) {
    opened *made = wpi_calloc(1, sizeof *made);
    if (made == NULL) return cudaErrorMemoryAllocation;
    const int file = wpi_shared_open(handle, WPI_SHARED_MEMORY_MAGIC);
    if (file < 0) {
        wpi_free(made);
        return cudaErrorInvalidResourceHandle;
    }
    *made = (opened){.device = device,
                     .mapped_bytes = whole_pages(handle->size_bytes),
                     .handle = *handle,
                     .uses = 1};
    wp_error err = {0};
    cudaError_t error =
        wpi_result(wpi_device_range_reserve(device, made->mapped_bytes, &made->base, &err), &err);
    if (error == cudaSuccess) {
        const wpi_memory_entry entry = {.allocation = {.base = made->base,
                                                       .size_bytes = handle->size_bytes,
                                                       .kind = WP_MEMORY_DEVICE,
                                                       .flags = WPI_ALLOCATION_MAPPED},
                                        .device = device};
        if (mmap(made->base, made->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 file, 0) == MAP_FAILED)
            error = cudaErrorMemoryAllocation;
        else
            error = wpi_result(wpi_memory_map_add(wpi_memory_map_global(), &entry, &err), &err);
        if (error != cudaSuccess) wpi_device_range_release(device, made->base, made->mapped_bytes);
    }
    (void)close(file);
    if (error != cudaSuccess) {
        wpi_free(made);
        return error;
    }
    made->next = all_opened;
    all_opened = made;
    *out = made;
    return cudaSuccess;
}

/* A handle that is open already is counted. */
WP_API cudaError_t cudaIpcOpenMemHandle(void **devPtr, cudaIpcMemHandle_t handle,
                                        unsigned int flags) {
    wp_device *device;
    wpi_shared_handle described;
    WPI_TRY(wpi_enter(&device));
    memcpy(&described, &handle, sizeof described);
    if (devPtr == NULL || flags != cudaIpcMemLazyEnablePeerAccess ||
        described.magic != WPI_SHARED_MEMORY_MAGIC || described.size_bytes == 0)
        return wpi_note(cudaErrorInvalidValue);
    if (device->ops->range_reserve == NULL) return wpi_note(cudaErrorNotSupported);
    if (described.process == getpid()) return wpi_note(cudaErrorDeviceUninitialized);
    opened *found = NULL;
    cudaError_t error = cudaSuccess;
    pthread_mutex_lock(&lock);
    for (found = all_opened; found != NULL; found = found->next)
        if (memcmp(&found->handle, &described, sizeof described) == 0) break;
    if (found != NULL)
        found->uses++;
    else
        error = map_file(device, &described, &found);
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess) return wpi_note(error);
    *devPtr = found->base;
    return cudaSuccess;
}

/* Under the lock. No work is in progress. */
static void unmap(opened *o) {
    (void)wpi_memory_map_remove(wpi_memory_map_global(), o->base, NULL);
    wpi_device_range_release(o->device, o->base, o->mapped_bytes);
    wpi_free(o);
}

WP_API cudaError_t cudaIpcCloseMemHandle(void *devPtr) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    cudaError_t error = cudaErrorInvalidValue;
    WPI_TRY(wpi_wait_all());
    pthread_mutex_lock(&lock);
    for (opened **link = &all_opened; *link != NULL; link = &(*link)->next) {
        opened *o = *link;
        if (o->base != devPtr) continue;
        error = cudaSuccess;
        if (--o->uses > 0) break;
        *link = o->next;
        unmap(o);
        break;
    }
    pthread_mutex_unlock(&lock);
    return wpi_note(error);
}

void wpi_shared_memory_forget_all(const wp_device *device) {
    forget(NULL, device);
    pthread_mutex_lock(&lock);
    for (opened **link = &all_opened; *link != NULL;) {
        opened *o = *link;
        if (o->device != device) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        unmap(o);
    }
    pthread_mutex_unlock(&lock);
}
