/* SPDX-License-Identifier: Apache-2.0 */
/* Advice about managed memory can be asked for again, range by range; what is no advice has CUDA's errors. */
#include "check.h"

enum { PAGE = 65536, BYTES = 16 * PAGE, NOWHERE = cudaInvalidDeviceId };

static char *memory;

static int ask(cudaMemRangeAttribute attribute, size_t first, size_t bytes)
{
    int value = 99;
    CUDA_OK(cudaMemRangeGetAttribute(&value, sizeof value, attribute, memory + first, bytes));
    return value;
}

static cudaMemLocation place(cudaMemLocationType type, int id)
{
    cudaMemLocation location;
    location.type = type;
    location.id = id;
    return location;
}

static void advise(cudaMemoryAdvise advice, cudaMemLocationType type)
{
    CUDA_OK(cudaMemAdvise(memory, BYTES, advice, place(type, 0)));
}

static void check_answers(void)
{
    const cudaMemLocationType gpu = cudaMemLocationTypeDevice, cpu = cudaMemLocationTypeHost;
    CHECK_EQ(ask(cudaMemRangeAttributeReadMostly, 0, BYTES), 0);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocation, 0, BYTES), NOWHERE);
    CHECK_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, BYTES), NOWHERE);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocationType, 0, BYTES), cudaMemLocationTypeInvalid);
    advise(cudaMemAdviseSetReadMostly, gpu);
    advise(cudaMemAdviseSetPreferredLocation, gpu);
    advise(cudaMemAdviseSetAccessedBy, gpu);
    advise(cudaMemAdviseSetAccessedBy, cpu);
    CUDA_OK(cudaMemPrefetchAsync(memory, BYTES, place(gpu, 0), 0, 0));
    CHECK_EQ(ask(cudaMemRangeAttributeReadMostly, 5, BYTES - 5), 1);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocation, 0, 1), 0);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocationId, 0, 1), 0);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocationType, 0, 1), cudaMemLocationTypeDevice);
    CHECK_EQ(ask(cudaMemRangeAttributeLastPrefetchLocation, 0, BYTES), 0);
    CHECK_EQ(ask(cudaMemRangeAttributeLastPrefetchLocationType, 0, BYTES), cudaMemLocationTypeDevice);
    CHECK_EQ(ask(cudaMemRangeAttributeLastPrefetchLocationId, 0, BYTES), 0);
    int who[3] = {9, 9, 9};
    CUDA_OK(cudaMemRangeGetAttribute(who, sizeof who, cudaMemRangeAttributeAccessedBy, memory, BYTES));
    CHECK((who[0] == 0 && who[1] == cudaCpuDeviceId) || (who[0] == cudaCpuDeviceId && who[1] == 0));
    CHECK_EQ(who[2], NOWHERE);
    advise(cudaMemAdviseUnsetAccessedBy, gpu);
    advise(cudaMemAdviseUnsetReadMostly, gpu);
    advise(cudaMemAdviseSetPreferredLocation, cpu);
    CUDA_OK(cudaMemPrefetchAsync(memory, BYTES, place(cpu, 0), 0, 0));
    int read_mostly = 9, preferred = 9, last = 9;
    void *data[4] = {&read_mostly, &preferred, &last, who};
    size_t sizes[4] = {sizeof(int), sizeof(int), sizeof(int), sizeof who};
    cudaMemRangeAttribute which[4] = {cudaMemRangeAttributeReadMostly, cudaMemRangeAttributePreferredLocation,
                                      cudaMemRangeAttributeLastPrefetchLocation, cudaMemRangeAttributeAccessedBy};
    CUDA_OK(cudaMemRangeGetAttributes(data, sizes, which, 4, memory, BYTES));
    CHECK_EQ(read_mostly, 0);
    CHECK_EQ(preferred, cudaCpuDeviceId);
    CHECK_EQ(last, cudaCpuDeviceId);
    CHECK_EQ(who[0], cudaCpuDeviceId);
    CHECK_EQ(who[1], NOWHERE);
    advise(cudaMemAdviseUnsetPreferredLocation, cpu);
    CHECK_EQ(ask(cudaMemRangeAttributePreferredLocation, 0, BYTES), NOWHERE);
}

static void check_errors(char *device_memory, char *plain)
{
    const cudaMemLocation gpu = place(cudaMemLocationTypeDevice, 0), none = place(cudaMemLocationTypeDevice, 77);
    cudaMemRangeAttribute read_mostly = cudaMemRangeAttributeReadMostly;
    int value, *out = &value;
    size_t size = sizeof value;
    void *data = out;
    CHECK_ERROR(cudaMemPrefetchAsync(memory, BYTES + 1, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(memory + BYTES, 1, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(memory, 0, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(NULL, 16, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(device_memory, 16, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(plain, 16, gpu, 0, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(memory, 16, gpu, 3, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(memory, 16, none, 0, 0), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaMemAdvise(memory, BYTES + 1, cudaMemAdviseSetReadMostly, gpu), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(device_memory, 16, cudaMemAdviseSetReadMostly, gpu), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(plain, 16, cudaMemAdviseSetAccessedBy, gpu), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(memory, 16, (cudaMemoryAdvise)0, gpu), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(memory, 16, (cudaMemoryAdvise)7, gpu), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(memory, 16, cudaMemAdviseSetPreferredLocation, none), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaMemRangeGetAttribute(out, size, read_mostly, memory, BYTES + 1), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttribute(out, size, read_mostly, device_memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttribute(NULL, size, read_mostly, memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttribute(out, 3, read_mostly, memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttribute(out, 2 * size, read_mostly, memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttribute(out, size, (cudaMemRangeAttribute)99, memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttributes(&data, &size, &read_mostly, 0, memory, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemRangeGetAttributes(NULL, &size, &read_mostly, 1, memory, 16), cudaErrorInvalidValue);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaStreamAttachMemAsync(stream, memory, 0, cudaMemAttachSingle));
    CUDA_OK(cudaStreamAttachMemAsync(stream, memory, BYTES, cudaMemAttachHost));
    CUDA_OK(cudaStreamAttachMemAsync(stream, memory));
    CHECK_ERROR(cudaStreamAttachMemAsync(stream, memory + 1, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    CHECK_ERROR(cudaStreamAttachMemAsync(stream, memory, 16, cudaMemAttachSingle), cudaErrorInvalidValue);
    CHECK_ERROR(cudaStreamAttachMemAsync(stream, memory, 0, 3), cudaErrorInvalidValue);
    CHECK_ERROR(cudaStreamAttachMemAsync(0, memory, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
    CHECK_ERROR(cudaStreamAttachMemAsync(stream, device_memory, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
    CUDA_OK(cudaStreamDestroy(stream));
}

int main(void)
{
    char *device_memory, *plain = (char *)malloc(100);
    CUDA_OK(cudaMallocManaged((void **)&memory, BYTES));
    CUDA_OK(cudaMalloc((void **)&device_memory, 100));
    check_answers();
    check_errors(device_memory, plain);
    cudaGetLastError();
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaFree(device_memory));
    CUDA_OK(cudaFree(memory));
    free(plain);
    return check_done();
}
