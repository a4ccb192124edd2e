/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of bfs.cu in OpenCL C. */
#define UNREACHED 0xffffffffu

kernel void visit(global const uint *first, global const uint *target, global uint *hops,
                  global const uint *frontier, uint frontier_count, global uint *next,
                  global uint *counters, uint level) {
    uint i = get_global_id(0);
    if (i >= frontier_count) {
        return;
    }
    uint vertex = frontier[i];
    for (uint e = first[vertex]; e < first[vertex + 1]; e++) {
        uint neighbour = target[e];
        if (hops[neighbour] == UNREACHED &&
            atomic_cmpxchg(&hops[neighbour], UNREACHED, level + 1) == UNREACHED) {
            next[atomic_add(&counters[level], 1u)] = neighbour;
        }
    }
}
