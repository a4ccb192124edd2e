// RUN: %wpcc -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx
// RUN: %wpcc -ptx -DLATER %s -o %t.ptx && FileCheck %s --input-file %t.ptx --check-prefix=LATER
// Inline PTX of a later GPU raises target and version; anything else keeps the lowest.

// CHECK: .version 6.3
// CHECK-NEXT: .target sm_70
// LATER: .version 7.0
// LATER-NEXT: .target sm_80
__global__ void reduce(unsigned *sum) {
    unsigned r = 0;
#ifdef LATER
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p redux.sync.add.u32 %0, %1, 0xffffffff; }"
                 : "+r"(r)
                 : "r"(threadIdx.x));
#else
    asm volatile("shfl.sync.idx.b32 %0, %1, 0, 31, 0xffffffff;" : "=r"(r) : "r"(threadIdx.x));
#endif
    *sum = r;
}

int main() {
    return 0;
}
