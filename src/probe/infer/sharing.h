/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The SMs that share a level: SM i loads pages that the level holds, SM k as many others as it
 * holds; if i's next round misses, k has evicted its pages.
 */
#ifndef WP_PROBE_SHARING_H
#define WP_PROBE_SHARING_H

#include "probe/measure/search.h"

/** Groups of level `number`; the levels up to it are known. Each SM is compared with one of each
 * group found so far; random pairs check the result. */
WP_NODISCARD wp_status wpi_sharing_find(wpi_search *search, const wpi_hierarchy *hierarchy,
                                        uint32_t number, wpi_sharing_groups *out, wp_error *err);
/** Pages that the timed SM loads in a contest for a level; the other SM loads as many as the level
 * has entries. 0: impossible. */
uint64_t wpi_sharing_loads(const wpi_hierarchy *hierarchy, uint32_t number, uint64_t memory_bytes);
/** Groups from a matrix of sm_count * sm_count cycles, rows timed, of a level whose misses cost
 * `miss_cycles`. */
void wpi_sharing_from_matrix(const double *cycles, uint32_t sm_count, double miss_cycles,
                             wpi_sharing_groups *out);

#endif
