/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the words of a text on all devices of the program: each maps a part of the lines, in a thread of the host, and the
 * ordered results are merged.
 *     wpcc -O2 wordcount_devices.cu -o wordcount_devices && ./wordcount_devices wordcount_devices.cu
 * WARPAGE_DEVICE=cpu,cpu or sim:p100,sim:p100 gives it two. HEAP=BYTES is the memory of each for words: less than they
 * need is enough. */
#include <cuda_runtime.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>

static __device__ bool is_letter(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || c > 127;
}

static __device__ void count_line(const wp_map_record *line, wp_emitter *to) {
    const uint64_t one = 1;
    for (uint32_t at = 0; at < line->bytes;) {
        char word[32];
        uint32_t length = 0;
        for (; at < line->bytes && is_letter(line->data[at]); at++) {
            const char c = line->data[at];
            if (length < sizeof word) word[length++] = c < 0 ? c : c | 0x20;
        }
        if (length != 0) wp_emit(to, word, length, &one, sizeof one);
        at++;
    }
}

WP_MAPREDUCE(count_words, count_line)

#define DEVICES_MAX 16

typedef struct part {
    int device;
    const char *text;
    uint64_t bytes;
    wp_mapreduce *job;
    wp_mapreduce_cursor cursor;
    wp_table_pair next; /* if has_next: not merged yet */
    bool has_next;
    wp_status status;
    wp_error err;
} part;

static void *map_part(void *object) {
    part *p = (part *)object;
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    spec.program = &count_words;
    spec.partitioner = wp_partition_lines();
    spec.memory = p->text;
    spec.memory_bytes = p->bytes;
    spec.table.heap_bytes = getenv("HEAP") == NULL ? 0 : strtoull(getenv("HEAP"), NULL, 10);
    spec.is_ordered = true;
    cudaSetDevice(p->device); /* of this thread */
    p->status = wp_mapreduce_run(wp_cudart_device(), &spec, &p->job, &p->err);
    return NULL;
}

/* Cuts the text into parts of about the same size, behind the ends of lines. */
static int cut(const char *text, uint64_t bytes, int devices, part *parts) {
    int count = 0;
    for (uint64_t first = 0; first < bytes;) {
        uint64_t outer = bytes / devices * (count + 1);
        if (count + 1 == devices || outer > bytes) outer = bytes;
        if (outer < first) outer = first;
        while (outer < bytes && (outer == first || text[outer - 1] != '\n'))
            outer++;
        parts[count].device = count;
        parts[count].text = text + first;
        parts[count++].bytes = outer - first;
        first = outer;
    }
    return count;
}

static int by_key(const wp_table_pair *a, const wp_table_pair *b) {
    const uint64_t both = a->key_bytes < b->key_bytes ? a->key_bytes : b->key_bytes;
    const int order = memcmp(a->key, b->key, both);
    return order != 0 ? order : (a->key_bytes > b->key_bytes) - (a->key_bytes < b->key_bytes);
}

static void advance(part *p) {
    p->has_next = wp_mapreduce_next(p->job, &p->cursor, &p->next);
}

/* Writes each word once, with the sum of its counts. Returns how many there are. */
static uint64_t merge(part *parts, int count, FILE *out) {
    uint64_t words = 0;
    for (int i = 0; i < count; i++)
        advance(&parts[i]);
    for (;; words++) {
        const part *least = NULL;
        for (int i = 0; i < count; i++)
            if (parts[i].has_next && (least == NULL || by_key(&parts[i].next, &least->next) < 0)) least = &parts[i];
        if (least == NULL) return words;
        const wp_table_pair word = least->next;
        uint64_t sum = 0, one;
        for (int i = 0; i < count; i++) {
            if (!parts[i].has_next || by_key(&parts[i].next, &word) != 0) continue;
            memcpy(&one, parts[i].next.value, sizeof one);
            sum += one;
            advance(&parts[i]);
        }
        fprintf(out, "%.*s\t%" PRIu64 "\n", (int)word.key_bytes, (const char *)word.key, sum);
    }
}

static char *read_all(const char *path, uint64_t *bytes) {
    FILE *file = path == NULL ? NULL : fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) return NULL;
    *bytes = (uint64_t)ftell(file);
    rewind(file);
    char *text = (char *)malloc(*bytes + 1);
    if (text != NULL && fread(text, 1, *bytes, file) != *bytes) *bytes = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv) {
    static part parts[DEVICES_MAX];
    pthread_t threads[DEVICES_MAX];
    uint64_t bytes = 0;
    int devices = 0;
    char *text = read_all(argc > 1 ? argv[1] : NULL, &bytes);
    if (text == NULL || bytes == 0 || cudaGetDeviceCount(&devices) != cudaSuccess) {
        fprintf(stderr, "usage: wordcount_devices TEXT: a file that is not empty\n");
        return 2;
    }
    if (devices > DEVICES_MAX) devices = DEVICES_MAX;
    const int count = cut(text, bytes, devices, parts);
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, map_part, &parts[i]) != 0) return 1;
    int failures = 0;
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        if (parts[i].status == WP_STATUS_OK) continue;
        fprintf(stderr, "wordcount_devices: device %d: %s\n", i, parts[i].err.message);
        failures++;
    }
    FILE *out = failures == 0 ? fopen("counts.txt", "w") : NULL;
    if (out == NULL) return 1;
    const uint64_t words = merge(parts, count, out);
    if (fclose(out) != 0) return 1;
    for (int i = 0; i < count; i++) {
        wp_mapreduce_report report;
        wp_mapreduce_get_report(parts[i].job, &report);
        printf("device %d: %" PRIu64 " lines, %" PRIu64 " words, %" PRIu64 " passes\n", i, report.records, report.pairs,
               report.passes);
        wp_mapreduce_close(parts[i].job);
    }
    printf("%" PRIu64 " different words are in counts.txt\n", words);
    free(text);
    return 0;
}
