// STAGE: compile
// EXIT: 1
// STDERR: long_double\.cu:[0-9]+
// STDERR: long double
/* SPDX-License-Identifier: Apache-2.0 */
/* long double has no meaning in kernels: 8 bytes on a GPU, 16 on the host. */
struct pair { int a; long double b; };
__global__ void k(pair p, double *out)
{
    long double x = p.b;
    *out = (double)(x * 2);
}
int main(void)
{
    pair p = {1, 2.0L};
    k<<<1, 1>>>(p, 0);
    return 0;
}
