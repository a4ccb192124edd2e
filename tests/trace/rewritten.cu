// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=trace+counted %t.bc -o %t.so && trace_show %t.so | FileCheck %s --check-prefixes=BOTH,AHEAD
// RUN: %wpcc --variant=instep+counted %t.bc -o %t.so && trace_show %t.so | FileCheck %s --check-prefixes=BOTH,STEP
// RUN: %wpcc --variant=trace+stream:scale:1 %t.bc -o %t.so && trace_show %t.so | FileCheck %s --check-prefix=STREAM
// RUN: (! %wpcc --variant=trace+counting %t.bc -o %t.so 2>&1) | FileCheck %s --check-prefix=UNKNOWN
// RUN: (! %wpcc --variant=traced %t.bc -o %t.so 2>&1) | FileCheck %s --check-prefix=VARIANT
// A variant of kernels that a rewrite adds: both are recorded, ahead of simulated time or in step with it.

// BOTH-LABEL: function scale
// AHEAD: access {{[0-9]+}} load global
// AHEAD-NOT: block
// AHEAD: access {{[0-9]+}} store global
// STEP: access {{[0-9]+}} load global
// STEP: block
// STEP: access {{[0-9]+}} store global
// BOTH-LABEL: function scale$counted
// BOTH: access {{[0-9]+}} load global
// BOTH: access {{[0-9]+}} store global
// BOTH: access {{[0-9]+}} reduce global ca 8 bytes

// STREAM: function scale$stream

// UNKNOWN: counting: unknown rewrite; the rewrites are: cache, counted
// VARIANT: variant 'traced': unknown; the variants are: copy, check, races, trace, instep
extern "C" __global__ void scale(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] * 3; }
