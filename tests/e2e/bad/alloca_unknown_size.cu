// STAGE: compile
// EXIT: 1
// STDERR: alloca
// STDERR: kernel
/* SPDX-License-Identifier: Apache-2.0 */
/* Local memory of a size that only the running thread knows. */
__global__ void k(int *out, int n)
{
    int *p = (int *)__builtin_alloca(n * sizeof(int));
    for (int i = 0; i < n; i++)
        p[i] = i;
    *out = p[n / 2];
}
int main(void)
{
    k<<<1, 1>>>(0, 4);
    return 0;
}
