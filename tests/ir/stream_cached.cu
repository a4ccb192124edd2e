// RUN: %wpcc --cache --stream=count:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s
// RUN: %wpcc --cache --stream=count:text -ptx %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %wpcc --cache --stream=follow:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=WINDOWS
// RUN: %wpcc --stream=count:text -emit-llvm -c %s -o %t.bc && llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=ALONE
// --cache and --stream: besides the streamed form one whose slots are in lines of 16 bytes, and the cached form of that.

// CHECK-DAG: @"_Z5countPKhlPKjPj$stream1$facts"
// CHECK-DAG: @"_Z5countPKhlPKjPj$stream4000000000000001$facts"
// CHECK-DAG: @"_Z5countPKhlPKjPj$stream4000000000000001$cache$facts"
// CHECK-DAG: @"_Z5countPKhlPKjPj$stream4000000000000001$cache$counts"
// CHECK-LABEL: define {{.*}}@"_Z5countPKhlPKjPj$stream1"(
// CHECK-NOT: load i128
// CHECK-LABEL: define {{.*}}@"_Z5countPKhlPKjPj$stream4000000000000001"(
// CHECK: load i128
// CHECK-NOT: __wp_cache_lines
// The parameters of the cached form; a line of the program's table in shared memory, slots in registers.
// CHECK-LABEL: define {{.*}}@"_Z5countPKhlPKjPj$stream4000000000000001$cache"({{.*}}%launch, i32 %lines, i32 %lines_offset, ptr %counts)
// CHECK-DAG: load i128
// CHECK-DAG: __wp_cache_lines

// PTX: .entry _Z5countPKhlPKjPj$stream4000000000000001$cache(
// PTX-NOT: .local .align
// PTX: bar.red.and.pred
// PTX-NOT: .local .align

// With windows nothing is in lines; of this kernel's memory no loop reads any, so there is no cached form.
// WINDOWS: @"_Z6followPKhlPj$stream4000000000000001$cache$facts" = {{.*}}no loop of the kernel reads or writes
// WINDOWS-LABEL: define {{.*}}@"_Z6followPKhlPj$stream4000000000000001"(
// WINDOWS-NOT: load i128

// ALONE-NOT: stream4000000000000001

__global__ void count(const unsigned char *text, long n, const unsigned *table, unsigned *out) {
    const long t = blockIdx.x * (long)blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (long i = t; i < n; i += gridDim.x * (long)blockDim.x)
        sum += table[text[i] & 15];
    out[t] = sum;
}

__global__ void follow(const unsigned char *text, long n, unsigned *out) {
    long i = threadIdx.x;
    while (i < n && text[i] != 0)
        i += text[i];
    out[threadIdx.x] = (unsigned)i;
}
