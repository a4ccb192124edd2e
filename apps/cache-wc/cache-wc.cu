/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wc: lines and words of a text. A thread goes through a part of it, a byte at a time, so the lanes
 * of a warp read far from each other. The second form reads 16 bytes at a time, as a programmer
 * would who knows what that costs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/kernel.h"
#include "common/letters.h"
#include "common/memory.h"
#include "common/report.h"

typedef unsigned long long count64;

static __host__ __device__ __forceinline__ bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* counts[0]: lines, counts[1]: words. A word belongs to the thread in whose part it begins. */
__global__ void wc_bytes(const char *text, size_t bytes, size_t share, count64 *counts) {
    const size_t first = app_thread() * share;
    const size_t outer = first + share < bytes ? first + share : bytes;
    if (first >= bytes) {
        return;
    }
    bool was_space = first == 0 || is_space(text[first - 1]);
    unsigned lines = 0, words = 0;
    for (size_t i = first; i < outer; i++) {
        const char c = text[i];
        const bool space = is_space(c);
        lines += c == '\n';
        words += was_space && !space;
        was_space = space;
    }
    atomicAdd(&counts[0], (count64)lines);
    atomicAdd(&counts[1], (count64)words);
}

static __device__ __forceinline__ void count_word(unsigned four, unsigned left, bool *was_space,
                                                  unsigned *lines, unsigned *words) {
#pragma unroll
    for (unsigned b = 0; b < 4; b++) {
        const char c = (char)(four >> (8 * b));
        const bool space = is_space(c);
        if (b < left) {
            *lines += c == '\n';
            *words += *was_space && !space;
            *was_space = space;
        }
    }
}

__global__ void wc_vectors(const char *text, size_t bytes, size_t share, count64 *counts) {
    const size_t first = app_thread() * share;
    const size_t outer = first + share < bytes ? first + share : bytes;
    if (first >= bytes) {
        return;
    }
    bool was_space = first == 0 || is_space(text[first - 1]);
    unsigned lines = 0, words = 0;
    for (size_t i = first; i < outer; i += 16) {
        const uint4 v = *(const uint4 *)(text + i);
        const unsigned left = outer - i < 16 ? (unsigned)(outer - i) : 16;
        count_word(v.x, left, &was_space, &lines, &words);
        count_word(v.y, left > 4 ? left - 4 : 0, &was_space, &lines, &words);
        count_word(v.z, left > 8 ? left - 8 : 0, &was_space, &lines, &words);
        count_word(v.w, left > 12 ? left - 12 : 0, &was_space, &lines, &words);
    }
    atomicAdd(&counts[0], (count64)lines);
    atomicAdd(&counts[1], (count64)words);
}

static bool check(const char *text, size_t bytes, const count64 *counts) {
    count64 expected[2] = {0, 0};
    bool was_space = true;
    for (size_t i = 0; i < bytes; i++) {
        expected[0] += text[i] == '\n';
        expected[1] += was_space && !is_space(text[i]);
        was_space = is_space(text[i]);
    }
    const bool is_right = counts[0] == expected[0] && counts[1] == expected[1];
    printf("check      lines and words against a serial loop: %s\n",
           is_right ? "equal" : "DIFFERENT");
    return is_right;
}

int main(int argc, char **argv) {
    const app_program program = {"cache-wc", "lines and words of a text, a byte at a time",
                                 "bytes of the generated text", "any file (also .zst)",
                                 "cache-wc --size 8MiB --threads 512 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_letters_options how = APP_LETTERS_OPTIONS_DEFAULT;
    const app_option options[] = {APP_LETTERS_OPTIONS(how),
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    size_t bytes;
    char *loaded = app_letters_load(&common, (size_t)4 << 20, &bytes);

    app_device device;
    app_array text, counts;
    app_device_open(&device, common.memory);
    cudaDeviceProp properties;
    app_cuda_check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties", "", 0);
    const unsigned blocks = (unsigned)how.blocks_per_sm * (unsigned)properties.multiProcessorCount;
    const unsigned threads = (unsigned)how.threads;
    const size_t share = app_letters_share(bytes, (size_t)blocks * threads);
    /* The last vector may end behind the text. */
    app_array_create(&device, &text, (bytes + 15) / 16 * 16, 1, "text", APP_ROLE_INPUT);
    app_array_create(&device, &counts, 2, sizeof(count64), "counts", APP_ROLE_STATE);
    for (size_t i = 0; i < bytes; i++) {
        ((char *)text.host)[i] = loaded[i];
    }
    app_array_to_device(&device, &text);
    app_array_fill(&device, &counts, 0);

    app_kernels_begin(&device);
    if (how.form == 0) {
        wc_bytes<<<blocks, threads>>>((const char *)text.device, bytes, share,
                                      (count64 *)counts.device);
    } else {
        wc_vectors<<<blocks, threads>>>((const char *)text.device, bytes, share,
                                        (count64 *)counts.device);
    }
    app_kernels_end(&device, "wc", 1);
    app_array_to_host(&device, &counts);

    const count64 *found = (const count64 *)counts.host;
    printf("text       %s bytes, %s lines, %s words\n", app_count(bytes), app_count(found[0]),
           app_count(found[1]));
    app_device_report(&device, (double)bytes, "B");
    const bool is_right = !common.check || check(loaded, bytes, found);
    app_array_free(&device, &text);
    app_array_free(&device, &counts);
    app_device_close(&device);
    free(loaded);
    return is_right ? 0 : 1;
}
