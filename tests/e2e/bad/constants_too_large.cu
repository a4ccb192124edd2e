// STAGE: compile
// EXIT: 1
// STDERR: too much __constant__ memory: 70000 bytes of at most 65536
// STDERR: large .60000.*small .10000
/* SPDX-License-Identifier: Apache-2.0 */
/* 64 KiB of constant memory are there for all variables together. */
__constant__ char large[60000];
__constant__ char small[10000];
__global__ void k(int *out, int i) { *out = large[i] + small[i]; }
int main(void) { return 0; }
