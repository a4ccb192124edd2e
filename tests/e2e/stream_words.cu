/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that wait for words of memory and write them: of other streams, of kernels, of host threads, in memory of the device
 * and of the host; all four conditions in 32 and 64 bits, batches, errors. */
#include <cuda.h>
#include <pthread.h>
#include <unistd.h>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)
#define FAILS(call, error) CHECK_EQ((int)(call), (int)(error))

__global__ void put(int *to, int value) { *to = value; }
__global__ void copy_word(int *to, const volatile int *from) { *to = *from; }
__global__ void raise_flag(int *data, unsigned *flag)
{
    *data = 41;
    __threadfence_system();
    atomicExch_system(flag, 7u);
}

static CUdeviceptr at(const void *p) { return (CUdeviceptr)(size_t)p; }

static unsigned *flags; /* pinned */
static int *data;       /* of the device */

static int read_back(const int *p)
{
    int value = -1;
    CUDA_OK(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
    return value;
}

/* A stream waits for what another one writes later, behind a kernel. */
static void between_streams(cudaStream_t a, cudaStream_t b)
{
    unsigned *word;
    CUDA_OK(cudaMalloc(&word, 16));
    CUDA_OK(cudaMemset(word, 0, 16));
    CUDA_OK(cudaMemset(data, 0, 64));
    CUDA_OK(cudaDeviceSynchronize());
    OK(cuStreamWaitValue32(b, at(word), 5, CU_STREAM_WAIT_VALUE_EQ));
    copy_word<<<1, 1, 0, b>>>(data + 1, data);
    OK(cuStreamWriteValue64(b, at(word + 2), 0x123456789abcdefULL, CU_STREAM_WRITE_VALUE_DEFAULT));
    CHECK_EQ((int)cudaStreamQuery(b), (int)cudaErrorNotReady);
    put<<<1, 1, 0, a>>>(data, 17);
    OK(cuStreamWriteValue32(a, at(word), 5, CU_STREAM_WRITE_VALUE_DEFAULT));
    OK(cuStreamWaitValue64(a, at(word + 2), 0x123456789abcdefULL, CU_STREAM_WAIT_VALUE_EQ));
    put<<<1, 1, 0, a>>>(data + 2, 18);
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(read_back(data + 1), 17);
    CHECK_EQ(read_back(data + 2), 18);
    CUDA_OK(cudaStreamSynchronize(b));
    CUDA_OK(cudaFree(word));
}

/* A kernel of one stream raises the flag of another. */
static void by_kernel(cudaStream_t a, cudaStream_t b)
{
    flags[0] = 0;
    OK(cuStreamWaitValue32(b, at(flags), 7, CU_STREAM_WAIT_VALUE_GEQ));
    copy_word<<<1, 1, 0, b>>>(data + 1, data);
    raise_flag<<<1, 1, 0, a>>>(data, flags);
    CUDA_OK(cudaStreamSynchronize(b));
    CHECK_EQ(read_back(data + 1), 41);
    CUDA_OK(cudaStreamSynchronize(a));
}

static void *store_later(void *arg)
{
    usleep(30000);
    __atomic_store_n((unsigned *)arg, 9u, __ATOMIC_RELEASE);
    return NULL;
}

/* A host thread stores while this one waits for the stream; and this one, before it waits. */
static void by_host(cudaStream_t a)
{
    pthread_t thread;
    flags[0] = flags[1] = 0;
    OK(cuStreamWaitValue32(a, at(flags), 9, CU_STREAM_WAIT_VALUE_EQ));
    put<<<1, 1, 0, a>>>(data, 23);
    pthread_create(&thread, NULL, store_later, flags);
    CUDA_OK(cudaStreamSynchronize(a));
    pthread_join(thread, NULL);
    CHECK_EQ(read_back(data), 23);
    OK(cuStreamWaitValue32(a, at(flags + 1), 1, CU_STREAM_WAIT_VALUE_EQ));
    put<<<1, 1, 0, a>>>(data, 24);
    CHECK_EQ((int)cudaStreamQuery(a), (int)cudaErrorNotReady);
    flags[1] = 1;
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(read_back(data), 24);
    OK(cuStreamWriteValue32(a, at(flags + 2), 77, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(flags[2], 77u);
}

/* Whether a wait for `value` under `condition` ends where the word is `now`. */
static bool passes(cudaStream_t a, bool is_long, unsigned long long now, unsigned long long value, unsigned condition)
{
    unsigned long long *word = (unsigned long long *)(void *)(flags + 4);
    *word = now;
    if (is_long)
        OK(cuStreamWaitValue64(a, at(word), value, condition));
    else
        OK(cuStreamWaitValue32(a, at(word), (unsigned)value, condition));
    for (int i = 0; i < 200; i++) {
        if (cudaStreamQuery(a) == cudaSuccess) return true;
        usleep(100);
    }
    /* Values of which one passes. */
    *word = condition == CU_STREAM_WAIT_VALUE_NOR ? 0 : condition == CU_STREAM_WAIT_VALUE_AND ? ~0ull : value;
    CUDA_OK(cudaStreamSynchronize(a));
    return false;
}

static void conditions(cudaStream_t a)
{
    CHECK(passes(a, false, 5, 5, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(passes(a, false, 0x80000001u, 0x7fffffffu, CU_STREAM_WAIT_VALUE_GEQ)); /* around */
    CHECK(!passes(a, false, 4, 5, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(passes(a, false, 0x100000005ull, 5, CU_STREAM_WAIT_VALUE_EQ)); /* 32 bits only */
    CHECK(!passes(a, true, 0x100000005ull, 5, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(passes(a, true, 1ull << 40, 3ull << 40, CU_STREAM_WAIT_VALUE_AND));
    CHECK(!passes(a, true, 1ull << 40, 1, CU_STREAM_WAIT_VALUE_AND));
    CHECK(passes(a, true, ~0ull, 1ull << 63, CU_STREAM_WAIT_VALUE_GEQ)); /* -1 - min >= 0 */
    CHECK(!passes(a, true, 1, 2, CU_STREAM_WAIT_VALUE_GEQ));
    CHECK(passes(a, false, 0xf0f0f0f0u, 0x0f0f0f0eu, CU_STREAM_WAIT_VALUE_NOR));
    CHECK(!passes(a, false, 0xf0f0f0f0u, 0x0f0f0f0fu, CU_STREAM_WAIT_VALUE_NOR));
}

static void batches(cudaStream_t a, cudaStream_t b)
{
    CUstreamBatchMemOpParams ops[3] = {};
    flags[0] = flags[1] = 0;
    ops[0].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
    ops[0].waitValue.address = at(flags);
    ops[0].waitValue.value = 3;
    ops[0].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
    ops[1].operation = CU_STREAM_MEM_OP_BARRIER;
    ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    ops[2].writeValue.address = at(flags + 1);
    ops[2].writeValue.value = 4;
    OK(cuStreamBatchMemOp(a, 3, ops, 0));
    OK(cuStreamWriteValue32(b, at(flags), 3, CU_STREAM_WRITE_VALUE_DEFAULT));
    CUDA_OK(cudaStreamSynchronize(a));
    CHECK_EQ(flags[1], 4u);
    ops[0].operation = (CUstreamBatchMemOpType)99;
    FAILS(cuStreamBatchMemOp(a, 1, ops, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamBatchMemOp(a, 300, ops, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamBatchMemOp(a, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

int main(void)
{
    cudaStream_t a, b;
    cudaGraph_t graph;
    int is_there = 0;
    void *found = NULL;
    OK(cuInit(0));
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaHostAlloc((void **)&flags, 64, cudaHostAllocMapped));
    CUDA_OK(cudaMalloc(&data, 64));
    CUDA_OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cuDeviceGetAttribute(&is_there, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 0));
    CHECK_EQ(is_there, 1);
    OK(cuGetProcAddress("cuStreamWaitValue32", &found, 12000, 0, NULL));
    CHECK(found == (void *)cuStreamWaitValue32);
    between_streams(a, b);
    by_kernel(a, b);
    by_host(a);
    conditions(a);
    batches(a, b);
    FAILS(cuStreamWaitValue32(a, at(flags) + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitValue64(a, at(flags) + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWriteValue32(a, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitValue32(a, at(flags), 0, 9), CUDA_ERROR_INVALID_VALUE);
    FAILS(cuStreamWaitValue32(a, at(flags), 0, CU_STREAM_WAIT_VALUE_FLUSH), CUDA_ERROR_NOT_SUPPORTED);
    CUDA_OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    FAILS(cuStreamWaitValue32(a, at(flags), 0, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK(cudaStreamEndCapture(a, &graph) != cudaSuccess);
    (void)cudaGetLastError();
    CUDA_OK(cudaStreamDestroy(a));
    CUDA_OK(cudaStreamDestroy(b));
    CUDA_OK(cudaFree(data));
    CUDA_OK(cudaFreeHost(flags));
    return check_done();
}
