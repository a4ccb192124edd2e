/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that never end, by name (deadlock.sh); and one that does, after others have waited for long. */
// DEVICES: sim:k80
#include "../check.h"
#include <unistd.h>

__global__ void flag(volatile int *f)
{
    if (threadIdx.x == 0)
        while (f[0] == 0) /* nobody sets it */
            ;
    __syncthreads();
}

__global__ void lock(int *l)
{
    while (atomicCAS(l, 0, 1) != 0) /* never unlocked */
        ;
}

__global__ void barrier(volatile int *f)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;"); /* half of them */
    else
        asm volatile("bar.sync 2, 64;");
    f[threadIdx.x] = 1;
}

__global__ void open_barrier(volatile int *f, int number)
{
    asm volatile("bar.sync %0, 64;" ::"r"(threadIdx.x / 32 + number) : "memory");
    f[threadIdx.x] = 1;
}

__global__ void grid(int *arrived) /* not all of its blocks can be there */
{
    atomicAdd(arrived, 1);
    while (*(volatile int *)arrived < (int)(gridDim.x * blockDim.x))
        ;
}

__global__ void shuffle(int *x)
{
    if (threadIdx.x < 16)
        x[0] = __shfl_sync(0xffffffff, x[threadIdx.x], 0);
    else
        while (*(volatile int *)&x[1] == 0)
            ;
}

__global__ void long_work(volatile int *f, int rounds)
{
    if (blockIdx.x == 1) {
        int sum = 0;
        for (int i = 0; i < rounds; i++)
            sum += f[1 + i % 64];
        f[0] = 1 + sum;
    }
    while (f[0] == 0)
        ;
}

__global__ void await_host(volatile int *f)
{
    while (f[0] == 0)
        ;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "long_work";
    int *f = check_managed<int>(4096);
    if (strcmp(name, "flag") == 0)
        flag<<<2, 64>>>(f);
    else if (strcmp(name, "lock") == 0)
        lock<<<2, 64>>>(f);
    else if (strcmp(name, "barrier") == 0)
        barrier<<<1, 64>>>(f);
    else if (strcmp(name, "open_barrier") == 0)
        open_barrier<<<1, 64>>>(f, 3);
    else if (strcmp(name, "grid") == 0)
        grid<<<2000, 32>>>(f);
    else if (strcmp(name, "shuffle") == 0)
        shuffle<<<1, 32>>>(f);
    else if (strcmp(name, "host") == 0) {
        await_host<<<1, 1>>>(f);
        usleep(1200000); /* longer than the patience; the kernel waits for the host, not in vain */
        *(volatile int *)f = 1;
    } else
        long_work<<<2, 1>>>(f, 100000);
    KERNEL_OK();
    CHECK_EQ(f[0], 1);
    return check_done();
}
