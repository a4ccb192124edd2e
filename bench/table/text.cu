/* SPDX-License-Identifier: Apache-2.0 */
/* Counts equal lines of a file with a combining table that may exceed device and host memory.
 *
 *     text FILE BUCKETS HEAP_BYTES HOST_BYTES [padded]
 *
 * Prints: nanoseconds from the first byte read to the finished table, groups, lines, passes, bytes in
 * the file for what exceeds HOST_BYTES. The lines lie in host memory; chunks of them are copied to the
 * device, one while the kernel works on the one before. A thread of a kernel has a line; of a padded
 * one, what is before its spaces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <warpage/cudart.h>
#include <warpage/table.h>

#define CHUNK_LINES ((uint64_t)1 << 17)
#define CHUNK_BYTES ((uint64_t)8 << 20)

typedef struct lines {
    char *text;
    uint64_t *starts; /* [count + 1] */
    uint64_t count;
    bool is_padded;
    char *device_text[2];
    uint64_t *device_starts[2];
    cudaStream_t streams[2];
    unsigned turn;
    wp_table *table;
} lines;

static wp_error err;

static void need(bool is_good, const char *what) {
    if (is_good) return;
    (void)fprintf(stderr, "text: %s failed. %s\n", what, err.message);
    exit(1);
}

static uint64_t now_ns(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void read_lines(const char *path, lines *l) {
    FILE *file = fopen(path, "rb");
    need(file != NULL && fseek(file, 0, SEEK_END) == 0, "opening the file");
    const uint64_t bytes = (uint64_t)ftell(file);
    rewind(file);
    l->text = (char *)malloc(bytes + 1);
    need(l->text != NULL && fread(l->text, 1, bytes, file) == bytes, "reading the file");
    (void)fclose(file);
    const uint64_t room = bytes / 8 + 2;
    l->starts = (uint64_t *)malloc(room * sizeof *l->starts);
    need(l->starts != NULL, "memory");
    l->starts[0] = 0;
    for (const char *at = l->text, *end = l->text + bytes; at < end;) {
        const char *stop = (const char *)memchr(at, '\n', (size_t)(end - at));
        need(stop != NULL && l->count + 2 < room, "finding lines of eight bytes and more");
        at = stop + 1;
        l->starts[++l->count] = (uint64_t)(at - l->text);
    }
}

__global__ void count(wp_table_view table, wp_units units, const char *text, const uint64_t *starts,
                      uint64_t first, uint64_t outer, bool is_padded) {
    const uint64_t line = first + blockIdx.x * (uint64_t)blockDim.x + threadIdx.x;
    if (line >= outer || wp_units_is_done(&units, line)) return;
    const uint64_t at = starts[line - first] - starts[0];
    uint32_t bytes = (uint32_t)(starts[line - first + 1] - starts[line - first] - 1);
    const uint64_t one = 1;
    if (is_padded) {
        uint32_t length = 0;
        while (length < bytes && text[at + length] != ' ')
            length++;
        bytes = length;
    }
    wp_attempt attempt = wp_attempt_begin(&units, line);
    wp_table_emit(&table, &attempt, text + at, bytes, &one, sizeof one);
    wp_attempt_end(&attempt);
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *) {
    lines *l = (lines *)object;
    const uint64_t bytes = l->starts[outer] - l->starts[first];
    const unsigned turn = l->turn++ % 2;
    need(bytes <= CHUNK_BYTES, "fitting a chunk's lines");
    need(cudaMemcpyAsync(l->device_text[turn], l->text + l->starts[first], bytes,
                         cudaMemcpyHostToDevice, l->streams[turn]) == cudaSuccess &&
             cudaMemcpyAsync(l->device_starts[turn], l->starts + first,
                             (outer - first + 1) * sizeof *l->starts, cudaMemcpyHostToDevice,
                             l->streams[turn]) == cudaSuccess,
         "a copy");
    count<<<(unsigned)((outer - first + 255) / 256), 256, 0, l->streams[turn]>>>(
        wp_table_get_view(l->table), *units, l->device_text[turn], l->device_starts[turn], first,
        outer, l->is_padded);
    return cudaGetLastError() == cudaSuccess ? WP_STATUS_OK : WP_STATUS_LAUNCH;
}

int main(int argc, char **argv) {
    if (argc != 5 && (argc != 6 || strcmp(argv[5], "padded") != 0)) {
        (void)fprintf(stderr, "usage: text FILE BUCKETS HEAP_BYTES HOST_BYTES [padded]\n");
        return 2;
    }
    lines l;
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table_report report;
    wp_postpone *postpone;
    memset(&l, 0, sizeof l);
    l.is_padded = argc == 6;
    for (int i = 0; i < 2; i++)
        need(cudaMalloc((void **)&l.device_text[i], CHUNK_BYTES) == cudaSuccess &&
                 cudaMalloc((void **)&l.device_starts[i], (CHUNK_LINES + 1) * sizeof *l.starts) ==
                     cudaSuccess &&
                 cudaStreamCreate(&l.streams[i]) == cudaSuccess,
             "device memory");
    const uint64_t start_ns = now_ns();
    read_lines(argv[1], &l);
    spec.organisation = WP_TABLE_COMBINING;
    spec.combiner = WP_TABLE_ADD;
    spec.bucket_count = strtoull(argv[2], NULL, 10);
    spec.heap_bytes = strtoull(argv[3], NULL, 10);
    spec.host_bytes = strtoull(argv[4], NULL, 10);
    const wp_postpone_spec units = {l.count, CHUNK_LINES, 1, 0};
    const wp_requester requester = {&l, process, NULL};
    need(wp_table_create(wp_cudart_device(), &spec, &l.table, &err) == WP_STATUS_OK, "the table");
    need(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err) == WP_STATUS_OK, "units");
    need(wp_table_run(l.table, postpone, &requester, NULL, &err) == WP_STATUS_OK, "the run");
    const uint64_t time_ns = now_ns() - start_ns;
    wp_table_cursor cursor;
    wp_table_pair pair;
    uint64_t sum = 0;
    memset(&cursor, 0, sizeof cursor);
    while (wp_table_next(l.table, &cursor, &pair))
        sum += *(const uint64_t *)pair.value;
    wp_table_get_report(l.table, &report);
    printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", time_ns,
           wp_table_key_count(l.table), sum, report.passes, report.file_bytes);
    wp_table_close(l.table);
    wp_postpone_destroy(postpone);
    return 0;
}
