/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses whose pages are known (page_history.sh): each of 64 pages of `from` is read 32 times, each of `to` written
 * 32 times; then a warp across the border of two pages, and one whose lanes have a page each. */
// DEVICES: sim:gtx1080ti
#include "../check.h"

enum { PAGE_WORDS = 1024, PAGES = 64, WORDS = PAGES * PAGE_WORDS };

__global__ void copy_all(const int *from, int *to)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i];
}

__global__ void across(int *to)
{
    to[5 * PAGE_WORDS - 16 + threadIdx.x] = 1;
}

__global__ void a_page_each(const int *from, int *out)
{
    if (from[threadIdx.x * PAGE_WORDS] == -1) *out = 1;
}

int main(int count, char **arguments)
{
    int *from, *to, *left, *out;
    CUDA_OK(cudaMalloc((void **)&out, sizeof *out));
    if (count > 1 && strcmp(arguments[1], "none") == 0) {
        a_page_each<<<1, 1>>>(out, out);
        CUDA_OK(cudaDeviceSynchronize());
        return check_done();
    }
    CUDA_OK(cudaMallocManaged((void **)&from, sizeof *from * WORDS));
    CUDA_OK(cudaMallocManaged((void **)&to, sizeof *to * WORDS));
    CUDA_OK(cudaMallocManaged((void **)&left, sizeof *left * WORDS));
    for (int i = 0; i < WORDS; i++)
        from[i] = i;
    copy_all<<<WORDS / 256, 256>>>(from, to);
    across<<<1, 32>>>(to);
    a_page_each<<<1, 32>>>(from, out);
    CUDA_OK(cudaDeviceSynchronize());
    left[0] = to[WORDS - 1];
    CHECK(left[0] == WORDS - 1);
    return check_done();
}
