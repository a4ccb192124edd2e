/* SPDX-License-Identifier: Apache-2.0 */
/*
 * k-means (Lloyd): groups points around k centres, each the mean of its points.
 *
 *     assign    every point to its nearest centre; the points of a block are added up in shared
 *               memory, then once a block into global memory
 *     update    every centre becomes the mean of its points (one without points stays)
 *
 * until no point changes its centre. Points lie dimension by dimension, so neighbouring threads
 * read neighbouring numbers.
 *
 * Results do not depend on the order of threads: coordinates are added as 64-bit whole numbers,
 * scaled by a power of two per dimension so that all points together cannot overflow, and squared
 * distances are fused multiply-adds by name. So the serial check can ask for equality.
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
#define SHARED_LIMIT_BYTES (48u * 1024u) /* what every CUDA device allows a block */

/* Whole numbers for the sums: x * scale, rounded to nearest; scale is a power of two. */
static __host__ __device__ __forceinline__ long long to_fixed(float x, double scale) {
    return (long long)rint((double)x * scale);
}

/* Squared distance of point i to a centre, dimension by dimension. */
static __host__ __device__ __forceinline__ float squared_distance(const float *points,
                                                                  uint64_t count, uint64_t i,
                                                                  const float *centre,
                                                                  uint32_t dimensions) {
    float sum = 0.0f;
    for (uint32_t d = 0; d < dimensions; d++) {
        float offset = points[d * count + i] - centre[d];
        sum = fmaf(offset, offset, sum);
    }
    return sum;
}

/* sums: for each centre, one number per dimension and then the number of points. `shared` says
 * whether the block's own sums fit shared memory; else they go straight to global memory. */
__global__ void assign(const float *points, uint64_t count, uint32_t dimensions,
                       const float *centres, uint32_t centre_count, const double *scale,
                       uint32_t *label, unsigned long long *sums, uint32_t *changed,
                       double *block_spread, int uses_shared) {
    extern __shared__ unsigned long long block_sums[];
    __shared__ double partial[THREADS];
    __shared__ uint32_t block_changed;
    uint32_t row = dimensions + 1u;
    uint32_t sum_count = centre_count * row;
    if (uses_shared) {
        for (uint32_t j = threadIdx.x; j < sum_count; j += blockDim.x) {
            block_sums[j] = 0ull;
        }
    }
    if (threadIdx.x == 0) {
        block_changed = 0u;
    }
    __syncthreads();

    unsigned long long *out = uses_shared ? block_sums : sums;
    uint64_t i = app_thread();
    double spread = 0.0;
    if (i < count) {
        uint32_t nearest = 0;
        float nearest_distance = squared_distance(points, count, i, centres, dimensions);
        for (uint32_t c = 1; c < centre_count; c++) {
            float distance =
                squared_distance(points, count, i, centres + c * dimensions, dimensions);
            if (distance < nearest_distance) {
                nearest_distance = distance;
                nearest = c;
            }
        }
        if (label[i] != nearest) {
            label[i] = nearest;
            atomicAdd(&block_changed, 1u);
        }
        for (uint32_t d = 0; d < dimensions; d++) {
            /* two's complement: adding negative numbers as unsigned ones is right */
            atomicAdd(&out[nearest * row + d],
                      (unsigned long long)to_fixed(points[d * count + i], scale[d]));
        }
        atomicAdd(&out[nearest * row + dimensions], 1ull);
        spread = nearest_distance;
    }
    double total = app_block_sum(spread, partial, THREADS);
    if (threadIdx.x == 0) {
        block_spread[blockIdx.x] = total;
        if (block_changed != 0u) {
            atomicAdd(changed, block_changed);
        }
    }
    if (uses_shared) {
        /* app_block_sum ends with a barrier: the block's sums are complete. */
        for (uint32_t j = threadIdx.x; j < sum_count; j += blockDim.x) {
            if (block_sums[j] != 0ull) {
                atomicAdd(&sums[j], block_sums[j]);
            }
        }
    }
}

static __host__ __device__ __forceinline__ float mean(unsigned long long sum,
                                                      unsigned long long count, double scale) {
    return (float)((double)(long long)sum / scale / (double)count);
}

__global__ void update(const unsigned long long *sums, uint32_t centre_count, uint32_t dimensions,
                       const double *scale, float *centres) {
    uint64_t j = app_thread();
    if (j >= (uint64_t)centre_count * dimensions) {
        return;
    }
    uint32_t centre = (uint32_t)(j / dimensions);
    uint32_t d = (uint32_t)(j % dimensions);
    unsigned long long count = sums[centre * (dimensions + 1u) + dimensions];
    if (count != 0ull) {
        centres[j] = mean(sums[centre * (dimensions + 1u) + d], count, scale[d]);
    }
}

/* ---- host ----------------------------------------------------------------------------------- */

/* First centres as in k-means++: each next one is a point drawn with probability proportional to
 * its squared distance from the centres so far; from a sample, to stay cheap for many points. */
static void choose_centres(const app_points *points, uint32_t centre_count, uint64_t seed,
                           float *centres) {
    uint64_t sample_count = points->count < 8192 ? points->count : 8192;
    uint64_t stride = points->count / sample_count;
    uint32_t dimensions = points->dimensions;
    double *distance = (double *)app_allocate(sample_count, sizeof *distance, "a sample");
    app_random random = {seed + 2, 0};
    for (uint64_t s = 0; s < sample_count; s++) {
        distance[s] = 1.0; /* the first: all alike */
    }
    for (uint32_t c = 0; c < centre_count; c++) {
        double total = 0.0;
        for (uint64_t s = 0; s < sample_count; s++) {
            total += distance[s];
        }
        double left = app_random_unit(&random) * total;
        uint64_t chosen = 0;
        for (uint64_t s = 0; s < sample_count; s++) {
            if (distance[s] > 0.0) {
                chosen = s;
                left -= distance[s];
                if (left < 0.0) {
                    break;
                }
            }
        }
        const float *centre = points->value + chosen * stride * dimensions;
        memcpy(centres + (size_t)c * dimensions, centre, dimensions * sizeof *centres);
        for (uint64_t s = 0; s < sample_count; s++) {
            double sum = 0.0;
            for (uint32_t d = 0; d < dimensions; d++) {
                double offset =
                    (double)points->value[s * stride * dimensions + d] - (double)centre[d];
                sum += offset * offset;
            }
            distance[s] = c == 0 || sum < distance[s] ? sum : distance[s];
        }
    }
    free(distance);
}

/* The largest power of two with which the sum of all points stays below 2^62. */
static void choose_scale(const app_points *points, double *scale) {
    for (uint32_t d = 0; d < points->dimensions; d++) {
        double largest = 0.0;
        for (uint64_t i = 0; i < points->count; i++) {
            double size = fabs((double)points->value[i * points->dimensions + d]);
            largest = size > largest ? size : largest;
        }
        int exponent = 0;
        (void)frexp(largest * (double)points->count, &exponent);
        scale[d] = ldexp(1.0, 61 - exponent > 1000 ? 1000 : 61 - exponent);
    }
}

/* The check: Lloyd's iterations one point at a time. Fills label and centres. */
static void serial_kmeans(const float *points, uint64_t count, uint32_t dimensions,
                          uint32_t centre_count, const double *scale, uint64_t iterations,
                          float *centres, uint32_t *label) {
    size_t row = (size_t)dimensions + 1;
    unsigned long long *sums =
        (unsigned long long *)app_allocate(centre_count * row, sizeof *sums, "the check");
    for (uint64_t iteration = 0; iteration < iterations; iteration++) {
        memset(sums, 0, centre_count * row * sizeof *sums);
        for (uint64_t i = 0; i < count; i++) {
            float nearest_distance = INFINITY;
            label[i] = 0;
            for (uint32_t c = 0; c < centre_count; c++) {
                float distance = squared_distance(points, count, i,
                                                  centres + (size_t)c * dimensions, dimensions);
                if (distance < nearest_distance) {
                    nearest_distance = distance;
                    label[i] = c;
                }
            }
            for (uint32_t d = 0; d < dimensions; d++) {
                sums[label[i] * row + d] +=
                    (unsigned long long)to_fixed(points[d * count + i], scale[d]);
            }
            sums[label[i] * row + dimensions]++;
        }
        for (uint32_t c = 0; c < centre_count; c++) {
            for (uint32_t d = 0; d < dimensions && sums[c * row + dimensions] != 0; d++) {
                centres[(size_t)c * dimensions + d] =
                    mean(sums[c * row + d], sums[c * row + dimensions], scale[d]);
            }
        }
    }
    free(sums);
}

static bool check(const float *points, uint64_t count, uint32_t dimensions, uint32_t centre_count,
                  const double *scale, uint64_t iterations, const float *first_centres,
                  const float *centres, const uint32_t *label) {
    size_t centre_floats = (size_t)centre_count * dimensions;
    float *expected = (float *)app_allocate(centre_floats, sizeof *expected, "the check");
    uint32_t *expected_label = (uint32_t *)app_allocate(count, sizeof *expected_label, "the check");
    memcpy(expected, first_centres, centre_floats * sizeof *expected);
    serial_kmeans(points, count, dimensions, centre_count, scale, iterations, expected,
                  expected_label);
    uint64_t different = 0;
    double largest = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        different += label[i] != expected_label[i];
    }
    for (size_t j = 0; j < centre_floats; j++) {
        double difference = fabs((double)centres[j] - (double)expected[j]);
        largest = difference <= largest ? largest : difference;
    }
    bool is_right = different == 0 && largest == 0.0;
    printf("check      %s serial iterations: %s, %s of %s points differ, largest difference of a "
           "centre %g\n",
           app_count(iterations), is_right ? "equal" : "DIFFERENT", app_count(different),
           app_count(count), largest);
    free(expected);
    free(expected_label);
    return is_right;
}

static void print_result(const app_points *points, uint32_t centre_count, const float *centres,
                         const uint32_t *label, uint64_t iterations, uint64_t changed,
                         double spread) {
    uint64_t *size = (uint64_t *)app_allocate(centre_count, sizeof *size, "the result");
    uint64_t most = 0;
    memset(size, 0, centre_count * sizeof *size);
    for (uint64_t i = 0; i < points->count; i++) {
        if (++size[label[i]] > most) {
            most = size[label[i]];
        }
    }
    printf("points     %s: %s points of %u dimensions", points->title, app_count(points->count),
           points->dimensions);
    if (points->skipped != 0) {
        printf(", %s rows without a number skipped", app_count(points->skipped));
    }
    printf("\nclusters   %u after %s iterations%s, mean squared distance %.6g\n\n", centre_count,
           app_count(iterations), changed == 0 ? " (settled)" : "", spread / (double)points->count);
    printf("cluster       points\n");
    for (uint32_t c = 0; c < centre_count && c < 32; c++) {
        printf("%7u %12s  (", c, app_count(size[c]));
        for (uint32_t d = 0; d < points->dimensions && d < 4; d++) {
            printf("%s%.5g", d != 0 ? ", " : "",
                   (double)centres[(size_t)c * points->dimensions + d]);
        }
        printf("%s)  ", points->dimensions > 4 ? ", ..." : "");
        app_bar(stdout, (double)size[c] / (double)most, 20);
        putchar('\n');
    }
    putchar('\n');
    free(size);
}

int main(int argc, char **argv) {
    const app_program program = {
        "kmeans", "k-means clustering of points",
        "points to generate (or to read at most), or bytes such as 1GiB",
        "rows of numbers, as CSV or separated by tabs or blanks (also .zst)",
        "kmeans --size 1M --clusters 16 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t clusters = 8;
    uint64_t dimensions = 4;
    uint64_t max_iterations = 50;
    const char *columns = NULL;
    bool is_normalized = false;
    const app_option options[] = {
        {"--clusters", APP_OPTION_COUNT, &clusters, "K", 1, 65536, "centres"},
        {"--dimensions", APP_OPTION_COUNT, &dimensions, "N", 1, 1024,
         "dimensions of generated points"},
        {"--columns", APP_OPTION_TEXT, &columns, "LIST", 0, 0,
         "columns of --input to use, such as 1,3-5 (default: all numeric ones)"},
        {"--normalize", APP_OPTION_FLAG, &is_normalized, NULL, 0, 0,
         "scale every dimension to 0..1 first"},
        {"--iterations", APP_OPTION_COUNT, &max_iterations, "N", 1, 1e9,
         "maximum number of iterations"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_points points;
    if (common.input != NULL) {
        /* Bytes are only known to be points once the columns are: the reader counts rows. */
        if (common.size.is_bytes) {
            app_fail_usage("--size of an --input counts points; give a number without B");
        }
        app_points_read(&points, common.input, columns, common.size.value);
    } else {
        uint64_t count =
            app_size_items(common.size, 4.0 * (double)dimensions + 4.0, 100000, 1, UINT32_MAX - 1u);
        app_points_generate(&points, count, (uint32_t)dimensions, (uint32_t)clusters, common.seed);
    }
    if (is_normalized) {
        app_points_normalize(&points);
    }
    if (clusters > points.count) {
        app_fail_usage("--clusters %s exceeds the number of points, %s", app_count(clusters),
                       app_count(points.count));
    }
    uint64_t count = points.count;
    uint32_t k = (uint32_t)clusters;
    uint32_t dims = points.dimensions;
    size_t centre_floats = (size_t)k * dims;
    size_t sum_count = (size_t)k * (dims + 1u);
    double *scale = (double *)app_allocate(dims, sizeof *scale, "scales");
    float *first_centres = (float *)app_allocate(centre_floats, sizeof(float), "centres");
    choose_scale(&points, scale);
    choose_centres(&points, k, common.seed, first_centres);

    app_device device;
    app_array point_array;
    app_array scale_array;
    app_array centre_array;
    app_array label_array;
    app_array sum_array;
    app_array changed_array;
    app_array spread_array;
    unsigned blocks = app_blocks(count, THREADS);
    app_device_open(&device, common.memory);
    app_array_create(&device, &point_array, (size_t)dims * count, sizeof(float), "points",
                     APP_ROLE_INPUT);
    float *turned = (float *)point_array.host;
    for (uint64_t i = 0; i < count; i++) {
        for (uint32_t d = 0; d < dims; d++) {
            turned[d * count + i] = points.value[i * dims + d];
        }
    }
    free(points.value);
    points.value = NULL;
    app_array_create(&device, &scale_array, dims, sizeof(double), "scales", APP_ROLE_STATE);
    app_array_create(&device, &centre_array, centre_floats, sizeof(float), "centres",
                     APP_ROLE_STATE);
    app_array_create(&device, &label_array, count, sizeof(uint32_t), "labels", APP_ROLE_STATE);
    app_array_create(&device, &sum_array, sum_count, sizeof(unsigned long long), "sums",
                     APP_ROLE_STATE);
    app_array_create(&device, &changed_array, 1, sizeof(uint32_t), "change counter",
                     APP_ROLE_STATE);
    app_array_create(&device, &spread_array, blocks, sizeof(double), "spreads", APP_ROLE_STATE);
    app_array_to_device(&device, &point_array);
    app_array_write(&device, &scale_array, 0, scale, dims * sizeof *scale);
    app_array_write(&device, &centre_array, 0, first_centres, centre_floats * sizeof(float));
    app_array_fill(&device, &label_array, 0xff); /* no centre: the first assignment changes all */

    size_t shared_bytes = sum_count * sizeof(unsigned long long);
    int uses_shared = shared_bytes + THREADS * sizeof(double) + 64 <= SHARED_LIMIT_BYTES;
    uint32_t changed = 0;
    uint64_t iterations = 0;
    do {
        app_array_fill(&device, &sum_array, 0);
        app_array_fill(&device, &changed_array, 0);
        app_kernels_begin(&device);
        assign<<<blocks, THREADS, uses_shared ? shared_bytes : 0>>>(
            (const float *)point_array.device, count, dims, (const float *)centre_array.device, k,
            (const double *)scale_array.device, (uint32_t *)label_array.device,
            (unsigned long long *)sum_array.device, (uint32_t *)changed_array.device,
            (double *)spread_array.device, uses_shared);
        update<<<app_blocks(centre_floats, THREADS), THREADS>>>(
            (const unsigned long long *)sum_array.device, k, dims,
            (const double *)scale_array.device, (float *)centre_array.device);
        app_kernels_end(&device, "an iteration", 2);
        app_array_read(&device, &changed_array, 0, &changed, sizeof changed);
        iterations++;
    } while (changed != 0 && iterations < max_iterations);
    app_array_to_host(&device, &centre_array);
    app_array_to_host(&device, &label_array);
    app_array_to_host(&device, &spread_array);
    double spread = 0.0;
    for (unsigned block = 0; block < blocks; block++) {
        spread += ((const double *)spread_array.host)[block];
    }

    const float *centres = (const float *)centre_array.host;
    const uint32_t *label = (const uint32_t *)label_array.host;
    print_result(&points, k, centres, label, iterations, changed, spread);
    app_device_report(&device, (double)count * k * (double)iterations, "distances");
    bool is_right = !common.check ||
                    check(turned, count, dims, k, scale, iterations, first_centres, centres, label);
    app_array_free(&device, &point_array);
    app_array_free(&device, &scale_array);
    app_array_free(&device, &centre_array);
    app_array_free(&device, &label_array);
    app_array_free(&device, &sum_array);
    app_array_free(&device, &changed_array);
    app_array_free(&device, &spread_array);
    app_device_close(&device);
    app_points_free(&points);
    free(scale);
    free(first_centres);
    return is_right ? 0 : 1;
}
