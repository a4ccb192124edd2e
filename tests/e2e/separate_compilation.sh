# SPDX-License-Identifier: Apache-2.0
# Device functions, variables and kernels across files: -dc and link, -rdc=true in one go, -dlink and the
# host's own linker, a static library of device code.
set -e
cd "$TMP"
cat >shared.h <<'END'
struct item { int key; float value; };
extern __device__ int total;
extern __constant__ float weights[4];
extern __device__ struct item items[8];
__device__ float weigh(struct item it, int n);
typedef float (*weigher)(struct item it, int n);
extern __device__ weigher chosen;
template <class T> __device__ T doubled(T x) { return x + x; }
__global__ void fill(int n);
int run_elsewhere(int n);
END
cat >library.cu <<'END'
#include "shared.h"
__device__ int total = 100;
__constant__ float weights[4] = {1, 2, 4, 8};
__device__ struct item items[8];
static __device__ float scale(float x) { return doubled(x) * 0.25f; }
__device__ weigher chosen = weigh;
__device__ float weigh(struct item it, int n) { return scale(it.value * weights[n % 4]); }
END
cat >kernels.cu <<'END'
#include "shared.h"
static __device__ float scale(float x) { return x * 100; }
__global__ void fill(int n)
{
    int i = threadIdx.x;
    items[i].key = i * n;
    items[i].value = doubled(scale(i)) / 100;
    atomicAdd(&total, i);
}
int run_elsewhere(int n)
{
    fill<<<1, 8>>>(n);
    return cudaDeviceSynchronize() == cudaSuccess;
}
END
cat >main.cu <<'END'
#include <stdio.h>
#include "shared.h"
__global__ void use(float *out) { out[threadIdx.x] = (threadIdx.x % 2 ? chosen : weigh)(items[threadIdx.x], threadIdx.x) + items[threadIdx.x].key; }
int main(void)
{
    float *d, out[8];
    int t = 0;
    const float w[4] = {1, 2, 4, 8}, other[4] = {3, 3, 3, 3};
    cudaMalloc((void **)&d, sizeof out);
    for (int round = 0; round < 2; round++) {
        if (!run_elsewhere(7)) return 2;
        if (round) cudaMemcpyToSymbol(weights, other, sizeof other);
        use<<<1, 8>>>(d);
        if (cudaMemcpy(out, d, sizeof out, cudaMemcpyDeviceToHost) != cudaSuccess) return 3;
        for (int i = 0; i < 8; i++) {
            float e = i * 2 * (round ? other : w)[i % 4] * 0.5f + i * 7;
            if (out[i] != e) { printf("FAIL: round %d, out[%d]: expected %g, got %g\n", round, i, e, out[i]); return 1; }
        }
    }
    if (cudaMemcpyFromSymbol(&t, total, sizeof t) != cudaSuccess || t != 156) { printf("FAIL: total: expected 156, got %d\n", t); return 1; }
    printf("PASS\n");
    return 0;
}
END
passes() { # program
    for workers in 1 2; do
        last=$(WARPAGE_WORKERS=$workers "$1" | tail -n 1)
        [ "$last" = PASS ] || { echo "$1 with $workers workers: $last"; exit 1; }
    done
}
"$WPCC" -dc main.cu -o main.o
"$WPCC" -dc kernels.cu
"$WPCC" -rdc=true -c library.cu -o library.o
"$WPCC" main.o kernels.o library.o -o linked
passes ./linked
"$WPCC" -rdc=true main.cu kernels.cu library.cu -o at_once
passes ./at_once
"$WPCC" -arch=sm_70 -dlink main.o kernels.o library.o -o device.o
g++ main.o kernels.o library.o device.o -o by_hand -L"$(dirname "$WPCC")/../lib/warpage/cuda/lib64" -lcudart \
    -Wl,-rpath,"$(cd "$(dirname "$WPCC")/../lib" && pwd)"
passes ./by_hand
ar rc libdevice_parts.a kernels.o library.o
"$WPCC" -rdc=true main.cu -L. -ldevice_parts -o with_archive
passes ./with_archive

# what one file lacks is named
if "$WPCC" -rdc=true main.cu kernels.cu -o incomplete 2>errors; then
    echo "a missing device function was not noticed"
    exit 1
fi
grep -q 'weigh' errors || { cat errors; exit 1; }
[ ! -e incomplete ]
