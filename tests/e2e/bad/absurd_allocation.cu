// STAGE: run
// EXIT: 3
// ENV: WARPAGE_LOG=warn
// STDERR: out of memory
// STDERR: 1000(\.0+)? TiB
/* SPDX-License-Identifier: Apache-2.0 */
/* An absurd allocation: CUDA's error in the program; the log says how much was asked and what helps. */
#include <stdio.h>
int main(void)
{
    void *p = NULL;
    cudaError_t error = cudaMalloc(&p, (size_t)1000 << 40);
    fprintf(stderr, "cudaMalloc: %s\n", cudaGetErrorString(error));
    return error == cudaErrorMemoryAllocation && p == NULL ? 3 : 0;
}
