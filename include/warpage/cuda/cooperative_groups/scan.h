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
template <class Group, class Value>
WP_CG typename wp::copy_of<Value>::type exclusive_scan(const Group &group, Value &&value) {
    return exclusive_scan(group, value, plus<typename wp::copy_of<Value>::type>());
}

} // namespace cooperative_groups

#endif
#endif
