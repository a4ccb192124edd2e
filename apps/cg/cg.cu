/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conjugate gradients: solves A x = b, where A is what finite elements make of heat that flows
 * through a cube.
 *
 * A row is a node of a mesh of bricks, coupled with the 26 around it; nodes at the cube's faces are
 * held at 0 and have no row. Two forms of A:
 *
 *   csr  compressed rows:      row 0: e e e e, row 1: e e e e e e, ...        entries of a row
 * together ell  27 entries in a row:  entry 0 of all rows, entry 1 of all rows, ...  entries of a
 * warp together; nodes near a face have zeros to fill up with
 *
 * An iteration is a product with A, two dot products, three sums of vectors, and the host's two
 * divisions. Dot products are added up in a fixed order, a tree in each block and one over the
 * blocks, and every multiply-add is a fused one by name, so all devices and the serial check agree
 * to the bit. The structure is that of MiniFE.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256
#define DOT_BLOCKS 256 /* at most */
#define ENTRIES 27     /* in a row, at most */

enum { FORMAT_CSR, FORMAT_ELL };

typedef struct matrix {
    const uint64_t *first; /* [row_count + 1]; NULL: ell */
    const uint32_t *column;
    const double *value;
    uint64_t row_count;
} matrix;

/* ---- one item of each kernel, for the kernels and the check ---------------------------------- */

static __host__ __device__ __forceinline__ double multiply_row(matrix m, const double *x,
                                                               uint64_t row) {
    uint64_t entry = m.first != NULL ? m.first[row] : row;
    uint64_t outer = m.first != NULL ? m.first[row + 1] : ENTRIES * m.row_count;
    uint64_t step = m.first != NULL ? 1 : m.row_count;
    double sum = 0.0;
    for (; entry < outer; entry += step) {
        sum = fma(m.value[entry], x[m.column[entry]], sum);
    }
    return sum;
}

static __host__ __device__ __forceinline__ double combine(double alpha, double x, double beta,
                                                          double y) {
    return fma(alpha, x, beta * y);
}

/* A thread's part of a dot product: items `begin`, `begin + step`, ... */
static __host__ __device__ __forceinline__ double
dot_part(const double *x, const double *y, uint64_t count, uint64_t begin, uint64_t step) {
    double sum = 0.0;
    for (uint64_t i = begin; i < count; i += step) {
        sum = fma(x[i], y[i], sum);
    }
    return sum;
}

static __host__ __device__ __forceinline__ double sum_part(const double *x, uint64_t count,
                                                           uint64_t begin, uint64_t step) {
    double sum = 0.0;
    for (uint64_t i = begin; i < count; i += step) {
        sum += x[i];
    }
    return sum;
}

/* ---- the kernels ----------------------------------------------------------------------------- */

__global__ void multiply(matrix m, const double *x, double *y) {
    uint64_t row = app_thread();
    if (row < m.row_count) {
        y[row] = multiply_row(m, x, row);
    }
}

__global__ void combine_vectors(double alpha, const double *x, double beta, const double *y,
                                double *result, uint64_t count) {
    uint64_t i = app_thread();
    if (i < count) {
        result[i] = combine(alpha, x[i], beta, y[i]);
    }
}

__global__ void dot_blocks(const double *x, const double *y, uint64_t count, double *block_sums) {
    __shared__ double partial[THREADS];
    uint64_t step = (uint64_t)gridDim.x * THREADS;
    double sum = app_block_sum(dot_part(x, y, count, app_thread(), step), partial, THREADS);
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = sum;
    }
}

__global__ void dot_total(const double *block_sums, uint64_t block_count, double *total) {
    __shared__ double partial[THREADS];
    double sum =
        app_block_sum(sum_part(block_sums, block_count, threadIdx.x, THREADS), partial, THREADS);
    if (threadIdx.x == 0) {
        *total = sum;
    }
}

/* ---- input ----------------------------------------------------------------------------------- */

/* How much two nodes are coupled that differ along so many axes: eight bricks of trilinear elements
 * around a node, put together. Those that share an edge cancel out, but have an entry. */
static double coupling(int axes) {
    static const double couplings[4] = {8.0 / 3.0, 0.0, -1.0 / 6.0, -1.0 / 12.0};
    return couplings[axes];
}

/* The entries of the row of node (x, y, z), in ascending order of columns; returns their number. */
static uint32_t list_row(uint64_t side, uint64_t row, uint32_t *column, double *value) {
    int64_t n = (int64_t)side;
    int64_t x = (int64_t)(row % side);
    int64_t y = (int64_t)(row / side % side);
    int64_t z = (int64_t)(row / side / side);
    uint32_t count = 0;
    for (int i = 0; i < ENTRIES; i++) {
        int dx = i % 3 - 1;
        int dy = i / 3 % 3 - 1;
        int dz = i / 9 - 1;
        bool is_node =
            x + dx >= 0 && x + dx < n && y + dy >= 0 && y + dy < n && z + dz >= 0 && z + dz < n;
        if (is_node) {
            column[count] = (uint32_t)(((z + dz) * n + y + dy) * n + x + dx);
            value[count++] = coupling(abs(dx) + abs(dy) + abs(dz));
        }
    }
    return count;
}

static uint64_t count_entries(uint64_t side, int format) {
    uint64_t pairs = 3 * side - 2; /* of neighbours on a line, in order */
    return format == FORMAT_ELL ? ENTRIES * side * side * side : pairs * pairs * pairs;
}

/* `first` is NULL for ell. */
static void generate_matrix(uint64_t side, uint64_t *first, uint32_t *column, double *value) {
    uint64_t row_count = side * side * side;
    uint64_t entry = 0;
    for (uint64_t row = 0; row < row_count; row++) {
        uint32_t row_column[ENTRIES];
        double row_value[ENTRIES];
        uint32_t count = list_row(side, row, row_column, row_value);
        if (first != NULL) {
            memcpy(column + entry, row_column, count * sizeof *column);
            memcpy(value + entry, row_value, count * sizeof *value);
            first[row] = entry;
            entry += count;
        } else {
            for (uint32_t i = 0; i < ENTRIES; i++) {
                column[i * row_count + row] = i < count ? row_column[i] : (uint32_t)row;
                value[i * row_count + row] = i < count ? row_value[i] : 0.0;
            }
        }
    }
    if (first != NULL) {
        first[row_count] = entry;
    }
}

static void generate_heat(double *b, uint64_t count, uint64_t seed) {
    app_random random = {seed, 0};
    for (uint64_t i = 0; i < count; i++) {
        b[i] = app_random_unit(&random);
    }
}

/* ---- solving, on the device and serially ----------------------------------------------------- */

/* The vectors of the method, each as long as there are rows. */
typedef struct vectors {
    double *x;        /* the solution so far */
    double *rest;     /* b - A x */
    double *way;      /* in which direction x goes next */
    double *way_by_a; /* A times that */
} vectors;

/* How far it got. */
typedef struct progress {
    double *norms; /* [iterations + 1] of the rest; the first is that of b */
    uint64_t iterations;
    uint64_t most_iterations;
    double tolerance;
} progress;

static bool is_done(const progress *p) {
    return p->iterations == p->most_iterations ||
           p->norms[p->iterations] <= p->tolerance * p->norms[0];
}

static unsigned dot_block_count(uint64_t count) {
    unsigned blocks = app_blocks(count, THREADS);
    return blocks < DOT_BLOCKS ? blocks : DOT_BLOCKS;
}

typedef struct solver {
    app_device *device;
    matrix a;
    vectors v;
    app_array block_sums;
    app_array total;
} solver;

static void launch_dot(solver *s, const double *x, const double *y) {
    unsigned blocks = dot_block_count(s->a.row_count);
    dot_blocks<<<blocks, THREADS>>>(x, y, s->a.row_count, (double *)s->block_sums.device);
    dot_total<<<1, THREADS>>>((const double *)s->block_sums.device, blocks,
                              (double *)s->total.device);
}

static void launch_combine(solver *s, double alpha, const double *x, double beta, const double *y,
                           double *result) {
    combine_vectors<<<app_blocks(s->a.row_count, THREADS), THREADS>>>(alpha, x, beta, y, result,
                                                                      s->a.row_count);
}

static double read_total(solver *s) {
    double buffer;
    return *(const double *)app_array_view(s->device, &s->total, 0, &buffer, sizeof buffer);
}

/* x is 0 when it begins; `b` is on the device. */
static void solve(solver *s, const double *b, progress *p) {
    vectors v = s->v;
    app_kernels_begin(s->device);
    launch_combine(s, 1.0, b, 0.0, b, v.rest);
    launch_combine(s, 1.0, b, 0.0, b, v.way);
    launch_dot(s, v.rest, v.rest);
    app_kernels_end(s->device, "the beginning", 4);
    double square = read_total(s);
    p->norms[0] = sqrt(square);
    while (!is_done(p)) {
        app_kernels_begin(s->device);
        multiply<<<app_blocks(s->a.row_count, THREADS), THREADS>>>(s->a, v.way, v.way_by_a);
        launch_dot(s, v.way, v.way_by_a);
        app_kernels_end(s->device, "multiply and a dot product", 3);
        double length = square / read_total(s);
        app_kernels_begin(s->device);
        launch_combine(s, length, v.way, 1.0, v.x, v.x);
        launch_combine(s, -length, v.way_by_a, 1.0, v.rest, v.rest);
        launch_dot(s, v.rest, v.rest);
        app_kernels_end(s->device, "sums and a dot product", 4);
        double next_square = read_total(s);
        app_kernels_begin(s->device);
        launch_combine(s, 1.0, v.rest, next_square / square, v.way, v.way);
        app_kernels_end(s->device, "a sum", 1);
        square = next_square;
        p->norms[++p->iterations] = sqrt(square);
    }
}

static double serial_block_sum(double *partial) {
    for (unsigned half = THREADS / 2; half > 0; half /= 2) {
        for (unsigned i = 0; i < half; i++) {
            partial[i] += partial[i + half];
        }
    }
    return partial[0];
}

/* In the order of dot_blocks and dot_total. */
static double serial_dot(const double *x, const double *y, uint64_t count) {
    double block_sums[DOT_BLOCKS];
    double partial[THREADS];
    unsigned blocks = dot_block_count(count);
    for (unsigned block = 0; block < blocks; block++) {
        for (unsigned thread = 0; thread < THREADS; thread++) {
            partial[thread] = dot_part(x, y, count, (uint64_t)block * THREADS + thread,
                                       (uint64_t)blocks * THREADS);
        }
        block_sums[block] = serial_block_sum(partial);
    }
    for (unsigned thread = 0; thread < THREADS; thread++) {
        partial[thread] = sum_part(block_sums, blocks, thread, THREADS);
    }
    return serial_block_sum(partial);
}

static void serial_combine(double alpha, const double *x, double beta, const double *y,
                           double *result, uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        result[i] = combine(alpha, x[i], beta, y[i]);
    }
}

static void serial_solve(matrix a, const double *b, vectors v, progress *p) {
    uint64_t count = a.row_count;
    memset(v.x, 0, count * sizeof *v.x);
    memcpy(v.rest, b, count * sizeof *v.rest);
    memcpy(v.way, b, count * sizeof *v.way);
    double square = serial_dot(v.rest, v.rest, count);
    p->norms[0] = sqrt(square);
    while (!is_done(p)) {
        for (uint64_t row = 0; row < count; row++) {
            v.way_by_a[row] = multiply_row(a, v.way, row);
        }
        double length = square / serial_dot(v.way, v.way_by_a, count);
        serial_combine(length, v.way, 1.0, v.x, v.x, count);
        serial_combine(-length, v.way_by_a, 1.0, v.rest, v.rest, count);
        double next_square = serial_dot(v.rest, v.rest, count);
        serial_combine(1.0, v.rest, next_square / square, v.way, v.way, count);
        square = next_square;
        p->norms[++p->iterations] = sqrt(square);
    }
}

/* ---- check, output --------------------------------------------------------------------------- */

/* |b - A x| / |b|, from A itself. */
static double true_rest(matrix a, const double *b, const double *x) {
    double rest = 0.0;
    double whole = 0.0;
    for (uint64_t row = 0; row < a.row_count; row++) {
        double difference = b[row] - multiply_row(a, x, row);
        rest += difference * difference;
        whole += b[row] * b[row];
    }
    return sqrt(rest / whole);
}

static bool check(matrix a, const double *b, const double *x, const progress *p) {
    uint64_t count = a.row_count;
    vectors v = {(double *)app_allocate(count, sizeof(double), "the check"),
                 (double *)app_allocate(count, sizeof(double), "the check"),
                 (double *)app_allocate(count, sizeof(double), "the check"),
                 (double *)app_allocate(count, sizeof(double), "the check")};
    progress expected = {(double *)app_allocate(p->most_iterations + 1, sizeof(double), "norms"), 0,
                         p->most_iterations, p->tolerance};
    serial_solve(a, b, v, &expected);
    double largest = expected.iterations == p->iterations ? 0.0 : (double)INFINITY;
    if (largest == 0.0) {
        largest = fmax(app_doubles_difference(x, v.x, count),
                       app_doubles_difference(p->norms, expected.norms, p->iterations + 1));
    }
    printf("check      %s values against %s serial iterations: %s, largest difference %g; "
           "|b - A x| / |b| is %.3e\n",
           app_count(count), app_count(expected.iterations), largest == 0.0 ? "equal" : "DIFFERENT",
           largest, true_rest(a, b, x));
    free(v.x);
    free(v.rest);
    free(v.way);
    free(v.way_by_a);
    free(expected.norms);
    return largest == 0.0;
}

static void print_result(uint64_t side, const double *x, const progress *p, uint64_t seed) {
    enum { ROWS = 16 };
    double highest = x[0];
    double sum = 0.0;
    for (uint64_t i = 0; i < side * side * side; i++) {
        highest = fmax(highest, x[i]);
        sum += x[i];
    }
    printf("matrix     %s rows, a cube of %s x %s x %s nodes; %s entries, seed %llu\n",
           app_count(side * side * side), app_count(side), app_count(side), app_count(side),
           app_count(count_entries(side, FORMAT_CSR)), (unsigned long long)seed);
    printf("solution   after %s iterations: sum %.9g, highest %.9g\n\n", app_count(p->iterations),
           sum, highest);
    printf(" iteration    |residual| / |b|\n");
    uint64_t step = (p->iterations + ROWS) / ROWS;
    for (uint64_t i = 0; i <= p->iterations; i += step) {
        printf("%10s    %16.4e\n", app_count(i), p->norms[i] / p->norms[0]);
    }
    putchar('\n');
}

/* ---- the arrays ------------------------------------------------------------------------------ */

typedef struct arrays {
    app_array first; /* not with ell */
    app_array column;
    app_array value;
    app_array b;
    app_array x;
    app_array rest;
    app_array way;
    app_array way_by_a;
} arrays;

static void create_arrays(app_device *device, arrays *a, uint64_t side, int format, uint64_t seed) {
    uint64_t row_count = side * side * side;
    uint64_t entry_count = count_entries(side, format);
    memset(a, 0, sizeof *a);
    if (format == FORMAT_CSR) {
        app_array_create(device, &a->first, row_count + 1, sizeof(uint64_t), "starts of rows",
                         APP_ROLE_INPUT);
    }
    app_array_create(device, &a->column, entry_count, sizeof(uint32_t), "columns", APP_ROLE_INPUT);
    app_array_create(device, &a->value, entry_count, sizeof(double), "values", APP_ROLE_INPUT);
    app_array_create(device, &a->b, row_count, sizeof(double), "b", APP_ROLE_INPUT);
    app_array_create(device, &a->x, row_count, sizeof(double), "x", APP_ROLE_STATE);
    app_array_create(device, &a->rest, row_count, sizeof(double), "the rest", APP_ROLE_STATE);
    app_array_create(device, &a->way, row_count, sizeof(double), "the way", APP_ROLE_STATE);
    app_array_create(device, &a->way_by_a, row_count, sizeof(double), "A times it", APP_ROLE_STATE);
    generate_matrix(side, (uint64_t *)a->first.host, (uint32_t *)a->column.host,
                    (double *)a->value.host);
    generate_heat((double *)a->b.host, row_count, seed);
    if (format == FORMAT_CSR) {
        app_array_to_device(device, &a->first);
    }
    app_array_to_device(device, &a->column);
    app_array_to_device(device, &a->value);
    app_array_to_device(device, &a->b);
    app_array_fill(device, &a->x, 0);
}

static void free_arrays(app_device *device, arrays *a) {
    app_array *all[] = {&a->first, &a->column, &a->value, &a->b,
                        &a->x,     &a->rest,   &a->way,   &a->way_by_a};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        app_array_free(device, all[i]);
    }
}

static solver create_solver(app_device *device, const arrays *a, uint64_t row_count) {
    solver s;
    memset(&s, 0, sizeof s);
    s.device = device;
    s.a.first = (const uint64_t *)a->first.device;
    s.a.column = (const uint32_t *)a->column.device;
    s.a.value = (const double *)a->value.device;
    s.a.row_count = row_count;
    s.v.x = (double *)a->x.device;
    s.v.rest = (double *)a->rest.device;
    s.v.way = (double *)a->way.device;
    s.v.way_by_a = (double *)a->way_by_a.device;
    app_array_create(device, &s.block_sums, dot_block_count(row_count), sizeof(double),
                     "sums of blocks", APP_ROLE_STATE);
    app_array_create(device, &s.total, 1, sizeof(double), "dot product", APP_ROLE_STATE);
    return s;
}

int main(int argc, char **argv) {
    const app_program program = {"cg", "solves a finite-element system by conjugate gradients",
                                 "rows, rounded down to a cube of nodes, or bytes such as 1GiB",
                                 NULL, "cg --size 1M --iterations 200 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    int format = FORMAT_CSR;
    progress p = {NULL, 0, 100, 1e-8};
    const app_option options[] = {
        {"--format", APP_OPTION_CHOICE, &format, "csr|ell", 0, 0, "storage format of the matrix"},
        {"--iterations", APP_OPTION_COUNT, &p.most_iterations, "N", 1, 1e7,
         "maximum number of iterations"},
        {"--tolerance", APP_OPTION_REAL, &p.tolerance, "X", 0, 1,
         "stop when |residual| / |b| is at most this"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t wanted = app_size_items(common.size, 372.0, 8000, 1, UINT32_MAX);
    uint64_t side = 1;
    while ((side + 1) * (side + 1) * (side + 1) <= wanted) {
        side++;
    }
    uint64_t row_count = side * side * side;
    p.norms = (double *)app_allocate(p.most_iterations + 1, sizeof *p.norms, "norms");

    app_device device;
    arrays a;
    app_device_open(&device, common.memory);
    create_arrays(&device, &a, side, format, common.seed);
    solver s = create_solver(&device, &a, row_count);
    solve(&s, (const double *)a.b.device, &p);
    app_array_to_host(&device, &a.x);

    const double *x = (const double *)a.x.host;
    print_result(side, x, &p, common.seed);
    app_device_report(&device, 2.0 * (double)count_entries(side, FORMAT_CSR) * (double)p.iterations,
                      "flop of products");
    matrix on_host = {(const uint64_t *)a.first.host, (const uint32_t *)a.column.host,
                      (const double *)a.value.host, row_count};
    bool is_right = !common.check || check(on_host, (const double *)a.b.host, x, &p);
    app_array_free(&device, &s.block_sums);
    app_array_free(&device, &s.total);
    free_arrays(&device, &a);
    free(p.norms);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
