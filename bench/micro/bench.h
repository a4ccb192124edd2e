/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the three engines (CUDA C, OpenCL, C with threads) share: data, timing, checks.
 *
 * An engine is a program: bench.c (main), data.c, and files that define the three names under
 * "an engine defines" below. It times one case and prints one line of JSON:
 *
 *     prog CASE N REPETITIONS REPETITION_NS
 *
 * A repetition runs the case often enough to last REPETITION_NS and reports nanoseconds a run, by
 * the wall clock, from before the launch until the result is there.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_INPUTS 2
#define BENCH_THREADS 256     /* a block, in every kernel but sgemm */
#define BENCH_GRID_STRIDE 256 /* blocks of the kernels that stride over their input */
#define BENCH_BINS 256
#define BENCH_TILE 16
#define BENCH_ROW 256    /* elements in a row of softmax */
#define BENCH_QUEUE 1024 /* vertices in a queue of the breadth-first search */
#define BENCH_LEVELS_MAX 64
#define BENCH_UNREACHED 0xffffffffu

#ifdef __cplusplus
extern "C" {
#endif

/** Inputs and result of a case; the memory lies on huge pages where the system has them. */
typedef struct bench_data {
    size_t n;
    void *input[BENCH_INPUTS];
    size_t input_bytes[BENCH_INPUTS];
    void *output;
    size_t output_bytes;
} bench_data;

typedef struct bench_case {
    const char *name;
    void (*prepare)(void); /* optional: before each run, not timed */
    void (*run)(void);     /* timed: launch, and wait until it is done */
} bench_case;

/* An engine defines: */
extern const bench_case *engine_cases[];   /* NULL-terminated */
void engine_open(const bench_data *data);  /* brings the inputs to the device; `data` stays valid */
void engine_fetch(const bench_data *data); /* brings the result to data->output */

/** Ends the program with a message. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
void bench_fail(const char *format, ...);

/** Zeroed memory; ends the program when there is none. */
void *bench_alloc(size_t bytes);

/** False: there is no such case. */
int bench_data_create(const char *name, size_t n, bench_data *out);

/** Compares with a serial computation. Returns the largest relative difference; 0 where integers
 * agree. */
double bench_data_error(const char *name, const bench_data *data);

/** Largest difference that is right for the case: sums of floats depend on their order. */
double bench_data_error_max(const char *name);

#ifdef __cplusplus
}
#endif
#endif
