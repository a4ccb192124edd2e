// STAGE: compile
// EXIT: 1
// STDERR: syntax_error\.cu:9:19: error: expected ';' after expression
// STDERR: 1 error generated
/* SPDX-License-Identifier: Apache-2.0 */
/* clang's own message, with the user's file, line and column. */
__global__ void k(int *out)
{
    out[0] = 1 + 2
}
int main(void) { return 0; }
