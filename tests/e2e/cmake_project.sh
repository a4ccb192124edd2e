# SPDX-License-Identifier: Apache-2.0
# CMake's CUDA language with our nvcc: separate compilation, a static library, a C++ program with CUDA::cudart.
set -e
cd "$TMP"
cuda=$(cd "$(dirname "$WPCC")/../lib/warpage/cuda" && pwd)
mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.20)
project(demo LANGUAGES CXX CUDA)
find_package(CUDAToolkit REQUIRED)
add_library(parts STATIC twice.cu)
add_executable(separate main.cu)
target_link_libraries(separate PRIVATE parts)
set_target_properties(parts separate PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
add_library(kernels STATIC kernels.cu)
add_executable(host host.cpp)
target_link_libraries(host PRIVATE kernels CUDA::cudart)
END
echo '__device__ int twice(int x) { return 2 * x; }' >project/twice.cu
cat >project/main.cu <<'END'
#include <cstdio>
extern __device__ int twice(int);
__global__ void k(int *out) { *out = twice(21); }
int main()
{
    int *d, h = 0;
    cudaMalloc(&d, sizeof h);
    k<<<1, 1>>>(d);
    cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost);
    std::puts(h == 42 ? "PASS" : "FAIL");
}
END
sed 's/extern __device__ int twice(int);/static __device__ int twice(int x) { return 2 * x; }/; s/int main/void run/' \
    project/main.cu >project/kernels.cu
printf '#include <cuda_runtime.h>\nvoid run();\nint main() { run(); return cudaDeviceSynchronize() != cudaSuccess; }\n' >project/host.cpp
for generator in Ninja "Unix Makefiles"; do
    cmake -S project -B "build $generator" -G "$generator" -DCMAKE_CUDA_COMPILER="$cuda/bin/nvcc" >log 2>&1 || { cat log; exit 1; }
    cmake --build "build $generator" >log 2>&1 || { cat log; exit 1; }
    for program in separate host; do
        [ "$("build $generator/$program")" = PASS ] || { echo "$program of $generator"; exit 1; }
    done
done
