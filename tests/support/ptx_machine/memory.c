/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of a state space to memory of the process, or to the end of the launch. */
#include "machine.h"

const pm_range *pm_find_range(pm_grid *g, uint64_t address, size_t bytes) {
    const pm_range *last = g->last_range;
    if (last != NULL && address >= last->first && address < last->outer &&
        bytes <= last->outer - address)
        return last;
    size_t low = 0, high = g->range_count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (g->ranges[middle].outer <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == g->range_count || address < g->ranges[low].first ||
        bytes > g->ranges[low].outer - address)
        return NULL;
    return g->last_range = &g->ranges[low];
}

static void *shared_memory(pm_warp *w, uint64_t offset, size_t bytes) {
    const uint64_t outer = w->grid->shared_bytes;
    return offset <= outer && bytes <= outer - offset ? w->block->shared + offset : NULL;
}

static void *local_memory(pm_warp *w, unsigned lane, uint64_t offset, size_t bytes) {
    const uint64_t outer = w->grid->local_bytes;
    return offset <= outer && bytes <= outer - offset ? w->local + lane * outer + offset : NULL;
}

static void *param_memory(pm_warp *w, uint64_t offset, size_t bytes) {
    const uint64_t outer = w->grid->launch->kernel->param_bytes;
    return offset <= outer && bytes <= outer - offset ? w->grid->params + offset : NULL;
}

static void *generic_memory(pm_warp *w, unsigned lane, uint64_t address, size_t bytes) {
    switch (PM_WINDOW_OF(address)) {
    case PM_WINDOW_OF(PM_SHARED_WINDOW): return shared_memory(w, address - PM_SHARED_WINDOW, bytes);
    case PM_WINDOW_OF(PM_LOCAL_WINDOW):
        return local_memory(w, lane, address - PM_LOCAL_WINDOW, bytes);
    default:
        return pm_find_range(w->grid, address, bytes) != NULL ? (void *)(uintptr_t)address : NULL;
    }
}

static void *find(pm_warp *w, unsigned lane, pm_space space, uint64_t address, size_t bytes) {
    switch (space) {
    case PM_SHARED: return shared_memory(w, address, bytes);
    case PM_LOCAL: return local_memory(w, lane, address, bytes);
    case PM_PARAM: return param_memory(w, address, bytes);
    case PM_GENERIC: return generic_memory(w, lane, address, bytes);
    default:
        return pm_find_range(w->grid, address, bytes) != NULL ? (void *)(uintptr_t)address : NULL;
    }
}

void *pm_memory(pm_warp *w, const pm_insn *in, unsigned lane, pm_space space, uint64_t address,
                size_t bytes) {
    static const char *const names[] = {"",        "global ", "constant ",
                                        "shared ", "local ",  "parameter "};
    if ((address & (bytes - 1)) != 0) {
        pm_fault(w, in, lane, PM_MISALIGNED_ADDRESS, "%saddress %#llx is no multiple of %zu",
                 names[space], (unsigned long long)address, bytes);
        return NULL;
    }
    void *memory = find(w, lane, space, address, bytes);
    if (memory == NULL)
        pm_fault(w, in, lane, PM_ILLEGAL_ADDRESS, "%zu bytes at %saddress %#llx are not there",
                 bytes, names[space], (unsigned long long)address);
    return memory;
}
