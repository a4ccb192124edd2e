/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the feature programs share: checks that print what differed, and the last line.
 *
 *     CHECK(condition)                       a fact
 *     CHECK_EQ(got, expected)                numbers; prints both
 *     CHECK_NEAR(got, expected, ulps)        float or double, distance in units of the last place
 *     CHECK_ERROR(call, expected)            a runtime call that must answer this cudaError_t
 *     CUDA_OK(call)                          a runtime call that must succeed; stops otherwise
 *     KERNEL_OK()                            the launch before it worked and the kernel finished
 *     return check_done();                   from main: prints PASS and 0, or FAIL and 1
 */
#ifndef CHECK_H
#define CHECK_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK_REPORTS_MAX 12

static int check_failures;

static inline bool check_note_failure(void) {
    check_failures++;
    return check_failures <= CHECK_REPORTS_MAX;
}

template <class T> static inline const char *check_text(char (&text)[64], T value) {
    if ((T)0.5 != (T)0)
        snprintf(text, sizeof text, "%.17g", (double)value);
    else if ((T)-1 < (T)1)
        snprintf(text, sizeof text, "%lld", (long long)value);
    else
        snprintf(text, sizeof text, "%llu (0x%llx)", (unsigned long long)value,
                 (unsigned long long)value);
    return text;
}

template <class Got, class Expected>
static inline void check_equal(const char *file, int line, const char *what, Got got,
                               Expected expected) {
    if (got == (Got)expected) return;
    char got_text[64], expected_text[64];
    if (check_note_failure())
        printf("FAIL: %s:%d: %s: expected %s, got %s\n", file, line, what,
               check_text(expected_text, (Got)expected), check_text(got_text, got));
}

/** Distance in representable values; equal and both-NaN are 0, one NaN is as far as it gets. */
static inline uint64_t check_ulps(float a, float b) {
    if (a == b || (a != a && b != b)) return 0;
    if (a != a || b != b) return UINT64_MAX;
    int32_t x, y;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    int64_t p = x < 0 ? (int64_t)INT32_MIN - x : x;
    int64_t q = y < 0 ? (int64_t)INT32_MIN - y : y;
    return (uint64_t)(p > q ? p - q : q - p);
}

static inline uint64_t check_ulps(double a, double b) {
    if (a == b || (a != a && b != b)) return 0;
    if (a != a || b != b) return UINT64_MAX;
    uint64_t x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    const uint64_t sign = (uint64_t)1 << 63; /* order the numbers from -inf to +inf */
    x = x & sign ? ~x + 1 : x | sign;
    y = y & sign ? ~y + 1 : y | sign;
    return x > y ? x - y : y - x;
}

template <class T>
static inline void check_near(const char *file, int line, const char *what, T got, T expected,
                              uint64_t ulps) {
    uint64_t far = check_ulps(got, expected);
    if (far <= ulps) return;
    if (check_note_failure())
        printf("FAIL: %s:%d: %s: expected %.17g, got %.17g (%llu ulps apart, %llu allowed)\n", file,
               line, what, (double)expected, (double)got, (unsigned long long)far,
               (unsigned long long)ulps);
}

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition) && check_note_failure())                                                  \
            printf("FAIL: %s:%d: expected %s, got false\n", __FILE__, __LINE__, #condition);       \
    } while (0)
#define CHECK_EQ(got, expected) check_equal(__FILE__, __LINE__, #got, (got), (expected))
#define CHECK_NEAR(got, expected, ulps)                                                            \
    check_near(__FILE__, __LINE__, #got, (got), (expected), (ulps))
#define CHECK_ERROR(call, expected)                                                                \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != (expected) && check_note_failure())                                            \
            printf("FAIL: %s:%d: %s: expected %s, got %s\n", __FILE__, __LINE__, #call,            \
                   cudaGetErrorName(expected), cudaGetErrorName(got_));                            \
    } while (0)
#define CUDA_OK(call)                                                                              \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        if (got_ != cudaSuccess) {                                                                 \
            printf("FAIL: %s:%d: %s: expected cudaSuccess, got %s (%s)\n", __FILE__, __LINE__,     \
                   #call, cudaGetErrorName(got_), cudaGetErrorString(got_));                       \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define KERNEL_OK()                                                                                \
    do {                                                                                           \
        CUDA_OK(cudaGetLastError());                                                               \
        CUDA_OK(cudaDeviceSynchronize());                                                          \
    } while (0)

/** `count` zeroed elements that host and kernels see. */
template <class T> static inline T *check_managed(size_t count) {
    T *array = NULL;
    CUDA_OK(cudaMallocManaged((void **)&array, count * sizeof(T)));
    memset((void *)array, 0, count * sizeof(T));
    return array;
}

/** xorshift: the same numbers everywhere. `state` must not be 0. */
static inline uint32_t check_random(uint32_t *state) {
    uint32_t x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

/** Runs this program again with one argument; its stdout and stderr go to `output`. */
static inline int check_run_self(const char *self, const char *argument, char *output,
                                 size_t bytes) {
    char command[4096];
    fflush(NULL);
    snprintf(command, sizeof command, "'%s' %s 2>&1", self, argument);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) return -1;
    size_t used = fread(output, 1, bytes - 1, pipe);
    output[used] = '\0';
    return pclose(pipe);
}

static inline int check_done(void) {
    cudaError_t last = cudaDeviceSynchronize();
    if (last != cudaSuccess && check_note_failure())
        printf("FAIL: at the end: expected cudaSuccess, got %s\n", cudaGetErrorName(last));
    if (check_failures != 0) {
        printf("FAIL: %d checks differ\n", check_failures);
        return 1;
    }
    printf("PASS\n");
    return 0;
}

#endif
