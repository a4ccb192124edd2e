// RUN: %wpcc -c %s -o %t.o --print-after=lower-asm 2>&1 | FileCheck %s
// A 32-bit shared address made in one asm block and used in another leads back to the pointer; a guarded
// store becomes a branch around it, and no inline assembly is left.

static __device__ unsigned shared_address(const void *p) {
    unsigned a;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
    return a;
}

// CHECK-NOT: {{ }}asm{{ }}
// CHECK-LABEL: define {{.*}}@stage(
extern "C" __global__ void stage(const float *in, int n) {
    __shared__ float tile[64];
    int i;
    // CHECK: call {{.*}}@llvm.nvvm.read.ptx.sreg.tid.x()
    asm("mov.u32 %0, %%tid.x;" : "=r"(i));
    // CHECK: %[[VALUE:.*]] = load volatile i32, ptr %
    float value;
    asm volatile("ld.global.cg.f32 %0, [%1];" : "=f"(value) : "l"(in + i));
    // CHECK: icmp slt i32
    // CHECK: br i1 %{{.*}}, label %[[THEN:.*]], label %
    // CHECK: [[THEN]]:
    // CHECK-NOT: inttoptr
    // CHECK: store i32 %{{.*}}, ptr %{{.*}}, align 4
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p st.shared.f32 [%2+4], %3; }"
                 :: "r"(i), "r"(n), "r"(shared_address(&tile[i])), "f"(value));
    // CHECK: call void @llvm.nvvm.barrier.sync.cnt(i32 1, i32 64)
    // CHECK-NOT: {{ }}asm{{ }}
    asm volatile("bar.sync 1, 64;");
}
