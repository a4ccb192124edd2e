// SPDX-License-Identifier: Apache-2.0
/* What cuda_runtime.h brings along of the standard library, and of CUDA's own headers: programs for nvcc use it without
 * including it. */
#include <cuda_runtime.h>

#include "check.h"

struct owner {
    int *kept;
    explicit owner(int *p) : kept(p) {}
    owner(owner &&from) : kept(std::exchange(from.kept, nullptr)) {}
};

template <typename T>
__host__ __device__ T second(const std::pair<int, T> &p) { return p.second; }

__global__ void fill(int *out) { out[threadIdx.x] = second(std::pair<int, int>(1, (int)threadIdx.x * 3)); }

int main()
{
    owner first(check_managed<int>(32));
    owner moved(std::move(first));
    CHECK(first.kept == nullptr && moved.kept != nullptr);
    fill<<<1, 32>>>(moved.kept);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(moved.kept[i], 3 * i);
    const clock_t began = clock();
    const time_t now = time(NULL);
    CHECK(clock() >= began && now > 0 && INT_MAX > 0 && abs(-3) == 3);
    int *made = new (std::nothrow) int(5);
    CHECK(made != nullptr && *made == 5);
    delete made;
    const cudaDataType type = CUDA_C_64F;
    CHECK_EQ((int)type, 5);
    return check_done();
}
