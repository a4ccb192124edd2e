// RUN: ! %wpcc -c %s -o %t.o 2>%t.err
// RUN: FileCheck %s <%t.err
// An instruction that is not understood is named, with its function.

// CHECK: inline PTX: the instruction "tcgen05.alloc.sync [%0], 1" is not understood (in hold)
extern "C" __global__ void hold(unsigned long long *p) {
    asm volatile("tcgen05.alloc.sync [%0], 1;" :: "l"(p));
}
