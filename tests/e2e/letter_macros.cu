// SPDX-License-Identifier: Apache-2.0
// FLAGS: --extended-lambda -DA=1 -DB=2 -DC=3 -DD=4 -DE=5 -DF=6 -DG=7 -DH=8 -DI=9 -DJ=10 -DK=11 -DL=12 -DM=13 -DN=14 -DO=15 -DP=16 -DQ=17 -DR=18 -DS=19 -DU=21 -DV=22 -DW=23 -DX=24 -DY=25 -DZ=26
/* Programs define sizes on the command line (nvcc -DN=1024): no capital but T is a name in what they include unasked. */
#include "check.h"
#include <cuda.h>

__global__ void add(int *sum, const int *values)
{
    for (int i = 0; i < N; i++)
        atomicAdd(sum, values[i]);
}

template <typename Call>
__global__ void call(Call f) { f(); }

int main()
{
    int *values = check_managed<int>(N), *sum = check_managed<int>(1);
    const int letters[N] = {A, B, C, D, E, F, G, H, I, J, K, L, M, N};
    memcpy(values, letters, sizeof letters);
    *sum = O + P + Q + R + S + U + V + W + X + Y + Z;
    add<<<1, 1>>>(sum, values);
    KERNEL_OK();
    auto take_missing = [=] __device__ { *sum += 20; };
    call<<<1, 1>>>(take_missing);
    KERNEL_OK();
    CHECK_EQ(*sum, 26 * 27 / 2);
    return check_done();
}
