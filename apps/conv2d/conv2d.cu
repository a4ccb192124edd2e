/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Convolution: each pixel of an image becomes a weighted sum of its 3 x 3 neighbourhood.
 *
 * A thread a pixel, straight from memory: nine pixels of three rows. Pixels at the border, which
 * have no such neighbourhood, become 0. Weights and blocks are those of PolyBench's 2DCONV. The
 * order of additions is fixed and every multiply-add is a fused one by name, so all devices and the
 * serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/image.h"
#include "common/memory.h"
#include "common/picture.h"
#include "common/points.h"
#include "common/report.h"

#define BLOCK_WIDTH 32
#define BLOCK_HEIGHT 8
#define MAX_SIDE (65535u * BLOCK_HEIGHT) /* rows of blocks that a grid can have */

static __host__ __device__ __forceinline__ float convolve(const float *from, size_t width,
                                                          size_t height, size_t y, size_t x) {
    if (x == 0 || y == 0 || x + 1 >= width || y + 1 >= height) {
        return 0.0f;
    }
    const float *north = from + (y - 1) * width + x;
    const float *here = north + width;
    const float *south = here + width;
    float sum = 0.2f * north[-1];
    sum = fmaf(-0.3f, north[0], sum);
    sum = fmaf(0.4f, north[1], sum);
    sum = fmaf(0.5f, here[-1], sum);
    sum = fmaf(0.6f, here[0], sum);
    sum = fmaf(0.7f, here[1], sum);
    sum = fmaf(-0.8f, south[-1], sum);
    sum = fmaf(-0.9f, south[0], sum);
    return fmaf(0.1f, south[1], sum);
}

__global__ void convolve_image(const float *from, float *to, size_t width, size_t height) {
    size_t x = (size_t)blockIdx.x * BLOCK_WIDTH + threadIdx.x;
    size_t y = (size_t)blockIdx.y * BLOCK_HEIGHT + threadIdx.y;
    if (x < width && y < height) {
        to[y * width + x] = convolve(from, width, height, y, x);
    }
}

static bool check(const float *from, const float *result, size_t width, size_t height) {
    float *expected = (float *)app_allocate(width * height, sizeof *expected, "the check");
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            expected[y * width + x] = convolve(from, width, height, y, x);
        }
    }
    double largest = app_floats_difference(result, expected, width * height);
    printf("check      %s pixels against a serial convolution: %s, largest difference %g\n",
           app_count(width * height), largest == 0.0 ? "equal" : "DIFFERENT", largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(const app_image *image, const float *result) {
    size_t count = image->width * image->height;
    float lowest = INFINITY;
    float highest = -INFINITY;
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) {
        lowest = fminf(lowest, result[i]);
        highest = fmaxf(highest, result[i]);
        sum += (double)result[i];
    }
    printf("image      %s: %s x %s pixels\n", image->title, app_count(image->width),
           app_count(image->height));
    printf("result     %.6g to %.6g, mean %.6g\n\n", (double)lowest, (double)highest,
           sum / (double)count);
    app_picture(stdout, result, image->width, image->height);
    putchar('\n');
}

static void load(app_image *image, const app_common *common) {
    if (common->input != NULL) {
        app_image_read(image, common->input);
    } else {
        uint64_t pixels = app_size_items(common->size, 2.0 * sizeof(float), 512 * 512, 1,
                                         (uint64_t)MAX_SIDE * MAX_SIDE);
        app_image_generate(image, (size_t)sqrt((double)pixels), common->seed);
    }
    if (image->height > MAX_SIDE) {
        app_fail("the image has %s rows, more than the %s that a grid of blocks can have",
                 app_count(image->height), app_count(MAX_SIDE));
    }
}

int main(int argc, char **argv) {
    const app_program program = {"conv2d", "3 x 3 convolution of an image",
                                 "pixels of the generated image, or bytes such as 1GiB",
                                 "PGM image (P2 or P5, also .zst)", "conv2d --size 16M --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    const app_option options[] = {{NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_image image; /* its pixels become the device's */
    load(&image, &common);
    size_t count = image.width * image.height;

    app_device device;
    app_array from;
    app_array to;
    app_device_open(&device, common.memory);
    app_array_take(&device, &from, (void **)&image.grey, count, sizeof(float), "image");
    app_array_create(&device, &to, count, sizeof(float), "result", APP_ROLE_STATE);
    app_array_to_device(&device, &from);

    dim3 threads(BLOCK_WIDTH, BLOCK_HEIGHT);
    dim3 blocks((unsigned)((image.width + BLOCK_WIDTH - 1) / BLOCK_WIDTH),
                (unsigned)((image.height + BLOCK_HEIGHT - 1) / BLOCK_HEIGHT));
    app_kernels_begin(&device);
    convolve_image<<<blocks, threads>>>((const float *)from.device, (float *)to.device, image.width,
                                        image.height);
    app_kernels_end(&device, "convolve_image", 1);
    app_array_to_host(&device, &to);

    print_result(&image, (const float *)to.host);
    app_device_report(&device, (double)count, "pixels");
    bool is_right = !common.check || check((const float *)from.host, (const float *)to.host,
                                           image.width, image.height);
    app_array_free(&device, &from);
    app_array_free(&device, &to);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
