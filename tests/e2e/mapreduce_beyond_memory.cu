/* SPDX-License-Identifier: Apache-2.0 */
/* Input and result larger than host memory: a file of which no copy is made, and a table whose keys
 * exceed host_bytes, so that most of it is in a file. On the CPU the input has 64 MiB, and the memory
 * that the process has of its own, not mapped from a file, grows by less than a third of that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>
#include "check.h"

#define LINE_BYTES 4096u
#define LINE_WORDS 16u
#define ROOM_BYTES ((uint64_t)20 << 20)

static char path[] = "beyond_memory.XXXXXX";

static void remove_input(void) { unlink(path); }

/* Word i of all has the number i * 7 % keys. */
static void write_input(uint64_t lines, uint64_t keys)
{
    static char line[LINE_BYTES + 1];
    FILE *file = fdopen(mkstemp(path), "w");
    atexit(remove_input);
    for (uint64_t n = 0; file != NULL && n < lines; n++) {
        memset(line, '.', LINE_BYTES);
        for (uint64_t w = 0; w < LINE_WORDS; w++) {
            char word[16];
            const int length = snprintf(word, sizeof word, "w%u", (unsigned)((n * LINE_WORDS + w) * 7 % keys));
            memcpy(line + w * (LINE_BYTES / LINE_WORDS) + n % 200, word, length);
        }
        line[LINE_BYTES - 1] = '\n';
        if (fwrite(line, 1, LINE_BYTES, file) != LINE_BYTES) exit(1);
    }
    if (file == NULL || fclose(file) != 0) exit(1);
}

__device__ static void count_words(const wp_map_record *line, wp_emitter *to)
{
    const uint64_t one = 1;
    for (uint32_t at = 0; at < line->bytes; at++) {
        const uint32_t first = at;
        while (at < line->bytes && line->data[at] != '.') at++;
        if (at != first) wp_emit(to, line->data + first, at - first, &one, sizeof one);
    }
}
WP_MAPREDUCE(words, count_words)

/* Memory in use that is in no file. */
static uint64_t own_bytes(void)
{
    char text[256];
    uint64_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(text, sizeof text, file) != NULL) sscanf(text, "RssAnon: %lu", &kib);
    if (file != NULL) fclose(file);
    return kib << 10;
}

static uint64_t most_bytes;

static void look(void *, const wp_mapreduce_progress *)
{
    const uint64_t bytes = own_bytes();
    if (bytes > most_bytes) most_bytes = bytes;
}

static wp_mapreduce *run(wp_mapreduce_spec *spec)
{
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job = NULL;
    if (wp_mapreduce_run(wp_cudart_device(), spec, &job, &err) != WP_STATUS_OK) {
        printf("%s\n", err.message);
        exit(1);
    }
    return job;
}

int main(void)
{
    const char *device = getenv("WARPAGE_DEVICE");
    const bool is_cpu = device == NULL || strcmp(device, "cpu") == 0;
    const uint64_t lines = is_cpu ? (64u << 20) / LINE_BYTES : 256, keys = is_cpu ? 40000 : 1500;
    const uint64_t table_bytes = keys * 40;
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    spec.program = &words;
    spec.partitioner = wp_partition_lines();
    spec.memory = "once.more";
    spec.memory_bytes = 9;
    spec.chunk_bytes = 256 << 10;
    spec.table.heap_bytes = table_bytes / 4;
    spec.table.page_bytes = 1024;
    wp_mapreduce_close(run(&spec)); /* kernels are loaded, threads are there */

    const char *paths[] = {path};
    write_input(lines, keys);
    const uint64_t before = own_bytes();
    CHECK(before != 0);
    spec.memory = NULL;
    spec.memory_bytes = 0;
    spec.paths = paths;
    spec.path_count = 1;
    spec.table.host_bytes = table_bytes / 3;
    spec.table.spill_folder = ".";
    spec.progress = look;
    wp_mapreduce *job = run(&spec);
    wp_mapreduce_report report;
    wp_mapreduce_get_report(job, &report);
    if (is_cpu) CHECK(most_bytes > before && most_bytes - before < ROOM_BYTES);
    CHECK_EQ(report.input_bytes, lines * LINE_BYTES);
    CHECK_EQ(report.records, lines);
    CHECK_EQ(report.pairs, lines * LINE_WORDS);
    CHECK(report.passes >= 4);
    CHECK(report.table.host_bytes <= spec.table.host_bytes);
    CHECK(report.table.file_bytes > report.table.table_bytes / 2);

    uint32_t *seen = (uint32_t *)calloc(keys, sizeof *seen);
    wp_mapreduce_cursor cursor = {0, {0, 0, 0}};
    wp_table_pair pair;
    uint64_t found = 0;
    for (; wp_mapreduce_next(job, &cursor, &pair); found++) {
        char word[16] = "";
        uint64_t count;
        memcpy(word, pair.key, pair.key_bytes < 15 ? pair.key_bytes : 15);
        memcpy(&count, pair.value, sizeof count);
        seen[strtoul(word + 1, NULL, 10) % keys] += (uint32_t)count;
    }
    CHECK_EQ(found, keys);
    for (uint64_t i = 0; i < lines * LINE_WORDS; i++) seen[i * 7 % keys]--;
    for (uint64_t k = 0; k < keys; k++) CHECK_EQ(seen[k], 0);
    printf("%llu passes, %llu bytes of the table in a file, at most %llu more in use\n",
           (unsigned long long)report.passes, (unsigned long long)report.table.file_bytes,
           (unsigned long long)(most_bytes - before));
    wp_mapreduce_close(job);
    return check_done();
}
