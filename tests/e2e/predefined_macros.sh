# SPDX-License-Identifier: Apache-2.0
# The macros that programs test: __NVCC__, __CUDACC__, __CUDA_ARCH__ by -arch, CUDART_VERSION and the compiler's version.
set -e
cd "$TMP"
cat >macros.cu <<'END'
#include <cuda_runtime.h>
#include <stdio.h>
#ifndef __CUDACC__
#error __CUDACC__
#endif
#ifndef __NVCC__
#error __NVCC__
#endif
#if __CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10 != CUDART_VERSION
#error versions differ
#endif
#ifdef __CUDA_ARCH__
#define SIDE 1
#else
#define SIDE 2
#endif
__host__ __device__ int side(void) { return SIDE; }
__global__ void arch(int *out)
{
#ifdef __CUDA_ARCH__
    out[0] = __CUDA_ARCH__;
#endif
    out[1] = side();
}
int main(void)
{
    int *out;
    cudaMallocManaged((void **)&out, 8);
    arch<<<1, 1>>>(out);
    cudaDeviceSynchronize();
    printf("%d %d %d\n", out[0], out[1], side());
    return 0;
}
END
for arch in 70 75 80 90; do
    "$WPCC" -arch=sm_$arch macros.cu -o macros
    [ "$(./macros)" = "${arch}0 1 2" ] || { echo "-arch=sm_$arch: $(./macros)"; exit 1; }
done
# -fopenmp: on both sides, as the host's compiler preprocesses both. Where LLVM's OpenMP library is missing wpcc says so.
cat >openmp.cu <<'END'
#ifndef _OPENMP
#error _OPENMP
#endif
#include <omp.h>
__global__ void kernel(int *out) { out[0] = _OPENMP; }
END
"$WPCC" -Xcompiler -fopenmp -c openmp.cu -o openmp.o 2>talk || grep -q "needs LLVM's OpenMP library" talk || { cat talk; exit 1; }
