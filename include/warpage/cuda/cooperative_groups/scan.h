/* SPDX-License-Identifier: Apache-2.0 */
/** inclusive_scan and exclusive_scan over the ranks of a tile or coalesced group. */
#ifndef WARPAGE_CUDA_COOPERATIVE_GROUPS_SCAN_H
#define WARPAGE_CUDA_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

template <class Group, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type inclusive_scan(const Group &group, Value &&value,
                                                       Operation &&op) {
    typename wp::copy_of<Value>::type sum = value;
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const typename wp::copy_of<Value>::type below = group.shfl_up(sum, distance);
        if (group.thread_rank() >= distance) {
            sum = op(below, sum);
        }
    }
    return sum;
}

/* Sums of the warps before are put in front: `below` is the result without the value of the thread. */
template <unsigned int Size, class Parent, class Value, class Operation>
WP_CG Value wp_scan(const thread_block_tile<Size, Parent, true> &tile, const Value &value,
                    Operation &op, Value *below) {
    const auto warp = tiled_partition<32>(tile);
    const unsigned int rank = warp.thread_rank(), own = warp.meta_group_rank();
    const Value sum = inclusive_scan(warp, value, op), before = warp.shfl_up(sum, 1);
    const Value *sums = tile.wp_exchange(sum, rank == 31);
    if (own == 0) {
        *below = rank == 0 ? Value() : before;
        return sum;
    }
    Value front = sums[0];
    for (unsigned int w = 1; w < own; w++) {
        front = op(front, sums[w]);
    }
    *below = rank == 0 ? front : op(front, before);
    return op(front, sum);
}
template <unsigned int Size, class Parent, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type
inclusive_scan(const thread_block_tile<Size, Parent, true> &tile, Value &&value, Operation &&op) {
    typename wp::copy_of<Value>::type below;
    return wp_scan(tile, typename wp::copy_of<Value>::type(value), op, &below);
}

template <class Group, class Value>
WP_CG typename wp::copy_of<Value>::type inclusive_scan(const Group &group, Value &&value) {
    return inclusive_scan(group, value, plus<typename wp::copy_of<Value>::type>());
}

/* The first thread gets Value(): the neutral element of sums. */
template <class Group, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type exclusive_scan(const Group &group, Value &&value,
                                                       Operation &&op) {
    typedef typename wp::copy_of<Value>::type copy;
    const copy below = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? copy() : below;
}
template <unsigned int Size, class Parent, class Value, class Operation>
WP_CG typename wp::copy_of<Value>::type
exclusive_scan(const thread_block_tile<Size, Parent, true> &tile, Value &&value, Operation &&op) {
    typename wp::copy_of<Value>::type below;
    wp_scan(tile, typename wp::copy_of<Value>::type(value), op, &below);
    return below;
}
template <class Group, class Value>
WP_CG typename wp::copy_of<Value>::type exclusive_scan(const Group &group, Value &&value) {
    return exclusive_scan(group, value, plus<typename wp::copy_of<Value>::type>());
}

} // namespace cooperative_groups

#endif
#endif
