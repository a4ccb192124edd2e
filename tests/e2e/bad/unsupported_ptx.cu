// STAGE: compile
// FLAGS: -arch=sm_90
// EXIT: 1
// STDERR: inline PTX
// STDERR: tcgen05\.wait
/* SPDX-License-Identifier: Apache-2.0 */
/* A real instruction of tensor cores, for warp groups, which the CPU device lacks. */
__global__ void the_kernel(unsigned *a, float *d)
{
    asm volatile("tcgen05.wait::ld.sync.aligned;");
    d[0] = (float)a[0];
}
int main(void) { return 0; }
