/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speckle-reducing anisotropic diffusion: an image loses its speckle and keeps its edges.
 *
 * Brightness flows between neighbouring pixels, the less the more the image varies there in
 * comparison with a region that is known to be even. Every iteration is
 *   the host     how much the region varies now
 *   coefficients differences to the four neighbours, and from them how freely a pixel lets flow
 *   diffuse      what flows in and out, by the coefficients of this pixel, the one below and the
 *                one to the right
 * in the arrays and launches of Rodinia's second version. A pixel at the border has itself as the
 * missing neighbour. Every multiply-add is a fused one by name, so all devices and the serial
 * check agree to the bit.
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

#define TILE 16
#define MAX_SIDE (65535u * TILE) /* rows of blocks that a grid can have */

/* Differences of a pixel's neighbours to the pixel. */
typedef struct slopes {
    float north;
    float south;
    float west;
    float east;
} slopes;

/* How freely brightness flows at a pixel, 0 to 1; `even` is the variation of the even region. */
static __host__ __device__ __forceinline__ float coefficient(float here, slopes d, float even) {
    float squares =
        fmaf(d.north, d.north, fmaf(d.south, d.south, fmaf(d.west, d.west, d.east * d.east)));
    float gradient = squares / (here * here);
    float laplacian = (d.north + d.south + d.west + d.east) / here;
    float numerator = fmaf(0.5f, gradient, -0.0625f * (laplacian * laplacian));
    float root = fmaf(0.25f, laplacian, 1.0f);
    float variation = numerator / (root * root);
    float excess = (variation - even) / fmaf(even, even, even);
    return fminf(fmaxf(1.0f / (1.0f + excess), 0.0f), 1.0f);
}

/* The pixel after one step; c, below and right are the coefficients here and there. */
static __host__ __device__ __forceinline__ float diffused(float here, slopes d, float c,
                                                          float below, float right, float rate) {
    float flow = fmaf(c, d.north, fmaf(below, d.south, fmaf(c, d.west, right * d.east)));
    return fmaf(0.25f * rate, flow, here);
}

/* ---- the kernels: a thread a pixel ----------------------------------------------------------- */

__global__ void find_coefficients(const float *image, float *north, float *south, float *west,
                                  float *east, float *c, uint32_t width, uint32_t height,
                                  float even) {
    __shared__ float tile[TILE + 2][TILE + 2];
    unsigned tx = threadIdx.x + 1;
    unsigned ty = threadIdx.y + 1;
    uint32_t x = blockIdx.x * TILE + threadIdx.x;
    uint32_t y = blockIdx.y * TILE + threadIdx.y;
    size_t at = (size_t)y * width + x;
    bool is_pixel = x < width && y < height;
    if (is_pixel) {
        tile[ty][tx] = image[at];
        if (ty == 1) {
            tile[0][tx] = image[y > 0 ? at - width : at];
        }
        if (ty == TILE || y == height - 1) {
            tile[ty + 1][tx] = image[y < height - 1 ? at + width : at];
        }
        if (tx == 1) {
            tile[ty][0] = image[x > 0 ? at - 1 : at];
        }
        if (tx == TILE || x == width - 1) {
            tile[ty][tx + 1] = image[x < width - 1 ? at + 1 : at];
        }
    }
    __syncthreads();
    if (is_pixel) {
        float here = tile[ty][tx];
        slopes d = {tile[ty - 1][tx] - here, tile[ty + 1][tx] - here, tile[ty][tx - 1] - here,
                    tile[ty][tx + 1] - here};
        north[at] = d.north;
        south[at] = d.south;
        west[at] = d.west;
        east[at] = d.east;
        c[at] = coefficient(here, d, even);
    }
}

__global__ void diffuse(float *image, const float *north, const float *south, const float *west,
                        const float *east, const float *c, uint32_t width, uint32_t height,
                        float rate) {
    __shared__ float tile[TILE + 1][TILE + 1];
    unsigned tx = threadIdx.x;
    unsigned ty = threadIdx.y;
    uint32_t x = blockIdx.x * TILE + tx;
    uint32_t y = blockIdx.y * TILE + ty;
    size_t at = (size_t)y * width + x;
    bool is_pixel = x < width && y < height;
    if (is_pixel) {
        tile[ty][tx] = c[at];
        if (ty == TILE - 1 || y == height - 1) {
            tile[ty + 1][tx] = c[y < height - 1 ? at + width : at];
        }
        if (tx == TILE - 1 || x == width - 1) {
            tile[ty][tx + 1] = c[x < width - 1 ? at + 1 : at];
        }
    }
    __syncthreads();
    if (is_pixel) {
        slopes d = {north[at], south[at], west[at], east[at]};
        image[at] = diffused(image[at], d, tile[ty][tx], tile[ty + 1][tx], tile[ty][tx + 1], rate);
    }
}

/* ---- input, check, output ---- */

/* The diffusion works on brightness, of which an image's grey is the logarithm. */
static void brighten(float *to, const app_image *image) {
    for (size_t i = 0; i < image->width * image->height; i++) {
        to[i] = (float)exp((double)image->grey[i]);
    }
}

/* The even region: the first `height` x `width` pixels of rows that are `row` long. Returns the
 * square of (its standard deviation / its mean). */
static float region_variation(const float *image, size_t row, size_t width, size_t height) {
    double sum = 0.0;
    double squares = 0.0;
    for (size_t y = 0; y < height; y++) {
        for (size_t x = 0; x < width; x++) {
            double value = (double)image[y * row + x];
            sum += value;
            squares += value * value;
        }
    }
    double mean = sum / (double)(width * height);
    double variance = squares / (double)(width * height) - mean * mean;
    /* An utterly even region would divide by zero. */
    return (float)fmax(variance / (mean * mean), 1e-12);
}

/* Options, and the image's size. */
typedef struct task {
    uint32_t width;
    uint32_t height;
    size_t region_width;
    size_t region_height;
    uint64_t iterations;
    float rate;
} task;

static float *serial_diffusion(const app_image *image, const task *t) {
    size_t width = t->width;
    size_t height = t->height;
    size_t count = width * height;
    float *now = (float *)app_allocate(count, sizeof *now, "the check");
    float *c = (float *)app_allocate(count, sizeof *c, "the check");
    slopes *d = (slopes *)app_allocate(count, sizeof *d, "the check");
    brighten(now, image);
    for (uint64_t i = 0; i < t->iterations; i++) {
        float even = region_variation(now, width, t->region_width, t->region_height);
        for (size_t at = 0; at < count; at++) {
            size_t x = at % width;
            size_t y = at / width;
            float here = now[at];
            d[at].north = now[y > 0 ? at - width : at] - here;
            d[at].south = now[y < height - 1 ? at + width : at] - here;
            d[at].west = now[x > 0 ? at - 1 : at] - here;
            d[at].east = now[x < width - 1 ? at + 1 : at] - here;
            c[at] = coefficient(here, d[at], even);
        }
        for (size_t at = 0; at < count; at++) {
            float below = c[at / width < height - 1 ? at + width : at];
            float right = c[at % width < width - 1 ? at + 1 : at];
            now[at] = diffused(now[at], d[at], c[at], below, right, t->rate);
        }
    }
    free(c);
    free(d);
    return now;
}

static bool check(const app_image *image, const task *t, const float *result) {
    float *expected = serial_diffusion(image, t);
    size_t count = image->width * image->height;
    double largest = app_floats_difference(result, expected, count);
    printf("check      %s pixels against %s serial iterations: %s, largest difference %g\n",
           app_count(count), app_count(t->iterations), largest == 0.0 ? "equal" : "DIFFERENT",
           largest);
    free(expected);
    return largest == 0.0;
}

static void print_result(const app_image *image, const task *t, const float *result,
                         float variation_before) {
    float after = region_variation(result, t->width, t->region_width, t->region_height);
    printf("image      %s: %s x %s pixels\n", image->title, app_count(image->width),
           app_count(image->height));
    printf("region     the first %s x %s pixels vary by %.3f%% before, %.3f%% after %s "
           "iterations\n\n",
           app_count(t->region_width), app_count(t->region_height),
           100.0 * sqrt((double)variation_before), 100.0 * sqrt((double)after),
           app_count(t->iterations));
    app_picture(stdout, result, image->width, image->height);
    putchar('\n');
}

/* ---- the loop -------------------------------------------------------------------------------- */

typedef struct arrays {
    app_array image;
    app_array north;
    app_array south;
    app_array west;
    app_array east;
    app_array c;
} arrays;

static void create_arrays(app_device *device, arrays *a, size_t count, app_role scratch) {
    app_array_create(device, &a->image, count, sizeof(float), "image", APP_ROLE_UPDATED);
    app_array_create(device, &a->north, count, sizeof(float), "north differences", scratch);
    app_array_create(device, &a->south, count, sizeof(float), "south differences", scratch);
    app_array_create(device, &a->west, count, sizeof(float), "west differences", scratch);
    app_array_create(device, &a->east, count, sizeof(float), "east differences", scratch);
    app_array_create(device, &a->c, count, sizeof(float), "coefficients", scratch);
}

static void free_arrays(app_device *device, arrays *a) {
    app_array_free(device, &a->image);
    app_array_free(device, &a->north);
    app_array_free(device, &a->south);
    app_array_free(device, &a->west);
    app_array_free(device, &a->east);
    app_array_free(device, &a->c);
}

/* Returns the region's variation before the first iteration. */
static float run(app_device *device, arrays *a, const task *t) {
    size_t region_bytes = t->region_height * t->width * sizeof(float); /* whole rows */
    float *buffer = (float *)app_allocate(region_bytes, 1, "the region");
    dim3 threads(TILE, TILE);
    dim3 blocks((t->width + TILE - 1) / TILE, (t->height + TILE - 1) / TILE);
    float before = 0.0f;
    for (uint64_t i = 0; i < t->iterations; i++) {
        const float *region =
            (const float *)app_array_view(device, &a->image, 0, buffer, region_bytes);
        float even = region_variation(region, t->width, t->region_width, t->region_height);
        before = i == 0 ? even : before;
        app_kernels_begin(device);
        find_coefficients<<<blocks, threads>>>((const float *)a->image.device,
                                               (float *)a->north.device, (float *)a->south.device,
                                               (float *)a->west.device, (float *)a->east.device,
                                               (float *)a->c.device, t->width, t->height, even);
        diffuse<<<blocks, threads>>>((float *)a->image.device, (const float *)a->north.device,
                                     (const float *)a->south.device, (const float *)a->west.device,
                                     (const float *)a->east.device, (const float *)a->c.device,
                                     t->width, t->height, t->rate);
        app_kernels_end(device, "find_coefficients and diffuse", 2);
    }
    free(buffer);
    return before;
}

int main(int argc, char **argv) {
    const app_program program = {"srad", "speckle-reducing anisotropic diffusion of an image",
                                 "pixels of the generated image, or bytes such as 1GiB",
                                 "a grey image, PGM (also .zst)",
                                 "srad --size 1M --iterations 50 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t iterations = 10;
    uint64_t region_side = 128;
    double rate = 0.5;
    bool has_local_scratch = false;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &iterations, "N", 1, 1e9, "diffusion steps"},
        {"--rate", APP_OPTION_REAL, &rate, "R", 0, 1, "diffusion rate per step"},
        {"--region", APP_OPTION_COUNT, &region_side, "N", 1, MAX_SIDE,
         "the first N x N pixels are known to be homogeneous"},
        {"--local-scratch", APP_OPTION_FLAG, &has_local_scratch, NULL, 0, 0,
         "keep data that only kernels access in device memory, also with --memory managed"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);

    app_image image;
    if (common.input != NULL) {
        app_image_read(&image, common.input);
    } else {
        uint64_t pixels =
            app_size_items(common.size, 24.0, 512 * 512, 1, (uint64_t)MAX_SIDE * MAX_SIDE);
        app_image_generate(&image, (size_t)sqrt((double)pixels), common.seed);
    }
    if (image.height > MAX_SIDE) {
        app_fail("%s has %s rows, more than the %s that a grid of blocks covers", image.title,
                 app_count(image.height), app_count(MAX_SIDE));
    }
    task t = {(uint32_t)image.width,
              (uint32_t)image.height,
              region_side < image.width ? region_side : image.width,
              region_side < image.height ? region_side : image.height,
              iterations,
              (float)rate};

    app_device device;
    arrays a;
    app_device_open(&device, common.memory);
    create_arrays(&device, &a, image.width * image.height,
                  has_local_scratch ? APP_ROLE_LOCAL : APP_ROLE_STATE);
    brighten((float *)a.image.host, &image);
    app_array_to_device(&device, &a.image);
    float before = run(&device, &a, &t);
    app_array_to_host(&device, &a.image);

    const float *result = (const float *)a.image.host;
    print_result(&image, &t, result, before);
    app_device_report(&device, (double)image.width * (double)image.height * (double)t.iterations,
                      "pixels");
    bool is_right = !common.check || check(&image, &t, result);
    free_arrays(&device, &a);
    app_device_close(&device);
    app_image_free(&image);
    return is_right ? 0 : 1;
}
