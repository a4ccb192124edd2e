/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels whose threads loop over `count` elements. Before it is included: BLOCK, threads of a
 * block. */
#ifndef WP_LIBRARIES_ELEMENT_LOOP_H
#define WP_LIBRARIES_ELEMENT_LOOP_H

#define BLOCKS_MAX 4096

#define FOR_EACH(i, count)                                                                         \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (count);              \
         i += (long long)gridDim.x * blockDim.x)

/** Blocks of a launch for n elements. */
static unsigned blocks(long long n) {
    const long long count = (n + BLOCK - 1) / BLOCK;
    return (unsigned)(count < 1 ? 1 : count < BLOCKS_MAX ? count : BLOCKS_MAX);
}

#endif
