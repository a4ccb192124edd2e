/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The device side of the dialect: builtin variables, functions and operators in kernels.
 *
 * clang's own resource headers define most of it in terms of `__nv_*` functions (devicelib) and
 * of its builtins. Where they use inline PTX or need a newer GPU, the macros below replace those by
 * functions that every device of Warpage has. docs/rooms/dialect.md lists all symbols.
 */
#ifndef WARPAGE_CUDA_WP_DEVICE_H
#define WARPAGE_CUDA_WP_DEVICE_H

#include "symbols.h"

#include <__clang_cuda_builtin_vars.h>

/* For CUDA 9.0 these headers call __nv_vadd4 and its kin; later ones would write inline PTX. */
#pragma push_macro("CUDA_VERSION")
#undef CUDA_VERSION
#define CUDA_VERSION 9000
#include <__clang_cuda_libdevice_declares.h>
#define __nvvm_vote_all __wp_vote_all_active
#define __nvvm_vote_any __wp_vote_any_active
#define __nvvm_vote_ballot __wp_vote_ballot_active
#include <__clang_cuda_device_functions.h>
#undef __nvvm_vote_all
#undef __nvvm_vote_any
#undef __nvvm_vote_ballot
#pragma pop_macro("CUDA_VERSION")
#include <__clang_cuda_math.h>

extern "C" {
__device__ int vprintf(const char *format, const char *packed);
__device__ int printf(const char *format, ...);
__device__ void free(void *pointer) __attribute__((nothrow));
__device__ void *malloc(size_t bytes) __attribute__((nothrow, malloc));
__device__ void __assertfail(const char *expression, const char *file, unsigned int line,
                             const char *function, size_t char_bytes);
}
/* What the C library's assert macro calls where only the host's is declared: NDEBUG on the command
 * line, then undefined. A template, because programs and libcu++ may declare the function itself
 * for the host and the device, too. Not on the host side, whose own function is no exact match for
 * the type of __LINE__. */
#ifdef __CUDA_ARCH__
template <class Line>
__device__ static __inline__ void __assert_fail(const char *expression, const char *file, Line line,
                                                const char *function) {
    __assertfail(expression, file, line, function, sizeof(char));
}
#endif

namespace std {
__device__ static __inline__ void free(void *pointer) {
    ::free(pointer);
}
__device__ static __inline__ void *malloc(size_t bytes) {
    return ::malloc(bytes);
}
} // namespace std

#define WP_DEVICE static __device__ __inline__ __attribute__((always_inline))

/* Conversions of the builtin variables; declared by clang, defined where dim3 is complete. */
#define WP_BUILTIN_VAR(type)                                                                       \
    __device__ inline type::operator dim3() const {                                                \
        return dim3(x, y, z);                                                                      \
    }                                                                                              \
    __device__ inline type::operator uint3() const {                                               \
        uint3 v;                                                                                   \
        v.x = x;                                                                                   \
        v.y = y;                                                                                   \
        v.z = z;                                                                                   \
        return v;                                                                                  \
    }
WP_BUILTIN_VAR(__cuda_builtin_threadIdx_t)
WP_BUILTIN_VAR(__cuda_builtin_blockIdx_t)
WP_BUILTIN_VAR(__cuda_builtin_blockDim_t)
WP_BUILTIN_VAR(__cuda_builtin_gridDim_t)
#undef WP_BUILTIN_VAR

#include <__clang_cuda_cmath.h>

#include "warp.h"

#include <__clang_cuda_complex_builtins.h>

#include "atomic.h"
#include "dpx.h"
#include "intrinsic.h"
#include "math_device.h"
#include "memory.h"

#include <new>

/* The memory of a `__shared__` object with a constructor, which does not run: wpcc puts it in place
 * of the declaration (shared_objects.h). */
template <class T> struct wp_shared_object {
    __attribute__((aligned(__alignof__(T)))) char bytes[sizeof(T)];
    __device__ T &object() {
        return reinterpret_cast<T &>(bytes);
    }
};

#endif
