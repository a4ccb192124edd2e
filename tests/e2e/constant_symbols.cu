/* SPDX-License-Identifier: Apache-2.0 */
/* Constant memory and symbol copies: to and from, with offsets, in every direction, asynchronous;
 * addresses and sizes of symbols; 64 KiB of constants. */
#include "check.h"

struct config {
    int n;
    float weights[7];
    double scale;
};

__constant__ config settings;
__constant__ int lookup[4096];
__constant__ unsigned char full[40000];
__device__ int values[100];
__device__ float single = 1.5f;
static __device__ config device_settings;

__global__ void use(float *out)
{
    int t = threadIdx.x;
    out[t] = (float)(settings.n + settings.weights[t % 7] + settings.scale + lookup[t * 16] + full[t * 300]);
    values[t] += t;
    if (t == 0) {
        single *= 2;
        device_settings = settings;
        device_settings.n++;
    }
}

int main(void)
{
    config c = {10, {1, 2, 3, 4, 5, 6, 7}, 0.5}, back;
    int table[4096], host[100];
    unsigned char *bytes = new unsigned char[40000];
    for (int i = 0; i < 4096; i++)
        table[i] = i * 2;
    for (int i = 0; i < 40000; i++)
        bytes[i] = (unsigned char)(i / 300);
    CUDA_OK(cudaMemcpyToSymbol(settings, &c, sizeof c));
    CUDA_OK(cudaMemcpyToSymbol(lookup, table, sizeof table));
    CUDA_OK(cudaMemcpyToSymbol(full, bytes, 40000, 0, cudaMemcpyHostToDevice));
    for (int i = 0; i < 100; i++)
        host[i] = 1000 + i;
    CUDA_OK(cudaMemcpyToSymbol(values, host, 50 * sizeof(int), 50 * sizeof(int))); /* the second half */
    float *out = check_managed<float>(100);
    use<<<1, 100>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 100; t++)
        CHECK_EQ(out[t], 10 + (t % 7 + 1) + 0.5f + t * 32 + t);
    CUDA_OK(cudaMemcpyFromSymbol(host, values, sizeof host));
    for (int i = 0; i < 100; i++)
        CHECK_EQ(host[i], (i < 50 ? 0 : 1000 + i - 50) + i);
    float f = 0;
    CUDA_OK(cudaMemcpyFromSymbol(&f, single, sizeof f));
    CHECK_EQ(f, 3.0f);
    CUDA_OK(cudaMemcpyFromSymbol(&back, device_settings, sizeof back));
    CHECK_EQ(back.n, 11);
    CHECK_EQ(back.weights[6], 7.0f);
    CHECK_EQ(back.scale, 0.5);
    CUDA_OK(cudaMemcpyFromSymbol(&f, settings, sizeof f, 4 + 3 * 4)); /* weights[3] */
    CHECK_EQ(f, 4.0f);

    int *address = NULL;
    size_t size = 0;
    CUDA_OK(cudaGetSymbolAddress((void **)&address, values));
    CUDA_OK(cudaGetSymbolSize(&size, values));
    CHECK_EQ(size, sizeof(int) * 100);
    CUDA_OK(cudaMemset(address, 0, size));
    use<<<1, 100>>>(out);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(host, address, size, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 100; i++)
        CHECK_EQ(host[i], i);
    CUDA_OK(cudaGetSymbolSize(&size, full));
    CHECK_EQ(size, (size_t)40000);

    int *device_table;
    CUDA_OK(cudaMalloc(&device_table, sizeof table));
    CUDA_OK(cudaMemcpyFromSymbol(device_table, lookup, sizeof table, 0, cudaMemcpyDeviceToDevice));
    CUDA_OK(cudaMemset(device_table, 0, 16 * sizeof(int)));
    CUDA_OK(cudaMemcpyToSymbol(lookup, device_table, sizeof table, 0, cudaMemcpyDeviceToDevice));
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    c.n = 20;
    CUDA_OK(cudaMemcpyToSymbolAsync(settings, &c.n, sizeof c.n, 0, cudaMemcpyHostToDevice, stream));
    use<<<1, 100, 0, stream>>>(out);
    CUDA_OK(cudaMemcpyFromSymbolAsync(&back, device_settings, sizeof back, 0, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(back.n, 21);
    for (int t = 0; t < 100; t++)
        CHECK_EQ(out[t], 20 + (t % 7 + 1) + 0.5f + (t == 0 ? 0 : t * 32) + t);
    CUDA_OK(cudaStreamDestroy(stream));
    CHECK_ERROR(cudaMemcpyToSymbol(values, host, sizeof host + 4), cudaErrorInvalidValue);
    int not_a_symbol;
    CHECK_ERROR(cudaMemcpyToSymbol((const void *)&not_a_symbol, host, 4), cudaErrorInvalidSymbol);
    return check_done();
}
