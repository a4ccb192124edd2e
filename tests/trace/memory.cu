// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=trace %t.bc -o %t.so && trace_show %t.so >%t.txt
// RUN: FileCheck %s <%t.txt
// What is an access, its memory and cache operator.

// CHECK-LABEL: function operators
// CHECK-DAG: load global cg 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK-DAG: load global cs 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK-DAG: load global nc 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK-DAG: load global volatile 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK-DAG: load global ca 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK-DAG: load global cg 8 bytes line {{[0-9]+}} parameter 0 x
// CHECK: store global cs 4 bytes line {{[0-9]+}} parameter 1 out
// CHECK: store global volatile 4 bytes line {{[0-9]+}} parameter 1 out
extern "C" __global__ void operators(const int *x, int *out)
{
    int t = threadIdx.x, by_asm, a, b;
    asm("ld.global.ca.s32 %0, [%1];" : "=r"(by_asm) : "l"(x + t + 32));
    asm volatile("ld.global.cg.v2.s32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(x + 2 * t));
    int sum = __ldcg(x + t) + __ldcs(x + t + 64) + __ldg(x + t + 128) +
              *(const volatile int *)(x + t + 256) + by_asm + a + b;
    __stcs(out + t, sum);
    *(volatile int *)(out + t + 1) = sum;
}

// CHECK-LABEL: function only_reads
// CHECK: load global nc 4 bytes line {{[0-9]+}} parameter 0 x
extern "C" __global__ void only_reads(const float *__restrict__ x, float *__restrict__ out)
{
    out[threadIdx.x] = x[threadIdx.x];
}

// Constants, parameters and the thread's own arrays are instructions, unless lanes may read different
// words of constant memory.
// CHECK-LABEL: function elsewhere
// CHECK-NOT: issue constant
// CHECK-DAG: access {{[0-9]+}} load const ca 4 bytes line {{[0-9]+}} numbers
// CHECK-DAG: access {{[0-9]+}} load const ca 4 bytes line {{[0-9]+}} parameter 0 p
// CHECK-DAG: issue local
// CHECK: access {{[0-9]+}} store global ca 4 bytes
// CHECK-LABEL: function alike
// CHECK-NOT: load const
// CHECK: issue constant 2 chain
// CHECK-NOT: load const
// CHECK: access {{[0-9]+}} store global ca 4 bytes
// Two that read the halves of eight bytes are one instruction; of w, which has no partner, one more.
// CHECK-LABEL: function halves
// CHECK: issue constant 2 chain
// CHECK: access {{[0-9]+}} store global ca 4 bytes
struct table {
    int v[16];
};
__constant__ int numbers[64];
extern "C" __global__ void elsewhere(table p, int *out, int n)
{
    int own[32];
    for (int i = 0; i < 32; i++) own[i] = i * n;
    out[threadIdx.x] = numbers[threadIdx.x] + p.v[threadIdx.x & 15] + own[n & 31];
}

extern "C" __global__ void alike(table p, int *out, int n)
{
    out[threadIdx.x] = numbers[blockIdx.x + n] + p.v[n & 15];
}

struct four {
    int x, y, z, w;
};
__constant__ four fours[16];
extern "C" __global__ void halves(int *out, int n)
{
    const four &f = fours[n + blockIdx.x];
    out[threadIdx.x] = f.x * f.y + fours[n + blockIdx.x].w;
}


// CHECK-LABEL: function atomics
// CHECK: access [[#A:]] atomic global ca 4 bytes line {{[0-9]+}} parameter 0 x
// CHECK: reduce shared ca 4 bytes line {{[0-9]+}} bins
// CHECK: reduce global ca 4 bytes line {{[0-9]+}} total
// CHECK: wait [[#A]]
__device__ int total;
extern "C" __global__ void atomics(int *x, int *out)
{
    __shared__ int bins[32];
    int ticket = atomicAdd(x, 1);
    atomicAdd(&bins[threadIdx.x & 31], 1);
    atomicMax(&total, 7);
    out[threadIdx.x] = ticket;
}

// A copy is loads and stores.
// CHECK-LABEL: function copies
// CHECK-COUNT-3: load global ca 16 bytes
// CHECK-COUNT-3: store global ca 16 bytes
struct __align__(16) wide {
    int v[12];
};
extern "C" __global__ void copies(const wide *from, wide *to) { to[threadIdx.x] = from[threadIdx.x]; }
