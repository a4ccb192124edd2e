/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Atomic functions. All of them are atomic for every thread of the device and the host, which satisfies the
 * suffixes `_block` (weaker) and `_system` (equal).
 */
#ifndef WARPAGE_CUDA_WP_ATOMIC_H
#define WARPAGE_CUDA_WP_ATOMIC_H

#define WP_ATOMIC_1(name, type, body)                                                              \
    WP_DEVICE type name(type *address, type value){body} WP_DEVICE type name##_block(              \
        type *address, type value){body} WP_DEVICE type name##_system(type *address, type value) { \
        body                                                                                       \
    }

WP_ATOMIC_1(atomicAdd, int, return __iAtomicAdd(address, value);)
WP_ATOMIC_1(atomicAdd, unsigned int, return __uAtomicAdd(address, value);)
WP_ATOMIC_1(atomicAdd, unsigned long long, return __ullAtomicAdd(address, value);)
WP_ATOMIC_1(atomicAdd, float, return __fAtomicAdd(address, value);)

WP_ATOMIC_1(atomicSub, int, return __iAtomicAdd(address, (int)-(unsigned int)value);)
WP_ATOMIC_1(atomicSub, unsigned int, return __uAtomicAdd(address, -value);)

WP_ATOMIC_1(atomicExch, int, return __iAtomicExch(address, value);)
WP_ATOMIC_1(atomicExch, unsigned int, return __uAtomicExch(address, value);)
WP_ATOMIC_1(atomicExch, unsigned long long, return __ullAtomicExch(address, value);)
WP_ATOMIC_1(atomicExch, float, return __fAtomicExch(address, value);)

WP_ATOMIC_1(atomicMin, int, return __iAtomicMin(address, value);)
WP_ATOMIC_1(atomicMin, unsigned int, return __uAtomicMin(address, value);)
WP_ATOMIC_1(atomicMin, long long, return __illAtomicMin(address, value);)
WP_ATOMIC_1(atomicMin, unsigned long long, return __ullAtomicMin(address, value);)
WP_ATOMIC_1(atomicMax, int, return __iAtomicMax(address, value);)
WP_ATOMIC_1(atomicMax, unsigned int, return __uAtomicMax(address, value);)
WP_ATOMIC_1(atomicMax, long long, return __illAtomicMax(address, value);)
WP_ATOMIC_1(atomicMax, unsigned long long, return __ullAtomicMax(address, value);)

WP_ATOMIC_1(atomicInc, unsigned int, return __uAtomicInc(address, value);)
WP_ATOMIC_1(atomicDec, unsigned int, return __uAtomicDec(address, value);)

WP_ATOMIC_1(atomicAnd, int, return __iAtomicAnd(address, value);)
WP_ATOMIC_1(atomicAnd, unsigned int, return __uAtomicAnd(address, value);)
WP_ATOMIC_1(atomicAnd, long long, return __llAtomicAnd(address, value);)
WP_ATOMIC_1(atomicAnd, unsigned long long, return __ullAtomicAnd(address, value);)
WP_ATOMIC_1(atomicOr, int, return __iAtomicOr(address, value);)
WP_ATOMIC_1(atomicOr, unsigned int, return __uAtomicOr(address, value);)
WP_ATOMIC_1(atomicOr, long long, return __llAtomicOr(address, value);)
WP_ATOMIC_1(atomicOr, unsigned long long, return __ullAtomicOr(address, value);)
WP_ATOMIC_1(atomicXor, int, return __iAtomicXor(address, value);)
WP_ATOMIC_1(atomicXor, unsigned int, return __uAtomicXor(address, value);)
WP_ATOMIC_1(atomicXor, long long, return __llAtomicXor(address, value);)
WP_ATOMIC_1(atomicXor, unsigned long long, return __ullAtomicXor(address, value);)
#undef WP_ATOMIC_1

/* Templates, so that overloads defined by old programs take precedence. */
#define WP_ATOMIC_ADD_DOUBLE(name)                                                                 \
    template <int Dummy = 0>                                                                       \
    static __device__ __inline__ __attribute__((always_inline)) double name(double *address,       \
                                                                            double value) {        \
        return __dAtomicAdd(address, value);                                                       \
    }
WP_ATOMIC_ADD_DOUBLE(atomicAdd)
WP_ATOMIC_ADD_DOUBLE(atomicAdd_block)
WP_ATOMIC_ADD_DOUBLE(atomicAdd_system)
#undef WP_ATOMIC_ADD_DOUBLE

#define WP_ATOMIC_CAS(type, body)                                                                  \
    WP_DEVICE type atomicCAS(type *address, type compare, type value){body} WP_DEVICE type         \
    atomicCAS_block(type *address, type compare, type value){body} WP_DEVICE type                  \
    atomicCAS_system(type *address, type compare, type value) {                                    \
        body                                                                                       \
    }
WP_ATOMIC_CAS(int, return __iAtomicCAS(address, compare, value);)
WP_ATOMIC_CAS(unsigned int, return __uAtomicCAS(address, compare, value);)
WP_ATOMIC_CAS(unsigned long long, return __ullAtomicCAS(address, compare, value);)
WP_ATOMIC_CAS(unsigned short, __atomic_compare_exchange_n(address, &compare, value, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
              return compare;)
#undef WP_ATOMIC_CAS

#endif
