// STAGE: compile
// EXIT: 1
// STDERR: local_array_too_large.cu:[0-9]*: local variables of k
// STDERR: 4194304 bytes.*512 KiB
/* SPDX-License-Identifier: Apache-2.0 */
/* More local memory than CUDA gives a thread. */
__global__ void k(int *out, int n)
{
    volatile int large[1 << 20];
    for (int i = 0; i < n; i++)
        large[i] = i;
    *out = large[n / 2];
}
int main(void) { return 0; }
