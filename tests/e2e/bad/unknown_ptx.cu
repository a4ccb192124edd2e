// STAGE: compile
// EXIT: 1
// STDERR: inline PTX
// STDERR: frobnicate\.u32
// STDERR: the_kernel
/* SPDX-License-Identifier: Apache-2.0 */
/* An inline PTX instruction that does not exist (or is not known): its name and the kernel. */
__global__ void the_kernel(unsigned *out)
{
    unsigned v;
    asm volatile("frobnicate.u32 %0, %1;" : "=r"(v) : "r"(threadIdx.x));
    *out = v;
}
int main(void) { return 0; }
