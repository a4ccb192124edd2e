/* SPDX-License-Identifier: Apache-2.0 */
/** Small device functions: funnel shifts, dot products, spaces of pointers, timers. */
#ifndef WARPAGE_CUDA_WP_INTRINSIC_H
#define WARPAGE_CUDA_WP_INTRINSIC_H

WP_DEVICE unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
    const unsigned int s = shift & 31u;
    return s == 0 ? high : (high << s) | (low >> (32u - s));
}
WP_DEVICE unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
    const unsigned int s = shift & 31u;
    return s == 0 ? low : (low >> s) | (high << (32u - s));
}
WP_DEVICE unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? low : __funnelshift_l(low, high, shift);
}
WP_DEVICE unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
    return shift >= 32u ? high : __funnelshift_r(low, high, shift);
}

/** Position of the n-th bit set in `mask`, upwards from `base` (n > 0), downwards (n < 0), or
 *  `base` itself (n = 0); all ones when there is none. */
WP_DEVICE unsigned int __fns(unsigned int mask, unsigned int base, int n) {
    const int step = n < 0 ? -1 : 1;
    int left = n < 0 ? -n : n;
    if (left == 0) {
        return base < 32u && ((mask >> base) & 1u) != 0 ? base : 0xffffffffu;
    }
    for (int bit = (int)base; bit >= 0 && bit < 32; bit += step) {
        if (((mask >> bit) & 1u) != 0 && --left == 0) {
            return (unsigned int)bit;
        }
    }
    return 0xffffffffu;
}

/* Dot products of packed bytes, and of packed 16-bit numbers with bytes. */
#define WP_DOT(name, result, wide, narrow, lo)                                                     \
    WP_DEVICE result name(wide a, wide b, result c) {                                              \
        unsigned int sum = (unsigned int)c;                                                        \
        for (int i = 0; i < lo; i++) {                                                             \
            const int shift = lo == 4 ? 8 * i : 16 * i;                                            \
            sum += (unsigned int)((int)(narrow)((unsigned int)a >> shift) *                        \
                                  (int)(narrow)((unsigned int)b >> shift));                        \
        }                                                                                          \
        return (result)sum;                                                                        \
    }
WP_DOT(__dp4a, int, int, signed char, 4)
WP_DOT(__dp4a, unsigned int, unsigned int, unsigned char, 4)
#undef WP_DOT
WP_DEVICE int __dp4a(char4 a, char4 b, int c) {
    return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
WP_DEVICE unsigned int __dp4a(uchar4 a, uchar4 b, unsigned int c) {
    return c + (unsigned int)(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
}
WP_DEVICE int __dp2a_lo(int a, int b, int c) {
    return c + (short)a * (signed char)b + (short)(a >> 16) * (signed char)(b >> 8);
}
WP_DEVICE int __dp2a_hi(int a, int b, int c) {
    return c + (short)a * (signed char)(b >> 16) + (short)(a >> 16) * (signed char)(b >> 24);
}
WP_DEVICE unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a & 0xffffu) * (b & 0xffu) + (a >> 16) * ((b >> 8) & 0xffu);
}
WP_DEVICE unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int c) {
    return c + (a & 0xffffu) * ((b >> 16) & 0xffu) + (a >> 16) * (b >> 24);
}

WP_DEVICE unsigned int __isGlobal(const void *pointer) {
    return __wp_is_global(pointer);
}
WP_DEVICE unsigned int __isShared(const void *pointer) {
    return __wp_is_shared(pointer);
}
/* Before sm_90 a block is a cluster of its own. */
WP_DEVICE unsigned int __isClusterShared(const void *pointer) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
    return __wp_is_shared(pointer);
#else
    unsigned int is_in;
    __asm__("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }"
            : "=r"(is_in)
            : "l"(pointer));
    return is_in;
#endif
}
/* Parameters of kernels are copied to the thread's own memory where their address is taken. */
WP_DEVICE unsigned int __isGridConstant(const void *) {
    return 0;
}
WP_DEVICE unsigned int __isConstant(const void *pointer) {
    return __wp_is_constant(pointer);
}
WP_DEVICE unsigned int __isLocal(const void *pointer) {
    return __wp_is_local(pointer);
}
WP_DEVICE size_t __cvta_generic_to_global(const void *p) {
    return __nv_cvta_generic_to_global_impl(p);
}
WP_DEVICE size_t __cvta_generic_to_shared(const void *p) {
    return __nv_cvta_generic_to_shared_impl(p);
}
WP_DEVICE size_t __cvta_generic_to_constant(const void *p) {
    return __nv_cvta_generic_to_constant_impl(p);
}
WP_DEVICE size_t __cvta_generic_to_local(const void *p) {
    return __nv_cvta_generic_to_local_impl(p);
}
WP_DEVICE void *__cvta_global_to_generic(size_t p) {
    return __nv_cvta_global_to_generic_impl(p);
}
WP_DEVICE void *__cvta_shared_to_generic(size_t p) {
    return __nv_cvta_shared_to_generic_impl(p);
}
WP_DEVICE void *__cvta_constant_to_generic(size_t p) {
    return __nv_cvta_constant_to_generic_impl(p);
}
WP_DEVICE void *__cvta_local_to_generic(size_t p) {
    return __nv_cvta_local_to_generic_impl(p);
}

/* A condition's handle is its address (src/cudart/graph/graph_condition.c). */
WP_DEVICE void cudaGraphSetConditional(unsigned long long handle, unsigned int value) {
    *(volatile unsigned int *)handle = value;
}
WP_DEVICE void __nanosleep(unsigned int ns) {
    __nvvm_nanosleep(ns);
}

/* Programmatic dependent launch: a kernel may start before the one ahead of it in the stream has
 * ended; here it starts afterwards, so that nothing is waited for. */
WP_DEVICE void cudaGridDependencySynchronize(void) {
    __asm__ volatile("griddepcontrol.wait;" ::: "memory");
}
WP_DEVICE void cudaTriggerProgrammaticLaunchCompletion(void) {
    __asm__ volatile("griddepcontrol.launch_dependents;" ::: "memory");
}

/* ---- thread-block clusters (of one block, where the launch has none) ---- */

#define WP_CLUSTER_REGISTER(name, register)                                                        \
    WP_DEVICE unsigned int name() {                                                                \
        unsigned int value;                                                                        \
        __asm__ volatile("mov.u32 %0, %%" register ";" : "=r"(value));                             \
        return value;                                                                              \
    }
#define WP_CLUSTER_DIM3(name, register)                                                            \
    WP_DEVICE dim3 name() {                                                                        \
        unsigned int x, y, z;                                                                      \
        __asm__ volatile("mov.u32 %0, %%" register ".x;" : "=r"(x));                               \
        __asm__ volatile("mov.u32 %0, %%" register ".y;" : "=r"(y));                               \
        __asm__ volatile("mov.u32 %0, %%" register ".z;" : "=r"(z));                               \
        return dim3(x, y, z);                                                                      \
    }
WP_CLUSTER_REGISTER(__clusterRelativeBlockRank, "cluster_ctarank")
WP_CLUSTER_REGISTER(__clusterSizeInBlocks, "cluster_nctarank")
WP_CLUSTER_DIM3(__clusterDim, "cluster_nctaid")
WP_CLUSTER_DIM3(__clusterRelativeBlockIdx, "cluster_ctaid")
WP_CLUSTER_DIM3(__clusterIdx, "clusterid")
WP_CLUSTER_DIM3(__clusterGridDimInClusters, "nclusterid")
#undef WP_CLUSTER_REGISTER
#undef WP_CLUSTER_DIM3
WP_DEVICE unsigned int __clusterDimIsSpecified() {
    unsigned int is_explicit;
    __asm__ volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
                     : "=r"(is_explicit));
    return is_explicit;
}
WP_DEVICE void __cluster_barrier_arrive() {
    __asm__ volatile("barrier.cluster.arrive.aligned;" ::: "memory");
}
WP_DEVICE void __cluster_barrier_arrive_relaxed() {
    __asm__ volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
WP_DEVICE void __cluster_barrier_wait() {
    __asm__ volatile("barrier.cluster.wait.aligned;" ::: "memory");
}
WP_DEVICE void __threadfence_cluster() {
    __asm__ volatile("fence.acq_rel.cluster;" ::: "memory");
}
WP_DEVICE void *__cluster_map_shared_rank(const void *pointer, unsigned int rank) {
    void *there;
    __asm__ volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(pointer), "r"(rank));
    return there;
}
WP_DEVICE unsigned int __cluster_query_shared_rank(const void *pointer) {
    unsigned int rank;
    __asm__ volatile("getctarank.u64 %0, %1;" : "=r"(rank) : "l"(pointer));
    return rank;
}

#endif
