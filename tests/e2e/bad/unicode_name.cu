// STAGE: compile
// EXIT: 1
// STDERR: device code cannot have the name .*ASCII
/* SPDX-License-Identifier: Apache-2.0 */
/* PTX has no such names; LLVM would end the compiler. */
__device__ int größe = 3;
__global__ void k(int *out) { *out = größe; }
int main(void) { return 0; }
