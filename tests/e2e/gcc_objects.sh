# SPDX-License-Identifier: Apache-2.0
# Objects of plain gcc and g++ that include cuda_runtime.h, linked with objects of wpcc, by wpcc and by gcc itself.
set -e
cd "$TMP"
cuda=$(cd "$(dirname "$WPCC")/../lib/warpage/cuda" && pwd)
cat >host.c <<'END'
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
void scale(float *data, int n, float factor);
int main(void)
{
    float *data = malloc(100 * sizeof *data), *device = NULL;
    struct cudaDeviceProp prop;
    dim3 shape = {1, 2, 3};
    cudaStream_t stream;
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess || shape.y != 2) return 2;
    if (cudaStreamCreate(&stream) != cudaSuccess) return 2;
    for (int i = 0; i < 100; i++)
        data[i] = (float)i;
    if (cudaMalloc((void **)&device, 400) != cudaSuccess) return 2;
    cudaMemcpyAsync(device, data, 400, cudaMemcpyHostToDevice, stream);
    cudaStreamSynchronize(stream);
    scale(device, 100, 2.5f);
    cudaError_t error = cudaMemcpy(data, device, 400, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) { printf("FAIL: %s\n", cudaGetErrorString(error)); return 1; }
    for (int i = 0; i < 100; i++)
        if (data[i] != i * 2.5f) { printf("FAIL: expected %g, got %g\n", i * 2.5f, data[i]); return 1; }
    float4 v = make_float4(1, 2, 3, 4);
    printf(v.w == 4 ? "PASS\n" : "FAIL: make_float4\n");
    return 0;
}
END
sed 's/malloc(100/(float *)malloc(100/; s/^void scale/extern "C" void scale/' host.c >hostxx.cpp
cat >scale.cu <<'END'
__global__ void multiply(float *data, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= factor;
}
extern "C" void scale(float *data, int n, float factor) { multiply<<<(n + 31) / 32, 32>>>(data, n, factor); }
END
passes() { [ "$("$1" | tail -n 1)" = PASS ] || { echo "$1: $("$1")"; exit 1; }; }
gcc -c -I"$cuda/include" host.c -o host.o
g++ -c -I"$cuda/include" hostxx.cpp -o hostxx.o
"$WPCC" -c scale.cu -o scale.o
"$WPCC" host.o scale.o -o one && passes ./one
"$WPCC" hostxx.o scale.o -lm -lstdc++ -o two && passes ./two
"$WPCC" host.c scale.cu -o three && passes ./three
"$WPCC" hostxx.cpp scale.o -o four && passes ./four
export LD_LIBRARY_PATH="$cuda/lib64"
gcc host.o scale.o -o five -L"$cuda/lib64" -lcudart -lstdc++ -lm && passes ./five
g++ hostxx.o scale.o -o six -L"$cuda/lib64" -lcudart && passes ./six
# in a shared library
"$WPCC" -shared -Xcompiler -fPIC scale.cu -o libscale.so
"$WPCC" host.o -L. -lscale -Xlinker -rpath -Xlinker "$TMP" -o seven && passes ./seven
