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
// RUN: %wpcc --stream=odd:a,out -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=ODD
// RUN: (! %wpcc --stream=sum:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=SUM
// RUN: (! %wpcc --stream=lanes_sum:a -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=LANESSUM
// RUN: %wpcc --stream=in_place:a -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=INPLACE
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
// GATHER: call {{.*}} @fill_2(
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
// LANES: call {{.*}} @fill_2(
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

// Values of other widths are read and written as PTX has them.
// ODD-LABEL: define {{.*}}@"_Z3oddPKDv8_iPS_$stream3"(
// ODD-NOT: load <8 x i32>, ptr %a
// ODD: compute:
// ODD-COUNT-2: load i128
// ODD: ret void
typedef int eight __attribute__((ext_vector_type(8)));
__global__ void odd(const eight *a, eight *out) {
    out[threadIdx.x] = a[threadIdx.x];
}

// What another thread wrote before a barrier is not there yet, with address threads or with windows.
// SUM: kernel sum({{.*}} cannot be streamed: {{.*}}stream_slices.cu:[[# @LINE + 3]] reads mapped data that another thread may have written at {{.*}}stream_slices.cu:[[# @LINE + 3]] before the barrier at {{.*}}stream_slices.cu:[[# @LINE + 4]]: threads cannot communicate
__global__ void sum(int *a) {
    for (int step = 1; step < blockDim.x; step *= 2) {
        if (threadIdx.x % (2 * step) == 0) a[threadIdx.x] += a[threadIdx.x + step];
        __syncthreads();
    }
}

// LANESSUM: kernel lanes_sum({{.*}} cannot be streamed: {{.*}}stream_slices.cu:[[# @LINE + 5]] reads mapped data that another thread may have written at {{.*}}stream_slices.cu:[[# @LINE + 3]] before the barrier at {{.*}}stream_slices.cu:[[# @LINE + 4]]: threads
__global__ void lanes_sum(int *a, int *out) {
    const int lane = threadIdx.x % 32;
    a[threadIdx.x] = __shfl_sync(~0u, lane, 3);
    __syncwarp();
    out[threadIdx.x] = a[threadIdx.x + 1];
}

// But a thread sees its own, and what is written behind a barrier was read before it.
// INPLACE-NOT: depends on
// INPLACE-LABEL: define {{.*}}@"_Z8in_placePii$stream1"(
// INPLACE: addresses:
__global__ void in_place(int *a, int n) {
    __shared__ int row[64];
    for (int i = threadIdx.x; i < n; i += 64) {
        row[threadIdx.x] = a[i];
        __syncthreads();
        if (i % 3 == 0) a[i] = row[63 - threadIdx.x];
        __syncthreads();
        if (i % 5 == 0) a[i] += 1;
    }
}
