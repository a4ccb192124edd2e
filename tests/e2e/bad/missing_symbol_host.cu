// STAGE: compile
// EXIT: 1
// STDERR: undefined.*absent_host_function
/* SPDX-License-Identifier: Apache-2.0 */
/* A host function that is nowhere: the linker's message. */
int absent_host_function(int);
__global__ void k(int *out) { *out = 1; }
int main(void) { return absent_host_function(1); }
