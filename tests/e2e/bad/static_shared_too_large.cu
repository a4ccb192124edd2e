// STAGE: compile
// EXIT: 1
// STDERR: [Tt]oo much (static )?shared|shared memory
// STDERR: the_kernel
// STDERR: 80000
/* SPDX-License-Identifier: Apache-2.0 */
/* More static shared memory than a block has (48 KiB): who, and how much. */
__global__ void the_kernel(int *out)
{
    __shared__ int tile[20000];
    tile[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[127 - threadIdx.x];
}
int main(void) { return 0; }
