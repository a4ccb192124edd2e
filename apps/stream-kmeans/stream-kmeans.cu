/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K-means over records that need not fit the GPU: the assignment of each record to its nearest
 * centre is the kernel, as the thesis on BigKernel has it (Figures 4.3 to 4.6): a thread takes a
 * range of consecutive records. Of a record of 64 bytes it reads 32 and writes 8. The host computes
 * new centres.
 */
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

static void launch(void *object, void *records, uint64_t count, cudaStream_t stream) {
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

/* Rows of the file, and then as many again with small changes, as often as needed. */
static record *make_records(const app_points *points, uint64_t count, uint64_t seed) {
    record *records = (record *)app_allocate(count, sizeof *records, "the records");
    for (uint64_t i = 0; i < count; i++) {
        const float *row = points->value + i % points->count * points->dimensions;
        app_random random = {seed, i * DIMENSIONS};
        for (int d = 0; d < DIMENSIONS; d++) {
            const double change = i < points->count ? 1.0 : 0.9 + 0.2 * app_random_unit(&random);
            records[i].value[d] = (double)row[d] * change;
        }
        records[i].cluster = -1;
        records[i].other[0] = records[i].other[1] = records[i].other[2] = i;
    }
    return records;
}

static void move_centres(const record *records, uint64_t count, double *centres,
                         uint32_t centre_count) {
    double *sums = (double *)app_allocate((size_t)centre_count * (DIMENSIONS + 1), sizeof *sums,
                                          "the sums");
    memset(sums, 0, (size_t)centre_count * (DIMENSIONS + 1) * sizeof *sums);
    for (uint64_t i = 0; i < count; i++) {
        double *sum = sums + records[i].cluster * (DIMENSIONS + 1);
        for (int d = 0; d < DIMENSIONS; d++) {
            sum[d] += records[i].value[d];
        }
        sum[DIMENSIONS] += 1.0;
    }
    for (uint32_t c = 0; c < centre_count; c++) {
        const double *sum = sums + c * (DIMENSIONS + 1);
        for (int d = 0; d < DIMENSIONS && sum[DIMENSIONS] != 0.0; d++) {
            centres[c * DIMENSIONS + d] = sum[d] / sum[DIMENSIONS];
        }
    }
    free(sums);
}

static uint64_t check_records(const record *records, uint64_t count, const double *centres,
                              uint32_t centre_count) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++) {
        const double *v = records[i].value;
        different += records[i].cluster !=
                         find_nearest(v[0], v[1], v[2], v[3], centres, centre_count) ||
                     records[i].other[0] != i || records[i].other[1] != i ||
                     records[i].other[2] != i;
    }
    return different;
}

static void print_clusters(const record *records, uint64_t count, uint32_t centre_count) {
    uint64_t *sizes = (uint64_t *)app_allocate(centre_count, sizeof *sizes, "the result");
    uint64_t most = 1;
    memset(sizes, 0, centre_count * sizeof *sizes);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t size = ++sizes[records[i].cluster];
        most = size > most ? size : most;
    }
    printf("cluster      records\n");
    for (uint32_t c = 0; c < centre_count; c++) {
        printf("%7u %12s  ", c, app_count(sizes[c]));
        app_bar(stdout, (double)sizes[c] / (double)most, 20);
        putchar('\n');
    }
    free(sizes);
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-kmeans", "k-means over records that need not fit the GPU",
        "records, or bytes such as 1GiB",
        "rows of numbers, as CSV or separated by tabs or blanks (also .zst)",
        "stream-kmeans --size 1M --variant full --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    int variant = APP_STREAMING_FULL;
    uint64_t clusters = 8, iterations = 1, blocks = 64, threads = 128, slots = 0;
    app_size buffer = {UINT64_C(16) << 20, true};
    bool without_patterns = false;
    const char *columns = NULL;
    const app_option options[] = {
        {"--variant", APP_OPTION_CHOICE, &variant, APP_STREAMING_VARIANTS, 0, 0,
         "how data reach the kernel"},
        {"--buffer", APP_OPTION_SIZE, &buffer, "BYTES", 0, 0,
         "device memory for buffers of single, double, direct and full"},
        {"--clusters", APP_OPTION_COUNT, &clusters, "K", 1, 65536, "centres"},
        {"--iterations", APP_OPTION_COUNT, &iterations, "N", 1, 1e6, "iterations"},
        {"--columns", APP_OPTION_TEXT, &columns, "LIST", 0, 0,
         "four columns of --input (default: the first four with numbers)"},
        {"--blocks", APP_OPTION_COUNT, &blocks, "N", 1, 2147483647, "thread blocks of a launch"},
        {"--threads", APP_OPTION_COUNT, &threads, "N", 1, 1024, "threads of a block"},
        {"--slots", APP_OPTION_COUNT, &slots, "N", 1, 4096,
         "full: reads of a thread in a chunk, at most"},
        {"--without-patterns", APP_OPTION_FLAG, &without_patterns, NULL, 0, 0,
         "full: every address is sent"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    if (!buffer.is_bytes) {
        app_fail_usage("--buffer needs a unit, as in 16MiB");
    }

    app_points points;
    const uint64_t count = app_size_items(common.size, sizeof(record), 100000, 1, UINT64_C(1) << 40);
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
    record *records = make_records(&points, count, common.seed);
    const uint32_t k = (uint32_t)clusters;
    const size_t centre_bytes = (size_t)k * DIMENSIONS * sizeof(double);
    double *centres = (double *)app_allocate(centre_bytes, 1, "centres");
    double *used = (double *)app_allocate(centre_bytes, 1, "centres"); /* by the last iteration */
    double *device_centres = NULL;
    for (uint32_t c = 0; c < k; c++) {
        const uint64_t chosen = c * (points.count / k);
        memcpy(centres + (size_t)c * DIMENSIONS, records[chosen].value, sizeof records->value);
    }
    const bool is_host = variant == APP_STREAMING_SERIAL || variant == APP_STREAMING_THREADS;
    if (!is_host) {
        app_cuda_check(cudaMalloc((void **)&device_centres, centre_bytes), "cudaMalloc", "centres",
                       centre_bytes);
    }
    kmeans task = {is_host ? centres : device_centres, k, (unsigned)blocks, (unsigned)threads};
    app_streaming job = {0};
    job.records = records;
    job.count = count;
    job.record_bytes = sizeof *records;
    job.is_written = true;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    job.buffer_bytes = buffer.value;
    job.slots = slots;
    job.without_patterns = without_patterns;
    app_streaming_times times = {0};
    for (uint64_t i = 0; i < iterations; i++) {
        memcpy(used, centres, centre_bytes);
        if (!is_host) {
            app_cuda_check(
                cudaMemcpy(device_centres, centres, centre_bytes, cudaMemcpyHostToDevice), "a copy",
                "centres", centre_bytes);
        }
        app_streaming_run(&job, variant, &times);
        move_centres(records, count, centres, k);
    }
    printf("records    %s: %s of %zu bytes\n\n", points.title, app_count(count), sizeof *records);
    print_clusters(records, count, k);
    app_streaming_report(&job, variant, &times);
    uint64_t different = 0;
    if (common.check) {
        different = check_records(records, count, used, k);
        printf("check      clusters of %s records against a serial assignment: %s, %s differ\n",
               app_count(count), different == 0 ? "equal" : "DIFFERENT", app_count(different));
    }
    if (!is_host) {
        app_cuda_check(cudaFree(device_centres), "cudaFree", "centres", centre_bytes);
    }
    app_points_free(&points);
    free(used);
    free(centres);
    free(records);
    return different == 0 ? 0 : 1;
}
