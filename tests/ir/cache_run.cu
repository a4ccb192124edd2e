// RUN: %wpcc --cache -emit-llvm -c %s -o %t.bc
// RUN: llvm-dis-19 %t.bc -o %t.ll && FileCheck %s < %t.ll
// RUN: awk '/^define .*_Z5wordsPKfPfi[$]cache/,/^}/' %t.ll > %t.words && test $(grep -c ' fadd ' %t.words) = 9
// RUN: awk '/^define .*_Z5foundPKcPii[$]cache/,/^}/' %t.ll > %t.found && test $(grep -c 'load <4 x i32>' %t.found) = 1
// RUN: for f in _Z4endsPKcPci _Z6othersPKcPcPii _Z6fencedPKcPii; do awk "/^define .*$f[$]cache/,/^}/" %t.ll > %t.no && test $(grep -c 'mul .*i32 .*, 77' %t.no) = 3 || exit 1; done
// RUN: %wpcc --cache -ptx %s -o - | FileCheck %s --check-prefix=PTX
// RUN: %wpcc --cache-runs=off -emit-llvm -c %s -o %t.off.bc && llvm-dis-19 %t.off.bc -o - | FileCheck %s --check-prefix=OFF
// RUN: awk '/^define .*_Z5stepsPKcPii[$]cache/,/^}/' %t.ll > %t.steps && test $(grep -c 'mul .*i32 .*, 77' %t.steps) = 13
// RUN: awk '/^define .*_Z6pairedPKfPfi[$]cache/,/^}/' %t.ll > %t.paired && test $(grep -c 'load <4 x i32>' %t.paired) = 2
// A loop over consecutive bytes has, beside its three copies, sixteen turns in straight code, and those before and after
// them: a line is loaded once, put together in registers and stored once. Where `in` and `out` may be the same memory,
// that is tested.

// CHECK-LABEL: define {{.*}}void @"_Z5upperPKcPci$cache"(
// CHECK-NOT: alloca
// CHECK: load <4 x i32>, ptr %{{.*}}, align 16
// CHECK: [[MADE:%[^ ]+]] = insertelement <4 x i32> %{{.*}}, i32 %{{.*}}, i64 3
// CHECK: store <4 x i32> [[MADE]], ptr %{{.*}}, align 16
// CHECK: }

// PTX-NOT: .local
// PTX: .visible .entry _Z5upperPKcPci$cache(
// PTX: ld.global.v4.u32
// PTX: st.global.v4.u32
// PTX-NOT: .local

// OFF-LABEL: define {{.*}}void @"_Z5upperPKcPci$cache"(
// OFF-NOT: insertelement <4 x i32>
// OFF: }

__global__ void upper(const char *in, char *out, int n) {
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        const char c = in[threadIdx.x * n + i];
        out[threadIdx.x * n + i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
}

// Four turns are a line of words; the order of additions stays.
__global__ void words(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + i];
    out[threadIdx.x] = s;
}

// No run: data end the loop.
__global__ void found(const char *in, int *out, int n) {
    int i = 0;
#pragma unroll 1
    for (; i < n; i++)
        if (in[threadIdx.x * n + i] == 'e') break;
    out[threadIdx.x] = i;
}

// Every second byte: eight turns. What LLVM unrolled is a run, too, of several accesses a turn.
__global__ void steps(const char *in, int *out, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) s = s * 77 + in[threadIdx.x * n + 2 * i];
    out[threadIdx.x] = s;
}

__global__ void paired(const float *in, float *out, int n) {
    float s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) s += in[threadIdx.x * n + 2 * i] * in[threadIdx.x * n + 2 * i + 1];
    out[threadIdx.x] = s;
}

// No runs: a loop that writes and may end early; others write what may be the same memory; a fence.
__global__ void others(const char *in, char *out, int *sums, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        s = s * 77 + in[threadIdx.x * n + i];
        out[s & 255] = 1;
    }
    sums[threadIdx.x] = s;
}

__global__ void fenced(const char *in, int *out, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        s = s * 77 + in[threadIdx.x * n + i];
        __threadfence();
    }
    out[threadIdx.x] = s;
}

__global__ void ends(const char *in, char *out, int n) {
    int s = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        s = s * 77 + in[threadIdx.x * n + i];
        out[threadIdx.x * n + i] = (char)s;
        if (s == 5) break;
    }
}
