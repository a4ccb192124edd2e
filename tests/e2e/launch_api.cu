/* SPDX-License-Identifier: Apache-2.0 */
/* Launching by function: cudaLaunchKernel with arguments of every shape, kernels kept in pointers and
 * tables, templates by address, default arguments of the launch, kernels launched from functions. */
#include "check.h"

struct shape {
    double a;
    char b;
    int c[5];
};

__global__ void all_kinds(int *out, char c, double d, shape s, const float *f, unsigned long long u)
{
    out[threadIdx.x] = c + (int)d + (int)s.a + s.b + s.c[threadIdx.x % 5] + (int)f[threadIdx.x] + (int)u;
}
__global__ void plus(int *v) { v[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
__global__ void times(int *v) { v[blockIdx.x * blockDim.x + threadIdx.x] *= 3; }
template <int n> __global__ void add(int *v) { v[blockIdx.x * blockDim.x + threadIdx.x] += n; }
__global__ void nothing(void) {}
__global__ void dynamic_sum(int *out)
{
    extern __shared__ int tile[];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        for (unsigned i = 0; i < blockDim.x; i++)
            *out += tile[i];
}

typedef void (*kernel)(int *);

static void run(kernel k, int *v) { k<<<2, 32>>>(v); }

int main(void)
{
    int *out = check_managed<int>(64);
    float *f = check_managed<float>(64);
    char c = 5;
    double d = 6.5;
    shape s = {7.5, 8, {10, 20, 30, 40, 50}};
    unsigned long long u = 1000;
    for (int i = 0; i < 64; i++)
        f[i] = (float)(i * 100);
    void *args[] = {&out, &c, &d, &s, &f, &u};
    CUDA_OK(cudaLaunchKernel((const void *)all_kinds, dim3(1), dim3(64), args, 0, 0));
    out = out; /* arguments were read at the launch: changing them now does no harm */
    c = 99;
    s.c[0] = -1;
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        CHECK_EQ(out[i], 5 + 6 + 7 + 8 + (i % 5 + 1) * 10 + i * 100 + 1000);
    size_t offset = 0, size = 0;
    CUDA_OK(cudaFuncGetParamInfo((const void *)all_kinds, 3, &offset, &size));
    CHECK_EQ(offset, 24u);
    CHECK_EQ(size, sizeof(shape));
    CUDA_OK(cudaFuncGetParamInfo((const void *)all_kinds, 5, &offset, NULL));
    CHECK_EQ(offset, 24 + sizeof(shape) + 8);
    CHECK_EQ((int)cudaFuncGetParamInfo((const void *)all_kinds, 6, &offset, &size),
             (int)cudaErrorInvalidValue);
    CHECK_EQ((int)cudaFuncGetParamInfo((const void *)all_kinds, 0, NULL, &size),
             (int)cudaErrorInvalidValue);
    (void)cudaGetLastError();
    const kernel table[] = {plus, times, add<10>, add<-4>};
    memset(out, 0, 64 * sizeof(int));
    int e = 0;
    for (int i = 0; i < 12; i++) {
        run(table[i % 4], out);
        e = i % 4 == 0 ? e + 1 : i % 4 == 1 ? e * 3 : i % 4 == 2 ? e + 10 : e - 4;
    }
    KERNEL_OK();
    for (int i = 0; i < 64; i++)
        CHECK_EQ(out[i], e);
    nothing<<<3, 3>>>();
    KERNEL_OK();
    void *no_args[1] = {NULL};
    CUDA_OK(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1), no_args, 0, NULL));
    *out = 0;
    void *sum_args[] = {&out};
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaLaunchKernel(dynamic_sum, dim3(1), dim3(100), sum_args, 100 * sizeof(int), stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CHECK_EQ(*out, 4950);
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
