/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of pointers, and advice about managed memory. Advice and prefetches change where pages
 * are, never their contents. Advice is passed to the devices, and kept for queries as a sorted list
 * of ranges of pages with the same advice.
 */
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "cudart/cudart.h"
#include "device/device.h"

#define PAGE_BYTES 4096u

/* Bit d: device d. */
#define ACCESSED_BY_DEVICES (ACCESSED_BY_HOST - 1u)
#define ACCESSED_BY_HOST 0x80000000u

/* Advice for a range; "nowhere" is cudaInvalidDeviceId. */
typedef struct range_advice {
    bool is_read_mostly;
    unsigned accessed_by;
    int preferred;
    int last_prefetch;
} range_advice;

static const range_advice no_advice = {.preferred = cudaInvalidDeviceId,
                                       .last_prefetch = cudaInvalidDeviceId};

typedef struct range {
    uintptr_t first, outer; /* [first, outer), multiples of PAGE_BYTES */
    range_advice advice;
} range;

static struct {
    pthread_mutex_t lock;
    range *items; /* sorted, disjoint */
    size_t count, capacity;
} ranges = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the list ---- */

static bool reserve(size_t count) {
    if (count <= ranges.capacity) return true;
    const size_t capacity = count * 2;
    range *items = wpi_realloc(ranges.items, capacity * sizeof *items);
    if (items == NULL) return false;
    ranges.items = items;
    ranges.capacity = capacity;
    return true;
}

static void insert(size_t i, range r) {
    memmove(&ranges.items[i + 1], &ranges.items[i], (ranges.count - i) * sizeof r);
    ranges.items[i] = r;
    ranges.count++;
}

static void drop(size_t i) {
    ranges.count--;
    memmove(&ranges.items[i], &ranges.items[i + 1], (ranges.count - i) * sizeof ranges.items[0]);
}

/* Makes `at` a border between ranges. Room for one more item is reserved. */
static void split(uintptr_t at) {
    for (size_t i = 0; i < ranges.count; i++) {
        range *r = &ranges.items[i];
        if (at <= r->first || at >= r->outer) continue;
        range upper = *r;
        upper.first = at;
        r->outer = at;
        insert(i + 1, upper);
        return;
    }
}

/* Makes [first, outer) exactly covered by items and returns the index of the first; false: no
 * memory. Gaps become items without advice. */
static bool cover(uintptr_t first, uintptr_t outer, size_t *index) {
    /* Two splits, and at most one gap before each item and one behind the last. */
    if (!reserve(2 * ranges.count + 4)) return false;
    split(first);
    split(outer);
    size_t i = 0;
    while (i < ranges.count && ranges.items[i].first < first)
        i++;
    *index = i;
    for (uintptr_t at = first; at < outer; i++) {
        const bool is_gap = i == ranges.count || ranges.items[i].first > at;
        if (is_gap) {
            const bool has_next = i < ranges.count && ranges.items[i].first < outer;
            insert(i, (range){at, has_next ? ranges.items[i].first : outer, no_advice});
        }
        at = ranges.items[i].outer;
    }
    return true;
}

void wpi_advice_forget(const void *base, size_t size_bytes) {
    const uintptr_t first = (uintptr_t)base / PAGE_BYTES * PAGE_BYTES;
    const uintptr_t outer = (uintptr_t)base + size_bytes;
    pthread_mutex_lock(&ranges.lock);
    for (size_t i = ranges.count; i-- > 0;)
        if (ranges.items[i].first < outer && ranges.items[i].outer > first) drop(i);
    pthread_mutex_unlock(&ranges.lock);
}

/* Memory that is still allocated elsewhere keeps its advice. */
void wpi_advice_forget_all(const wp_device *device) {
    pthread_mutex_lock(&ranges.lock);
    for (size_t i = ranges.count; i-- > 0;) {
        wp_allocation allocation;
        wp_device *owner;
        const void *first = (const void *)ranges.items[i].first;
        if (!wpi_allocation_find(first, &allocation, &owner) || owner == device) drop(i);
    }
    if (ranges.count == 0) {
        wpi_free(ranges.items);
        ranges.items = NULL;
        ranges.capacity = 0;
    }
    pthread_mutex_unlock(&ranges.lock);
}

/* ---- giving advice ---- */

static cudaError_t check_managed(const void *pointer, size_t count) {
    wpi_memory_class class;
    if (pointer == NULL || count == 0 || !wpi_memory_classify(pointer, count, &class) ||
        class != WPI_MEMORY_MANAGED)
        return wpi_note(cudaErrorInvalidValue);
    return cudaSuccess;
}

static cudaError_t check_location(int location) {
    const bool is_device = location >= 0 && (uint32_t)location < wpi_device_count();
    return wpi_note(is_device || location == cudaCpuDeviceId ? cudaSuccess
                                                             : cudaErrorInvalidDevice);
}

/* Result of calls that name a location: a GPU whose pages do not migrate is invalid. */
static cudaError_t result_at(wp_status status, const wp_error *err) {
    if (status == WP_STATUS_NOT_FOUND) return wpi_note(cudaErrorInvalidDevice);
    return wpi_result(status, err);
}

/* In addition to CUDA's kinds of advice. */
#define PREFETCHED 0

static void apply(range_advice *a, int what, int location) {
    const unsigned who = location == cudaCpuDeviceId ? ACCESSED_BY_HOST : 1u << (unsigned)location;
    switch (what) {
    case PREFETCHED: a->last_prefetch = location; break;
    case cudaMemAdviseSetReadMostly: a->is_read_mostly = true; break;
    case cudaMemAdviseUnsetReadMostly: a->is_read_mostly = false; break;
    case cudaMemAdviseSetPreferredLocation: a->preferred = location; break;
    case cudaMemAdviseUnsetPreferredLocation: a->preferred = cudaInvalidDeviceId; break;
    case cudaMemAdviseSetAccessedBy: a->accessed_by |= who; break;
    case cudaMemAdviseUnsetAccessedBy: a->accessed_by &= ~who; break;
    }
}

static void tell(wp_device *device, const range *r) {
    const wpi_advice advice = {.is_read_mostly = r->advice.is_read_mostly,
                               .prefers_host = r->advice.preferred == cudaCpuDeviceId,
                               .prefers_device = r->advice.preferred >= 0,
                               .is_accessed_by_device =
                                   (r->advice.accessed_by & ACCESSED_BY_DEVICES) != 0};
    wpi_memory_advise(device, (const void *)r->first, r->outer - r->first, &advice);
}

static cudaError_t change_range(wp_device *device, const void *pointer, size_t count, int what,
                                int location) {
    const uintptr_t first = (uintptr_t)pointer / PAGE_BYTES * PAGE_BYTES;
    const uintptr_t outer = ((uintptr_t)pointer + count + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    size_t i;
    pthread_mutex_lock(&ranges.lock);
    const bool is_covered = cover(first, outer, &i);
    for (; is_covered && i < ranges.count && ranges.items[i].first < outer; i++) {
        apply(&ranges.items[i].advice, what, location);
        if (what != PREFETCHED) tell(device, &ranges.items[i]);
    }
    pthread_mutex_unlock(&ranges.lock);
    return wpi_note(is_covered ? cudaSuccess : cudaErrorMemoryAllocation);
}

WP_API cudaError_t cudaMemAdvise(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                 int device) {
    wp_device *opened;
    WPI_TRY(wpi_enter(&opened));
    if ((int)advice < cudaMemAdviseSetReadMostly || (int)advice > cudaMemAdviseUnsetAccessedBy)
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(check_managed(devPtr, count));
    /* Only these use the device argument. */
    const bool has_location = advice == cudaMemAdviseSetPreferredLocation ||
                              advice == cudaMemAdviseSetAccessedBy ||
                              advice == cudaMemAdviseUnsetAccessedBy;
    if (has_location) WPI_TRY(check_location(device));
    wp_error err = {0};
    const int location = has_location ? device : 0;
    WPI_TRY(
        result_at(wpi_managed_advise(opened, devPtr, count, (int)advice, location, &err), &err));
    return change_range(opened, devPtr, count, (int)advice, location);
}

WP_API cudaError_t cudaMemPrefetchAsync(const void *devPtr, size_t count, int dstDevice,
                                        cudaStream_t stream) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    WPI_TRY(check_managed(devPtr, count));
    WPI_TRY(check_location(dstDevice));
    wp_error err = {0};
    const bool to_device = dstDevice != cudaCpuDeviceId;
    WPI_TRY(result_at(wp_queue_prefetch(queue, devPtr, count, to_device, &err), &err));
    return change_range(device, devPtr, count, PREFETCHED, dstDevice);
}

/* A location of the newer signatures as a device number. All host memory is one location here. */
static bool location_of(struct cudaMemLocation location, int *out) {
    switch (location.type) {
    case cudaMemLocationTypeDevice: *out = location.id; return true;
    case cudaMemLocationTypeHost:
    case cudaMemLocationTypeHostNumaCurrent: *out = cudaCpuDeviceId; return true;
    case cudaMemLocationTypeHostNuma: *out = cudaCpuDeviceId; return location.id == 0;
    default: return false;
    }
}

WP_API cudaError_t cudaMemAdvise_v2(const void *devPtr, size_t count, enum cudaMemoryAdvise advice,
                                    struct cudaMemLocation location) {
    int device = cudaInvalidDeviceId;
    const bool is_unset = advice == cudaMemAdviseSetReadMostly ||
                          advice == cudaMemAdviseUnsetReadMostly ||
                          advice == cudaMemAdviseUnsetPreferredLocation;
    if (!is_unset && !location_of(location, &device)) return wpi_note(cudaErrorInvalidValue);
    return cudaMemAdvise(devPtr, count, advice, device);
}

WP_API cudaError_t cudaMemPrefetchAsync_v2(const void *devPtr, size_t count,
                                           struct cudaMemLocation location, unsigned int flags,
                                           cudaStream_t stream) {
    int device;
    if (flags != 0 || !location_of(location, &device)) return wpi_note(cudaErrorInvalidValue);
    return cudaMemPrefetchAsync(devPtr, count, device, stream);
}

WP_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length,
                                            unsigned int flags) {
    wp_device *device;
    wp_queue *queue;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    wp_allocation allocation;
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle)
        return wpi_note(cudaErrorInvalidValue);
    if (flags == cudaMemAttachSingle && (stream == NULL || stream == cudaStreamLegacy))
        return wpi_note(cudaErrorInvalidValue);
    if (devPtr == NULL || !wpi_allocation_find(devPtr, &allocation, NULL) ||
        allocation.base != devPtr || (length != 0 && length != allocation.size_bytes))
        return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(check_managed(devPtr, allocation.size_bytes));
    /* Without effect where host and kernels may use managed memory at the same time. */
    wp_error err = {0};
    return wpi_result(wpi_queue_attach(queue, devPtr, allocation.size_bytes, flags, &err), &err);
}

/* ---- queries ---- */

/* The advice common to all of the range; where pages differ it is unset. */
static range_advice find_common(uintptr_t first, uintptr_t outer) {
    range_advice common = no_advice;
    pthread_mutex_lock(&ranges.lock);
    size_t i = 0;
    for (uintptr_t at = first; at < outer;) {
        while (i < ranges.count && ranges.items[i].outer <= at)
            i++;
        const bool is_known = i < ranges.count && ranges.items[i].first <= at;
        const range_advice here = is_known ? ranges.items[i].advice : no_advice;
        if (at == first) common = here;
        common.is_read_mostly = common.is_read_mostly && here.is_read_mostly;
        common.accessed_by &= here.accessed_by;
        if (common.preferred != here.preferred) common.preferred = cudaInvalidDeviceId;
        if (common.last_prefetch != here.last_prefetch) common.last_prefetch = cudaInvalidDeviceId;
        if (is_known)
            at = ranges.items[i].outer;
        else
            at = i < ranges.count ? ranges.items[i].first : outer;
    }
    pthread_mutex_unlock(&ranges.lock);
    return common;
}

static int location_type(int location) {
    if (location == cudaInvalidDeviceId) return cudaMemLocationTypeInvalid;
    return location == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
}

static void answer_accessed_by(unsigned accessed_by, int *data, size_t count) {
    size_t used = 0;
    for (uint32_t d = 0; d < WP_DEVICES_MAX; d++)
        if ((accessed_by >> d & 1) != 0 && used < count) data[used++] = (int)d;
    if ((accessed_by & ACCESSED_BY_HOST) != 0 && used < count) data[used++] = cudaCpuDeviceId;
    while (used < count)
        data[used++] = cudaInvalidDeviceId;
}

/* The advice recorded here. */
static void answer(const range_advice *a, enum cudaMemRangeAttribute attribute, int *data,
                   size_t count) {
    switch (attribute) {
    case cudaMemRangeAttributeReadMostly: *data = a->is_read_mostly; break;
    case cudaMemRangeAttributeAccessedBy: answer_accessed_by(a->accessed_by, data, count); break;
    case cudaMemRangeAttributePreferredLocation:
    case cudaMemRangeAttributePreferredLocationId: *data = a->preferred; break;
    case cudaMemRangeAttributeLastPrefetchLocation:
    case cudaMemRangeAttributeLastPrefetchLocationId: *data = a->last_prefetch; break;
    case cudaMemRangeAttributePreferredLocationType: *data = location_type(a->preferred); break;
    case cudaMemRangeAttributeLastPrefetchLocationType:
        *data = location_type(a->last_prefetch);
        break;
    }
}

/* A result is an int; the list of accessing devices has as many as there is room for. */
static bool is_answer(enum cudaMemRangeAttribute attribute, const void *data, size_t size_bytes) {
    if (data == NULL || size_bytes == 0 || size_bytes % sizeof(int) != 0) return false;
    if (attribute < cudaMemRangeAttributeReadMostly ||
        attribute > cudaMemRangeAttributeLastPrefetchLocationId)
        return false;
    return attribute == cudaMemRangeAttributeAccessedBy || size_bytes == sizeof(int);
}

WP_API cudaError_t cudaMemRangeGetAttribute(void *data, size_t dataSize,
                                            enum cudaMemRangeAttribute attribute,
                                            const void *devPtr, size_t count) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(check_managed(devPtr, count));
    if (!is_answer(attribute, data, dataSize)) return wpi_note(cudaErrorInvalidValue);
    wp_error err = {0};
    const wp_status status =
        wpi_managed_attribute(device, devPtr, count, (int)attribute, data, dataSize, &err);
    if (status != WP_STATUS_UNSUPPORTED) return wpi_result(status, &err);
    const range_advice a = find_common((uintptr_t)devPtr, (uintptr_t)devPtr + count);
    answer(&a, attribute, data, dataSize / sizeof(int));
    return cudaSuccess;
}

WP_API cudaError_t cudaMemRangeGetAttributes(void **data, size_t *dataSizes,
                                             enum cudaMemRangeAttribute *attributes,
                                             size_t numAttributes, const void *devPtr,
                                             size_t count) {
    if (data == NULL || dataSizes == NULL || attributes == NULL || numAttributes == 0)
        return wpi_note(cudaErrorInvalidValue);
    for (size_t i = 0; i < numAttributes; i++)
        WPI_TRY(cudaMemRangeGetAttribute(data[i], dataSizes[i], attributes[i], devPtr, count));
    return cudaSuccess;
}

WP_API cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes,
                                            const void *ptr) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    if (attributes == NULL) return wpi_note(cudaErrorInvalidValue);
    void *address = (void *)(uintptr_t)ptr;
    wpi_memory_class class;
    (void)wpi_memory_classify(ptr, 1, &class);
    wp_allocation allocation;
    wp_device *owner = device;
    (void)wpi_allocation_find(ptr, &allocation, &owner);
    *attributes = (struct cudaPointerAttributes){.device = (int)owner->number};
    switch (class) {
    case WPI_MEMORY_PAGEABLE:
        attributes->type = cudaMemoryTypeUnregistered;
        attributes->device = cudaInvalidDeviceId;
        attributes->hostPointer = address;
        break;
    case WPI_MEMORY_HOST:
        attributes->type = cudaMemoryTypeHost;
        attributes->devicePointer = attributes->hostPointer = address;
        break;
    case WPI_MEMORY_MANAGED:
        attributes->type = cudaMemoryTypeManaged;
        attributes->devicePointer = attributes->hostPointer = address;
        break;
    case WPI_MEMORY_DEVICE:
        attributes->type = cudaMemoryTypeDevice;
        attributes->devicePointer = address;
        break;
    }
    return cudaSuccess;
}
