/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K-means over records that need not fit the GPU: the assignment of each record to its nearest
 * centre is the kernel, as the thesis on BigKernel has it (Figures 4.3 to 4.6): a thread takes a
 * range of consecutive records. Of a record of 64 bytes it reads 32 and writes 8. The host computes
 * new centres.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"
#include "streaming/streaming.h"

#define DIMENSIONS 4

typedef struct record {
    double value[DIMENSIONS];
    int64_t cluster;
    uint64_t other[3]; /* that the kernel has no use for */
} record;

typedef struct kmeans {
    const double *centres; /* where the launch or the host finds them */
    uint32_t centre_count;
    unsigned blocks, threads;
} kmeans;

static __host__ __device__ int64_t find_nearest(double a, double b, double c, double d,
                                                const double *centres, uint32_t count) {
    int64_t nearest = 0;
    double least = INFINITY;
    for (uint32_t i = 0; i < count; i++) {
        const double *centre = centres + (size_t)i * DIMENSIONS;
        const double x = a - centre[0], y = b - centre[1], z = c - centre[2], w = d - centre[3];
        const double distance = fma(x, x, fma(y, y, fma(z, z, w * w)));
        if (distance < least) {
            least = distance;
            nearest = i;
        }
    }
    return nearest;
}

static __global__ void assign(record *records, uint64_t count, const double *centres,
                              uint32_t centre_count) {
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (count + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < count ? start + each : count;
    for (uint64_t i = start; i < end; i++) {
        records[i].cluster =
            find_nearest(records[i].value[0], records[i].value[1], records[i].value[2],
                         records[i].value[3], centres, centre_count);
    }
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    (void)first;
    const kmeans *k = (const kmeans *)object;
    assign<<<k->blocks, k->threads, 0, stream>>>((record *)records, count, k->centres,
                                                 k->centre_count);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const kmeans *k = (const kmeans *)object;
    record *r = (record *)records;
    for (uint64_t i = first; i < outer; i++) {
        r[i].cluster = find_nearest(r[i].value[0], r[i].value[1], r[i].value[2], r[i].value[3],
                                    k->centres, k->centre_count);
    }
}

/* Rows of the input, and then as many again with small changes, as often as needed: records
 * [first, first + count). */
static void make_records(const app_points *points, uint64_t first, uint64_t count, uint64_t seed,
                         record *records) {
    for (uint64_t n = 0; n < count; n++) {
        const uint64_t i = first + n;
        const float *row = points->value + i % points->count * points->dimensions;
        app_random random = {seed, i * DIMENSIONS};
        for (int d = 0; d < DIMENSIONS; d++) {
            const double change = i < points->count ? 1.0 : 0.9 + 0.2 * app_random_unit(&random);
            records[n].value[d] = (double)row[d] * change;
        }
        records[n].cluster = -1;
        records[n].other[0] = records[n].other[1] = records[n].other[2] = i;
    }
}

/* ---- records in memory, or in a file that is read piece by piece ---- */

#define PIECE 16384

typedef struct data {
    record *records; /* all, or a piece */
    FILE *file;      /* NULL: all are in memory */
    const char *path;
    uint64_t count;
} data;

/* Records from `first` on, in order; *n: how many. */
static const record *piece_of(data *d, uint64_t first, uint64_t *n) {
    *n = d->count - first;
    if (d->file == NULL) {
        return d->records + first;
    }
    *n = *n < PIECE ? *n : PIECE;
    if (fseeko(d->file, (off_t)(first * sizeof(record)), SEEK_SET) != 0 ||
        fread(d->records, sizeof(record), *n, d->file) != *n) {
        app_fail("%s cannot be read up to record %s", d->path, app_count(first + *n));
    }
    return d->records;
}

static void open_data(data *d, const char *path, uint64_t count) {
    d->file = fopen(path, "rb");
    if (d->file == NULL) {
        app_fail("%s: %s", path, strerror(errno));
    }
    d->path = path;
    d->count = count;
    d->records = (record *)app_allocate(PIECE, sizeof *d->records, "records");
}

static void close_data(data *d) {
    if (d->file != NULL) {
        fclose(d->file);
    }
    free(d->records);
}

/* The file appears when it is complete. */
static void write_file(const char *path, const app_points *points, uint64_t count, uint64_t seed) {
    record *piece = (record *)app_allocate(PIECE, sizeof *piece, "records");
    char part[4096];
    snprintf(part, sizeof part, "%.4000s.part", path);
    FILE *file = fopen(part, "wb");
    bool is_written = file != NULL;
    for (uint64_t first = 0; first < count && is_written; first += PIECE) {
        const uint64_t n = count - first < PIECE ? count - first : PIECE;
        make_records(points, first, n, seed, piece);
        is_written = fwrite(piece, sizeof *piece, n, file) == n;
    }
    int reason = errno;
    if (file != NULL && fclose(file) != 0 && is_written) {
        is_written = false;
        reason = errno;
    }
    if (is_written && rename(part, path) != 0) {
        is_written = false;
        reason = errno;
    }
    if (!is_written) {
        remove(part);
        app_fail("%s cannot be written: %s", path, strerror(reason));
    }
    free(piece);
}

/* 0: there is no such file. */
static uint64_t records_of_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return 0;
    }
    if (fseeko(file, 0, SEEK_END) != 0 || ftello(file) % (off_t)sizeof(record) != 0 ||
        ftello(file) == 0) {
        app_fail("%s is no file of records of %zu bytes", path, sizeof(record));
    }
    const uint64_t count = (uint64_t)ftello(file) / sizeof(record);
    fclose(file);
    return count;
}

/* ---- results ---- */

static void move_centres(data *d, double *centres, uint32_t centre_count) {
    double *sums = (double *)app_allocate((size_t)centre_count * (DIMENSIONS + 1), sizeof *sums,
                                          "the sums");
    memset(sums, 0, (size_t)centre_count * (DIMENSIONS + 1) * sizeof *sums);
    for (uint64_t first = 0, n; first < d->count; first += n) {
        const record *r = piece_of(d, first, &n);
        for (uint64_t i = 0; i < n; i++) {
            double *sum = sums + r[i].cluster * (DIMENSIONS + 1);
            for (int dimension = 0; dimension < DIMENSIONS; dimension++) {
                sum[dimension] += r[i].value[dimension];
            }
            sum[DIMENSIONS] += 1.0;
        }
    }
    for (uint32_t c = 0; c < centre_count; c++) {
        const double *sum = sums + c * (DIMENSIONS + 1);
        for (int dimension = 0; dimension < DIMENSIONS && sum[DIMENSIONS] != 0.0; dimension++) {
            centres[c * DIMENSIONS + dimension] = sum[dimension] / sum[DIMENSIONS];
        }
    }
    free(sums);
}

static uint64_t check_records(data *d, const double *centres, uint32_t centre_count) {
    uint64_t different = 0;
    for (uint64_t first = 0, n; first < d->count; first += n) {
        const record *r = piece_of(d, first, &n);
        for (uint64_t i = 0; i < n; i++) {
            const double *v = r[i].value;
            different +=
                r[i].cluster != find_nearest(v[0], v[1], v[2], v[3], centres, centre_count) ||
                r[i].other[0] != first + i || r[i].other[1] != first + i ||
                r[i].other[2] != first + i;
        }
    }
    return different;
}

static void print_clusters(data *d, uint32_t centre_count) {
    uint64_t *sizes = (uint64_t *)app_allocate(centre_count, sizeof *sizes, "the result");
    uint64_t most = 1;
    memset(sizes, 0, centre_count * sizeof *sizes);
    for (uint64_t first = 0, n; first < d->count; first += n) {
        const record *r = piece_of(d, first, &n);
        for (uint64_t i = 0; i < n; i++) {
            const uint64_t size = ++sizes[r[i].cluster];
            most = size > most ? size : most;
        }
    }
    printf("cluster      records\n");
    for (uint32_t c = 0; c < centre_count; c++) {
        printf("%7u %12s  ", c, app_count(sizes[c]));
        app_bar(stdout, (double)sizes[c] / (double)most, 20);
        putchar('\n');
    }
    free(sizes);
}

/* ---- input ---- */

typedef struct files {
    const char *records, *result;
    app_size host_memory;
} files;

static void check_files(const files *f, int variant) {
    if (f->records == NULL) {
        if (f->result != NULL || f->host_memory.value != 0) {
            app_fail_usage("--result and --host-memory are for records in a file; see --records");
        }
        return;
    }
    if (f->result == NULL) {
        app_fail_usage("--records needs a file for the clusters: --result");
    }
    if (!app_streaming_has_files(variant)) {
        app_fail_usage("--records is for --variant full, volume or overlap");
    }
    if (f->host_memory.value != 0 && !f->host_memory.is_bytes) {
        app_fail_usage("--host-memory needs a unit, as in 64MiB");
    }
}

/* The first centres are records at equal distances. */
static void choose_centres(const app_points *points, uint32_t k, uint64_t seed, double *centres) {
    for (uint32_t c = 0; c < k; c++) {
        record r;
        make_records(points, c * (points->count / k), 1, seed, &r);
        memcpy(centres + (size_t)c * DIMENSIONS, r.value, sizeof r.value);
    }
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-kmeans", "k-means over records that need not fit the GPU",
        "records, or bytes such as 1GiB",
        "rows of numbers, as CSV or separated by tabs or blanks (also .zst)",
        "stream-kmeans --size 1M --variant full --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    files file = {NULL, NULL, {0, false}};
    uint64_t clusters = 8, iterations = 1;
    const char *columns = NULL;
    const app_option options[] = {
        APP_STREAMING_ROWS(how),
        APP_STREAMING_KEEP_ROW(how),
        {"--clusters", APP_OPTION_COUNT, &clusters, "K", 1, 65536, "centres"},
        {"--iterations", APP_OPTION_COUNT, &iterations, "N", 1, 1e6, "iterations"},
        {"--columns", APP_OPTION_TEXT, &columns, "LIST", 0, 0,
         "four columns of --input (default: the first four with numbers)"},
        {"--records", APP_OPTION_TEXT, &file.records, "FILE", 0, 0,
         "stream the records from this file, which is made if it does not exist"},
        {"--result", APP_OPTION_TEXT, &file.result, "FILE", 0, 0,
         "of --records: the file for the records with their clusters"},
        {"--host-memory", APP_OPTION_SIZE, &file.host_memory, "BYTES", 0, 0,
         "of --records: host memory for parts of the files (default 256MiB)"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_streaming job = {0};
    app_streaming_set(&job, &how);
    check_files(&file, how.variant);

    app_points points;
    const uint64_t old = file.records != NULL ? records_of_file(file.records) : 0;
    const uint64_t count = app_size_items(common.size, sizeof(record), old != 0 ? old : 100000, 1,
                                          UINT64_C(1) << 40);
    if (old != 0 && count > old) {
        app_fail_usage("%s has %s records", file.records, app_count(old));
    }
    if (common.input != NULL) {
        app_points_read(&points, common.input, columns, count);
    } else {
        app_points_generate(&points, count < 100000 ? count : 100000, DIMENSIONS,
                            (uint32_t)clusters, common.seed);
    }
    if (points.dimensions < DIMENSIONS) {
        app_fail("%s has %u columns of numbers, but %d are needed", points.title,
                 points.dimensions, DIMENSIONS);
    }
    if (clusters > points.count) {
        app_fail_usage("--clusters %s exceeds the number of points, %s", app_count(clusters),
                       app_count(points.count));
    }
    data all = {NULL, NULL, NULL, count};
    if (file.records == NULL) {
        all.records = (record *)app_allocate(count, sizeof *all.records, "the records");
        make_records(&points, 0, count, common.seed, all.records);
    } else if (old == 0) {
        write_file(file.records, &points, count, common.seed);
    }
    const uint32_t k = (uint32_t)clusters;
    const size_t centre_bytes = (size_t)k * DIMENSIONS * sizeof(double);
    double *centres = (double *)app_allocate(centre_bytes, 1, "centres");
    double *used = (double *)app_allocate(centre_bytes, 1, "centres"); /* by the last iteration */
    double *device_centres = NULL;
    choose_centres(&points, k, common.seed, centres);
    const bool is_host = app_streaming_is_host(how.variant);
    if (!is_host) {
        app_cuda_check(cudaMalloc((void **)&device_centres, centre_bytes), "cudaMalloc", "centres",
                       centre_bytes);
    }
    kmeans task = {is_host ? centres : device_centres, k, (unsigned)how.blocks,
                   (unsigned)how.threads};
    job.records = all.records;
    job.source = file.records;
    job.target = file.result;
    job.host_bytes = file.host_memory.value;
    job.count = count;
    job.record_bytes = sizeof(record);
    job.is_written = true;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_kept kept = {0};
    app_streaming_keep(&job, &kept, &how);
    app_streaming_times times = {0};
    for (uint64_t i = 0; i < iterations; i++) {
        memcpy(used, centres, centre_bytes);
        if (!is_host) {
            app_cuda_check(
                cudaMemcpy(device_centres, centres, centre_bytes, cudaMemcpyHostToDevice), "a copy",
                "centres", centre_bytes);
        }
        app_streaming_run(&job, how.variant, &times);
        if (file.records != NULL) {
            if (i != 0) {
                close_data(&all);
            }
            open_data(&all, file.result, count);
        }
        move_centres(&all, centres, k);
    }
    app_streaming_let_go(&job);
    printf("records    %s: %s of %zu bytes\n\n", points.title, app_count(count), sizeof(record));
    print_clusters(&all, k);
    app_streaming_report(&job, how.variant, &times);
    uint64_t different = 0;
    if (common.check) {
        different = check_records(&all, used, k);
        printf("check      clusters of %s records against a serial assignment: %s, %s differ\n",
               app_count(count), different == 0 ? "equal" : "DIFFERENT", app_count(different));
    }
    if (!is_host) {
        app_cuda_check(cudaFree(device_centres), "cudaFree", "centres", centre_bytes);
    }
    app_points_free(&points);
    free(used);
    free(centres);
    close_data(&all);
    return different == 0 ? 0 : 1;
}
