// STAGE: run
// EXIT: 1
// STDERR: kernel half, block \([01],0,0\): all threads that can run wait at the barrier of their cluster, where others have not arrived
// In one block of a cluster half of the threads never arrive.
#include <cooperative_groups.h>
#include <cstdio>

__global__ void __cluster_dims__(2, 1, 1) half() {
    if (blockIdx.x == 1 && threadIdx.x >= 32) asm volatile("bar.sync 1, 96;");
    cooperative_groups::this_cluster().sync();
}

int main() {
    half<<<2, 64>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
