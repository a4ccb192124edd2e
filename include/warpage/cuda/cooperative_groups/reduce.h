/* SPDX-License-Identifier: Apache-2.0 */
/** reduce(group, value, op): every thread of a tile or coalesced group gets op over all values. */
#ifndef WARPAGE_CUDA_COOPERATIVE_GROUPS_REDUCE_H
#define WARPAGE_CUDA_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

#define WP_CG_OPERATION(name, expression)                                                          \
    template <class T = void> struct name {                                                        \
        __host__ __device__ T operator()(const T &a, const T &b) const { return expression; }      \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class T> __host__ __device__ T operator()(const T &a, const T &b) const          \
        {                                                                                          \
            return expression;                                                                     \
        }                                                                                          \
    };
WP_CG_OPERATION(plus, a + b)
WP_CG_OPERATION(less, b < a ? b : a)
WP_CG_OPERATION(greater, a < b ? b : a)
WP_CG_OPERATION(bit_and, a & b)
WP_CG_OPERATION(bit_or, a | b)
WP_CG_OPERATION(bit_xor, a ^ b)
#undef WP_CG_OPERATION

/* A tile halves: after log2(N) exchanges each lane holds the whole. */
template <unsigned int N, class Parent, class T, class Op>
WP_CG typename wp::copy_of<T>::type reduce(const thread_block_tile<N, Parent> &tile, T &&value,
                                           Op &&op)
{
    typename wp::copy_of<T>::type all = value;
#pragma unroll
    for (unsigned int distance = N / 2; distance > 0; distance /= 2) {
        all = op(all, tile.shfl_xor(all, distance));
    }
    return all;
}

template <class T, class Op>
WP_CG typename wp::copy_of<T>::type reduce(const coalesced_group &group, T &&value, Op &&op)
{
    const typename wp::copy_of<T>::type own = value;
    typename wp::copy_of<T>::type all = group.shfl(own, 0);
    for (unsigned int rank = 1; rank < group.size(); rank++) {
        all = op(all, group.shfl(own, rank));
    }
    return all;
}

}  // namespace cooperative_groups

#endif
#endif
