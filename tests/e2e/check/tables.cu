/* SPDX-License-Identifier: Apache-2.0 */
/* Constants that hold addresses of variables, of each kind; the last line is PASS. */
#include <stdio.h>

struct entry {
    int n;
    int *target;
};

__device__ int a = 1, b[4] = {2, 3, 4, 5};
__managed__ int m = 6, n = 7;
static __device__ int *const table[] = {&a, &b[2], nullptr};
static __constant__ const entry entries[2][2] = {{{0, &a}, {1, b}}, {{2, &b[3]}, {3, nullptr}}};
__device__ int *through[] = {&a, b};
__device__ int *const *indirect = table;

__device__ int *choose(int i)
{
    static int *const places[] = {b + 1, &a};
    return places[i];
}

__global__ void add(int zero)
{
    for (int i = 0; table[i + zero]; i++)
        *table[i + zero] += 10;
    for (int i = 0; i < 3; i++)
        *entries[i / 2][(i + zero) % 2].target += 100;
    for (int i = 0; i < 2; i++)
        *through[i + zero] += 1000;
    *indirect[zero + 1] += 10000;
    *choose(zero) += 100000;
    *choose(zero + 1) += 1000000;
}

/* One block of the kernel, several ways into the join. */
__global__ void pick(int s)
{
    int *p;
    switch (s) {
    case 0: p = &m; break;
    case 1: p = &a; break;
    case 2: p = &n; break;
    case 3: p = &m; break;
    case 4: p = &b[3]; break;
    default: p = &n;
    }
    *p += s;
}

int main()
{
    int got[5];
    add<<<1, 1>>>(0);
    pick<<<1, 1>>>(3);
    pick<<<1, 1>>>(8);
    pick<<<1, 1>>>(4);
    cudaMemcpyFromSymbol(got, a, sizeof(int));
    cudaMemcpyFromSymbol(got + 1, b, sizeof b);
    const int expected[] = {1 + 10 + 100 + 1000 + 1000000, 2 + 100 + 1000, 3 + 100000, 4 + 10 + 10000, 5 + 100 + 4};
    for (int i = 0; i < 5; i++)
        if (got[i] != expected[i])
            return printf("%d: %d is not %d\n", i, got[i], expected[i]);
    if (m != 9 || n != 15)
        return printf("managed: %d %d\n", m, n);
    puts("PASS");
}
