// STAGE: compile
// EXIT: 1
// STDERR: exceptions\.cu:8:25: error: cannot use 'throw' in __global__ function
/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions in a kernel. */
__global__ void k(int *out)
{
    if (out == nullptr) throw 1;
    *out = 1;
}
int main(void) { return 0; }
