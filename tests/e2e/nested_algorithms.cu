// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Algorithms by kernels that launch kernels: quicksort, the Mandelbrot set by Mariani and Silver's
 * subdivision, breadth-first search that descends to depth 24. All against serial ones. */
#include "check.h"

/* ---- quicksort: one thread a part, its halves in streams of their own ---- */

__device__ void selection_sort(unsigned *data, int left, int right)
{
    for (int i = left; i <= right; i++) {
        int least = i;
        for (int j = i + 1; j <= right; j++)
            if (data[j] < data[least]) least = j;
        unsigned x = data[i];
        data[i] = data[least];
        data[least] = x;
    }
}

__global__ void quicksort(unsigned *data, int left, int right, int depth)
{
    if (depth >= 16 || right - left <= 32) {
        selection_sort(data, left, right);
        return;
    }
    unsigned *l = data + left, *r = data + right, pivot = data[(left + right) / 2];
    while (l <= r) {
        while (*l < pivot)
            l++;
        while (*r > pivot)
            r--;
        if (l > r) break;
        unsigned x = *l;
        *l++ = *r;
        *r-- = x;
    }
    int new_right = (int)(r - data), new_left = (int)(l - data);
    cudaStream_t stream;
    if (left < new_right) {
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        quicksort<<<1, 1, 0, stream>>>(data, left, new_right, depth + 1);
        cudaStreamDestroy(stream);
    }
    if (new_left < right) quicksort<<<1, 1, 0, cudaStreamFireAndForget>>>(data, new_left, right, depth + 1);
}

static int compare(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

static void test_quicksort(void)
{
    const int n = 3000;
    unsigned *data = check_managed<unsigned>(n), *expected = (unsigned *)malloc(n * sizeof *data);
    uint32_t state = 12345;
    for (int i = 0; i < n; i++)
        data[i] = expected[i] = check_random(&state) % 2000;
    qsort(expected, n, sizeof *expected, compare);
    quicksort<<<1, 1>>>(data, 0, n - 1, 0);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(data[i], expected[i]);
    free(expected);
    CUDA_OK(cudaFree(data));
}

/* ---- Mandelbrot set: a square whose border has one value is filled with it ---- */

#define WIDTH 256
#define ITERATIONS 128
#define FIRST_SIZE 64
#define LEAST_SIZE 16

__host__ __device__ int iterations(int x, int y)
{
    int cr = (x * 3 - 2 * WIDTH) * 4096 / WIDTH, ci = (y * 3 - WIDTH * 3 / 2) * 4096 / WIDTH;
    int zr = 0, zi = 0, n = 0; /* fixed point: the same on every device */
    while (n < ITERATIONS && zr * (long long)zr + zi * (long long)zi < 4LL * 4096 * 4096) {
        int r = (int)((zr * (long long)zr - zi * (long long)zi) / 4096) + cr;
        zi = (int)(2LL * zr * zi / 4096) + ci;
        zr = r;
        n++;
    }
    return n;
}

__global__ void fill_square(int *out, int x0, int y0, int size, int value)
{
    for (int i = threadIdx.x; i < size * size; i += blockDim.x)
        out[(y0 + i / size) * WIDTH + x0 + i % size] = value;
}

__global__ void each_pixel(int *out, int x0, int y0, int size)
{
    for (int i = threadIdx.x; i < size * size; i += blockDim.x)
        out[(y0 + i / size) * WIDTH + x0 + i % size] = iterations(x0 + i % size, y0 + i / size);
}

__global__ void subdivide(int *out, int x0, int y0, int size, unsigned *fills)
{
    __shared__ int low, high;
    x0 += blockIdx.x * size;
    y0 += blockIdx.y * size;
    if (threadIdx.x == 0) {
        low = ITERATIONS + 1;
        high = -1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const int values[] = {iterations(x0 + i, y0), iterations(x0 + i, y0 + size - 1),
                              iterations(x0, y0 + i), iterations(x0 + size - 1, y0 + i)};
        for (int v = 0; v < 4; v++) {
            atomicMin(&low, values[v]);
            atomicMax(&high, values[v]);
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (low == high) {
        atomicAdd(fills, 1);
        fill_square<<<1, 64>>>(out, x0, y0, size, low);
    } else if (size > LEAST_SIZE) {
        subdivide<<<dim3(2, 2), 32>>>(out, x0, y0, size / 2, fills);
    } else {
        each_pixel<<<1, 64>>>(out, x0, y0, size);
    }
}

/* The same, serially. */
static int serial(int *out, int x0, int y0, int size)
{
    int low = ITERATIONS + 1, high = -1, fills = 0;
    for (int i = 0; i < size; i++) {
        const int values[] = {iterations(x0 + i, y0), iterations(x0 + i, y0 + size - 1),
                              iterations(x0, y0 + i), iterations(x0 + size - 1, y0 + i)};
        for (int v = 0; v < 4; v++) {
            low = values[v] < low ? values[v] : low;
            high = values[v] > high ? values[v] : high;
        }
    }
    if (low != high && size > LEAST_SIZE) {
        for (int q = 0; q < 4; q++)
            fills += serial(out, x0 + q % 2 * (size / 2), y0 + q / 2 * (size / 2), size / 2);
        return fills;
    }
    for (int i = 0; i < size * size; i++) {
        int x = x0 + i % size, y = y0 + i / size;
        out[y * WIDTH + x] = low == high ? low : iterations(x, y);
    }
    return low == high;
}

static void test_mandelbrot(void)
{
    int *out = check_managed<int>(WIDTH * WIDTH);
    unsigned *fills = check_managed<unsigned>(1);
    subdivide<<<dim3(WIDTH / FIRST_SIZE, WIDTH / FIRST_SIZE), 32>>>(out, 0, 0, FIRST_SIZE, fills);
    KERNEL_OK();
    int *expected = (int *)malloc(WIDTH * WIDTH * sizeof(int));
    unsigned expected_fills = 0;
    for (int s = 0; s < WIDTH / FIRST_SIZE * (WIDTH / FIRST_SIZE); s++)
        expected_fills += serial(expected, s % (WIDTH / FIRST_SIZE) * FIRST_SIZE, s / (WIDTH / FIRST_SIZE) * FIRST_SIZE,
                                 FIRST_SIZE);
    CHECK(expected_fills > 0);
    CHECK_EQ(fills[0], expected_fills);
    for (int i = 0; i < WIDTH * WIDTH; i++)
        CHECK_EQ(out[i], expected[i]);
    free(expected);
    CUDA_OK(cudaFree(out));
    CUDA_OK(cudaFree(fills));
}

/* ---- breadth-first search: each level launches the next ---- */

#define LEVELS 24

__global__ void level(const int *first, const int *to, int *distance, int *frontier, int count, int *next,
                      int *next_count, int depth);

__global__ void descend(const int *first, const int *to, int *distance, int *frontier, int *next, int *counts,
                        int depth)
{
    if (counts[depth] == 0) return;
    level<<<(counts[depth] + 63) / 64, 64>>>(first, to, distance, frontier, counts[depth], next,
                                             &counts[depth + 1], depth);
    if (depth < LEVELS) descend<<<1, 1, 0, cudaStreamTailLaunch>>>(first, to, distance, next, frontier, counts, depth + 1);
}

__global__ void level(const int *first, const int *to, int *distance, int *frontier, int count, int *next,
                      int *next_count, int depth)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    for (int e = first[frontier[i]]; e < first[frontier[i] + 1]; e++)
        if (atomicCAS(&distance[to[e]], -1, depth + 1) == -1) next[atomicAdd(next_count, 1)] = to[e];
}

static void test_search(void)
{
    /* A path of 20 vertices hangs on a random graph: 24 levels and more are needed. */
    const int n = 600, path = 20, degree = 3;
    int *first = check_managed<int>(n + 1), *to = check_managed<int>(n * degree), *distance = check_managed<int>(n);
    int *frontier = check_managed<int>(n), *next = check_managed<int>(n), *counts = check_managed<int>(LEVELS + 2);
    uint32_t state = 777;
    int edges = 0;
    for (int v = 0; v < n; v++) {
        first[v] = edges;
        if (v < path) {
            to[edges++] = v + 1;
        } else {
            for (int e = 0; e < degree; e++)
                to[edges++] = path + (int)(check_random(&state) % (uint32_t)(n - path));
        }
    }
    first[n] = edges;
    int *expected = (int *)malloc(n * sizeof(int)), *queue = (int *)malloc(n * sizeof(int)), head = 0, tail = 0;
    for (int v = 0; v < n; v++)
        expected[v] = distance[v] = -1;
    expected[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        int v = queue[head++];
        if (expected[v] >= LEVELS) continue;
        for (int e = first[v]; e < first[v + 1]; e++)
            if (expected[to[e]] < 0) {
                expected[to[e]] = expected[v] + 1;
                queue[tail++] = to[e];
            }
    }
    distance[0] = 0;
    frontier[0] = 0;
    counts[0] = 1;
    descend<<<1, 1>>>(first, to, distance, frontier, next, counts, 0);
    KERNEL_OK();
    int deepest = 0;
    for (int v = 0; v < n; v++) {
        CHECK_EQ(distance[v], expected[v]);
        if (distance[v] > deepest) deepest = distance[v];
    }
    CHECK_EQ(deepest, LEVELS);
    free(expected);
    free(queue);
}

int main(void)
{
    test_quicksort();
    test_mandelbrot();
    test_search();
    return check_done();
}
