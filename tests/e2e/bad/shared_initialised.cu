// STAGE: compile
// EXIT: 1
// STDERR: shared_initialised\.cu:8:20: error: initialization is not supported for __shared__ variables
/* SPDX-License-Identifier: Apache-2.0 */
/* Shared memory has no initial value. */
__global__ void k(int *out)
{
    __shared__ int tile = 5;
    *out = tile;
}
int main(void) { return 0; }
