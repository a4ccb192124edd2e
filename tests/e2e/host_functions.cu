/* SPDX-License-Identifier: Apache-2.0 */
/* Host functions and callbacks in streams: run in order between kernels, with their argument. */
#include "check.h"

struct log_entry {
    int *device_value;
    int seen[20];
    int count;
};

__global__ void add_one(int *v) { *v += 1; }

static void CUDART_CB record(void *arg)
{
    log_entry *log = (log_entry *)arg;
    log->seen[log->count++] = *log->device_value;
}

static void CUDART_CB callback(cudaStream_t stream, cudaError_t status, void *arg)
{
    log_entry *log = (log_entry *)arg;
    log->seen[log->count++] = status == cudaSuccess && stream != NULL ? -*log->device_value : 0;
}

int main(void)
{
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    log_entry log;
    memset(&log, 0, sizeof log);
    CUDA_OK(cudaHostAlloc((void **)&log.device_value, 4, cudaHostAllocMapped));
    *log.device_value = 0;
    for (int i = 0; i < 10; i++) {
        add_one<<<1, 1, 0, stream>>>(log.device_value);
        CUDA_OK(i % 3 ? cudaLaunchHostFunc(stream, record, &log) : cudaStreamAddCallback(stream, callback, &log, 0));
    }
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(log.count, 10);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(log.seen[i], i % 3 ? i + 1 : -(i + 1));
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
