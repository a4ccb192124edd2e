// RUN: %wpcc --cpu-isa=baseline -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// A kernel of very many stops has regions if each goes on to few; else, as where every yield leads to most of the
// others, it runs on fibers.

// CHECK-DAG: @_Z8straightPj.r200
// CHECK-DAG: define internal void @_Z7tangledPj.thread(ptr
// CHECK-NOT: @_Z7tangledPj.r0
__global__ void straight(unsigned *data) {
    unsigned value = data[threadIdx.x];
#pragma unroll
    for (int i = 0; i < 200; i++)
        value ^= __ballot_sync(~0u, value >> (i % 32) & 1);
    data[threadIdx.x] = value;
}

__global__ void tangled(unsigned *data) {
    unsigned value = data[threadIdx.x];
    for (;;) {
#pragma unroll
        for (int i = 0; i < 200; i++)
            if (value & 1u << (i % 32)) value = value * 3 + data[value % 1024] / (i + 3) + __ballot_sync(__activemask(), value >> (i % 31) & 1);
        if (value == 7) break;
    }
    data[threadIdx.x] = value;
}
