/* SPDX-License-Identifier: Apache-2.0 */
/** inclusive_scan and exclusive_scan over the ranks of a tile or coalesced group. */
#ifndef WARPAGE_CUDA_COOPERATIVE_GROUPS_SCAN_H
#define WARPAGE_CUDA_COOPERATIVE_GROUPS_SCAN_H

#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDA__)

namespace cooperative_groups {

template <class Group, class T, class Op>
WP_CG typename wp::copy_of<T>::type inclusive_scan(const Group &group, T &&value, Op &&op)
{
    typename wp::copy_of<T>::type sum = value;
    for (unsigned int distance = 1; distance < group.size(); distance *= 2) {
        const typename wp::copy_of<T>::type below = group.shfl_up(sum, distance);
        if (group.thread_rank() >= distance) {
            sum = op(below, sum);
        }
    }
    return sum;
}
template <class Group, class T>
WP_CG typename wp::copy_of<T>::type inclusive_scan(const Group &group, T &&value)
{
    return inclusive_scan(group, value, plus<typename wp::copy_of<T>::type>());
}

/* The first thread gets T(): the neutral element of sums. */
template <class Group, class T, class Op>
WP_CG typename wp::copy_of<T>::type exclusive_scan(const Group &group, T &&value, Op &&op)
{
    typedef typename wp::copy_of<T>::type copy;
    const copy below = group.shfl_up(inclusive_scan(group, value, op), 1);
    return group.thread_rank() == 0 ? copy() : below;
}
template <class Group, class T>
WP_CG typename wp::copy_of<T>::type exclusive_scan(const Group &group, T &&value)
{
    return exclusive_scan(group, value, plus<typename wp::copy_of<T>::type>());
}

}  // namespace cooperative_groups

#endif
#endif
