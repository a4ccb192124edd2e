// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// A large kernel with many loops that wait: from each of them nearly all of its code is reached. They have one function,
// whose last parameter is the state in which its threads begin; r1 and so on only lead there.

// CHECK: define internal i32 @_Z9take_eachPiS_i.rest(ptr %0, i32 %1, i32 %2, i32 %3)
// CHECK-LABEL: define internal i32 @_Z9take_eachPiS_i.r48(ptr
// CHECK: call i32 @_Z9take_eachPiS_i.rest(ptr %0, i32 %1, i32 %2, i32 48)
// CHECK-NEXT: ret i32
// CHECK: define internal i32 @_Z9take_eachPiS_i.r0(ptr
// Behind two it is not much: each has its own.
// CHECK-NOT: take_twoPiS_i.rest
// CHECK: define internal i32 @_Z8take_twoPiS_i.r1(ptr
// CHECK-NOT: take_twoPiS_i.rest
#define TAKE(lock)                                                                                                             \
    while (atomicCAS(locks + (lock), 0, 1) != 0) {                                                                             \
    }                                                                                                                          \
    cells[lock] = cells[lock] * 3 + cells[(lock) + 1] % 7 + turn;                                                              \
    __threadfence();                                                                                                           \
    atomicExch(locks + (lock), 0);
#define TAKE_4(lock) TAKE(lock) TAKE(lock + 1) TAKE(lock + 2) TAKE(lock + 3)
#define TAKE_16(lock) TAKE_4(lock) TAKE_4(lock + 4) TAKE_4(lock + 8) TAKE_4(lock + 12)

__global__ void take_each(int *locks, int *cells, int turns) {
    for (int turn = 0; turn < turns; turn++) {
        TAKE_16(0)
        TAKE_16(16)
        TAKE_16(32)
    }
}

__global__ void take_two(int *locks, int *cells, int turns) {
    for (int turn = 0; turn < turns; turn++) {
        TAKE(0)
        TAKE(1)
    }
}
