/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs of the cases from a fixed seed, and serial computations to check the results with. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE_MAX 15u    /* of the graph: 1 to 15 edges leave a vertex, 8 in the middle */
#define ROWS_CHECKED 128u /* of the product of matrices */

/* splitmix64 */
static uint64_t random_state;

static uint64_t random_u64(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint32_t random_below(size_t outer) {
    return (uint32_t)(((random_u64() >> 32) * outer) >> 32);
}

static void *add_input(bench_data *data, int i, size_t count, size_t element_bytes) {
    data->input_bytes[i] = count * element_bytes;
    return data->input[i] = bench_alloc(data->input_bytes[i]);
}

static void add_floats(bench_data *data, int input, size_t count) {
    float *f = add_input(data, input, count, sizeof *f);
    for (size_t i = 0; i < count; i++) {
        f[i] = (float)(random_u64() >> 40) * 0x1p-24f;
    }
}

static void set_output(bench_data *data, size_t count) {
    data->output_bytes = count * sizeof(uint32_t);
    data->output = bench_alloc(data->output_bytes);
}

static double relative(double value, double expected) {
    return fabs(value - expected) / fmax(fabs(expected), 1e-30);
}

/* 0 where all words agree, 1 otherwise. */
static double differs(const void *a, const void *b, size_t bytes) {
    return memcmp(a, b, bytes) != 0;
}

/* ---- empty: n is the number of blocks -----------------------------------------------------------
 */

static void empty_create(bench_data *data) {
    set_output(data, 1);
}

static double empty_error(const bench_data *data) {
    (void)data;
    return 0;
}

/* ---- vecadd
 * -------------------------------------------------------------------------------------- */

static void vecadd_create(bench_data *data) {
    add_floats(data, 0, data->n);
    add_floats(data, 1, data->n);
    set_output(data, data->n);
}

static double vecadd_error(const bench_data *data) {
    const float *a = data->input[0], *b = data->input[1], *sum = data->output;
    double worst = 0;
    for (size_t i = 0; i < data->n; i++) {
        worst = fmax(worst, relative(sum[i], a[i] + b[i]));
    }
    return worst;
}

/* ---- sigmoid
 * ------------------------------------------------------------------------------------- */

static void sigmoid_create(bench_data *data) {
    add_floats(data, 0, data->n);
    set_output(data, data->n);
}

static double sigmoid_error(const bench_data *data) {
    const float *x = data->input[0], *y = data->output;
    double worst = 0;
    for (size_t i = 0; i < data->n; i++) {
        worst = fmax(worst, relative(y[i], 1 / (1 + exp(-(double)x[i]))));
    }
    return worst;
}

/* ---- softmax: n a multiple of BENCH_ROW
 * ---------------------------------------------------------- */

static double softmax_error(const bench_data *data) {
    double worst = 0;
    for (size_t first = 0; first + BENCH_ROW <= data->n; first += BENCH_ROW) {
        const float *x = (const float *)data->input[0] + first,
                    *y = (const float *)data->output + first;
        double sum = 0;
        for (size_t i = 0; i < BENCH_ROW; i++) {
            sum += exp((double)x[i]);
        }
        for (size_t i = 0; i < BENCH_ROW; i++) {
            worst = fmax(worst, relative(y[i], exp((double)x[i]) / sum));
        }
    }
    return worst;
}

/* ---- gather
 * -------------------------------------------------------------------------------------- */

static void gather_create(bench_data *data) {
    add_floats(data, 0, data->n);
    uint32_t *index = add_input(data, 1, data->n, sizeof *index);
    for (size_t i = 0; i < data->n; i++) {
        index[i] = random_below(data->n);
    }
    set_output(data, data->n);
}

static double gather_error(const bench_data *data) {
    const float *table = data->input[0], *out = data->output;
    const uint32_t *index = data->input[1];
    double worst = 0;
    for (size_t i = 0; i < data->n; i++) {
        worst = fmax(worst, relative(out[i], table[index[i]]));
    }
    return worst;
}

/* ---- reduction
 * ----------------------------------------------------------------------------------- */

static void reduction_create(bench_data *data) {
    add_floats(data, 0, data->n);
    set_output(data, 1);
}

static double reduction_error(const bench_data *data) {
    const float *x = data->input[0];
    double sum = 0;
    for (size_t i = 0; i < data->n; i++) {
        sum += (double)x[i];
    }
    return relative(*(const float *)data->output, sum);
}

/* ---- histogram
 * ----------------------------------------------------------------------------------- */

static void histogram_create(bench_data *data) {
    unsigned char *text = add_input(data, 0, data->n, 1);
    for (size_t i = 0; i < data->n; i++) {
        text[i] = (unsigned char)(random_u64() >> 56);
    }
    set_output(data, BENCH_BINS);
}

static double histogram_error(const bench_data *data) {
    const unsigned char *text = data->input[0];
    uint32_t count[BENCH_BINS] = {0};
    for (size_t i = 0; i < data->n; i++) {
        count[text[i]]++;
    }
    return differs(count, data->output, sizeof count);
}

/* ---- sgemm: n rows, a multiple of BENCH_TILE
 * ----------------------------------------------------- */

static void sgemm_create(bench_data *data) {
    if (data->n % BENCH_TILE != 0) bench_fail("sgemm: %zu is not a multiple of 16", data->n);
    add_floats(data, 0, data->n * data->n);
    add_floats(data, 1, data->n * data->n);
    set_output(data, data->n * data->n);
}

static double sgemm_error(const bench_data *data) {
    const size_t n = data->n, step = (n + ROWS_CHECKED - 1) / ROWS_CHECKED;
    const float *a = data->input[0], *b = data->input[1], *c = data->output;
    double *row = bench_alloc(n * sizeof *row), worst = 0;
    for (size_t i = 0; i < n; i += step) {
        memset(row, 0, n * sizeof *row);
        for (size_t k = 0; k < n; k++) {
            for (size_t j = 0; j < n; j++) {
                row[j] += (double)a[i * n + k] * (double)b[k * n + j];
            }
        }
        for (size_t j = 0; j < n; j++) {
            worst = fmax(worst, relative(c[i * n + j], row[j]));
        }
    }
    free(row);
    return worst;
}

/* ---- bfs: n vertices; first[n + 1], target[first[n]]; hops from vertex 0
 * ------------------------- */

static void bfs_create(bench_data *data) {
    uint32_t *first = add_input(data, 0, data->n + 1, sizeof *first);
    for (size_t v = 0; v < data->n; v++) {
        first[v + 1] = first[v] + 1 + random_below(DEGREE_MAX);
    }
    uint32_t *target = add_input(data, 1, first[data->n], sizeof *target);
    for (size_t e = 0; e < first[data->n]; e++) {
        target[e] = random_below(data->n);
    }
    set_output(data, data->n);
}

static double bfs_error(const bench_data *data) {
    const uint32_t *first = data->input[0], *target = data->input[1];
    uint32_t *hops = bench_alloc(data->output_bytes), *queue = bench_alloc(data->output_bytes);
    memset(hops, 0xff, data->output_bytes);
    size_t head = 0, tail = 1;
    for (hops[queue[0]] = 0; head < tail; head++) {
        for (uint32_t e = first[queue[head]]; e < first[queue[head] + 1]; e++) {
            if (hops[target[e]] == BENCH_UNREACHED) {
                hops[target[e]] = hops[queue[head]] + 1;
                queue[tail++] = target[e];
            }
        }
    }
    const double error = differs(hops, data->output, data->output_bytes);
    free(hops);
    free(queue);
    return error;
}

/* ---- the table
 * ----------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    uint64_t seed;
    void (*create)(bench_data *data);
    double (*error)(const bench_data *data);
    double error_max;
} cases[] = {
    {"empty", 1, empty_create, empty_error, 0},
    {"vecadd", 2, vecadd_create, vecadd_error, 0},
    {"sigmoid", 8, sigmoid_create, sigmoid_error, 1e-6},
    {"softmax", 9, sigmoid_create, softmax_error, 1e-5},
    {"gather", 3, gather_create, gather_error, 0},
    {"reduction", 4, reduction_create, reduction_error, 1e-5},
    {"histogram_shared", 5, histogram_create, histogram_error, 0},
    {"histogram_global", 5, histogram_create, histogram_error, 0},
    {"sgemm", 6, sgemm_create, sgemm_error, 1e-4},
    {"bfs", 7, bfs_create, bfs_error, 0},
    {"bfs_queue", 7, bfs_create, bfs_error, 0},
};

static int find(const char *name) {
    for (int i = 0; i < (int)(sizeof cases / sizeof *cases); i++) {
        if (strcmp(cases[i].name, name) == 0) return i;
    }
    return -1;
}

int bench_data_create(const char *name, size_t n, bench_data *out) {
    const int i = find(name);
    if (i < 0) return 0;
    *out = (bench_data){.n = n};
    random_state = cases[i].seed;
    cases[i].create(out);
    return 1;
}

double bench_data_error(const char *name, const bench_data *data) {
    return cases[find(name)].error(data);
}

double bench_data_error_max(const char *name) {
    return cases[find(name)].error_max;
}
