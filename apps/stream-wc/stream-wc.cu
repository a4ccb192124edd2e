/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wc: lines and words of a text, over text that need not fit the GPU. A thread goes through a part
 * of it, a byte at a time, and computes next to nothing: what counts is how the bytes get there.
 */
#include <stdio.h>
#include <stdlib.h>

#include "common/report.h"
#include "streaming/corpus.h"
#include "streaming/streaming.h"

typedef unsigned long long count64;

typedef struct wc {
    count64 *counts; /* lines, words */
    unsigned blocks, threads;
} wc;

static __host__ __device__ __forceinline__ bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A word belongs to the thread in whose part it begins. Pieces of a text end with a line. */
static __host__ __device__ __forceinline__ void count_part(const char *text, uint64_t first,
                                                           uint64_t outer, uint32_t *lines,
                                                           uint32_t *words) {
    bool was_space = first == 0 || is_space(text[first - 1]);
    for (uint64_t i = first; i < outer; i++) {
        const char c = text[i];
        const bool space = is_space(c);
        *lines += c == '\n';
        *words += was_space && !space;
        was_space = space;
    }
}

static __global__ void count_all(const char *text, uint64_t bytes, count64 *counts) {
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t share = (bytes + threads - 1) / threads;
    const uint64_t first = thread * share;
    const uint64_t outer = first + share < bytes ? first + share : bytes;
    uint32_t lines = 0, words = 0;
    if (first < outer) {
        count_part(text, first, outer, &lines, &words);
        atomicAdd(&counts[0], (count64)lines);
        atomicAdd(&counts[1], (count64)words);
    }
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    (void)first;
    const wc *w = (const wc *)object;
    count_all<<<w->blocks, w->threads, 0, stream>>>((const char *)records, count, w->counts);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const wc *w = (const wc *)object;
    uint32_t lines = 0, words = 0;
    if (first < outer) {
        count_part((const char *)records, first, outer, &lines, &words);
        __atomic_fetch_add(&w->counts[0], (count64)lines, __ATOMIC_RELAXED);
        __atomic_fetch_add(&w->counts[1], (count64)words, __ATOMIC_RELAXED);
    }
}

int main(int argc, char **argv) {
    const app_program program = {"stream-wc",
                                 "lines and words of a text that need not fit the GPU",
                                 "bytes of text", "text, or a tar archive of texts (also .zst)",
                                 "stream-wc --size 16MiB --variant double --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    const app_option options[] = {APP_STREAMING_ROWS(how),
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_streaming job = {};
    app_streaming_set(&job, &how);

    app_corpus text = {};
    const uint64_t wanted = app_size_items(common.size, 1.0, 1 << 20, 1, UINT64_C(1) << 42);
    if (common.input != NULL) {
        app_corpus_read(&text, common.input);
        app_corpus_enlarge(&text, common.size.value != 0 ? wanted : text.count, common.seed);
    } else {
        app_corpus_generate(&text, wanted, common.seed);
    }
    app_state state;
    app_state_create(&state, how.variant, NULL, 2 * sizeof(count64), "the counts");
    wc task = {(count64 *)state.data, (unsigned)how.blocks, (unsigned)how.threads};
    job.records = text.bytes;
    job.count = text.count;
    job.record_bytes = 1;
    job.is_text = true;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_times times = {};
    app_streaming_run(&job, how.variant, &times);
    count64 *found = (count64 *)app_state_copy(&state);
    printf("text       %s: %s bytes, %s lines, %s words\n", text.title, app_count(text.count),
           app_count(found[0]), app_count(found[1]));
    app_streaming_report(&job, how.variant, &times);
    bool is_right = true;
    if (common.check) {
        count64 serial[2] = {0, 0};
        task.counts = serial;
        on_host(&task, text.bytes, 0, text.count);
        is_right = serial[0] == found[0] && serial[1] == found[1];
        printf("check      lines and words against a serial loop: %s\n",
               is_right ? "equal" : "DIFFERENT");
    }
    free(found);
    app_state_free(&state);
    app_corpus_free(&text);
    return is_right ? 0 : 1;
}
