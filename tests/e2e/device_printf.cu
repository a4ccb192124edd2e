/* SPDX-License-Identifier: Apache-2.0 */
/* printf in kernels: every kind of conversion, the return value, order with the host's own output;
 * the program runs itself and compares the text. */
#include "check.h"

__global__ void formats(int *out)
{
    char c = 'x';
    short s = -12;
    unsigned char u = 200;
    float f = 1.5f;
    const char *text = "text";
    int n = printf("ints %d %5d|%-5d|%05d %i %u %x %X %o %c\n", -1, 42, 42, 42, 7, 4000000000u, 0xbeefu, 0xBEEFu, 8u, c);
    printf("small %d %u\n", s, u);
    printf("long %ld %lld %llu %llx\n", -5L, -1234567890123LL, 18446744073709551615ull, 0x123456789abcull);
    printf("real %f %.3f %e %g %10.2f|%-8.1f|\n", f, 3.14159, 12345.678, 1e-5, 2.5, 0.25);
    printf("string %s %10s|%-6s| percent %%\n", text, "right", "left");
    printf("none\n");
    printf("%s", "");
    *out = n;
}

/* NVIDIA does not promise this one. */
__global__ void sizes(void)
{
    printf("size %zu\n", sizeof(double));
}

__global__ void many(void)
{
    if (threadIdx.x % 10 == 3)
        printf("thread %d of block %d\n", threadIdx.x, blockIdx.x);
}

static int child(void)
{
    int *out = check_managed<int>(1);
    printf("before\n");
    fflush(stdout);
    formats<<<1, 1>>>(out);
    CUDA_OK(cudaDeviceSynchronize());
    printf("returned %d\n", *out);
    fflush(stdout);
    cudaDeviceProp properties;
    CUDA_OK(cudaGetDeviceProperties(&properties, 0));
    if (properties.integrated) /* the CPU device is */
        sizes<<<1, 1>>>();
    else
        printf("size 8\n");
    many<<<3, 32>>>();
    CUDA_OK(cudaDeviceSynchronize());
    printf("after\n");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return child();
    static char text[1 << 16];
    CHECK_EQ(check_run_self(argv[0], "child", text, sizeof text), 0);
    char expected[2048];
    snprintf(expected, sizeof expected,
             "before\n"
             "ints %d %5d|%-5d|%05d %i %u %x %X %o %c\n"
             "small -12 200\n"
             "long %ld %lld %llu %llx\n"
             "real %f %.3f %e %g %10.2f|%-8.1f|\n"
             "string text      right|left  | percent %%\n"
             "none\n"
             "returned 10\nsize 8\n", /* a kernel's printf returns the number of its arguments */
             -1, 42, 42, 42, 7, 4000000000u, 0xbeefu, 0xBEEFu, 8u, 'x', -5L, -1234567890123LL,
             18446744073709551615ull, 0x123456789abcull, 1.5, 3.14159, 12345.678, 1e-5, 2.5, 0.25);
    size_t length = strlen(expected);
    if (strncmp(text, expected, length) != 0 && check_note_failure())
        printf("FAIL: expected\n%s--- got\n%s---\n", expected, text);
    int lines = 0;
    for (int b = 0; b < 3; b++)
        for (int t = 3; t < 32; t += 10) {
            char line[64];
            snprintf(line, sizeof line, "\nthread %d of block %d\n", t, b);
            lines += strstr(text, line) != NULL;
        }
    CHECK_EQ(lines, 9);
    size_t all = strlen(text);
    CHECK(all > 6 && strcmp(text + all - 6, "after\n") == 0);
    return check_done();
}
