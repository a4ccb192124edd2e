/* SPDX-License-Identifier: Apache-2.0 */
/** reduce(group, value, op): every thread of a tile or coalesced group gets op over all values.
 * reduce_store_async, reduce_update_async: one thread stores that to a cuda::atomic or
 * cuda::atomic_ref, or op of that and what is there. */
#ifndef WARPAGE_CUDA_COOPERATIVE_GROUPS_REDUCE_H
#define WARPAGE_CUDA_COOPERATIVE_GROUPS_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

#define WP_CG_OPERATION(name, expression)                                                          \
    template <class Value = void> struct name {                                                    \
        __host__ __device__ Value operator()(const Value &a, const Value &b) const {               \
            return expression;                                                                     \
        }                                                                                          \
    };                                                                                             \
    template <> struct name<void> {                                                                \
        template <class Value>                                                                     \
        __host__ __device__ Value operator()(const Value &a, const Value &b) const {               \
            return expression;                                                                     \
        }                                                                                          \
    };
WP_CG_OPERATION(plus, a + b)
WP_CG_OPERATION(less, b < a ? b : a)
WP_CG_OPERATION(greater, a < b ? b : a)
WP_CG_OPERATION(bit_and, a &b)
WP_CG_OPERATION(bit_or, a | b)
WP_CG_OPERATION(bit_xor, a ^ b)
#undef WP_CG_OPERATION

/* A tile halves: after log2(size) exchanges each lane holds the whole. */
template <unsigned int Size, class Parent, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type reduce(const thread_block_tile<Size, Parent, false> &tile,
                                               Value &&value, Operation &&op) {
    typename wp::copy_of<Value>::type all = value;
#pragma unroll
    for (unsigned int distance = Size / 2; distance > 0; distance /= 2) {
        all = op(all, tile.shfl_xor(all, distance));
    }
    return all;
}

template <unsigned int Size, class Parent, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type reduce(const thread_block_tile<Size, Parent, true> &tile,
                                               Value &&value, Operation &&op) {
    typedef typename wp::copy_of<Value>::type copy;
    const auto warp = tiled_partition<32>(tile);
    const copy *sums = tile.wp_exchange(reduce(warp, copy(value), op), warp.thread_rank() == 0);
    copy all = sums[0];
    for (unsigned int w = 1; w < tile.wp_warps(); w++) {
        all = op(all, sums[w]);
    }
    return all;
}

template <class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type reduce(const coalesced_group &group, Value &&value,
                                               Operation &&op) {
    const typename wp::copy_of<Value>::type own = value;
    typename wp::copy_of<Value>::type all = group.shfl(own, 0);
    for (unsigned int rank = 1; rank < group.size(); rank++) {
        all = op(all, group.shfl(own, rank));
    }
    return all;
}

template <class Group, class Atomic, class Value, class Operation>
WP_CG void reduce_store_async(const Group &group, Atomic &to, Value &&value, Operation &&op) {
    const typename wp::copy_of<Value>::type all = reduce(group, value, op);
    if (group.thread_rank() == 0) {
        to.store(all);
    }
}

template <class Group, class Atomic, class Value, class Operation>
WP_CG void reduce_update_async(const Group &group, Atomic &to, Value &&value, Operation &&op) {
    const typename wp::copy_of<Value>::type all = reduce(group, value, op);
    if (group.thread_rank() == 0) {
        auto there = to.load();
        while (!to.compare_exchange_weak(there, op(there, all))) {
        }
    }
}

} // namespace cooperative_groups

#endif
#endif
