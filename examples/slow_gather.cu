/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread sums entries of a table at random places, so that nearly every look-up misses the TLB; `sorted` sorts
 * the places before.
 *     wpcc -O2 slow_gather.cu -o slow_gather && ./slow_gather && ./slow_gather sorted */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS (1 << 14)
#define SUM 16 /* entries of a thread */
#define ENTRIES (1 << 25)

__global__ void gather(const int *index, const float *table, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < SUM; k++)
        sum += table[index[k * THREADS + i]];
    out[i] = sum;
}

static int by_value(const void *a, const void *b) {
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

int main(int argc, char **argv) {
    static int chosen[SUM * THREADS];
    static float sums[THREADS];
    int *index;
    float *table, *out;
    unsigned random = 1;
    for (int i = 0; i < SUM * THREADS; i++)
        chosen[i] = (random = random * 1664525u + 1013904223u) >> 7;
    if (argc > 1 && strcmp(argv[1], "sorted") == 0)
        qsort(chosen, SUM * THREADS, sizeof(int), by_value);
    cudaMalloc(&index, sizeof chosen);
    cudaMalloc(&table, sizeof(float) * ENTRIES);
    cudaMalloc(&out, sizeof sums);
    cudaMemset(table, 0x3f, sizeof(float) * ENTRIES);
    cudaMemcpy(index, chosen, sizeof chosen, cudaMemcpyHostToDevice);
    gather<<<THREADS / 256, 256>>>(index, table, out);
    if (cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    double sum = 0;
    for (int i = 0; i < THREADS; i++)
        sum += sums[i];
    printf("sum %.0f\n", sum);
    return 0;
}
