/* SPDX-License-Identifier: Apache-2.0 */
/* Passes buffers round a ring of all devices, each of which adds to them.    wpcc ring.cu -o ring && ./ring */
#include <cuda_runtime.h>
#include <stdio.h>

#define DEVICES_MAX 16
#define N (1 << 20)

__global__ void add(int *data, int value) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += value;
}

static int host[N];

int main() {
    int devices = 0, wrong = 0;
    int *own[DEVICES_MAX], *inbox[DEVICES_MAX];
    cudaGetDeviceCount(&devices);
    for (int d = 0; d < devices; d++) {
        cudaSetDevice(d);
        if (devices > 1) cudaDeviceEnablePeerAccess((d + 1) % devices, 0);
        cudaMalloc((void **)&own[d], sizeof host);
        cudaMalloc((void **)&inbox[d], sizeof host);
        cudaMemset(own[d], 0, sizeof host);
    }
    for (int round = 0; round < devices; round++) {
        for (int d = 0; d < devices; d++) { /* on all devices at the same time */
            cudaSetDevice(d);
            add<<<N / 256, 256>>>(own[d], d + 1);
        }
        for (int d = 0; d < devices; d++) {
            int next = (d + 1) % devices;
            cudaMemcpyPeer(inbox[next], next, own[d], d, sizeof host);
        }
        for (int d = 0; d < devices; d++) {
            int *full = inbox[d];
            inbox[d] = own[d];
            own[d] = full;
        }
    }
    for (int d = 0; d < devices; d++) {
        cudaMemcpy(host, own[d], sizeof host, cudaMemcpyDefault);
        for (int i = 0; i < N; i++)
            wrong += host[i] != devices * (devices + 1) / 2;
    }
    printf("%d devices, %d numbers, %d wrong\n", devices, devices * N, wrong);
    return wrong != 0 || cudaGetLastError() != cudaSuccess;
}
