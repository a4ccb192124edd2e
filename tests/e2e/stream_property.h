// SPDX-License-Identifier: Apache-2.0
// What tests/e2e/stream_property.py puts random kernels into: each runs on plain device memory and
// streamed, with the same arguments, and the bytes that it leaves are compared; once or twice in a
// row, with some of the data kept on the device.
#include <warpage/stream.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define CK(call)                                                                                   \
    do {                                                                                           \
        const cudaError_t e_ = (call);                                                             \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s: %s: %s\n", current, #call, cudaGetErrorString(e_));               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef u32 wide4 __attribute__((ext_vector_type(4)));

enum { ARRAYS_MAX = 8, TABLE = 64, GUARD = 64 };
static char current[256];
static u64 seed;
static bool use_parts; // several parts of host memory for an array

static u64 draw(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

struct test_array {
    size_t element_bytes, per_index; // per_index elements for each index
    bool is_index;                   // elements are numbers below n
};

struct test_case {
    const char *name;
    const void *kernel;
    int array_count;
    test_array arrays[ARRAYS_MAX];
};

struct test_shape {
    long n;
    dim3 grid, block;
    streamingOptions options;
};

struct part {
    size_t first, bytes;
    u8 *host;
};

// Cuts at multiples of an element, 1 to 4 parts, each in memory of its own, between guards.
static int make_parts(const u8 *source, size_t elements, size_t element_bytes, part *parts) {
    const int count = use_parts && elements >= 4 ? 1 + (int)(draw() % 4) : 1;
    size_t first = 0;
    for (int i = 0; i < count; i++) {
        const size_t rest = elements - first - (size_t)(count - 1 - i);
        const size_t taken = i == count - 1 ? elements - first : 1 + draw() % rest;
        parts[i].first = first * element_bytes;
        parts[i].bytes = taken * element_bytes;
        parts[i].host = (u8 *)malloc(parts[i].bytes + 2 * GUARD);
        memset(parts[i].host, 0xa5, parts[i].bytes + 2 * GUARD);
        memcpy(parts[i].host + GUARD, source + parts[i].first, parts[i].bytes);
        first += taken;
    }
    return count;
}

// Into `to`; false: something was written beside the part.
static bool take_back(part *parts, int count, u8 *to) {
    bool is_clean = true;
    for (int i = 0; i < count; i++) {
        for (int g = 0; g < GUARD; g++)
            is_clean &=
                parts[i].host[g] == 0xa5 && parts[i].host[GUARD + parts[i].bytes + g] == 0xa5;
        memcpy(to + parts[i].first, parts[i].host + GUARD, parts[i].bytes);
        free(parts[i].host);
    }
    return is_clean;
}

// Below n, and not negative for any type of so many bytes.
static void draw_indices(u8 *to, size_t bytes, size_t element_bytes, u64 n) {
    const u64 most = element_bytes == 1 && n > 128 ? 128 : n;
    for (size_t b = 0; b < bytes; b += element_bytes) {
        const u64 value = (draw() >> 20) % most;
        memcpy(to + b, &value, element_bytes);
    }
}

// Nothing, a part or all of an array.
static void keep_some(char *address, size_t bytes) {
    const size_t first = draw() % 2 == 0 ? 0 : draw() % bytes / 16 * 16;
    CK(streamingKeep(address + first,
                     draw() % 2 == 0 ? bytes - first : draw() % (bytes - first + 1)));
}

static int streamed_count, refused_count;

// False: it cannot be streamed, which wpcc has said.
static bool launch(const test_case *t, const test_shape *s, void **arrays, u32 *table, u64 *sum) {
    void *args[ARRAYS_MAX + 3];
    long n = s->n;
    for (int a = 0; a < t->array_count; a++)
        args[a] = &arrays[a];
    args[t->array_count] = &n;
    args[t->array_count + 1] = &table;
    args[t->array_count + 2] = &sum;
    const cudaError_t error = cudaLaunchKernel(t->kernel, s->grid, s->block, args, 0, 0);
    if (error == cudaErrorNotSupported) {
        (void)cudaGetLastError();
        return false;
    }
    CK(error);
    CK(cudaDeviceSynchronize());
    return true;
}

static int run_case(const test_case *t, const test_shape *s) {
    u8 *initial[ARRAYS_MAX], *plain[ARRAYS_MAX], *streamed[ARRAYS_MAX];
    size_t bytes[ARRAYS_MAX];
    void *addresses[ARRAYS_MAX];
    u32 host_table[TABLE], *table;
    u64 sums[2] = {0, 0}, *sum;
    const int launches = 1 + (int)(draw() % 2);
    const bool keeps = draw() % 2 == 0;
    int failed = 0;
    snprintf(current, sizeof current,
             "%s n=%ld grid=%u,%u,%u block=%u,%u,%u slots=%u blocks=%u bytes=%llu", t->name, s->n,
             s->grid.x, s->grid.y, s->grid.z, s->block.x, s->block.y, s->block.z, s->options.slots,
             s->options.blocks, (u64)s->options.device_bytes);
    for (int i = 0; i < TABLE; i++)
        host_table[i] = (u32)draw();
    CK(cudaMalloc((void **)&table, sizeof host_table));
    CK(cudaMalloc((void **)&sum, sizeof *sum));
    CK(cudaMemcpy(table, host_table, sizeof host_table, cudaMemcpyHostToDevice));
    CK(cudaMemset(sum, 0, sizeof *sum));
    for (int a = 0; a < t->array_count; a++) {
        bytes[a] = t->arrays[a].element_bytes * t->arrays[a].per_index * (size_t)s->n;
        initial[a] = (u8 *)malloc(bytes[a]);
        plain[a] = (u8 *)malloc(bytes[a]);
        streamed[a] = (u8 *)malloc(bytes[a]);
        for (size_t b = 0; b < bytes[a]; b++)
            initial[a][b] = (u8)(draw() >> 20);
        if (t->arrays[a].is_index)
            draw_indices(initial[a], bytes[a], t->arrays[a].element_bytes, (u64)s->n);
        CK(cudaMalloc(&addresses[a], bytes[a]));
        CK(cudaMemcpy(addresses[a], initial[a], bytes[a], cudaMemcpyHostToDevice));
    }
    for (int l = 0; l < launches; l++)
        (void)launch(t, s, addresses, table, sum);
    for (int a = 0; a < t->array_count; a++) {
        CK(cudaMemcpy(plain[a], addresses[a], bytes[a], cudaMemcpyDeviceToHost));
        CK(cudaFree(addresses[a]));
    }
    CK(cudaMemcpy(&sums[0], sum, sizeof *sum, cudaMemcpyDeviceToHost));
    CK(cudaMemset(sum, 0, sizeof *sum));
    CK(streamingSetOptions(&s->options));
    part parts[ARRAYS_MAX][4];
    int counts[ARRAYS_MAX];
    for (int a = 0; a < t->array_count; a++) {
        counts[a] = make_parts(initial[a], t->arrays[a].per_index * (size_t)s->n,
                               t->arrays[a].element_bytes, parts[a]);
        CK(streamingMalloc(&addresses[a], bytes[a]));
        for (int i = 0; i < counts[a]; i++)
            CK(streamingMap((char *)addresses[a] + parts[a][i].first, parts[a][i].host + GUARD,
                            parts[a][i].bytes));
    }
    for (int a = 0; a < t->array_count && keeps; a++)
        keep_some((char *)addresses[a], bytes[a]);
    bool is_streamed = true;
    for (int l = 0; l < launches && is_streamed; l++)
        is_streamed = launch(t, s, addresses, table, sum);
    *(is_streamed ? &streamed_count : &refused_count) += 1;
    CK(cudaMemcpy(&sums[1], sum, sizeof *sum, cudaMemcpyDeviceToHost));
    for (int a = 0; a < t->array_count; a++) {
        CK(streamingFree(addresses[a]));
        if (!take_back(parts[a], counts[a], streamed[a])) {
            printf("%s: array %d: memory beside the mapping was written\n", current, a);
            failed = 1;
        }
        for (size_t b = 0; b < bytes[a] && is_streamed; b++) {
            if (streamed[a][b] == plain[a][b]) continue;
            printf("%s: array %d, byte %zu (element %zu + %zu): streamed %02x, plain %02x, before "
                   "%02x\n",
                   current, a, b, b / t->arrays[a].element_bytes, b % t->arrays[a].element_bytes,
                   streamed[a][b], plain[a][b], initial[a][b]);
            failed = 1;
            break;
        }
        free(initial[a]);
        free(plain[a]);
        free(streamed[a]);
    }
    if (is_streamed && sums[0] != sums[1]) {
        printf("%s: sum: streamed %llx, plain %llx\n", current, sums[1], sums[0]);
        failed = 1;
    }
    CK(cudaFree(table));
    CK(cudaFree(sum));
    return failed;
}

static int run_all(const test_case *cases, const test_shape *shapes, int count) {
    int failed = 0;
    for (int i = 0; i < count; i++) {
        use_parts = i % 2 == 1;
        failed += run_case(&cases[i], &shapes[i]);
    }
    if (failed == 0) printf("%d streamed, %d refused\nPASS\n", streamed_count, refused_count);
    return failed != 0;
}
