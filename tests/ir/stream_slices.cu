// RUN: %wpcc --stream=assign:p -emit-llvm -c %s -o %t.bc
// RUN: llvm-dis-19 %t.bc -o - | FileCheck %s
// RUN: %wpcc --stream=assign:p -ptx %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %wpcc --stream=through:a,b,c -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=THROUGH
// RUN: %wpcc --stream=gather:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=GATHER
// RUN: %wpcc --stream=choose:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=CHOOSE
// RUN: (! %wpcc --stream=count:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=COUNT
// RUN: (! %wpcc --stream=keep:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=KEEP
// RUN: (! %wpcc --stream=either:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=EITHER
// RUN: %wpcc --stream=widths:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=WIDTHS
// RUN: %wpcc --stream=steered:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=STEERED
// RUN: %wpcc --stream=lanes:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=LANES
// RUN: %wpcc --stream=ptx:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=ASM
// RUN: (! %wpcc --stream=odd:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=ODD
// The program's kernel stays as it is. In its second form the address slice has addresses and nothing of the
// computation; the compute slice takes slots and reads no mapped data.

// CHECK: @"_Z6assignP8particlelPKdi$stream1$facts" = {{.*}}externally_initialized
// CHECK-LABEL: define {{.*}}@_Z6assignP8particlelPKdi(
// CHECK: load double
// CHECK-LABEL: define {{.*}}@"_Z6assignP8particlelPKdi$stream1"(ptr {{.*}}%p, i64 {{.*}}%n, ptr {{.*}}%c, i32 {{.*}}%k, ptr %launch)
// CHECK: addresses:
// CHECK-NOT: double
// CHECK: getelementptr inbounds %struct.particle, ptr %p
// CHECK-NOT: double
// CHECK: store i64
// CHECK-NOT: double
// CHECK: compute:
// CHECK-NOT: load double, ptr %p
// CHECK: __wp_cache_global
// CHECK: load double
// CHECK: fcmp

// PTX: .visible .entry _Z6assignP8particlelPKdi(
// PTX: .visible .entry _Z6assignP8particlelPKdi$stream1(
// PTX: bar.red.and.pred
// PTX: ld.cg.u64

struct particle {
    double x, y, z, w;
    long cluster;
};

__global__ void assign(particle *p, long n, const double *c, int k) {
    for (long i = threadIdx.x; i < n; i += blockDim.x) {
        long best = 0;
        double least = 1e300;
        for (int j = 0; j < k; j++) {
            double distance = (p[i].x - c[2 * j]) * (p[i].y - c[2 * j + 1]);
            if (distance < least) {
                least = distance;
                best = j;
            }
        }
        p[i].cluster = best;
    }
}

// Where an address or a branch depends on mapped data, or on what the kernel writes, there is one function, with
// windows. The facts say why.
// GATHER: @"_Z6gatherPKiPi$stream1$facts" = {{.*}}an address or a branch depends on mapped data, read at stream_slices.cu:[[# @LINE + 6]]
// GATHER-LABEL: define {{.*}}@"_Z6gatherPKiPi$stream1"(
// GATHER-NOT: load i32, ptr %a
// GATHER: __wp_cache_global
// GATHER-NOT: load i32, ptr %a
__global__ void gather(const int *a, int *out) {
    out[threadIdx.x] = a[a[threadIdx.x] & 15];
}

// Where an address is that of an element whose index is read, the host follows it: the address slice has the rest of the
// address and that of the index, and the compute slice takes the value only.
// THROUGH-NOT: depends on mapped data
// THROUGH-LABEL: define {{.*}}@"_Z7throughPKfPKiPKxPfi$stream7"(
// THROUGH: addresses:
// THROUGH-NOT: load i32, ptr %b
// THROUGH-NOT: load i64, ptr %c
// THROUGH: ptrtoint ptr %b to i64
// THROUGH: compute:
// THROUGH: [[AT:%[0-9]+]] = call ptr @__wp_cache_global(
// THROUGH-NEXT: load i32, ptr [[AT]]
// THROUGH-NOT: __wp_cache_global
// THROUGH: ret void
__global__ void through(const float *a, const int *b, const long long *c, float *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = a[3 * (long)b[c[i]] + 1];
}

// CHOOSE: @"_Z6choosePKiPii$stream1$facts" = {{.*}}an address or a branch depends on mapped data, read at stream_slices.cu:[[# @LINE + 3]]
__global__ void choose(const int *a, int *out, int n) {
    int sum = 0;
    for (int i = 0; i < n && a[i] != 7; i++) sum += a[i];
    out[threadIdx.x] = sum;
}

// COUNT: kernel count({{.*}} cannot be streamed: {{.*}}stream_slices.cu:[[# @LINE + 2]] is an atomic operation on mapped data
__global__ void count(int *a) {
    atomicAdd(&a[threadIdx.x], 1);
}

// KEEP: kernel keep({{.*}} cannot be streamed: {{.*}}stream_slices.cu:[[# @LINE + 2]] stores the address of mapped data
__global__ void keep(int *a, int **out) {
    out[threadIdx.x] = a + threadIdx.x;
}

// EITHER: kernel either({{.*}} cannot be streamed: {{.*}}stream_slices.cu:[[# @LINE + 3]] accesses mapped data or other memory, by one address
__global__ void either(const int *a, const int *b, int *out, int n) {
    const int *from = n > 3 ? a : b;
    out[threadIdx.x] = from[threadIdx.x];
}

// WIDTHS: $facts" = {{.*}}mapped data that the write at {{.*}}stream_slices.cu:[[# @LINE + 4]] may change are read with another width at stream_slices.cu:[[# @LINE + 3]]
__global__ void widths(int *a, int *out, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        out[i] = a[i];
        ((char *)a)[i] = 1;
    }
}

// STEERED: @"_Z7steeredPKiPiS1_$stream1$facts" = {{.*}}depends on memory that the kernel writes, read at stream_slices.cu:[[# @LINE + 3]]
__global__ void steered(const int *a, int *next, int *out) {
    next[threadIdx.x] += 1;
    out[threadIdx.x] = a[next[threadIdx.x ^ 1]];
}

// Kernels whose lanes have to be together get windows, and stay as they are.
// LANES: @"_Z5lanesPKiPi$stream1$facts" = {{.*}}the lanes of a warp have to be together, at stream_slices.cu:[[# @LINE + 5]]
// LANES-LABEL: define {{.*}}@"_Z5lanesPKiPi$stream1"(
// LANES: __wp_cache_global
// LANES: call i32 @llvm.nvvm.shfl.sync.idx.i32(
__global__ void lanes(const int *a, int *out) {
    out[threadIdx.x] = __shfl_sync(~0u, a[threadIdx.x], 0);
}

// ASM: @"_Z3ptxPKiPi$stream1$facts" = {{.*}}the kernel has inline PTX, at stream_slices.cu:[[# @LINE + 4]]
// ASM-LABEL: define {{.*}}@"_Z3ptxPKiPi$stream1"(
__global__ void ptx(const int *a, int *out) {
    int lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    out[threadIdx.x] = a[lane];
}

// ODD: kernel odd({{.*}} cannot be streamed: {{.*}} accesses mapped data with a width that is none of 1, 2, 4, 8, 16 bytes
typedef int six __attribute__((ext_vector_type(8)));
__global__ void odd(const six *a, six *out) {
    out[threadIdx.x] = a[threadIdx.x];
}
