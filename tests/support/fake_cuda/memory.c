/* SPDX-License-Identifier: Apache-2.0 */
/* Device, managed, page-locked and registered memory. */
#include "fake.h"

enum { POISON_BYTES_MAX = 64 << 20 }; /* memory begins with anything */

static int allocate(fake_cuda_kind kind, size_t bytes, void **out) {
    const size_t total = fake_env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    if (bytes == 0) return WPI_CU_INVALID_VALUE;
    if (kind == FAKE_MEMORY && bytes > total - fake.used_bytes) return WPI_CU_OUT_OF_MEMORY;
    char *base = aligned_alloc(512, (bytes + 511) / 512 * 512);
    if (base == NULL) return WPI_CU_OUT_OF_MEMORY;
    memset(base, 0xdb, bytes < POISON_BYTES_MAX ? bytes : POISON_BYTES_MAX);
    fake_object *o = fake_make(kind);
    o->base = base;
    o->bytes = bytes;
    if (kind == FAKE_MEMORY) fake.used_bytes += bytes;
    *out = base;
    return 0;
}

EXPORT wpi_cu_result cuMemAlloc_v2(wpi_cu_ptr *out, size_t bytes) {
    CALL_IN_CONTEXT("cuMemAlloc_v2");
    void *memory = NULL;
    if (result == 0) result = allocate(FAKE_MEMORY, bytes, &memory);
    *out = (wpi_cu_ptr)(uintptr_t)memory;
    RETURN;
}

EXPORT wpi_cu_result cuMemAllocManaged(wpi_cu_ptr *out, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemAllocManaged");
    void *memory = NULL;
    if (result == 0 && flags != 1 && flags != 2)
        result = fake_misuse("cuMemAllocManaged: flags %u", flags);
    if (result == 0) result = allocate(FAKE_MEMORY, bytes, &memory);
    if (result == 0) {
        fake.live->is_managed = true;
        fake.live->advice = (fake_advice){.preferred = -2, .last_prefetch = -2};
    }
    *out = (wpi_cu_ptr)(uintptr_t)memory;
    RETURN;
}

static int free_range(void *base, fake_cuda_kind kind, const char *call) {
    fake_object *o = fake_find_range(base, 1, kind);
    if (o == NULL || o->base != base)
        return fake_misuse("%s(%p): not what was allocated", call, base);
    const int result = fake_wait_all(); /* kernels may use it still */
    fake_end(o);
    return result;
}

EXPORT wpi_cu_result cuMemFree_v2(wpi_cu_ptr base) {
    CALL_IN_CONTEXT("cuMemFree_v2");
    if (result == 0) result = free_range((void *)(uintptr_t)base, FAKE_MEMORY, "cuMemFree_v2");
    RETURN;
}

EXPORT wpi_cu_result cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes) {
    CALL_IN_CONTEXT("cuMemGetInfo_v2");
    *total_bytes = fake_env_number("FAKE_CUDA_MEMORY", (size_t)1 << 30);
    *free_bytes = *total_bytes - fake.used_bytes;
    RETURN;
}

EXPORT wpi_cu_result cuMemHostAlloc(void **out, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostAlloc");
    /* Write-combined memory (4) has an address of its own on the device. */
    if (result == 0 && (flags & ~3u) != 0) result = fake_misuse("cuMemHostAlloc: flags %#x", flags);
    if (result == 0) result = allocate(FAKE_HOST, bytes, out);
    RETURN;
}

EXPORT wpi_cu_result cuMemFreeHost(void *base) {
    CALL_IN_CONTEXT("cuMemFreeHost");
    if (result == 0) result = free_range(base, FAKE_HOST, "cuMemFreeHost");
    RETURN;
}

EXPORT wpi_cu_result cuMemHostRegister_v2(void *base, size_t bytes, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostRegister_v2");
    if (result == 0 && (flags & ~15u) != 0)
        result = fake_misuse("cuMemHostRegister: flags %#x", flags);
    /* As the driver does: whole pages, none of them twice. */
    const uintptr_t first = (uintptr_t)base / 4096 * 4096;
    const uintptr_t outer = ((uintptr_t)base + bytes + 4095) / 4096 * 4096;
    for (const fake_object *o = fake.live; o != NULL && result == 0; o = o->next) {
        const uintptr_t o_first = (uintptr_t)o->base / 4096 * 4096;
        const uintptr_t o_outer = ((uintptr_t)o->base + o->bytes + 4095) / 4096 * 4096;
        if (o->kind == FAKE_REGISTERED && o_first < outer && first < o_outer)
            result = WPI_CU_HOST_MEMORY_ALREADY_REGISTERED;
    }
    if (result == 0) {
        fake_object *o = fake_make(FAKE_REGISTERED);
        o->base = base;
        o->bytes = bytes;
    }
    RETURN;
}

EXPORT wpi_cu_result cuMemHostUnregister(void *base) {
    CALL_IN_CONTEXT("cuMemHostUnregister");
    fake_object *o = fake_find_range(base, 1, FAKE_REGISTERED);
    if (result == 0 && (o == NULL || o->base != base))
        result = (fake_misuse("cuMemHostUnregister(%p): not registered", base), 713);
    if (result == 0) {
        (void)fake_wait_all();
        fake_end(o);
    }
    RETURN;
}

EXPORT wpi_cu_result cuMemHostGetDevicePointer_v2(wpi_cu_ptr *out, void *host, unsigned flags) {
    CALL_IN_CONTEXT("cuMemHostGetDevicePointer_v2");
    if (result == 0 && (flags != 0 || (fake_find_range(host, 1, FAKE_REGISTERED) == NULL &&
                                       fake_find_range(host, 1, FAKE_HOST) == NULL)))
        result = fake_misuse("cuMemHostGetDevicePointer(%p): not known", host);
    *out = (wpi_cu_ptr)(uintptr_t)host + fake_env_number("FAKE_CUDA_HOST_OFFSET", 0);
    RETURN;
}
