/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Functions that the compiler lowers for each device. Kernel code calls them by these names; no
 * definition in C exists. Those marked convergent make lanes or threads meet.
 */
#ifndef WARPAGE_CUDA_WP_SYMBOLS_H
#define WARPAGE_CUDA_WP_SYMBOLS_H

#define WP_CONVERGENT __attribute__((convergent, nothrow))

extern "C" {
/* Among the lanes that are there together (the forms without a mask). c: PTX's operand of shfl. */
__device__ int __wp_shfl_idx_active(int value, int lane, int c) WP_CONVERGENT;
__device__ int __wp_shfl_up_active(int value, int delta, int c) WP_CONVERGENT;
__device__ int __wp_shfl_down_active(int value, int delta, int c) WP_CONVERGENT;
__device__ int __wp_shfl_bfly_active(int value, int lane_mask, int c) WP_CONVERGENT;
__device__ int __wp_vote_all_active(int pred) WP_CONVERGENT;
__device__ int __wp_vote_any_active(int pred) WP_CONVERGENT;
__device__ unsigned int __wp_vote_ballot_active(int pred) WP_CONVERGENT;
__device__ unsigned int __wp_activemask(void) WP_CONVERGENT;

/* Among the lanes of `mask`, which all call. */
__device__ unsigned int __wp_redux_add(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ unsigned int __wp_redux_and(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ unsigned int __wp_redux_or(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ unsigned int __wp_redux_xor(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ unsigned int __wp_redux_umin(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ unsigned int __wp_redux_umax(unsigned int mask, unsigned int value) WP_CONVERGENT;
__device__ int __wp_redux_min(unsigned int mask, int value) WP_CONVERGENT;
__device__ int __wp_redux_max(unsigned int mask, int value) WP_CONVERGENT;

/* All threads of a cooperative grid. */
__device__ void __wp_grid_sync(void) WP_CONVERGENT;
/* Does this launch allow a grid barrier? */
__device__ int __wp_grid_is_valid(void) __attribute__((nothrow));

/* Textures and surfaces: see docs/rooms/dialect.md for kinds and operations. */
__device__ void __wp_tex(unsigned long long texture, unsigned int kind, float x, float y, float z,
                         int ix, unsigned int *out) __attribute__((nothrow));
__device__ void __wp_surf_read(unsigned long long surface, void *data, unsigned int bytes, int x,
                               int y, int z, unsigned int mode) __attribute__((nothrow));
__device__ void __wp_surf_write(unsigned long long surface, const void *data, unsigned int bytes,
                                int x, int y, int z, unsigned int mode) __attribute__((nothrow));

/* The same address; what is accessed through it carries the cache operator .cg, or .cs. */
__device__ void *__wp_cache_global(const void *address) __attribute__((nothrow, const));
__device__ void *__wp_cache_stream(const void *address) __attribute__((nothrow, const));

__device__ unsigned int __wp_is_global(const void *pointer) __attribute__((nothrow, const));
__device__ unsigned int __wp_is_shared(const void *pointer) __attribute__((nothrow, const));
__device__ unsigned int __wp_is_constant(const void *pointer) __attribute__((nothrow, const));
__device__ unsigned int __wp_is_local(const void *pointer) __attribute__((nothrow, const));
}

#endif
