# SPDX-License-Identifier: Apache-2.0
# A library of headers, which programs name in angle brackets: what nvcc accepts in a source is accepted there, too.
mkdir -p "$TMP/include/library/detail" "$TMP/system" || exit 1
cat >"$TMP/include/library/lane.cuh" <<'EOF'
#pragma once
#include <library/detail/mask.cuh>
__device__ inline unsigned lane() {
    unsigned value;
    asm volatile("mov.u32 %0, %laneid;" : "=r"(value));
    return value;
}
__device__ inline unsigned lane_from_31() {
    unsigned value;
    asm("{ .reg .u32 t; mov.u32 t, %laneid;\n sub.u32 %0, 31, t; }" : "=r"(value));
    return value;
}
EOF
cat >"$TMP/include/library/detail/mask.cuh" <<'EOF'
__device__ inline unsigned below() {
    unsigned value;
    asm("mov.u32 %0, %lanemask_lt;" : "=r"(value));
    return value;
}
EOF
cat >"$TMP/system/warp.cuh" <<'EOF'
__device__ inline unsigned warps() {
    unsigned value;
    asm("mov.u32 %0, %nwarpid;" : "=r"(value));
    return value;
}
EOF
cat >"$TMP/include/library/launch.cuh" <<'EOF'
__global__ void kernel(unsigned *out);
template <int threads> void launch(unsigned *out) { kernel<< <1, threads>> >(out); }
EOF
cat >"$TMP/program.cu" <<'EOF'
#include <stdio.h>
#include <library/lane.cuh>
#include <library/launch.cuh>
#include <warp.cuh>

__global__ void kernel(unsigned *out) {
    out[2 * threadIdx.x] = warps() == 0 ? 1000 : lane() + 100 * lane_from_31();
    out[2 * threadIdx.x + 1] = below();
}

int main() {
    unsigned *out, wrong = 0;
    cudaMallocManaged(&out, 128 * sizeof *out);
    launch<64>(out);
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    for (unsigned i = 0; i < 64; i++) {
        wrong += out[2 * i] != i % 32 + 100 * (31 - i % 32);
        wrong += out[2 * i + 1] != (1u << i % 32) - 1;
    }
    printf("%u wrong\n", wrong);
    return wrong != 0;
}
EOF
"$WPCC" -I "$TMP/include" -isystem "$TMP/system" "$TMP/program.cu" -o "$TMP/program" || exit 1
"$TMP/program" || exit 1
