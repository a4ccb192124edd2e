/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of managed memory: kept for a whole allocation, and answered in device numbers. */
#include "fake.h"

enum { READ_MOSTLY = 1, PREFERRED, ACCESSED_BY, LAST_PREFETCH, HOST = -1, NOWHERE = -2 };

static bool is_device(wpi_cu_device device) {
    return device >= 0 && device < (int)fake_env_number("FAKE_CUDA_DEVICES", 1);
}

/* The managed allocation that holds the range; a device whose pages do not move is no location. */
static int find(wpi_cu_ptr address, size_t bytes, const char *call, fake_object **out) {
    *out = fake_find_range((void *)(uintptr_t)address, bytes, FAKE_MEMORY);
    if (bytes != 0 && *out != NULL && (*out)->is_managed) return 0;
    return fake_misuse("%s: no range of managed memory", call);
}

static int check_location(wpi_cu_device device) {
    if (fake_env_number("FAKE_CUDA_FIXED_PAGES", 0) != 0) return WPI_CU_INVALID_DEVICE;
    return device == HOST || is_device(device) ? 0 : WPI_CU_INVALID_DEVICE;
}

EXPORT wpi_cu_result cuMemPrefetchAsync(wpi_cu_ptr address, size_t bytes, wpi_cu_device to,
                                        wpi_cu_stream stream) {
    CALL_IN_CONTEXT("cuMemPrefetchAsync");
    fake_object *o = NULL;
    if (result == 0) result = find(address, bytes, "cuMemPrefetchAsync", &o);
    if (result == 0) result = check_location(to);
    if (result == 0 && !fake_check_stream(stream, "cuMemPrefetchAsync"))
        result = WPI_CU_INVALID_VALUE;
    if (result == 0) o->advice.last_prefetch = to;
    RETURN;
}

static void apply(fake_advice *a, int advice, wpi_cu_device location) {
    switch (advice) {
    case 1: a->is_read_mostly = true; break;
    case 2: a->is_read_mostly = false; break;
    case 3: a->preferred = location; break;
    case 4: a->preferred = NOWHERE; break;
    case 5: a->accessed_by |= 1u << (location + 1); break;
    default: a->accessed_by &= ~(1u << (location + 1)); break;
    }
}

EXPORT wpi_cu_result cuMemAdvise(wpi_cu_ptr address, size_t bytes, int advice,
                                 wpi_cu_device location) {
    CALL_IN_CONTEXT("cuMemAdvise");
    fake_object *o = NULL;
    if (result == 0) result = find(address, bytes, "cuMemAdvise", &o);
    if (result == 0 && (advice < 1 || advice > 6))
        result = fake_misuse("cuMemAdvise: advice %d", advice);
    if (result == 0) result = check_location(location);
    if (result == 0) apply(&o->advice, advice, location);
    RETURN;
}

static int type_of(int location) {
    return location == NOWHERE ? 0 : location == HOST ? 2 : WPI_CU_LOCATION_DEVICE;
}

static void answer_accessed_by(unsigned accessed_by, int *data, size_t count) {
    size_t used = 0;
    for (int location = HOST; location < 31 && used < count; location++)
        if ((accessed_by >> (location + 1) & 1) != 0) data[used++] = location;
    while (used < count)
        data[used++] = NOWHERE;
}

EXPORT wpi_cu_result cuMemRangeGetAttribute(void *data, size_t data_bytes, int attribute,
                                            wpi_cu_ptr address, size_t bytes) {
    CALL_IN_CONTEXT("cuMemRangeGetAttribute");
    fake_object *o = NULL;
    int *out = data;
    if (result == 0) result = find(address, bytes, "cuMemRangeGetAttribute", &o);
    if (result == 0 && (data_bytes % sizeof *out != 0 || data_bytes == 0 ||
                        (attribute != ACCESSED_BY && data_bytes != sizeof *out)))
        result = fake_misuse("cuMemRangeGetAttribute: %zu bytes", data_bytes);
    if (result == 0 && attribute == ACCESSED_BY)
        answer_accessed_by(o->advice.accessed_by, out, data_bytes / sizeof *out);
    else if (result == 0 && attribute == READ_MOSTLY)
        *out = o->advice.is_read_mostly;
    else if (result == 0 && (attribute == PREFERRED || attribute == 6))
        *out = o->advice.preferred;
    else if (result == 0 && (attribute == LAST_PREFETCH || attribute == 8))
        *out = o->advice.last_prefetch;
    else if (result == 0 && attribute == 5)
        *out = type_of(o->advice.preferred);
    else if (result == 0 && attribute == 7)
        *out = type_of(o->advice.last_prefetch);
    else if (result == 0)
        result = fake_misuse("cuMemRangeGetAttribute: attribute %d", attribute);
    RETURN;
}

EXPORT wpi_cu_result cuStreamAttachMemAsync(wpi_cu_stream stream, wpi_cu_ptr address, size_t bytes,
                                            unsigned flags) {
    CALL_IN_CONTEXT("cuStreamAttachMemAsync");
    const fake_object *o = fake_find_range((void *)(uintptr_t)address, 1, FAKE_MEMORY);
    if (result == 0 && !fake_check_stream(stream, "cuStreamAttachMemAsync"))
        result = WPI_CU_INVALID_VALUE;
    if (result == 0 &&
        (o == NULL || !o->is_managed || (uintptr_t)o->base != address ||
         (bytes != 0 && bytes != o->bytes) || (flags != 1 && flags != 2 && flags != 4)))
        result = fake_misuse("cuStreamAttachMemAsync: %zu bytes, flags %u", bytes, flags);
    RETURN;
}
