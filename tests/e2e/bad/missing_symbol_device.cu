// STAGE: compile
// EXIT: 1
// STDERR: not_defined_anywhere
// STDERR: the_kernel
/* SPDX-License-Identifier: Apache-2.0 */
/* A device function that is declared and never defined: its name, and who uses it. */
__device__ int not_defined_anywhere(int);
__global__ void the_kernel(int *out) { *out = not_defined_anywhere(1); }
int main(void) { return 0; }
