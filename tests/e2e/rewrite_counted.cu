/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --rewrite=counted
/* A rewrite reaches every device: the sibling of each kernel computes what the kernel computes, and
 * counts the accesses of its threads. */
#include <warpage/device.h>

#include "check.h"

__device__ int bias = 7;

__global__ void sum_rows(const int *in, int *out, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (row >= rows)
        return;
    for (int c = 0; c < columns; c++)
        sum += in[row * columns + c];
    out[row] = sum;
}

__global__ void __launch_bounds__(64) histogram(const int *in, int *out, int count, int bins)
{
    extern __shared__ int part[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        part[b] = 0;
    __syncthreads();
    if (i < count)
        atomicAdd(&part[in[i] % bins], bias);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x)
        atomicAdd(&out[b], part[b]);
}

static wp_device *device;
static wp_module *module;

static void must(wp_status status, const wp_error *error)
{
    if (status == WP_STATUS_OK)
        return;
    printf("%s\n", error->message);
    exit(1);
}

static void *allocate(size_t size_bytes)
{
    wp_error error = WP_ERROR_INIT;
    void *memory = NULL;
    must(wp_memory_alloc(device, WP_MEMORY_DEVICE, size_bytes, 0, &memory, &error), &error);
    wp_queue *queue = wp_device_default_queue(device);
    must(wp_queue_fill(queue, memory, 0, 1, size_bytes, &error), &error);
    must(wp_queue_wait(queue, &error), &error);
    return memory;
}

static void copy(void *to, const void *from, size_t size_bytes)
{
    wp_error error = WP_ERROR_INIT;
    wp_queue *queue = wp_device_default_queue(device);
    must(wp_queue_copy(queue, to, from, size_bytes, &error), &error);
    must(wp_queue_wait(queue, &error), &error);
}

static void launch(const void *function, const char *suffix, uint32_t blocks, uint32_t threads,
                   uint32_t shared_bytes, void **args)
{
    wp_error error = WP_ERROR_INIT;
    const void *image;
    const char *name;
    char sibling[256];
    must(wp_image_find(function, &image, &name, &error), &error);
    if (module == NULL)
        must(wp_module_load(device, image, &module, &error), &error);
    snprintf(sibling, sizeof sibling, "%s%s", name, suffix);
    wp_launch l = {};
    must(wp_module_find_kernel(module, sibling, &l.kernel, &error), &error);
    l.grid = {blocks, 1, 1};
    l.block = {threads, 1, 1};
    l.shared_dynamic_bytes = shared_bytes;
    l.args = args;
    wp_queue *queue = wp_device_default_queue(device);
    must(wp_queue_launch(queue, &l, &error), &error);
    must(wp_queue_wait(queue, &error), &error);
}

/* The kernel and its sibling give the same `out`; the sibling's counts are as given. */
static void compare(const void *function, uint32_t blocks, uint32_t threads, uint32_t shared_bytes,
                    const int *in, int a, int b, int out_count, uint64_t loads, uint64_t stores)
{
    int *outs[2] = {};
    unsigned long long *counts = (unsigned long long *)allocate(3 * sizeof *counts), got[3];
    size_t size_bytes = out_count * sizeof(int);
    for (int k = 0; k < 2; k++) {
        int *out = (int *)allocate(size_bytes);
        void *args[] = {&in, &out, &a, &b, &counts};
        launch(function, k == 0 ? "" : "$counted", blocks, threads, shared_bytes, args);
        outs[k] = (int *)malloc(size_bytes);
        copy(outs[k], out, size_bytes);
    }
    copy(got, counts, sizeof got);
    CHECK(memcmp(outs[0], outs[1], size_bytes) == 0);
    CHECK(outs[0][out_count - 1] != 0);
    CHECK_EQ(got[0], loads);
    CHECK_EQ(got[1], stores);
    CHECK_EQ(got[2], (uint64_t)blocks * threads);
    free(outs[0]);
    free(outs[1]);
}

int main(void)
{
    enum { ROWS = 1000, COLUMNS = 37, BINS = 100 };
    wp_error error = WP_ERROR_INIT;
    must(wp_device_open(getenv("WARPAGE_DEVICE"), &device, &error), &error);
    static int numbers[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = i * 2654435761u >> 8;
    int *in = (int *)allocate(sizeof numbers);
    copy(in, numbers, sizeof numbers);
    compare((const void *)sum_rows, 8, 128, 0, in, ROWS, COLUMNS, ROWS, ROWS * COLUMNS, ROWS);
    /* Loads: an index, the bias and an atomic operation an item; a bin and an atomic operation a
     * bin and block. */
    compare((const void *)histogram, 16, 64, BINS * sizeof(int), in, ROWS, BINS, BINS,
            3 * ROWS + 16 * 2 * BINS, ROWS + 16 * 2 * BINS);
    wp_module_unload(module);
    wp_device_close(device);
    return check_done();
}
