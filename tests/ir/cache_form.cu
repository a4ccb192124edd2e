// RUN: %wpcc --cache-runs=off -emit-llvm -c %s -o %t.bc
// RUN: llvm-dis-19 %t.bc -o %t.ll && FileCheck %s < %t.ll
// RUN: FileCheck %s --check-prefix=FACTS < %t.ll
// RUN: FileCheck %s --check-prefix=FENCE < %t.ll
// RUN: FileCheck %s --check-prefix=ATOMIC < %t.ll
// RUN: awk '/^define .*_Z5alonePKcPci[$]cache/,/^}/' %t.ll | grep -c 'icmp eq i64' > %t.alone
// RUN: awk '/^define .*_Z5mixedPKcPci[$]cache/,/^}/' %t.ll | grep -c 'icmp eq i64' > %t.mixed
// RUN: test $(cat %t.alone) -gt 0 && test $(cat %t.alone) -lt $(cat %t.mixed)
// RUN: FileCheck %s --check-prefix=OUTSIDE < %t.ll
// RUN: awk '/^define .*_Z4rowsPKfPfi[$]cache/,/^}/' %t.ll > %t.rows
// RUN: test $(grep -c ' fadd ' %t.rows) = 3 && test $(grep -c 'store float' %t.rows) = 1
// RUN: awk '/^define .*_Z4metsPKfPfi[$]cache/,/^}/' %t.ll > %t.mets
// RUN: test $(grep -c ' fadd ' %t.mets) = 3 && test $(grep -c 'call .*shfl' %t.mets) = 1
// RUN: awk '/^define .*_Z5tilesPKfPfi[$]cache/,/^}/' %t.ll > %t.tiles
// RUN: test $(grep -c 'call .*barrier' %t.tiles) = 1 && test $(grep -c ' fadd ' %t.tiles) = 1
// RUN: awk '/^define .*_Z6lockedPKcPjS1_i[$]cache/,/^}/' %t.ll > %t.locked
// RUN: test $(grep -c ' cmpxchg ' %t.locked) = 1 && grep -q 'load <4 x i32>' %t.locked
// RUN: awk '/^define .*_Z4halfPKfPfi[$]cache/,/^}/' %t.ll > %t.half && test $(grep -c ' fadd ' %t.half) = 4
// RUN: %wpcc --cache-runs=off -ptx %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %wpcc --cache-layout=padded --cache-runs=off -ptx %s -o - | FileCheck %s --check-prefix=PADDED
// RUN: %wpcc -emit-llvm -c %s -o %t.plain.bc && llvm-dis-19 %t.plain.bc -o - | FileCheck %s --check-prefix=PLAIN
// Each kernel keeps its own form; its cached form has three copies of the innermost loop, and state in registers only.

// CHECK-LABEL: define {{.*}}void @_Z3sumPKiPii(
// CHECK-NOT: addrspace(3)
// CHECK: ret void
// CHECK-LABEL: define {{.*}}void @"_Z3sumPKiPii$cache"(ptr {{[^,]*}}%in, ptr {{[^,]*}}%out, i32 {{[^,]*}}%n, i32 %lines, i32 %lines_offset, ptr %counts)
// CHECK-NOT: alloca
// A line is filled by one load of 16 bytes, and the access adds the distance to it.
// CHECK: [[LINE:%[^ ]+]] = load <4 x i32>, ptr %{{.*}}, align 16
// CHECK: store <4 x i32> [[LINE]], ptr %{{.*}}, align 16
// CHECK: [[PLACE:%[^ ]+]] = inttoptr i64 %{{.*}} to ptr
// CHECK: load i32, ptr [[PLACE]], align 4
// CHECK: addrspacecast ptr addrspace(3) %{{.*}} to ptr
// The data are only read: nothing is written back.
// CHECK-NOT: store i8
// CHECK: }

// Structures, written ones, parameters; a kernel without loops says why it has no cached form.
// FACTS-DAG: @"_Z3sumPKiPii$cache$facts" = {{.*}} c"\01\00\00\00\00\00\00\00\00\00\00\00
// FACTS-DAG: @"_Z3sumPKiPii$cache$counts" = {{.*}}externally_initialized global [{{[0-9]+}} x i64] zeroinitializer
// FACTS-DAG: @"_Z4onlyPi$cache$facts" = {{.*}}the kernel has no loops
// FACTS-DAG: @"_Z5countPKhPji$cache$facts" = {{.*}} c"\01\00\00\00\00\00\00\00\00\00\00\00
// FACTS-DAG: @"_Z6chasedPPKii$cache$facts"
// FACTS-DAG: @"_Z3offPKfPfi$cache$facts" = {{.*}}its loops have WP_CACHE_OFF()
// FACTS-NOT: @"_Z4onlyPi$cache"(

// Dirty bytes are written back before a fence.
// FENCE-LABEL: define {{.*}}void @"_Z6fencedPci$cache"(
// FENCE: store i8 %{{[^,]+}}, ptr %{{.*}}, align 1
// FENCE: call void @llvm.nvvm.membar.gl()
// FENCE: }

// What atomic operations touch is not cached: the only line is that of the bytes.
// ATOMIC-LABEL: define {{.*}}void @"_Z5countPKhPji$cache"(
// ATOMIC-COUNT-1: load <4 x i32>
// ATOMIC-NOT: load <4 x i32>
// ATOMIC: }

// With __restrict__ an access compares its address with its own line only; without, also with the other's.

// A pointer from memory is of no parameter: its data are read as they are.
// OUTSIDE-LABEL: define {{.*}}void @"_Z6chasedPPKii$cache"(
// OUTSIDE: [[P:%[^ ]+]] = load ptr, ptr
// OUTSIDE: [[Q:%[^ ]+]] = getelementptr {{.*}}ptr [[P]]
// OUTSIDE: load i32, ptr [[Q]]
// OUTSIDE: }

// Only the innermost loop is copied: monitored, cached, plain; and not where lanes meet in it.

// PTX-NOT: .local
// PTX: .visible .entry _Z3sumPKiPii$cache(
// PTX: ld.v4.u32
// PTX: st.v4.u32
// With gaps lines are aligned to words only.
// PADDED: .visible .entry _Z3sumPKiPii$cache(
// PADDED: ld.v4.u32
// PADDED: st.u32
// PTX-NOT: .local
// PTX-NOT: ld.local

// PLAIN-NOT: $cache

__global__ void sum(const int *in, int *out, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}

__global__ void only(int *out) { out[threadIdx.x] = 1; }

__global__ void fenced(char *data, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        data[threadIdx.x * n + i] += 1;
        __threadfence();
    }
}

__global__ void count(const unsigned char *in, unsigned *bins, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) atomicAdd(&bins[in[threadIdx.x * n + i]], 1u);
}

__global__ void alone(const char *__restrict__ in, char *__restrict__ out, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) out[threadIdx.x * n + i] = in[threadIdx.x * n + i] + 1;
}

__global__ void mixed(const char *in, char *out, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) out[threadIdx.x * n + i] = in[threadIdx.x * n + i] + 1;
}

__global__ void rows(const float *in, float *out, int n) {
#pragma unroll 1
    for (int r = threadIdx.x; r < n; r += blockDim.x) {
        float s = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) s += in[r * n + i];
        out[r] = s;
    }
}

__global__ void mets(const float *in, float *out, int n) {
#pragma unroll 1
    for (int r = threadIdx.x; r < n; r += blockDim.x) {
        float s = 0;
#pragma unroll 1
        for (int i = 0; i < n; i++) s += in[r * n + i];
        out[r] = __shfl_xor_sync(~0u, s, 1);
    }
}

__global__ void tiles(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        s += in[threadIdx.x * n + i];
        __syncthreads();
    }
    out[threadIdx.x] = s;
}

// WP_CACHE_OFF() in the only loop, and in one of two: that one is there once.
__global__ void off(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("// warpage: cache off");
        s += in[threadIdx.x * n + i];
    }
    out[threadIdx.x] = s;
}

__global__ void half(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        asm volatile("// warpage: cache off");
        s += in[threadIdx.x * n + i];
    }
#pragma unroll 1
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}

// The loop that waits for the lock stays as it is; the one around it caches what it reads.
__global__ void locked(const char *in, unsigned *locks, unsigned *counts, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const int c = in[threadIdx.x * n + i];
        if (c == 0) continue;
        for (bool done = false; !done;) {
            if (atomicCAS(&locks[c & 7], 0u, 1u) != 0) continue;
            *(volatile unsigned *)&counts[c & 7] += 1;
            __threadfence();
            atomicExch(&locks[c & 7], 0u);
            done = true;
        }
    }
}

__global__ void chased(const int **rows, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) s += rows[i][threadIdx.x];
    if (s == 0) __trap();
}
