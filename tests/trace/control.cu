// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=trace %t.bc -o %t.so && trace_show %t.so >%t.txt
// RUN: FileCheck %s <%t.txt
// Where threads part and meet; stops, calls, recursion, pointers, clocks.

// CHECK-DAG: kernel reads_clock entry {{[0-9]+}} clock{{$}}
// CHECK-DAG: kernel locks entry {{[0-9]+}} spins{{$}}
// CHECK-DAG: kernel parts entry {{[0-9]+}}{{$}}
// CHECK-DAG: kernel takes_work entry {{[0-9]+}} spins{{$}}
// CHECK-DAG: kernel updates entry {{[0-9]+}}{{$}}
// CHECK-DAG: kernel probes entry {{[0-9]+}}{{$}}

// CHECK-LABEL: function parts
// CHECK-NEXT: block [[#]] line {{[0-9]+}} join [[JOIN:[0-9]+]]
// CHECK: block [[#]] line {{[0-9]+}} join [[JOIN]]
// CHECK: block [[#]] line {{[0-9]+}} join [[JOIN]]
// CHECK: block [[JOIN]] line {{[0-9]+}} join none
// CHECK-NEXT: wait
// CHECK: return
extern "C" __global__ void parts(const int *x, int *y)
{
    int t = threadIdx.x, v;
    if (y[t] > 3)
        v = x[t + 32];
    else
        v = x[t + 64] + x[2 * t];
    y[t + 1] = v;
}

// A loop that is left in two places: all threads meet behind it.
// CHECK-LABEL: function two_exits
// CHECK: block {{[0-9]+}} line {{[0-9]+}} join [[BEHIND:[0-9]+]]
// CHECK: block [[BEHIND]] line {{[0-9]+}} join none
// CHECK: access {{[0-9]+}} store global ca 4 bytes
extern "C" __global__ void two_exits(const int *x, int *y, int n)
{
    int i = 0;
#pragma unroll 1
    for (; i < n; i++)
        if (x[i * 32 + threadIdx.x] == 7) break;
    y[threadIdx.x] = i;
}

// CHECK-LABEL: function meets
// CHECK: block [[#B:]]
// CHECK: access {{[0-9]+}} store shared ca 4 bytes line {{[0-9]+}} tile
// CHECK-NEXT: issue sync 1 chain 1
// CHECK-NEXT: stop 1
// CHECK-NEXT: block [[#B+1]] line {{[0-9]+}} join none
// CHECK: access {{[0-9]+}} load shared ca 4 bytes line {{[0-9]+}} tile
extern "C" __global__ void meets(int *x)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[threadIdx.x ^ 1];
}

// A shuffle needs its operand.
// CHECK-LABEL: function hands_over
// CHECK: access [[#A:]] load
// CHECK: wait [[#A]]
// CHECK-NEXT: issue warp 1 chain 1
// CHECK-NEXT: stop 10
extern "C" __global__ void hands_over(int *x)
{
    x[threadIdx.x] = __shfl_xor_sync(~0u, x[threadIdx.x], 1);
}

// Arguments and results that were loaded are there at the call and at the return.
// CHECK-LABEL: function {{.*}}deep
// CHECK: access {{[0-9]+}} load generic ca 4 bytes
// CHECK: access [[#A:]] load generic ca 4 bytes
// CHECK-NEXT: wait [[#A]]
// CHECK: {{^}}call
// CHECK-NEXT: block
// CHECK-LABEL: function calls
// CHECK: block {{[0-9]+}} line {{[0-9]+}} join [[AFTER:[0-9]+]]
// CHECK: access [[#A:]] load global
// CHECK-NEXT: wait [[#A]]
// CHECK-NEXT: issue control 1 chain 1
// CHECK-NEXT: call
// CHECK-NEXT: block [[AFTER]] line {{[0-9]+}} join none
__device__ __noinline__ int deep(int n, const int *x)
{
    if (n < 2) return x[n];
    return deep(x[n], x) ^ n * deep(n - 2, x);
}
extern "C" __global__ void calls(int *x) { x[5] = deep(x[2], x); }

// CHECK-LABEL: function through_pointer
// CHECK: access [[#A:]] load global ca 8 bytes line {{[0-9]+}} way
// CHECK: wait [[#A]]
// CHECK-NEXT: issue control 1 chain 1
// CHECK-NEXT: call
__device__ int twice(int v) { return 2 * v; }
__device__ int (*way)(int) = twice;
extern "C" __global__ void through_pointer(int *x) { x[0] = way(3); }

// CHECK-LABEL: function reads_clock
// CHECK: clock
// CHECK-NEXT: block
// CHECK: access {{[0-9]+}} load global
// CHECK: clock
// CHECK-NEXT: block
extern "C" __global__ void reads_clock(long long *out, int *x)
{
    long long before = clock64();
    int v = x[threadIdx.x];
    out[threadIdx.x] = clock64() - before + v;
}

// CHECK-LABEL: function locks
// CHECK: access {{[0-9]+}} atomic global ca 4 bytes
// CHECK: access {{[0-9]+}} reduce global ca 4 bytes
// CHECK: stop 27
extern "C" __global__ void locks(int *x)
{
    while (atomicCAS(x, 0, 1)) {
    }
    x[1]++;
    __threadfence();
    atomicExch(x, 0);
}

// What others took decides when a persistent kernel ends.
extern "C" __global__ void takes_work(int *next, int *y, int n)
{
    for (int i; (i = atomicAdd(next, 1)) < n;) y[i] = i;
}

// Neither waits for other threads: an update that lost a race, a place that is taken.
extern "C" __global__ void updates(unsigned long long *x, double v)
{
    unsigned long long old = *x, seen;
    do {
        seen = old;
        old = atomicCAS(x, seen, (unsigned long long)__double_as_longlong(v + __longlong_as_double((long long)seen)));
    } while (seen != old);
}
extern "C" __global__ void probes(int *table, int key)
{
    for (unsigned place = threadIdx.x;; place = (place + 1) & 1023) {
        int old = atomicCAS(&table[place], 0, key);
        if (old == 0 || old == key) break;
    }
}

// A fence for others is a step of its own, one for the block an instruction.
// CHECK-LABEL: function fences
// CHECK: issue sync 1 chain 1
// CHECK-NEXT: fence
// CHECK: access {{[0-9]+}} store
// CHECK-NEXT: issue sync 1 chain 1
// CHECK-NOT: fence
// CHECK: return
extern "C" __global__ void fences(volatile int *x)
{
    __threadfence();
    x[0] = 1;
    __threadfence_block();
    x[1] = 2;
}
