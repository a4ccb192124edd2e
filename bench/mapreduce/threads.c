/* SPDX-License-Identifier: Apache-2.0 */
/* Word Count by two threads of the host with the table of warpage/table.h, all of it in host memory.
 *     threads FILE
 * Prints the number of different words and of all words. */
#define _POSIX_C_SOURCE 200809L
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <warpage/device.h>
#include <warpage/table.h>

typedef struct part {
    wp_table *table;
    const char *text;
    uint64_t first, outer;
    bool is_full;
} part;

static bool is_letter(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || c > 127;
}

static void *count(void *object) {
    part *p = object;
    const wp_table_view view = wp_table_get_view(p->table);
    const uint64_t one = 1;
    for (uint64_t at = p->first; at < p->outer; at++) {
        char word[32];
        uint32_t length = 0;
        for (; at < p->outer && is_letter((unsigned char)p->text[at]); at++) {
            const char c = p->text[at];
            if (length < sizeof word) word[length++] = c < 0 ? c : (char)(c | 0x20);
        }
        if (length != 0 && wp_table_insert(&view, word, length, &one, sizeof one) != WP_DONE)
            p->is_full = true;
    }
    return NULL;
}

/* Two halves, which meet at a line end. */
static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    const part *all = object;
    part lower = *all, upper = *all;
    uint64_t middle = all->outer / 2;
    pthread_t thread;
    (void)first;
    (void)outer;
    (void)err;
    while (middle < all->outer && all->text[middle] != '\n')
        middle++;
    lower.outer = upper.first = middle;
    if (pthread_create(&thread, NULL, count, &lower) != 0) return WP_STATUS_NOMEM;
    (void)count(&upper);
    (void)pthread_join(thread, NULL);
    if (!lower.is_full && !upper.is_full) wp_bits_set(units->done, 0);
    return WP_STATUS_OK;
}

static void check(wp_status status, const wp_error *err) {
    if (status == WP_STATUS_OK) return;
    (void)fprintf(stderr, "threads: %s\n", err->message);
    exit(1);
}

int main(int argc, char **argv) {
    wp_error err = WP_ERROR_INIT;
    wp_device *device;
    wp_postpone *postpone;
    part all = {0};
    struct stat file;
    const int descriptor = argc == 2 ? open(argv[1], O_RDONLY) : -1;
    if (descriptor < 0 || fstat(descriptor, &file) != 0) {
        (void)fprintf(stderr, "threads: FILE is missing\n");
        return 2;
    }
    all.outer = (uint64_t)file.st_size;
    all.text = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (all.text == MAP_FAILED) {
        perror("threads: mmap");
        return 1;
    }
    check(wp_device_open("cpu", &device, &err), &err);
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    spec.organisation = WP_TABLE_COMBINING;
    spec.heap_bytes = (uint64_t)1 << 30;
    check(wp_table_create(device, &spec, &all.table, &err), &err);
    const wp_postpone_spec units = {.unit_count = 1};
    check(wp_postpone_create(device, &units, &postpone, &err), &err);
    const wp_requester requester = {.object = &all, .process = process};
    wp_postpone_facts facts;
    check(wp_table_run(all.table, postpone, &requester, &facts, &err), &err);
    if (facts.pass != 1) {
        (void)fprintf(stderr, "threads: the heap is full\n");
        return 1;
    }
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t words = 0;
    while (wp_table_next(all.table, &cursor, &pair))
        words += *(const uint64_t *)pair.value;
    printf("%" PRIu64 " %" PRIu64 "\n", wp_table_key_count(all.table), words);
    wp_postpone_destroy(postpone);
    wp_table_close(all.table);
    wp_device_close(device);
    return 0;
}
