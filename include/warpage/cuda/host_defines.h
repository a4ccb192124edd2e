/* SPDX-License-Identifier: Apache-2.0 */
/**
 * CUDA's extensions of C: function and variable specifiers and attributes. In plain C or C++ files
 * the specifiers are empty, so that shared headers compile there.
 */
#ifndef WARPAGE_CUDA_HOST_DEFINES_H
#define WARPAGE_CUDA_HOST_DEFINES_H

#define __HOST_DEFINES_H__

#if defined(__CUDA__) && defined(__clang__)
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))
/* clang 19 ignores a managed attribute; the compiler finds these variables by the annotation.
 * Their section is page-aligned in every object. */
#define __managed__                                                                                \
    __attribute__((device)) __attribute__((annotate("warpage.managed")))                           \
    __attribute__((section("wp_managed")))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
/* clang 19 has no such attribute; wpcc reads the annotation (src/compiler/driver/finish.c). */
#define __cluster_dims__(...) __attribute__((annotate("warpage.cluster_dims", __VA_ARGS__)))
#define __device_builtin__
#define __device_builtin_texture_type__ __attribute__((device_builtin_texture_type))
#define __device_builtin_surface_type__ __attribute__((device_builtin_surface_type))
#define __cudart_builtin__
#define __nv_pure__ __attribute__((pure))
#else
#ifndef __host__
#define __host__
#endif
#ifndef __device__
#define __device__
#endif
#ifndef __global__
#define __global__
#endif
#ifndef __constant__
#define __constant__
#endif
#ifndef __shared__
#define __shared__
#endif
#ifndef __managed__
#define __managed__
#endif
#ifndef __launch_bounds__
#define __launch_bounds__(...)
#endif
#ifndef __cluster_dims__
#define __cluster_dims__(...)
#endif
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__
#define __nv_pure__
#endif

/* Hints about registers and parameter memory: accepted and ignored. */
#define __block_size__(...)
#define __maxnreg__(...)
#define __grid_constant__
#define __local_maxnreg__(...)

#define __forceinline__ __inline__ __attribute__((always_inline))
/* In CUDA files __noinline__ is a keyword of clang; elsewhere the C++ library uses the name. */
#define __no_return__ __attribute__((noreturn))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __specialization_static static
#define __thread__ __thread

#define CUDARTAPI
#define CUDARTAPI_CDECL
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB

/* The default value of a parameter, in languages that have default arguments. */
#if defined(__cplusplus)
#define __dv(value) = value
#else
#define __dv(value)
#endif

#endif
