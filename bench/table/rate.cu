/* SPDX-License-Identifier: Apache-2.0 */
/* A thread of a kernel for each pair. */
#include <warpage/cudart.h>

#include "rate.h"

__global__ void insert(wp_table_view table, wp_units units, uint64_t first, uint64_t outer,
                       uint64_t keys) {
    const uint64_t unit = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (unit < outer) rate_insert(&table, &units, unit, keys);
}

static wp_status rate_process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                              wp_error *err) {
    const rate_filler *filler = (const rate_filler *)object;
    (void)err;
    insert<<<(unsigned)((outer - first + 255) / 256), 256>>>(wp_table_get_view(filler->table),
                                                             *units, first, outer, filler->keys);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}

int main(int argc, char **argv) {
    return rate_run(wp_cudart_device(), argc, argv);
}
