// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=trace %t.bc -o %t.so && trace_show %t.so >%t.txt
// RUN: FileCheck %s <%t.txt
// Fetches and surface accesses have an access for each texel that they may touch; their result is
// waited for where it is used, and is in registers.
#include <cuda_runtime.h>

// CHECK-LABEL: function _Z5fetchyPf
// CHECK: access 0 load global texture 1 bytes
// CHECK-NEXT: access 1 load global texture 1 bytes
// CHECK-NEXT: access 2 load global texture 1 bytes
// CHECK-NEXT: access 3 load global texture 1 bytes
// CHECK-NEXT: issue texture 1 chain 0
// CHECK-NOT: local
// CHECK: wait 0
// CHECK: wait 3
// CHECK: access 4 store global ca 4 bytes
__global__ void fetch(cudaTextureObject_t texture, float *out)
{
    out[threadIdx.x] = tex2D<float>(texture, threadIdx.x, 0.5f) + 1.0f;
}

// CHECK-LABEL: function _Z4copyyy
// CHECK: access 5 load global texture 8 bytes
// CHECK: access 6 store global texture 8 bytes
__global__ void copy(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int2 value;
    surf2Dread(&value, from, threadIdx.x * 8, 0);
    surf2Dwrite(value, to, threadIdx.x * 8, 0);
}
