/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that reserved addresses are tied to, in a pool of blocks that is much smaller than they
 * are: what several cursors read and write is what a plain array would hold, and targets appear
 * complete or not at all.
 */
#define _DEFAULT_SOURCE /* mincore */
#include "stream/file_blocks.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "stream/reservation.h"
#include "wp_random.h"
#include "wp_test.h"

enum { BYTES = 1500000, BUDGET = 256 << 10 }; /* not a multiple of blocks; 64 blocks of 4 KiB */

static char *folder;
static char source[256], target[256];
static unsigned char content[BYTES];

static int make_source(void **state) {
    (void)state;
    uint64_t random = 11;
    wp_error err = {0};
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (unsigned char)wp_random_next(&random);
    assert_status_ok(wpi_temp_dir_create(&folder, &err), &err);
    (void)snprintf(source, sizeof source, "%s/source", folder);
    (void)snprintf(target, sizeof target, "%s/target", folder);
    assert_status_ok(wpi_file_write(source, content, BYTES, &err), &err);
    wpi_file_blocks_set_budget(BUDGET);
    return 0;
}

static int remove_source(void **state) {
    (void)state;
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    return 0;
}

static char *reserve(size_t bytes) {
    void *base;
    wp_error err = {0};
    assert_status_ok(wpi_reservation_create(bytes, &base, &err), &err);
    return base;
}

static char *map_file(const char *from, const char *to, uint64_t offset, size_t bytes) {
    wp_error err = {0};
    char *base = reserve(bytes);
    assert_status_ok(wpi_reservation_map_file(base, from, to, offset, bytes, &err), &err);
    return base;
}

static void free_mapping(char *base, bool keeps) {
    wp_error err = {0};
    assert_status_ok(wpi_reservation_free(base, keeps, &err), &err);
    assert_u64(wpi_file_blocks_count(), 0);
}

/* Of the folder: nothing may stay behind. */
static void assert_only_source(void) {
    char command[600];
    (void)snprintf(command, sizeof command, "test \"$(ls -A %s)\" = source", folder);
    assert_int_equal(system(command), 0);
}

static void read_all(const char *base, uint64_t offset, size_t bytes) {
    wpi_reservation_cursor cursor = {0};
    for (size_t i = 0; i < bytes; i += 4) {
        const uint32_t width = bytes - i < 4 ? (uint32_t)(bytes - i) : 4;
        const void *at = wpi_reservation_host(&cursor, (uintptr_t)base + i, width, false);
        if (at == NULL) fail_msg("%zu: %s", i, cursor.failure.message);
        assert_memory_equal(at, content + offset + i, width);
    }
    assert_null(wpi_reservation_host(&cursor, (uintptr_t)base + bytes, 1, false));
    wpi_reservation_leave(&cursor);
}

static void a_file_is_read_in_a_small_pool(void **state) {
    (void)state;
    char *base = map_file(source, NULL, 0, BYTES);
    assert_u64(wpi_file_blocks_count(), BUDGET / 4096);
    read_all(base, 0, BYTES);
    free_mapping(base, true);
    base = map_file(source, NULL, 4096 + 48, 10000); /* a part, not at a block's begin */
    read_all(base, 4096 + 48, 10000);
    free_mapping(base, true);
    assert_only_source();
}

/* Large blocks are read past the page cache, where the file system can do that. */
static void large_blocks_are_read_and_copied(void **state) {
    (void)state;
    wpi_file_blocks_set_budget(0);
    wpi_reservation_cursor cursor = {0};
    char *base = map_file(source, target, 16, BYTES - 16);
    assert_u64(wpi_file_blocks_bytes() / wpi_file_blocks_count(), 64 << 10);
    read_all(base, 16, BYTES - 16);
    char *place = wpi_reservation_host(&cursor, (uintptr_t)base + 700000, 1, true);
    assert_non_null(place);
    *place = (char)(content[700016] + 1);
    wpi_reservation_leave(&cursor);
    free_mapping(base, true);
    char *data;
    size_t bytes;
    wp_error err = {0};
    assert_status_ok(wpi_file_read(target, &data, &bytes, &err), &err);
    assert_u64(bytes, BYTES);
    data[700016] = (char)(data[700016] - 1);
    assert_memory_equal(data, content, BYTES);
    wpi_free(data);
    (void)unlink(target);
    wpi_file_blocks_set_budget(BUDGET);
}

/* ---- several threads, each with its share of the words ---- */

enum { THREADS = 4, ACCESSES = 20000, WORDS = BYTES / 4 };

typedef struct worker {
    pthread_t thread;
    uint32_t number;
    char *base;
    const char *wrong;
} worker;

static uint32_t now[WORDS];

static void *read_and_write(void *object) {
    worker *w = object;
    wpi_reservation_cursor reads = {0}, writes = {0};
    uint64_t random = w->number + 1;
    for (uint32_t i = 0; i < ACCESSES && w->wrong == NULL; i++) {
        const uint64_t r = wp_random_next(&random);
        /* Near the one before, mostly; words of different threads lie side by side. */
        const uint32_t at = (uint32_t)(r >> 8) % (WORDS / THREADS) * THREADS + w->number;
        const bool is_write = r % 3 == 0;
        wpi_reservation_cursor *cursor = is_write ? &writes : &reads;
        char *place =
            wpi_reservation_host(cursor, (uintptr_t)w->base + (uint64_t)at * 4, 4, is_write);
        if (place == NULL) {
            w->wrong = "no place";
        } else if (is_write) {
            now[at] = (uint32_t)r;
            memcpy(place, &now[at], 4);
        } else if (memcmp(place, &now[at], 4) != 0) {
            w->wrong = "a word is not what was written last";
        }
    }
    wpi_reservation_leave(&reads);
    wpi_reservation_leave(&writes);
    return NULL;
}

static void check_target(const char *path) {
    char *data;
    size_t bytes;
    wp_error err = {0};
    assert_status_ok(wpi_file_read(path, &data, &bytes, &err), &err);
    assert_u64(bytes, BYTES);
    assert_memory_equal(data, now, (size_t)WORDS * 4);
    wpi_free(data);
}

static void work(char *base) {
    worker workers[THREADS];
    for (uint32_t t = 0; t < THREADS; t++) {
        workers[t] = (worker){.number = t, .base = base};
        assert_int_equal(pthread_create(&workers[t].thread, NULL, read_and_write, &workers[t]), 0);
    }
    for (uint32_t t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
        if (workers[t].wrong != NULL) fail_msg("thread %u: %s", t, workers[t].wrong);
    }
}

static void a_target_has_what_was_written_and_the_rest_of_the_source(void **state) {
    (void)state;
    memcpy(now, content, (size_t)WORDS * 4);
    char *base = map_file(source, target, 0, BYTES);
    work(base);
    assert_false(wpi_file_exists(target));
    free_mapping(base, true);
    check_target(target);
    base = map_file(target, target, 0, BYTES); /* in place: replaced */
    work(base);
    free_mapping(base, true);
    check_target(target);
    (void)unlink(target);
    assert_only_source();
}

static void without_a_source_the_rest_is_zero(void **state) {
    (void)state;
    memset(now, 0, sizeof now);
    char *base = map_file(NULL, target, 0, BYTES);
    work(base);
    free_mapping(base, true);
    check_target(target);
    (void)unlink(target);
}

static void a_target_that_is_not_kept_does_not_appear(void **state) {
    (void)state;
    memcpy(now, content, (size_t)WORDS * 4);
    char *base = map_file(source, target, 0, BYTES);
    work(base);
    free_mapping(base, false);
    assert_only_source();
    base = map_file(source, target, 0, BYTES);
    (void)base;
    wpi_reservations_free();
    assert_u64(wpi_file_blocks_count(), 0);
    assert_only_source();
}

static void an_older_target_stays_until_the_end(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_ok(wpi_file_write(target, "old", 3, &err), &err);
    assert_int_equal(chmod(target, 0640), 0);
    memcpy(now, content, (size_t)WORDS * 4);
    char *base = map_file(source, target, 0, BYTES);
    work(base);
    struct stat info;
    assert_int_equal(stat(target, &info), 0);
    assert_u64((uint64_t)info.st_size, 3);
    free_mapping(base, true);
    check_target(target);
    assert_int_equal(stat(target, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
    (void)unlink(target);
    assert_only_source();
}

/* ---- what goes wrong ---- */

static void mistakes_are_told(void **state) {
    (void)state;
    wp_error err = {0};
    char *base = reserve(BYTES);
    char missing[300];
    (void)snprintf(missing, sizeof missing, "%s/none/file", folder);
    assert_status_fails(wpi_reservation_map_file(base, NULL, NULL, 0, 1, &err), WP_STATUS_INVALID,
                        &err, "no file to read");
    assert_status_fails(wpi_reservation_map_file(base + 8, source, NULL, 0, 1, &err),
                        WP_STATUS_INVALID, &err, "multiples of 16");
    assert_status_fails(wpi_reservation_map_file(base, source, NULL, 0, BYTES + 1, &err),
                        WP_STATUS_INVALID, &err,
                        "has 1500000 bytes, but bytes 0 to 1500001 are to be mapped");
    assert_status_fails(wpi_reservation_map_file(base + 16, source, NULL, 0, BYTES, &err),
                        WP_STATUS_INVALID, &err, "1500000 bytes were reserved");
    assert_status_fails(wpi_reservation_map_file(base, missing, NULL, 0, 1, &err),
                        WP_STATUS_NOT_FOUND, &err, "no such file");
    assert_status_fails(wpi_reservation_map_file(base, NULL, missing, 0, 1, &err),
                        WP_STATUS_NOT_FOUND, &err, "cannot create");
    assert_status_fails(wpi_reservation_map_file(base, folder, NULL, 0, 1, &err), WP_STATUS_INVALID,
                        &err, "is not a plain file");
    char pipe_path[300];
    (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", folder);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_status_fails(wpi_reservation_map_file(base, pipe_path, NULL, 0, 1, &err),
                        WP_STATUS_INVALID, &err, "is not a plain file");
    assert_int_equal(unlink(pipe_path), 0);
    assert_status_fails(wpi_reservation_map_file(base, NULL, "/dev/null", 0, 1, &err),
                        WP_STATUS_INVALID, &err, "cannot be replaced");
    wpi_file_blocks_set_budget(100000);
    assert_status_fails(wpi_reservation_map_file(base, source, NULL, 0, 1, &err), WP_STATUS_INVALID,
                        &err, "need at least 262144 bytes of host memory");
    wpi_file_blocks_set_budget(BUDGET);
    assert_status_ok(wpi_reservation_map_file(base, NULL, target, 0, 4096, &err), &err);
    assert_status_fails(wpi_reservation_map_file(base + 4096, NULL, target, 4096, 4096, &err),
                        WP_STATUS_INVALID, &err, "is the target of another mapping");
    free_mapping(base, false);
    assert_only_source();
}

static void a_file_mapped_for_reading_is_not_written(void **state) {
    (void)state;
    wpi_reservation_cursor cursor = {0};
    char *base = map_file(source, NULL, 0, BYTES);
    assert_null(wpi_reservation_host(&cursor, (uintptr_t)base + 20, 4, true));
    assert_non_null(strstr(cursor.failure.message, "mapped for reading"));
    free_mapping(base, true);
}

static void a_file_that_shrinks_is_told(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_reservation_cursor cursor = {0};
    char copy[300];
    (void)snprintf(copy, sizeof copy, "%s/copy", folder);
    assert_status_ok(wpi_file_write(copy, content, BYTES, &err), &err);
    char *base = map_file(copy, target, 0, BYTES);
    assert_non_null(wpi_reservation_host(&cursor, (uintptr_t)base, 4, false));
    assert_int_equal(truncate(copy, 100000), 0);
    assert_null(wpi_reservation_host(&cursor, (uintptr_t)base + 200000, 4, false));
    assert_non_null(
        strstr(cursor.failure.message, "shrank while it was read: it had 1500000 bytes"));
    wpi_reservation_leave(&cursor);
    assert_status_fails(wpi_reservation_free(base, true, &err), WP_STATUS_IO, &err, "shrank");
    (void)unlink(copy);
    assert_only_source();
}

/* A limit of the process stands for a disk that fills up after the room was reserved. */
static void a_write_that_fails_leaves_no_target(void **state) {
    (void)state;
    wp_error err = {0};
    wpi_reservation_cursor cursor = {0};
    struct rlimit before, small;
    char *base = map_file(source, target, 0, BYTES);
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 50000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    uint64_t at = 0;
    while (at < BYTES - 4 && wpi_reservation_host(&cursor, (uintptr_t)base + at, 4, true) != NULL)
        at += 4096;
    assert_true(at >= 50000 && at < BYTES - 4);
    assert_non_null(strstr(cursor.failure.message, "cannot write"));
    wpi_reservation_leave(&cursor);
    assert_status_fails(wpi_reservation_free(base, true, &err), WP_STATUS_IO, &err, "target");
    base = reserve(BYTES);
    assert_status_fails(wpi_reservation_map_file(base, source, target, 0, BYTES, &err),
                        WP_STATUS_IO, &err, "make room for");
    free_mapping(base, true);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_only_source();
}

/* ---- the page cache ---- */

static void pages_do_not_stay_in_the_page_cache(void **state) {
    (void)state;
    enum { TMPFS_MAGIC = 0x01021994 };
    struct statfs disk;
    static unsigned char resident[BYTES / 4096 + 1];
    assert_int_equal(statfs(source, &disk), 0);
    if (disk.f_type == TMPFS_MAGIC) skip(); /* its pages are the file */
    const int fd = open(source, O_RDONLY);
    assert_int_equal(fsync(fd), 0);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    char *base = map_file(source, NULL, 0, BYTES);
    read_all(base, 0, BYTES);
    free_mapping(base, true);
    void *mapped = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    assert_int_equal(mincore(mapped, BYTES, resident), 0);
    size_t pages = 0;
    for (size_t i = 0; i < sizeof resident; i++)
        pages += resident[i] & 1;
    assert_true(pages <= 8);
    (void)munmap(mapped, BYTES);
    (void)close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_is_read_in_a_small_pool),
        cmocka_unit_test(large_blocks_are_read_and_copied),
        cmocka_unit_test(a_target_has_what_was_written_and_the_rest_of_the_source),
        cmocka_unit_test(without_a_source_the_rest_is_zero),
        cmocka_unit_test(a_target_that_is_not_kept_does_not_appear),
        cmocka_unit_test(an_older_target_stays_until_the_end),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(a_file_mapped_for_reading_is_not_written),
        cmocka_unit_test(a_file_that_shrinks_is_told),
        cmocka_unit_test(a_write_that_fails_leaves_no_target),
        cmocka_unit_test(pages_do_not_stay_in_the_page_cache),
    };
    return cmocka_run_group_tests(tests, make_source, remove_source);
}
