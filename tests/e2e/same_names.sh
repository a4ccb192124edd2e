# SPDX-License-Identifier: Apache-2.0
# Two files with static kernels, variables, shared memory and inline functions of the same names: each keeps its own,
# with and without -rdc.
set -e
cd "$TMP"
for n in 1 2; do
    cat >part$n.cu <<END
static __device__ int offset = $n * 100;
static __constant__ int factor = $n;
template <class T> static __device__ T twist(T x) { return x * factor + $n; }
__host__ __device__ inline int same_everywhere(int x) { return x * 2; }
static __global__ void kernel(int *out)
{
    __shared__ int tile[32 * $n];
    tile[threadIdx.x] = twist((int)threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = tile[31 - threadIdx.x] + offset + same_everywhere(1000);
    __syncthreads();
    if (threadIdx.x == 0) offset++;
}
void run_part$n(int *out) { kernel<<<1, 32>>>(out); }
int offset_of_part$n(void)
{
    int value = -1;
    cudaMemcpyFromSymbol(&value, offset, sizeof value);
    return value;
}
END
done
cat >main.cu <<'END'
#include <stdio.h>
void run_part1(int *);
void run_part2(int *);
int offset_of_part1(void);
int offset_of_part2(void);
static __global__ void kernel(int *out) { out[threadIdx.x] = -1; }
int main(void)
{
    int *out;
    cudaMallocManaged((void **)&out, 32 * 4);
    for (int round = 0; round < 2; round++)
        for (int n = 1; n <= 2; n++) {
            kernel<<<1, 32>>>(out);
            (n == 1 ? run_part1 : run_part2)(out);
            if (cudaDeviceSynchronize() != cudaSuccess) return 2;
            int offset = n == 1 ? offset_of_part1() : offset_of_part2();
            if (offset != n * 100 + round + 1) { printf("FAIL: offset %d of part %d\n", offset, n); return 1; }
            for (int t = 0; t < 32; t++) {
                int e = (31 - t) * n + n + n * 100 + 2000 + round;
                if (out[t] != e) { printf("FAIL: part %d: expected %d, got %d\n", n, e, out[t]); return 1; }
            }
        }
    printf("PASS\n");
    return 0;
}
END
for rdc in false true; do
    "$WPCC" -rdc=$rdc -c part1.cu -o part1.o
    "$WPCC" -rdc=$rdc -c part2.cu -o part2.o
    "$WPCC" -rdc=$rdc -c main.cu -o main.o
    "$WPCC" -rdc=$rdc part1.o part2.o main.o -o program
    last=$(./program | tail -n 1)
    [ "$last" = PASS ] || { echo "-rdc=$rdc: $last"; exit 1; }
done
