/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c, managed.c: allocation, page-locked memory, advice, what a pointer is. */
#include "base/alloc.h"
#include "cuda_program.h"
#include "cudart/cudart.h"

static void memory_is_given_and_taken_back(void **state) {
    (void)state;
    void *memory;
    size_t free_bytes, free_after, total;
    assert_ok(cudaMemGetInfo(&free_bytes, &total));
    assert_true(free_bytes <= total);
    assert_ok(cudaMalloc(&memory, 1 << 20));
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % 256, 0);
    assert_ok(cudaMemGetInfo(&free_after, &total));
    assert_true(free_after <= free_bytes - (1 << 20));
    assert_ok(cudaFree(memory));
    assert_ok(cudaMemGetInfo(&free_after, &total));
    assert_int_equal(free_bytes, free_after);
}

static void odd_requests_are_answered(void **state) {
    (void)state;
    void *memory = &memory;
    assert_ok(cudaMalloc(&memory, 0));
    assert_null(memory);
    assert_ok(cudaFree(NULL));
    assert_ok(cudaFreeHost(NULL));
    assert_cuda(cudaMalloc(NULL, 16), cudaErrorInvalidValue);
    assert_cuda(cudaMallocManaged(&memory, 16, 0x40), cudaErrorInvalidValue);
    assert_cuda(cudaHostAlloc(&memory, 16, 0x40), cudaErrorInvalidValue);
}

static void absurd_sizes_are_out_of_memory(void **state) {
    (void)state;
    void *memory = &memory;
    size_t pitch;
    struct cudaPitchedPtr pitched;
    const struct cudaExtent huge = {SIZE_MAX / 4, 1 << 20, 1 << 20};
    assert_cuda(cudaMalloc(&memory, SIZE_MAX / 2), cudaErrorMemoryAllocation);
    assert_ptr_equal(memory, &memory); /* untouched */
    assert_cuda(cudaGetLastError(), cudaErrorMemoryAllocation);
    assert_ok(cudaGetLastError()); /* not sticky */
    assert_cuda(cudaMallocPitch(&memory, &pitch, SIZE_MAX - 3, 2), cudaErrorMemoryAllocation);
    assert_cuda(cudaMallocPitch(&memory, &pitch, SIZE_MAX / 4, 64), cudaErrorMemoryAllocation);
    assert_cuda(cudaMalloc3D(&pitched, huge), cudaErrorMemoryAllocation);
}

static void only_starts_of_the_right_kind_can_be_freed(void **state) {
    (void)state;
    int on_stack;
    char *device, *pinned;
    assert_ok(cudaMalloc((void **)&device, 4096));
    assert_ok(cudaMallocHost((void **)&pinned, 4096));
    assert_cuda(cudaFree(&on_stack), cudaErrorInvalidValue);
    assert_cuda(cudaFree(device + 8), cudaErrorInvalidValue);
    assert_cuda(cudaFree(pinned), cudaErrorInvalidValue);
    assert_cuda(cudaFreeHost(device), cudaErrorInvalidValue);
    assert_ok(cudaFree(device));
    assert_cuda(cudaFree(device), cudaErrorInvalidValue); /* twice */
    assert_ok(cudaFreeHost(pinned));
}

static void pitched_rows_are_aligned(void **state) {
    (void)state;
    void *memory;
    size_t pitch;
    struct cudaPitchedPtr p;
    assert_ok(cudaMallocPitch(&memory, &pitch, 1000, 10));
    assert_int_equal(pitch, 1024);
    assert_ok(cudaMemset2D(memory, pitch, 0, 1000, 10));
    assert_ok(cudaMalloc3D(&p, (struct cudaExtent){100, 20, 3}));
    assert_int_equal(p.pitch, 512);
    assert_int_equal(p.xsize, 100);
    assert_int_equal(p.ysize, 20);
    assert_ok(cudaMemset3D(p, 1, (struct cudaExtent){100, 20, 3}));
    assert_cuda(cudaMallocPitch(NULL, &pitch, 1, 1), cudaErrorInvalidValue);
}

static void host_memory_knows_its_flags(void **state) {
    (void)state;
    char *pinned;
    void *device;
    unsigned flags;
    assert_ok(cudaHostAlloc((void **)&pinned, 4096, cudaHostAllocMapped | cudaHostAllocPortable));
    assert_ok(cudaHostGetFlags(&flags, pinned));
    assert_int_equal(flags, cudaHostAllocMapped | cudaHostAllocPortable);
    assert_ok(cudaHostGetDevicePointer(&device, pinned + 4, 0));
    assert_ptr_equal(device, pinned + 4);
    assert_cuda(cudaHostGetDevicePointer(&device, &flags, 0), cudaErrorInvalidValue);
    assert_cuda(cudaHostGetDevicePointer(&device, pinned, 1), cudaErrorInvalidValue);
    assert_cuda(cudaHostGetFlags(&flags, &flags), cudaErrorInvalidValue);
    assert_ok(cudaFreeHost(pinned));
}

static void programs_own_memory_can_be_registered(void **state) {
    (void)state;
    static int mine[1024];
    void *device;
    assert_ok(cudaHostRegister(mine, sizeof mine, cudaHostRegisterDefault));
    assert_ok(cudaHostGetDevicePointer(&device, mine, 0));
    assert_ok(launch_add(device, 2, 1024, NULL));
    assert_ok(cudaDeviceSynchronize());
    assert_int_equal(mine[1023], 2);
    assert_cuda(cudaHostRegister(mine + 5, 64, 0), cudaErrorHostMemoryAlreadyRegistered);
    assert_cuda(cudaHostUnregister(mine + 5), cudaErrorHostMemoryNotRegistered);
    assert_ok(cudaHostUnregister(mine));
    assert_cuda(cudaHostUnregister(mine), cudaErrorHostMemoryNotRegistered);
    assert_cuda(cudaHostRegister(NULL, 64, 0), cudaErrorInvalidValue);
    assert_cuda(cudaHostRegister(mine, 64, 0x100), cudaErrorInvalidValue);
}

static void stream_ordered_memory_works(void **state) {
    (void)state;
    int *data, host = 0;
    cudaStream_t stream;
    assert_ok(cudaStreamCreate(&stream));
    assert_ok(cudaMallocAsync((void **)&data, sizeof host, stream));
    assert_ok(cudaMemsetAsync(data, 0, sizeof host, stream));
    assert_ok(launch_add(data, 9, 1, stream));
    assert_ok(cudaMemcpyAsync(&host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    assert_ok(cudaFreeAsync(data, stream));
    assert_int_equal(host, 9);
    assert_cuda(cudaFreeAsync(data, stream), cudaErrorInvalidValue);
    assert_ok(cudaStreamDestroy(stream));
}

static void pointers_know_what_they_are(void **state) {
    (void)state;
    struct cudaPointerAttributes a;
    char *device, *managed, *pinned, on_stack;
    assert_ok(cudaMalloc((void **)&device, 64));
    assert_ok(cudaMallocManaged((void **)&managed, 64, cudaMemAttachGlobal));
    assert_ok(cudaMallocHost((void **)&pinned, 64));
    assert_ok(cudaPointerGetAttributes(&a, device + 3));
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    assert_ptr_equal(a.devicePointer, device + 3);
    assert_null(a.hostPointer);
    assert_ok(cudaPointerGetAttributes(&a, managed));
    assert_int_equal(a.type, cudaMemoryTypeManaged);
    assert_ptr_equal(a.hostPointer, managed);
    assert_ok(cudaPointerGetAttributes(&a, pinned));
    assert_int_equal(a.type, cudaMemoryTypeHost);
    assert_ok(cudaPointerGetAttributes(&a, &on_stack));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    assert_null(a.devicePointer);
    assert_ok(cudaPointerGetAttributes(&a, &host_managed));
    assert_int_equal(a.type, cudaMemoryTypeManaged);
    assert_cuda(cudaPointerGetAttributes(NULL, device), cudaErrorInvalidValue);
}

static int range_attribute(enum cudaMemRangeAttribute attribute, const void *first, size_t size) {
    int value = 12345;
    assert_ok(cudaMemRangeGetAttribute(&value, sizeof value, attribute, first, size));
    return value;
}

static void advice_is_kept_by_range(void **state) {
    (void)state;
    const size_t page = 4096;
    char *m;
    assert_ok(cudaMallocManaged((void **)&m, 16 * page, cudaMemAttachGlobal));
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m, 16 * page), 0);
    assert_int_equal(range_attribute(cudaMemRangeAttributePreferredLocation, m, 16 * page),
                     cudaInvalidDeviceId);

    assert_ok(cudaMemAdvise(m + 4 * page, 4 * page, cudaMemAdviseSetReadMostly, 0));
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m + 4 * page, 4 * page), 1);
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m + 3 * page, 4 * page), 0);
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m + 5 * page, 1), 1);

    assert_ok(cudaMemAdvise(m, 16 * page, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    assert_int_equal(range_attribute(cudaMemRangeAttributePreferredLocation, m, 16 * page),
                     cudaCpuDeviceId);
    assert_int_equal(range_attribute(cudaMemRangeAttributePreferredLocationType, m, 16 * page),
                     cudaMemLocationTypeHost);
    assert_ok(cudaMemAdvise(m + page, page, cudaMemAdviseSetPreferredLocation, 0));
    assert_int_equal(range_attribute(cudaMemRangeAttributePreferredLocation, m, 16 * page),
                     cudaInvalidDeviceId);
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m + 4 * page, 4 * page), 1);

    assert_ok(cudaMemPrefetchAsync(m, 16 * page, 0, NULL));
    assert_int_equal(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, m, 16 * page), 0);
    const struct cudaMemLocation host = {cudaMemLocationTypeHost, 0};
    assert_ok(cudaMemPrefetchAsync_v2(m + 8 * page, 8 * page, host, 0, NULL));
    assert_int_equal(range_attribute(cudaMemRangeAttributeLastPrefetchLocation, m, 16 * page),
                     cudaInvalidDeviceId);

    /* As cudaFree does: new memory may have the same address. */
    wpi_advice_forget(m, 16 * page);
    assert_ok(cudaMemAdvise(m, page, cudaMemAdviseSetReadMostly, 0));
    assert_int_equal(range_attribute(cudaMemRangeAttributePreferredLocation, m, page),
                     cudaInvalidDeviceId);
    assert_int_equal(range_attribute(cudaMemRangeAttributeReadMostly, m + 4 * page, page), 0);
}

static void accessors_are_listed(void **state) {
    (void)state;
    int who[3] = {7, 7, 7}, read_mostly;
    char *m;
    assert_ok(cudaMallocManaged((void **)&m, 4096, cudaMemAttachGlobal));
    assert_ok(cudaMemAdvise(m, 4096, cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
    assert_ok(cudaMemRangeGetAttribute(who, sizeof who, cudaMemRangeAttributeAccessedBy, m, 4096));
    assert_int_equal(who[0], cudaCpuDeviceId);
    assert_int_equal(who[1], cudaInvalidDeviceId);
    assert_ok(cudaMemAdvise(m, 4096, cudaMemAdviseSetAccessedBy, 0));
    void *data[] = {who, &read_mostly};
    size_t sizes[] = {sizeof who, sizeof read_mostly};
    enum cudaMemRangeAttribute attributes[] = {cudaMemRangeAttributeAccessedBy,
                                               cudaMemRangeAttributeReadMostly};
    assert_ok(cudaMemRangeGetAttributes(data, sizes, attributes, 2, m, 4096));
    assert_int_equal(who[0], 0);
    assert_int_equal(who[1], cudaCpuDeviceId);
    assert_int_equal(read_mostly, 0);
}

static void advice_needs_managed_memory_and_a_place(void **state) {
    (void)state;
    char *m, *device;
    int value;
    assert_ok(cudaMallocManaged((void **)&m, 4096, cudaMemAttachGlobal));
    assert_ok(cudaMalloc((void **)&device, 4096));
    assert_cuda(cudaMemAdvise(device, 4096, cudaMemAdviseSetReadMostly, 0), cudaErrorInvalidValue);
    assert_cuda(cudaMemAdvise(m, 4097, cudaMemAdviseSetReadMostly, 0), cudaErrorInvalidValue);
    assert_cuda(cudaMemAdvise(m, 4096, (enum cudaMemoryAdvise)99, 0), cudaErrorInvalidValue);
    assert_cuda(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, 3),
                cudaErrorInvalidDevice);
    assert_cuda(cudaMemPrefetchAsync(m, 4096, 3, NULL), cudaErrorInvalidDevice);
    assert_cuda(cudaMemPrefetchAsync(device, 4096, 0, NULL), cudaErrorInvalidValue);
    assert_cuda(cudaMemPrefetchAsync(&value, 4, 0, NULL), cudaErrorInvalidValue);
    assert_cuda(cudaMemRangeGetAttribute(&value, 3, cudaMemRangeAttributeReadMostly, m, 4096),
                cudaErrorInvalidValue);
    assert_ok(cudaStreamAttachMemAsync(NULL, m, 0, cudaMemAttachGlobal));
    assert_cuda(cudaStreamAttachMemAsync(NULL, m, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    assert_cuda(cudaStreamAttachMemAsync(NULL, device, 0, cudaMemAttachGlobal),
                cudaErrorInvalidValue);
}

/* Many random changes against an array of pages. */
static void random_advice_agrees_with_a_page_table(void **state) {
    (void)state;
    enum { PAGES = 64, STEPS = 2000 };
    int preferred[PAGES];
    char *m;
    uint32_t seed = 12345;
    assert_ok(cudaMallocManaged((void **)&m, PAGES * 4096, cudaMemAttachGlobal));
    for (int i = 0; i < PAGES; i++)
        preferred[i] = cudaInvalidDeviceId;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1664525u + 1013904223u;
        const int first = (int)(seed >> 8) % PAGES, count = 1 + (int)(seed >> 16) % (PAGES - first);
        const int where = (seed >> 28) % 2 != 0 ? 0 : cudaCpuDeviceId;
        const bool is_unset = (seed >> 29) % 4 == 0;
        assert_ok(cudaMemAdvise(m + first * 4096, (size_t)count * 4096,
                                is_unset ? cudaMemAdviseUnsetPreferredLocation
                                         : cudaMemAdviseSetPreferredLocation,
                                where));
        for (int i = first; i < first + count; i++)
            preferred[i] = is_unset ? cudaInvalidDeviceId : where;
        for (int i = 0; i < PAGES; i += 7)
            assert_int_equal(
                range_attribute(cudaMemRangeAttributePreferredLocation, m + i * 4096, 4096),
                preferred[i]);
    }
}

static void take_nothing(void *unused) {
    (void)unused;
}

static cudaError_t use_everything(int step, char *managed,
                                  const struct cudaResourceDesc *resource) {
    cudaStream_t stream;
    cudaEvent_t event;
    cudaArray_t array;
    cudaTextureObject_t texture;
    static struct cudaTextureDesc modes;
    const int value = 1;
    cudaError_t error;
    switch (step) {
    case 0:
        error = cudaStreamCreate(&stream);
        return error == cudaSuccess ? cudaStreamDestroy(stream) : error;
    case 1:
        error = cudaEventCreate(&event);
        return error == cudaSuccess ? cudaEventDestroy(event) : error;
    case 2:
        error = cudaMallocArray(&array, &resource->res.linear.desc, 8, 8, 0);
        return error == cudaSuccess ? cudaFreeArray(array) : error;
    case 3:
        error = cudaCreateTextureObject(&texture, resource, &modes, NULL);
        return error == cudaSuccess ? cudaDestroyTextureObject(texture) : error;
    case 4: return cudaLaunchHostFunc(NULL, take_nothing, NULL);
    case 5: return cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, 0);
    case 6: return cudaMemcpyAsync(managed, &value, sizeof value, cudaMemcpyHostToDevice, NULL);
    default: return cudaBindTexture(NULL, &host_texture, managed, &resource->res.linear.desc, 64);
    }
}

static void every_failing_allocation_is_an_answer(void **state) {
    (void)state;
    struct cudaResourceDesc resource = {.resType = cudaResourceTypeLinear};
    char *managed;
    int failures = 0;
    assert_ok(cudaMallocManaged((void **)&managed, 4096, cudaMemAttachGlobal));
    resource.res.linear.devPtr = managed;
    resource.res.linear.desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    resource.res.linear.sizeInBytes = 64;
    for (int step = 0; step < 8; step++) {
        cudaError_t error = cudaErrorUnknown;
        for (unsigned nth = 1; nth < 50 && error != cudaSuccess; nth++) {
            wpi_alloc_fail_at(nth);
            error = use_everything(step, managed, &resource);
            wpi_alloc_fail_at(0);
            failures += error == cudaErrorMemoryAllocation;
            if (error != cudaErrorMemoryAllocation) assert_ok(error);
        }
        assert_ok(error);
    }
    assert_true(failures >= 8);
    assert_ok(cudaDeviceSynchronize());
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup(name, start_over)
    const struct CMUnitTest tests[] = {
        TEST(memory_is_given_and_taken_back),
        TEST(odd_requests_are_answered),
        TEST(absurd_sizes_are_out_of_memory),
        TEST(only_starts_of_the_right_kind_can_be_freed),
        TEST(pitched_rows_are_aligned),
        TEST(host_memory_knows_its_flags),
        TEST(programs_own_memory_can_be_registered),
        TEST(stream_ordered_memory_works),
        TEST(pointers_know_what_they_are),
        TEST(advice_is_kept_by_range),
        TEST(accessors_are_listed),
        TEST(advice_needs_managed_memory_and_a_place),
        TEST(random_advice_agrees_with_a_page_table),
        TEST(every_failing_allocation_is_an_answer),
    };
    return wp_test_main(tests);
}
