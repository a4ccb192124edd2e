#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Host work of queues and host threads is part of a trace: a replay takes the simulated time of the program.
set -eu
cd "$TMP"
cat >work.cu <<'END'
#include <warpage/cudart.h>
#include <warpage/host.h>
__global__ void add(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
int main()
{
    const size_t bytes = 1 << 22;
    wp_error err = WP_ERROR_INIT;
    float *host, *x;
    cudaStream_t s;
    cudaMallocHost(&host, bytes);
    cudaMalloc(&x, bytes);
    cudaStreamCreate(&s);
    const wp_host_work gather = {bytes, bytes, WP_HOST_RANDOM, 16, 2}, fill = {0, bytes};
    if (wp_device_host_work(wp_cudart_device(), &fill, &err)) return 1;
    for (int i = 0; i < 3; i++) {
        if (wp_queue_host_work(wp_cudart_queue(s), &gather, &err)) return 1;
        cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, s);
        add<<<bytes / 4 / 256, 256, 0, s>>>(x);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
END
"$WPCC" -O2 work.cu -o work
gpu=sim:gtx680@xeon-e5-quad
"$WARPAGE" run --device $gpu --report run.json -- ./work
"$WARPAGE" trace record --device $gpu -o work.wpt -- ./work 2>/dev/null
"$WARPAGE" trace replay --device $gpu --report replay.json work.wpt
"$WARPAGE" trace replay --device sim:gtx680 --report free.json work.wpt
time_of() { sed -n 's/.*"simulated_time_ns": *\([0-9]*\).*/\1/p' "$1" | head -n 1; }
[ "$(time_of run.json)" = "$(time_of replay.json)" ] || {
    echo "run $(time_of run.json) ns, replay $(time_of replay.json) ns"
    exit 1
}
# 4 MiB written at 12.8 GB/s twice, then three gathers of 2^18 misses by two cores: over 3.8 ms
[ "$(time_of run.json)" -gt $(($(time_of free.json) + 3800000)) ] || {
    echo "with a host $(time_of run.json) ns, without $(time_of free.json) ns"
    exit 1
}
