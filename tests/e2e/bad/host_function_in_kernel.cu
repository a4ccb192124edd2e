// STAGE: compile
// EXIT: 1
// STDERR: host_function_in_kernel\.cu:8:38: error: no matching function for call to 'only_on_the_host'
// STDERR: call to __host__ function from __global__ function
/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel calls a host function. */
int only_on_the_host(int x) { return x + 1; }
__global__ void k(int *out) { *out = only_on_the_host(*out); }
int main(void) { return 0; }
