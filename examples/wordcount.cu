/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the words of text files, which may be larger than the device, as may be their words.
 *     wpcc -O2 wordcount.cu -o wordcount && ./wordcount wordcount.cu
 * HEAP=BYTES in the environment is the device memory for the words: less than they need is enough. */
#include <cuda_runtime.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <warpage/cudart.h>
#include <warpage/mapreduce.h>

static __device__ bool is_letter(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || c > 127;
}

/* Emits (word, 1) for each word of a line, in small letters; of a long word, the first 32. */
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

int main(int argc, char **argv) {
    wp_error err = WP_ERROR_INIT;
    wp_mapreduce *job;
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    spec.program = &count_words;
    spec.partitioner = wp_partition_lines();
    spec.paths = argv + 1;
    spec.path_count = argc - 1;
    spec.table.heap_bytes = getenv("HEAP") == NULL ? 0 : strtoull(getenv("HEAP"), NULL, 10);
    spec.is_ordered = true;
    spec.progress = wp_mapreduce_show_progress;
    if (wp_mapreduce_run(wp_cudart_device(), &spec, &job, &err) != WP_STATUS_OK ||
        wp_mapreduce_write(job, "counts.txt", WP_OUTPUT_NUMBERS, &err) != WP_STATUS_OK) {
        fprintf(stderr, "wordcount: %s\n", err.message);
        return 1;
    }
    char text[4096];
    wp_mapreduce_explain(job, text, sizeof text);
    printf("%s%" PRIu64 " different words are in counts.txt\n", text, wp_mapreduce_pair_count(job));
    wp_mapreduce_close(job);
    return 0;
}
