// STAGE: compile
// EXIT: 1
// STDERR: computed_goto.cu:11: computed goto in k
// STDERR: use switch
/* SPDX-License-Identifier: Apache-2.0 */
/* A jump to an address, which CUDA does not have. Which line it is at, and in which kernel. */
__global__ void k(int *out, int n)
{
    static const void *const places[] = {&&five, &&ten};
    int sum = 0;
    goto *places[n & 1];
five:
    sum += 5;
ten:
    sum += 10;
    *out = sum;
}
int main(void) { return 0; }
