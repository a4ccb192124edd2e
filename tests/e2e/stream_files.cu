/* SPDX-License-Identifier: Apache-2.0 */
/* Files larger than the host memory for them, as source and target of streamed kernels: with address threads and with
 * windows or through an index. A target appears at streamingFree; a file that is too small for its mapping, or becomes so, ends in an
 * error. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <warpage/stream.h>

#include "check.h"

enum { COUNT = 40000, BUDGET = 256 << 10 }; /* 320,000 bytes in 64 blocks of 4 KiB */

typedef struct record {
    int key, value;
} record;

static char folder[] = "/tmp/stream_files.XXXXXX", from[64], to[64];

/* Each thread has its part, so threads read far from each other. */
__global__ void add_key(record *records, long count) {
    const long threads = (long)gridDim.x * blockDim.x, thread = (long)blockIdx.x * blockDim.x + threadIdx.x;
    const long each = (count + threads - 1) / threads, end = min((thread + 1) * each, count);
    for (long i = thread * each; i < end; i++)
        records[i].value += records[i].key;
}

/* Reads what keys say: windows. */
__global__ void follow(const record *records, long count, int *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = records[records[i].key % COUNT].value;
}

/* The host follows the key. */
__global__ void look(const record *records, long count, int *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = records[records[i].key].value;
}

__global__ void negate(const record *in, long count, int *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = -in[i].value;
}

static void *read_file(const char *name, size_t bytes) {
    struct stat info;
    FILE *file = fopen(name, "rb");
    void *content = malloc(bytes);
    CHECK(file != NULL && stat(name, &info) == 0 && (size_t)info.st_size == bytes);
    CHECK(fread(content, 1, bytes, file) == bytes);
    fclose(file);
    return content;
}

static void write_records(const char *name) {
    FILE *file = fopen(name, "wb");
    CHECK(file != NULL);
    for (int i = 0; i < COUNT; i++) {
        const record r = {(int)(i * 2654435761u % COUNT), i};
        CHECK(fwrite(&r, sizeof r, 1, file) == 1);
    }
    CHECK(fclose(file) == 0);
}

static int key_of(int i) {
    return (int)(i * 2654435761u % COUNT);
}

/* The whole file comes through the pool; only a part of it is mapped, in place the second time. */
static void source_and_target(void) {
    record *mapped;
    streamingReport report;
    CUDA_OK(streamingMalloc(&mapped, COUNT * sizeof *mapped));
    CUDA_OK(streamingMapFile(mapped, from, to, 0, COUNT * sizeof *mapped));
    add_key<<<5, 32>>>(mapped, COUNT);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(streamingGetReport(&report));
    CHECK(report.host_bytes == BUDGET);
    CHECK(report.file_read_bytes >= COUNT * sizeof *mapped);
    CHECK(report.file_read_bytes < 2 * COUNT * sizeof *mapped); /* no block comes again and again */
    CHECK(access(to, F_OK) != 0);
    CUDA_OK(streamingFree(mapped));
    record *content = (record *)read_file(to, COUNT * sizeof *content);
    for (int i = 0; i < COUNT; i++)
        CHECK(content[i].key == key_of(i) && content[i].value == i + key_of(i));
    free(content);
    enum { FIRST = 1000, PART = 17000 };
    CUDA_OK(streamingMalloc(&mapped, PART * sizeof *mapped));
    CUDA_OK(streamingMapFile(mapped, to, to, FIRST * sizeof *mapped, PART * sizeof *mapped));
    add_key<<<3, 64>>>(mapped, PART);
    add_key<<<2, 32>>>(mapped, PART);
    CUDA_OK(streamingFree(mapped));
    content = (record *)read_file(to, COUNT * sizeof *content);
    for (int i = 0; i < COUNT; i++)
        CHECK(content[i].value == i + key_of(i) * (i >= FIRST && i < FIRST + PART ? 3 : 1));
    free(content);
    CHECK(unlink(to) == 0);
}

static void through_keys(bool has_windows) {
    enum { FOLLOWED = COUNT / 8 };
    const record *mapped;
    int *out, *result;
    CUDA_OK(streamingMalloc((void **)&mapped, COUNT * sizeof *mapped));
    CUDA_OK(streamingMapFile((void *)mapped, from, NULL, 0, COUNT * sizeof *mapped));
    CUDA_OK(streamingMalloc(&out, COUNT * sizeof *out));
    CUDA_OK(streamingMapFile(out, NULL, to, 0, COUNT * sizeof *out));
    streamingReport report;
    /* Each read is in another block of the file. */
    if (has_windows)
        follow<<<2, 64>>>(mapped, FOLLOWED, out);
    else
        look<<<2, 64>>>(mapped, FOLLOWED, out);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(streamingGetReport(&report));
    CHECK_EQ(report.has_windows, has_windows ? 1 : 0);
    CUDA_OK(streamingFree(out));
    CUDA_OK(streamingFree((void *)mapped));
    result = (int *)read_file(to, COUNT * sizeof *result);
    for (int i = 0; i < COUNT; i++)
        CHECK(result[i] == (i < FOLLOWED ? key_of(i) : 0));
    free(result);
    CHECK(unlink(to) == 0);
}

/* Half of an array from memory, half from a file. */
static void file_beside_memory(void) {
    enum { HALF = 10000 };
    record *mapped, *host = (record *)malloc(HALF * sizeof *host);
    int *out, *result = (int *)malloc(2 * HALF * sizeof *result);
    for (int i = 0; i < HALF; i++)
        host[i].value = -i;
    CUDA_OK(streamingMalloc(&mapped, 2 * HALF * sizeof *mapped));
    CUDA_OK(streamingMap(mapped, host, HALF * sizeof *mapped));
    CUDA_OK(streamingMapFile(mapped + HALF, from, NULL, 0, HALF * sizeof *mapped));
    CUDA_OK(cudaMalloc(&out, 2 * HALF * sizeof *out));
    negate<<<2, 64>>>(mapped, 2 * HALF, out);
    CUDA_OK(cudaMemcpy(result, out, 2 * HALF * sizeof *out, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 2 * HALF; i++)
        CHECK(result[i] == (i < HALF ? i : HALF - i));
    CUDA_OK(cudaFree(out));
    CUDA_OK(streamingFree(mapped));
    free(host);
    free(result);
}

static void mistakes(void) {
    record *mapped;
    CUDA_OK(streamingMalloc(&mapped, (COUNT + 1) * sizeof *mapped));
    CHECK(streamingMapFile(mapped, from, to, 0, (COUNT + 1) * sizeof *mapped) == cudaErrorInvalidValue);
    CHECK(streamingMapFile(mapped, "/nowhere", NULL, 0, 16) == cudaErrorInvalidValue);
    CHECK(streamingMapFile(mapped, from, "/nowhere/file", 0, 16) == cudaErrorInvalidValue);
    CHECK(streamingMapFile(mapped, from, NULL, 0, 0) == cudaErrorInvalidValue);
    CUDA_OK(streamingFree(mapped));
    CHECK(access(to, F_OK) != 0);
}

/* The kernel ends in an error, and no target appears. */
static void a_file_that_shrinks(void) {
    record *mapped;
    CUDA_OK(streamingMalloc(&mapped, COUNT * sizeof *mapped));
    CUDA_OK(streamingMapFile(mapped, from, to, 0, COUNT * sizeof *mapped));
    CHECK(truncate(from, 200000) == 0);
    add_key<<<3, 64>>>(mapped, COUNT);
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
    CHECK(streamingFree(mapped) != cudaSuccess);
    CHECK(access(to, F_OK) != 0);
    CUDA_OK(cudaDeviceReset());
    CHECK_ERROR(streamingFree(mapped), cudaErrorInvalidValue); /* what was written is not all */
    CHECK(access(to, F_OK) != 0);
}

int main() {
    streamingOptions options = {};
    CHECK(mkdtemp(folder) != NULL);
    snprintf(from, sizeof from, "%s/from", folder);
    snprintf(to, sizeof to, "%s/to", folder);
    write_records(from);
    options.host_bytes = BUDGET;
    CUDA_OK(streamingSetOptions(&options));
    source_and_target();
    through_keys(true);
    through_keys(false);
    file_beside_memory();
    mistakes();
    a_file_that_shrinks();
    CHECK(unlink(from) == 0 && rmdir(folder) == 0); /* nothing else is there */
    return check_done();
}
