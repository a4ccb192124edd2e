/* SPDX-License-Identifier: Apache-2.0 */
/* main() of every engine: warm up, time, fetch, check, print. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "bench.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)
#define WARM_UP_NS 100000000u
#define WARM_UP_RUNS 1
#define REPETITIONS_MAX 1000

void bench_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

void *bench_alloc(size_t bytes) {
    const size_t rounded = (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    void *memory = aligned_alloc(HUGE_PAGE_BYTES, rounded);
    if (memory == NULL) bench_fail("no memory for %zu bytes", bytes);
    (void)madvise(memory, rounded, MADV_HUGEPAGE);
    memset(memory, 0, rounded);
    return memory;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t run_once(const bench_case *c) {
    if (c->prepare != NULL) c->prepare();
    const uint64_t start = now_ns();
    c->run();
    return now_ns() - start;
}

static double run_often(const bench_case *c, uint64_t runs) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < runs; i++) {
        sum += run_once(c);
    }
    return (double)sum / (double)runs;
}

/* Returns how many runs fill a repetition. The first run compiles, where the engine does that late. */
static uint64_t warm_up(const bench_case *c, uint64_t repetition_ns) {
    uint64_t spent = 0, fastest = UINT64_MAX;
    (void)run_once(c);
    for (int i = 0; i < WARM_UP_RUNS || spent < WARM_UP_NS; i++) {
        const uint64_t t = run_once(c);
        spent += t;
        if (t < fastest) fastest = t;
    }
    return repetition_ns / (fastest + 1) + 1;
}

static uint64_t hash(const bench_data *data) {
    const unsigned char *bytes = data->output;
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i + sizeof(uint32_t) <= data->output_bytes; i += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, bytes + i, sizeof word);
        h = (h ^ word) * 1099511628211u;
    }
    return h;
}

static const bench_case *find(const char *name) {
    for (const bench_case **c = engine_cases; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0) return *c;
    }
    bench_fail("there is no case \"%s\"", name);
}

static uint64_t number(const char *text) {
    char *end;
    const uint64_t value = strtoull(text, &end, 10);
    if (*end != '\0' || value == 0) bench_fail("\"%s\" is not a positive number", text);
    return value;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: %s CASE N REPETITIONS REPETITION_NS\n", argv[0]);
        return 2;
    }
    const bench_case *c = find(argv[1]);
    const uint64_t repetitions = number(argv[3]), repetition_ns = number(argv[4]);
    if (repetitions > REPETITIONS_MAX) bench_fail("at most %d repetitions", REPETITIONS_MAX);
    bench_data data;
    if (!bench_data_create(c->name, number(argv[2]), &data)) bench_fail("no data for %s", c->name);
    engine_open(&data);

    const uint64_t runs = warm_up(c, repetition_ns);
    double times_ns[REPETITIONS_MAX];
    for (uint64_t i = 0; i < repetitions; i++) {
        times_ns[i] = run_often(c, runs);
    }

    engine_fetch(&data);
    const double error = bench_data_error(c->name, &data);
    size_t footprint_bytes = data.output_bytes;
    for (int i = 0; i < BENCH_INPUTS; i++) {
        footprint_bytes += data.input_bytes[i];
    }
    printf("{\"case\": \"%s\", \"n\": %zu, \"footprint_bytes\": %zu, \"runs_per_repetition\": %" PRIu64
           ", \"hash\": \"%016" PRIx64 "\", \"error\": %.3g, \"error_max\": %.3g, \"times_ns\": [",
           c->name, data.n, footprint_bytes, runs, hash(&data), error, bench_data_error_max(c->name));
    for (uint64_t i = 0; i < repetitions; i++) {
        printf("%s%.1f", i == 0 ? "" : ", ", times_ns[i]);
    }
    puts("]}");
    return 0;
}
