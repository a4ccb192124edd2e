/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA engine: device memory, and the table of cases. */
#include "device.h"

bench_device device;

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) bench_fail("%s: %s", what, cudaGetErrorString(error));
}

void device_set(void *memory, int byte, size_t bytes) {
    check(cudaMemset(memory, byte, bytes), "cudaMemset");
}

void device_write(void *memory, const void *from, size_t bytes) {
    check(cudaMemcpy(memory, from, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
}

void device_read(void *to, const void *memory, size_t bytes) {
    check(cudaMemcpy(to, memory, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
}

void device_wait(void) {
    check(cudaGetLastError(), "launch");
    check(cudaDeviceSynchronize(), "kernel");
}

extern "C" void engine_open(const bench_data *data) {
    device.n = data->n;
    size_t largest = data->output_bytes;
    for (int i = 0; i < BENCH_INPUTS; i++) {
        const size_t bytes = data->input_bytes[i];
        if (bytes == 0) continue;
        check(cudaMalloc(&device.input[i], bytes), "cudaMalloc");
        device_write(device.input[i], data->input[i], bytes);
        if (bytes > largest) largest = bytes;
    }
    check(cudaMalloc(&device.output, data->output_bytes), "cudaMalloc");
    device.output_bytes = data->output_bytes;
    for (int i = 0; i < 2; i++) {
        check(cudaMalloc(&device.scratch[i], largest), "cudaMalloc");
    }
    device_wait();
}

extern "C" void engine_fetch(const bench_data *data) {
    device_read(data->output, device.output, data->output_bytes);
}

extern "C" const bench_case *engine_cases[] = {
    &empty_case,     &vecadd_case,  &sigmoid_case,          &gather_case,
    &reduction_case, &softmax_case, &histogram_shared_case, &histogram_global_case,
    &sgemm_case,     &bfs_case,     &bfs_queue_case,        NULL};
