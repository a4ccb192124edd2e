// STAGE: compile
// EXIT: 1
// STDERR: kernel_returns\.cu:6:12: error: kernel function type .* must have void return type
/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that returns something. */
__global__ int k(int *out) { return *out; }
int main(void) { return 0; }
