/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads that depend on one another, timed by the GPU's own clock: what translation adds to a load.
 *
 *     chase NAME=STRIDE*COUNT …          cycles a load, a second round over COUNT places STRIDE apart, more
 *                                        than over as many cache lines in a row
 *     chase NAME=STRIDE<CYCLES …         the largest COUNT that takes less than CYCLES more
 *
 * One thread; loads that L1 does not keep. Prints "NAME value" lines.
 */
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 128u

#define CUDA_OK(call)                                                                              \
    do {                                                                                           \
        cudaError_t error = (call);                                                                \
        if (error != cudaSuccess) {                                                                \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error));                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Each place holds the distance to the next one, and the last one that back to the first. */
__global__ void link_places(char *memory, uint64_t stride, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        *(uint64_t *)(memory + i * stride) = i + 1 < count ? stride : 0 - (count - 1) * stride;
}

static __device__ uint64_t load(const char *place) {
    uint64_t value;
    asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
    return value;
}

__global__ void chase(const char *place, uint32_t count, long long *cycles, const char **end) {
    for (uint32_t i = 0; i < count; i++)
        place += load(place);
    if (place == NULL) *end = place; /* never: but now it is known */
    const long long start = clock64();
    for (uint32_t i = 0; i < count; i++)
        place += load(place);
    if (place == NULL) *end = place;
    cycles[0] = clock64() - start;
    *end = place;
}

static char *memory;
static uint64_t memory_bytes;

static double cycles_a_load(uint64_t stride, uint32_t count) {
    static long long *cycles;
    static const char **end;
    if (cycles == NULL) CUDA_OK(cudaMalloc((void **)&cycles, sizeof *cycles));
    if (end == NULL) CUDA_OK(cudaMalloc((void **)&end, sizeof *end));
    if (stride * count > memory_bytes) {
        CUDA_OK(cudaFree(memory));
        memory_bytes = stride * count;
        CUDA_OK(cudaMalloc((void **)&memory, memory_bytes));
    }
    link_places<<<1, 1>>>(memory, stride, count);
    chase<<<1, 1>>>(memory, count, cycles, end);
    long long taken;
    CUDA_OK(cudaMemcpy(&taken, cycles, sizeof taken, cudaMemcpyDeviceToHost));
    return (double)taken / count;
}

static double added_cycles(uint64_t stride, uint32_t count) {
    return cycles_a_load(stride, count) - cycles_a_load(LINE_BYTES, count);
}

static uint32_t entries_of(uint64_t stride, double limit_cycles) {
    uint32_t fits = 1, misses = 2;
    while (added_cycles(stride, misses) < limit_cycles) {
        fits = misses;
        misses *= 2;
        if (misses > 1u << 16) return fits;
    }
    while (misses - fits > 1) {
        const uint32_t middle = fits + (misses - fits) / 2;
        if (added_cycles(stride, middle) < limit_cycles)
            fits = middle;
        else
            misses = middle;
    }
    return fits;
}

static uint64_t bytes_of(const char *text, char **end) {
    uint64_t bytes = strtoull(text, end, 10);
    if (strncmp(*end, "KiB", 3) == 0) bytes <<= 10;
    if (strncmp(*end, "MiB", 3) == 0) bytes <<= 20;
    if (strncmp(*end, "KiB", 3) == 0 || strncmp(*end, "MiB", 3) == 0) *end += 3;
    return bytes;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '=');
        char *end = argv[i];
        const uint64_t stride = equals != NULL ? bytes_of(equals + 1, &end) : 0;
        const double number = strtod(end + 1, NULL);
        if (stride == 0 || number < 1.0 || (*end != '*' && *end != '<')) {
            fprintf(stderr, "chase: '%s' is neither NAME=STRIDE*COUNT nor NAME=STRIDE<CYCLES\n",
                    argv[i]);
            return 2;
        }
        const double value = *end == '*' ? added_cycles(stride, (uint32_t)number)
                                         : (double)entries_of(stride, number);
        printf("%.*s %g\n", (int)(equals - argv[i]), argv[i], value);
    }
    return 0;
}
