/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that stop by themselves or go wrong: assert, __trap, a null pointer. The error code, its stickiness,
 * the assertion's message; each in a process of its own. */
#include "check.h"
#include <assert.h>

__global__ void asserts(int limit)
{
    assert((int)threadIdx.x < limit);
}
__global__ void traps(int which)
{
    if (threadIdx.x == which)
        __trap();
}
__global__ void writes_null(int *p)
{
    p[threadIdx.x] = 1;
}
__global__ void fine(int *out) { *out = 7; }

static int child(const char *what)
{
    int *out;
    CUDA_OK(cudaMalloc(&out, 4));
    if (strcmp(what, "assert-holds") == 0)
        asserts<<<2, 64>>>(64);
    else if (strcmp(what, "assert") == 0)
        asserts<<<2, 64>>>(63);
    else if (strcmp(what, "trap") == 0)
        traps<<<2, 64>>>(5);
    else
        writes_null<<<1, 32>>>(NULL);
    printf("launch %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("wait %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("last %s\n", cudaGetErrorName(cudaGetLastError()));
    /* sticky: every later call fails the same way */
    printf("again %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("malloc %s\n", cudaGetErrorName(cudaMalloc(&out, 4)));
    fine<<<1, 1>>>(out);
    printf("next %s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}

static void expect(const char *self, const char *what, const char *error, const char *message)
{
    static char text[1 << 16];
    CHECK_EQ(check_run_self(self, what, text, sizeof text), 0);
    const char *parts[] = {"wait", "last", "again", "malloc", "next"};
    for (int i = 0; i < 5; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s %s\n", parts[i], error);
        if (strstr(text, line) == NULL && check_note_failure())
            printf("FAIL: %s: expected a line '%s %s', got\n%s", what, parts[i], error, text);
    }
    if (message != NULL && strstr(text, message) == NULL && check_note_failure())
        printf("FAIL: %s: expected '%s' in\n%s", what, message, text);
    if (message == NULL && strstr(text, "Assertion") != NULL && check_note_failure())
        printf("FAIL: %s: no assertion failed, got\n%s", what, text);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child(argv[1]);
    expect(argv[0], "assert-holds", "cudaSuccess", NULL);
    expect(argv[0], "assert", "cudaErrorAssert", "Assertion `(int)threadIdx.x < limit` failed");
    expect(argv[0], "trap", "cudaErrorLaunchFailure", NULL);
    expect(argv[0], "null", "cudaErrorIllegalAddress", NULL);
    return check_done();
}
