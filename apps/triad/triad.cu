/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Triad: a = b + s c, how fast a device streams three arrays through itself.
 *
 * A thread an item, each array gone through from one end to the other: STREAM's last loop. The
 * multiply-add is a fused one by name, so all devices and the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/random.h"
#include "common/report.h"

#define THREADS 256
#define SCALE 3

enum { TYPE_DOUBLE, TYPE_FLOAT };

__global__ void triad_doubles(double *a, const double *b, const double *c, uint64_t count) {
    uint64_t i = app_thread();
    if (i < count) {
        a[i] = fma((double)SCALE, c[i], b[i]);
    }
}

__global__ void triad_floats(float *a, const float *b, const float *c, uint64_t count) {
    uint64_t i = app_thread();
    if (i < count) {
        a[i] = fmaf((float)SCALE, c[i], b[i]);
    }
}

static double item(const void *items, int type, uint64_t i) {
    return type == TYPE_DOUBLE ? ((const double *)items)[i] : (double)((const float *)items)[i];
}

static void generate(void *items, int type, uint64_t count, uint64_t seed) {
    app_random random = {seed, 0};
    for (uint64_t i = 0; i < count; i++) {
        double value = app_random_unit(&random);
        if (type == TYPE_DOUBLE) {
            ((double *)items)[i] = value;
        } else {
            ((float *)items)[i] = (float)value;
        }
    }
}

static bool check(const void *a, const void *b, const void *c, int type, uint64_t count) {
    uint64_t different = 0;
    for (uint64_t i = 0; i < count; i++) {
        double from_b = item(b, type, i);
        double from_c = item(c, type, i);
        double expected = type == TYPE_DOUBLE
                              ? fma((double)SCALE, from_c, from_b)
                              : (double)fmaf((float)SCALE, (float)from_c, (float)from_b);
        different += item(a, type, i) != expected;
    }
    printf("check      %s items against a serial loop: %s, %s differ\n", app_count(count),
           different == 0 ? "equal" : "DIFFERENT", app_count(different));
    return different == 0;
}

static void print_result(const void *a, int type, uint64_t count, uint64_t seed) {
    double sum = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        sum += item(a, type, i);
    }
    printf("arrays     3 of %s items, %s, seed %llu\n", app_count(count),
           type == TYPE_DOUBLE ? "double" : "float", (unsigned long long)seed);
    printf("sum        of b + %d c: %.9g\n\n", SCALE, sum);
}

int main(int argc, char **argv) {
    const app_program program = {"triad", "STREAM triad, memory bandwidth: a = b + s c",
                                 "items of each array, or bytes such as 1GiB", NULL,
                                 "triad --size 16M --iterations 10 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t iterations = 1;
    int type = TYPE_DOUBLE;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &iterations, "N", 1, 1e9, "number of repetitions"},
        {"--type", APP_OPTION_CHOICE, &type, "double|float", 0, 0, "type of the items"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    size_t item_bytes = type == TYPE_DOUBLE ? sizeof(double) : sizeof(float);
    uint64_t count = app_size_items(common.size, 3.0 * (double)item_bytes, UINT64_C(1) << 20, 1,
                                    UINT64_C(1) << 38);

    app_device device;
    app_array a;
    app_array b;
    app_array c;
    app_device_open(&device, common.memory);
    app_array_create(&device, &a, count, item_bytes, "a", APP_ROLE_STATE);
    app_array_create(&device, &b, count, item_bytes, "b", APP_ROLE_INPUT);
    app_array_create(&device, &c, count, item_bytes, "c", APP_ROLE_INPUT);
    generate(b.host, type, count, common.seed);
    generate(c.host, type, count, app_random_at(common.seed, 0));
    app_array_to_device(&device, &b);
    app_array_to_device(&device, &c);

    app_kernels_begin(&device);
    for (uint64_t i = 0; i < iterations; i++) {
        if (type == TYPE_DOUBLE) {
            triad_doubles<<<app_blocks(count, THREADS), THREADS>>>(
                (double *)a.device, (const double *)b.device, (const double *)c.device, count);
        } else {
            triad_floats<<<app_blocks(count, THREADS), THREADS>>>(
                (float *)a.device, (const float *)b.device, (const float *)c.device, count);
        }
    }
    app_kernels_end(&device, "triad", iterations);
    app_array_to_host(&device, &a);

    print_result(a.host, type, count, common.seed);
    app_device_report(&device, 3.0 * (double)(count * item_bytes) * (double)iterations, "B");
    bool is_right = !common.check || check(a.host, b.host, c.host, type, count);
    app_array_free(&device, &a);
    app_array_free(&device, &b);
    app_array_free(&device, &c);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
