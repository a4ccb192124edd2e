// STAGE: compile
// EXIT: 1
// STDERR: undeclared\.cu:8:35: error: use of undeclared identifier 'treadIdx'
// STDERR: did you mean 'threadIdx'
/* SPDX-License-Identifier: Apache-2.0 */
/* A misspelt built-in, with the correction. */
#define N 4
__global__ void k(int *out) { out[treadIdx.x] = N; }
int main(void) { return 0; }
