// STAGE: compile
// FLAGS: -arch=sm_80
// EXIT: 1
// STDERR: inline PTX
// STDERR: mma\.sync
/* SPDX-License-Identifier: Apache-2.0 */
/* A real instruction of tensor cores, which the CPU device lacks. */
__global__ void the_kernel(unsigned *a, float *d)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]));
}
int main(void) { return 0; }
