// RUN: %wpcc -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx
// RUN: %wpcc -arch=sm_80 -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx --check-prefix=AMPERE
// What the dialect leaves to the compiler, as instructions: reductions by shuffles or, where the GPU has it,
// redux; the grid barrier on the driver's workspace; textures and surfaces by handle; managed variables
// through a cell that the loader fills.
#include <cooperative_groups.h>

// CHECK-DAG: .visible .global .align 8 .u64 wp_managed_counter;
// CHECK-DAG: .visible .global .align 8 .u64 image;
// CHECK-NOT: .texref
__managed__ int counter;
texture<float, 2> image;

// CHECK: .visible .entry _Z6reducePj(
// CHECK: shfl.sync.bfly.b32
// CHECK: activemask.b32
// AMPERE: .version 7.0
// AMPERE: .target sm_80
// AMPERE: redux.sync.add.s32
__global__ void reduce(unsigned *sums) {
    sums[0] = __reduce_add_sync(0xffffffffu, threadIdx.x);
    sums[1] = __activemask();
}

// CHECK: .visible .entry _Z7managedv(
// CHECK: ld.global.u64 [[CELL:%rd[0-9]+]], [wp_managed_counter];
// CHECK: atom.add.u32 {{.*}}, {{\[}}[[CELL]]], 1;
__global__ void managed() {
    atomicAdd(&counter, 1);
}

// CHECK: .visible .entry _Z8texturesPfyy(
// CHECK-DAG: ld.global.u64 [[HANDLE:%rd[0-9]+]], [image];
// CHECK-DAG: tex.2d.v4.u32.f32
// CHECK-DAG: tex.1d.v4.u32.s32
// CHECK-DAG: suld.b.2d.b32.clamp
// CHECK-DAG: sust.b.3d.b16.trap
__global__ void textures(float *out, cudaTextureObject_t line, cudaSurfaceObject_t surface) {
    out[0] = tex2D(image, 0.5f, 1.5f) + tex1Dfetch<float>(line, 3);
    out[1] = surf2Dread<float>(surface, 4, 1, cudaBoundaryModeClamp);
    surf3Dwrite((short)1, surface, 2, 3, 4);
}

// CHECK: .visible .entry _Z4gridv(
// CHECK: %envreg1
// CHECK: atom.{{.*}}add
__global__ void grid() {
    cooperative_groups::this_grid().sync();
}

int main() {
    return 0;
}
