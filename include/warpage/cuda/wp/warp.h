/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Warp operations: shuffles, votes, matches, reductions, with and without a mask.
 *
 * clang's header writes them over its builtins. The builtins without a mask became illegal with
 * Volta and the reductions need Ampere, so these are pointed to symbols of ours; the architecture
 * shown to the header is the newest one of which nothing else is missing.
 */
#ifndef WARPAGE_CUDA_WP_WARP_H
#define WARPAGE_CUDA_WP_WARP_H

#define __nvvm_shfl_idx_i32 __wp_shfl_idx_active
#define __nvvm_shfl_up_i32 __wp_shfl_up_active
#define __nvvm_shfl_down_i32 __wp_shfl_down_active
#define __nvvm_shfl_bfly_i32 __wp_shfl_bfly_active
#define WP_SHFL_FLOAT(name)                                                                        \
    WP_DEVICE float name##_f32(float value, int lane, int c) {                                     \
        return __int_as_float(name(__float_as_int(value), lane, c));                               \
    }
WP_SHFL_FLOAT(__wp_shfl_idx_active)
WP_SHFL_FLOAT(__wp_shfl_up_active)
WP_SHFL_FLOAT(__wp_shfl_down_active)
WP_SHFL_FLOAT(__wp_shfl_bfly_active)
#undef WP_SHFL_FLOAT
#define __nvvm_shfl_idx_f32 __wp_shfl_idx_active_f32
#define __nvvm_shfl_up_f32 __wp_shfl_up_active_f32
#define __nvvm_shfl_down_f32 __wp_shfl_down_active_f32
#define __nvvm_shfl_bfly_f32 __wp_shfl_bfly_active_f32

#define __nvvm_activemask __wp_activemask
#define __nvvm_redux_sync_add __wp_redux_add
#define __nvvm_redux_sync_umin __wp_redux_umin
#define __nvvm_redux_sync_umax __wp_redux_umax
#define __nvvm_redux_sync_min __wp_redux_min
#define __nvvm_redux_sync_max __wp_redux_max
#define __nvvm_redux_sync_and __wp_redux_and
#define __nvvm_redux_sync_or __wp_redux_or
#define __nvvm_redux_sync_xor __wp_redux_xor

/* Defined in intrinsic.h without inline PTX. */
#define __funnelshift_l wp_unused_funnelshift_l
#define __funnelshift_lc wp_unused_funnelshift_lc
#define __funnelshift_r wp_unused_funnelshift_r
#define __funnelshift_rc wp_unused_funnelshift_rc
#define __fns wp_unused_fns
#define __nv_memcpy_async_shared_global_4 wp_unused_memcpy_async_4
#define __nv_memcpy_async_shared_global_8 wp_unused_memcpy_async_8
#define __nv_memcpy_async_shared_global_16 wp_unused_memcpy_async_16

#pragma push_macro("__CUDA_ARCH__")
#undef __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#include <__clang_cuda_intrinsics.h>
#pragma pop_macro("__CUDA_ARCH__")

#undef __funnelshift_l
#undef __funnelshift_lc
#undef __funnelshift_r
#undef __funnelshift_rc
#undef __fns
#undef __nv_memcpy_async_shared_global_4
#undef __nv_memcpy_async_shared_global_8
#undef __nv_memcpy_async_shared_global_16
#undef __nvvm_shfl_idx_i32
#undef __nvvm_shfl_up_i32
#undef __nvvm_shfl_down_i32
#undef __nvvm_shfl_bfly_i32
#undef __nvvm_shfl_idx_f32
#undef __nvvm_shfl_up_f32
#undef __nvvm_shfl_down_f32
#undef __nvvm_shfl_bfly_f32
#undef __nvvm_activemask
#undef __nvvm_redux_sync_add
#undef __nvvm_redux_sync_umin
#undef __nvvm_redux_sync_umax
#undef __nvvm_redux_sync_min
#undef __nvvm_redux_sync_max
#undef __nvvm_redux_sync_and
#undef __nvvm_redux_sync_or
#undef __nvvm_redux_sync_xor

#endif
