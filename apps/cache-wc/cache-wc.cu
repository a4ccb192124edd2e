/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wc: lines and words of a text. A thread goes through a part of it, a byte at a time, so the lanes
 * of a warp read far from each other. The second form reads 16 bytes at a time, as a programmer
 * would who knows what that costs. In the third a block loads a tile together.
 */
#include <stdio.h>

#include "common/kernel.h"
#include "common/letters.h"
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

/* Threads of a block load the next 32 bytes of each of them together: a sector is read once, by two
 * neighbouring lanes. */
enum { TILE_BYTES = 32, TILE_VECTORS = TILE_BYTES / 16 };

__global__ void wc_tile(const char *text, size_t bytes, size_t share, count64 *counts) {
    extern __shared__ uint4 tile[];
    const size_t block_first = (size_t)blockIdx.x * blockDim.x * share;
    const size_t first = app_thread() * share;
    bool was_space = first == 0 || first >= bytes || is_space(text[first - 1]);
    unsigned lines = 0, words = 0;
    for (size_t at = 0; at < share; at += TILE_BYTES) {
        for (unsigned v = threadIdx.x; v < blockDim.x * TILE_VECTORS; v += blockDim.x) {
            const size_t from = at + v % TILE_VECTORS * 16;
            const size_t place = block_first + v / TILE_VECTORS * share + from;
            if (from < share && place < bytes) {
                tile[v] = *(const uint4 *)(text + place);
            }
        }
        __syncthreads();
        for (unsigned v = 0; v < TILE_VECTORS && at + v * 16 < share; v++) {
            const size_t i = first + at + v * 16;
            const uint4 own = tile[threadIdx.x * TILE_VECTORS + v];
            const unsigned left = i >= bytes ? 0 : bytes - i < 16 ? (unsigned)(bytes - i) : 16;
            count_word(own.x, left, &was_space, &lines, &words);
            count_word(own.y, left > 4 ? left - 4 : 0, &was_space, &lines, &words);
            count_word(own.z, left > 8 ? left - 8 : 0, &was_space, &lines, &words);
            count_word(own.w, left > 12 ? left - 12 : 0, &was_space, &lines, &words);
        }
        __syncthreads();
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
    const app_option options[] = {APP_LETTERS_LAUNCH(how),
                                  {"--form", APP_OPTION_CHOICE, &how.form, "bytes|vectors|tile", 0,
                                   0, "read a byte at a time, 16 bytes by hand, or a block's tile"},
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_letters l;
    app_array counts;
    app_letters_open(&l, argc, argv, &program, &common, &how, options);
    app_array_create(&l.device, &counts, 2, sizeof(count64), "counts", APP_ROLE_STATE);
    app_array_fill(&l.device, &counts, 0);

    app_kernels_begin(&l.device);
    if (how.form == 0) {
        wc_bytes<<<l.blocks, l.threads>>>((const char *)l.text.device, l.bytes, l.share,
                                          (count64 *)counts.device);
    } else if (how.form == 2) {
        const size_t tile_bytes = (size_t)l.threads * TILE_BYTES;
        wc_tile<<<l.blocks, l.threads, tile_bytes>>>((const char *)l.text.device, l.bytes, l.share,
                                                     (count64 *)counts.device);
    } else {
        wc_vectors<<<l.blocks, l.threads>>>((const char *)l.text.device, l.bytes, l.share,
                                            (count64 *)counts.device);
    }
    app_kernels_end(&l.device, "wc", 1);
    app_array_to_host(&l.device, &counts);

    const count64 *found = (const count64 *)counts.host;
    printf("text       %s bytes, %s lines, %s words\n", app_count(l.bytes), app_count(found[0]),
           app_count(found[1]));
    app_device_report(&l.device, (double)l.bytes, "B");
    const bool is_right = !common.check || check(l.loaded, l.bytes, found);
    app_array_free(&l.device, &counts);
    app_letters_close(&l);
    return is_right ? 0 : 1;
}
