/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of bfs.cu in OpenCL C. */
#define UNREACHED 0xffffffffu
#define QUEUE 1024

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

kernel void visit_queued(global const uint *first, global const uint *target, global uint *hops,
                         global const uint *frontier, uint frontier_count, global uint *next,
                         global uint *counters, uint level) {
    local uint queue[QUEUE], queued, place;
    if (get_local_id(0) == 0) queued = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = get_global_id(0);
    if (i < frontier_count) {
        uint vertex = frontier[i];
        for (uint e = first[vertex]; e < first[vertex + 1]; e++) {
            uint neighbour = target[e];
            if (hops[neighbour] == UNREACHED &&
                atomic_cmpxchg(&hops[neighbour], UNREACHED, level + 1) == UNREACHED) {
                uint at = atomic_inc(&queued);
                if (at < QUEUE) {
                    queue[at] = neighbour;
                } else {
                    next[atomic_add(&counters[level], 1u)] = neighbour;
                }
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    uint count = min(queued, (uint)QUEUE);
    if (get_local_id(0) == 0) place = atomic_add(&counters[level], count);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint j = get_local_id(0); j < count; j += get_local_size(0)) {
        next[place + j] = queue[j];
    }
}
