// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=trace %t.bc -o %t.so && trace_show %t.so >%t.txt
// RUN: FileCheck %s <%t.txt
// Loops, waits across blocks and through phis, the order of loads, names and lines of sites.

// What a loop's body loaded is waited for where it is used in the next turn, and behind the loop.
// CHECK-LABEL: function walk
// CHECK: block [[#TURN:]] line 17 join
// CHECK-NEXT: wait [[#LOAD:]]
// CHECK-NEXT: issue imul 1 chain 1
// CHECK-NEXT: access [[#LOAD]] load global ca 4 bytes line 17 parameter 0 next
// CHECK: access {{[0-9]+}} store global ca 4 bytes line 18 parameter 1 out
extern "C" __global__ void walk(const int *next, int *out, int n)
{
    int at = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < n; i++) at = next[at];
    out[threadIdx.x] = at;
}

// Loads go first; each sum waits for its own.
// CHECK-LABEL: function sums
// CHECK: access [[#A:]] load global ca 4 bytes line [[#]] parameter 0 x
// CHECK: access [[#A+1]] load global ca 4 bytes line [[#]] parameter 1 y
// CHECK: wait [[#A]]
// CHECK: wait [[#A+1]]
// CHECK: access [[#A+2]] store global
extern "C" __global__ void sums(const float *x, const float *y, float *out)
{
    float a = x[threadIdx.x] * 2.0f;
    out[threadIdx.x] = a + y[threadIdx.x];
}

// A load stays behind a store that may be to its place.
// CHECK-LABEL: function shifted
// CHECK: access [[#A:]] load
// CHECK: access [[#A+1]] store
// CHECK: access [[#A+2]] load
extern "C" __global__ void shifted(int *x, int *out)
{
    out[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x + 1] = x[threadIdx.x + 1];
}

// Whose place is in the thread's own array, or may be.
// CHECK-LABEL: function own_or_not
// CHECK: issue local 2
// CHECK: access [[#]] load generic ca 4 bytes
__device__ __noinline__ int *choose(int *a, int *b, int n) { return n > 3 ? a : b; }
extern "C" __global__ void own_or_not(int *x, int n)
{
    int own[2];
    int *p = choose(own, x, n);
    own[0] = n;
    own[1] = n + 1;
    x[1] = *p;
}

// … and behind a call that writes what it reads.
// CHECK-LABEL: function parts
// CHECK: issue convert 1 chain 1
// CHECK: issue local 1 chain
extern "C" __global__ void parts(float *x)
{
    float whole, rest = modff(x[0], &whole);
    x[1] = whole + rest;
}

// Neighbours become one access, as in PTX; a structure's pointer counts as the parameter.
// CHECK-LABEL: function quads
// CHECK: access [[#]] load global ca 16 bytes line [[#]] parameter 0 p
// CHECK: access [[#]] store global ca 16 bytes line [[#]] parameter 0 p
struct pair {
    const float4 *from;
    float4 *to;
};
extern "C" __global__ void quads(pair p)
{
    float4 v = p.from[threadIdx.x];
    p.to[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x + 1.0f);
}

// The longest chain of dependent instructions: two sums and a product, of five.
// CHECK-LABEL: function chains
// CHECK: issue fp32 5 chain 3
extern "C" __global__ void chains(float *x, float a, float b, float c)
{
    x[0] = ((a + b) + c) * ((a - c) + 1.0f);
}

// A block has at most 64 words, one of them for a barrier.
// CHECK-LABEL: function long_block
// CHECK-COUNT-62: {{^}}access
// CHECK-NEXT: block
// CHECK-COUNT-38: {{^}}access
extern "C" __global__ void long_block(volatile int *x)
{
#pragma unroll
    for (int i = 0; i < 100; i++) x[i] = i;
}

// Conversions of 64-bit formats are a class of their own.
// CHECK-LABEL: function conversions
// CHECK-COUNT-3: issue convert64 1 chain 1
// CHECK-LABEL: function narrow
// CHECK: issue convert 1 chain 1
extern "C" __global__ void conversions(double *d, float *f, int *i, long long *l)
{
    f[0] = (float)d[0];
    d[1] = (double)i[0];
    f[1] = (float)l[0];
}
extern "C" __global__ void narrow(float *f, int *i)
{
    f[0] = (float)i[0];
}
