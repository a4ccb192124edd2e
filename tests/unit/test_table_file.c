/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in files: saved, opened, mapped, spilled; damage, full disks, and iterations that a run
 * ends. */
#include "warpage/table.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/sanitizer.h"
#include "table/table_state.h"
#include "table_model.h"
#include "wp_random.h"
#include "wp_test.h"

#ifdef WP_HAS_TSAN
enum { DAMAGES = 30 }; /* one thread reads the files */
#else
enum { DAMAGES = 300 };
#endif

static wp_table *fill_one(uint32_t organisation, wp_postpone **postpone, fill *f) {
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_error err = {0};
    *f = (fill){.seed = 5, .distinct = 300, .units = 900, .value_bytes = 30};
    spec.organisation = (wp_table_organisation)organisation;
    spec.heap_bytes = 4096;
    spec.page_bytes = 256;
    spec.bucket_count = 64;
    const wp_postpone_spec units = {f->units, 0, PAIRS_MAX, 0};
    const wp_requester requester = {.object = f, .process = process};
    assert_status_ok(wp_table_create(device, &spec, &f->table, &err), &err);
    assert_status_ok(wp_postpone_create(device, &units, postpone, &err), &err);
    assert_status_ok(wp_table_run(f->table, *postpone, &requester, NULL, &err), &err);
    return f->table;
}

static void write_file(const char *path, const char *bytes, size_t count) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    (void)fclose(file);
}

static void a_saved_table_is_the_same_and_a_damaged_one_is_refused(void **state) {
    (void)state;
    char path[] = "/tmp/test_table.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    for (uint32_t organisation = 0; organisation < 3; organisation++) {
        fill f;
        wp_postpone *postpone;
        wp_table *opened;
        wp_error err = {0};
        wp_table *table = fill_one(organisation, &postpone, &f);
        assert_status_ok(wp_table_save(table, path, &err), &err);
        assert_status_ok(wp_table_open(path, &opened, &err), &err);
        expect(&f, organisation);
        look(opened, organisation);
        assert_true(is_equal(organisation));
        assert_u64(wp_table_pair_count(opened), wp_table_pair_count(table));
        const wp_requester requester = {.object = &f, .process = process};
        assert_status_fails(wp_table_run(opened, postpone, &requester, NULL, &err),
                            WP_STATUS_INVALID, &err, "opened from a file");
        wp_table_rows rows;
        assert_status_ok(wp_table_retrieve(opened, &rows, &err), &err);
        assert_u64(rows.count, wp_table_pair_count(table));
        uint64_t key = 255;
        wp_table_cursor cursor = {0};
        wp_table_pair pair;
        uint64_t found = 0;
        while (wp_table_find_next(opened, &key, 1, &cursor, &pair))
            found++;
        assert_u64(found, organisation == WP_TABLE_COMBINING ? counts[255] != 0 : counts[255]);
        wp_table_rows_deinit(&rows);
        wp_table_close(opened);

        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        static char bytes[1 << 20];
        const size_t count = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        uint64_t seed = 7;
        for (int i = 0; i < DAMAGES; i++) { /* cut, then a changed byte */
            const size_t at = wp_random_next(&seed) % count;
            write_file(path, bytes, at);
            assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err, path);
            assert_null(opened);
            bytes[at] = (char)(bytes[at] ^ 0x41);
            write_file(path, bytes, count);
            assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err, path);
            bytes[at] = (char)(bytes[at] ^ 0x41);
        }
        wp_postpone_destroy(postpone);
        wp_table_close(table);
    }
    wp_error err = {0};
    wp_table *table;
    (void)remove(path);
    assert_status_fails(wp_table_open(path, &table, &err), WP_STATUS_NOT_FOUND, &err, path);
}

static void a_foreign_cut_or_older_file_is_refused_with_the_offset(void **state) {
    (void)state;
    char path[] = "/tmp/test_table.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    fill f;
    wp_postpone *postpone;
    wp_table *opened;
    wp_error err = {0};
    wp_table *table = fill_one(WP_TABLE_MULTIVALUED, &postpone, &f);
    assert_status_ok(wp_table_save(table, path, &err), &err);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    static char bytes[1 << 20];
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);

    write_file(path, "key,value\n1,2\n", 14);
    assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err,
                        "not a table: offset 0");
    char cut[64];
    (void)snprintf(cut, sizeof cut, "cut off at offset %zu", count / 2);
    write_file(path, bytes, count / 2);
    assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err, cut);
    write_file(path, bytes, 20);
    assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err,
                        "cut off at offset 20, in its header");
    bytes[8] = 0; /* the version */
    write_file(path, bytes, count);
    assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err,
                        "a table of format 0 at offset 8");
    bytes[8] = 1; /* what Warpage wrote before tables could be mapped */
    write_file(path, bytes, count);
    assert_status_fails(wp_table_open(path, &opened, &err), WP_STATUS_PARSE, &err,
                        "a table of format 1 at offset 8");
    (void)remove(path);
    wp_postpone_destroy(postpone);
    wp_table_close(table);
}

static uint32_t files_in(const char *path) {
    DIR *directory = opendir(path);
    uint32_t count = 0;
    assert_non_null(directory);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        count += entry->d_name[0] != '.';
    (void)closedir(directory);
    return count;
}

/* The file may not grow beyond a limit, as on a full disk: an error, no part of a file, and the
 * table that was saved there before stays. */
static void a_full_disk_leaves_the_file_that_was_there(void **state) {
    (void)state;
    char directory[] = "/tmp/test_table.XXXXXX", path[64];
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/saved.table", directory);
    write_file(path, "before", 6);
    fill f;
    wp_postpone *postpone;
    wp_error err = {0};
    wp_table *table = fill_one(WP_TABLE_COMBINING, &postpone, &f);
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 5000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wp_status status = wp_table_save(table, path, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_status_fails(status, WP_STATUS_IO, &err, "File too large");
    assert_int_equal(files_in(directory), 1);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 6);
    assert_status_ok(wp_table_save(table, path, &err), &err);
    (void)remove(path);
    (void)rmdir(directory);
    wp_postpone_destroy(postpone);
    wp_table_close(table);
}

/* What exceeds host_bytes: the disk is full, the folder cannot be written to; nothing is left
 * there. */
static void a_file_for_the_rest_that_cannot_be_written_is_an_error(void **state) {
    (void)state;
    char directory[] = "/tmp/test_table.XXXXXX";
    assert_non_null(mkdtemp(directory));
    fill f = {.seed = 5, .distinct = 300, .units = 900, .value_bytes = 30};
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    wp_table_report report;
    wp_error err = {0};
    bool equal;
    struct rlimit before, small;
    spec.heap_bytes = 4096;
    spec.page_bytes = 256;
    spec.host_bytes = 10000;
    spec.spill_folder = directory;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 9000;
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const wp_status status = run(&f, &spec, 0, &report, &equal, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    (void)signal(SIGXFSZ, SIG_DFL);
    assert_status_fails(status, WP_STATUS_IO, &err, "that exceed host_bytes to a file in");
    assert_contains(err.message, "File too large");
    assert_status_ok(run(&f, &spec, 0, &report, &equal, &err), &err);
    assert_true(equal && report.file_bytes != 0);
    assert_int_equal(files_in(directory), 0);
    (void)rmdir(directory);
    assert_status_fails(run(&f, &spec, 0, &report, &equal, &err), WP_STATUS_IO, &err,
                        "name another folder by spill_folder");
    assert_contains(err.message, directory);
}

/* A mapped file is not read as a whole. Damage in it ends a search; what can be read is in the
 * file, and no chain leads round for ever. */
static void damage_in_a_mapped_file_is_met_on_the_way(void **state) {
    (void)state;
    char path[] = "/tmp/test_table.XXXXXX";
    const int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    (void)close(descriptor);
    uint32_t found_later = 0, refused = 0;
    for (uint32_t organisation = 0; organisation < 3; organisation++) {
        fill f;
        wp_postpone *postpone;
        wp_table *mapped;
        wp_error err = {0};
        wp_table *table = fill_one(organisation, &postpone, &f);
        assert_status_ok(wp_table_save(table, path, &err), &err);
        assert_status_ok(wp_table_map(path, &mapped, &err), &err);
        expect(&f, organisation);
        look(mapped, organisation);
        assert_true(is_equal(organisation));
        const wp_requester requester = {.object = &f, .process = process};
        assert_status_fails(wp_table_run(mapped, postpone, &requester, NULL, &err),
                            WP_STATUS_INVALID, &err, "opened from a file");
        assert_status_fails(wp_table_search(mapped, postpone, &requester, NULL, &err),
                            WP_STATUS_INVALID, &err, "wp_table_find_next");
        wp_table_close(mapped);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        static char bytes[1 << 20];
        const size_t count = fread(bytes, 1, sizeof bytes, file);
        (void)fclose(file);
        uint64_t seed = 77 + organisation;
        for (int i = 0; i < 300; i++) {
            const size_t at = wp_random_next(&seed) % count;
            write_file(path, bytes, at);
            assert_status_fails(wp_table_map(path, &mapped, &err), WP_STATUS_PARSE, &err, path);
            bytes[at] = (char)(bytes[at] ^ 0x41);
            write_file(path, bytes, count);
            bytes[at] = (char)(bytes[at] ^ 0x41);
            const wp_status status = wp_table_map(path, &mapped, &err);
            refused += status == WP_STATUS_PARSE;
            if (status != WP_STATUS_OK) continue;
            wp_table_cursor cursor = {0};
            wp_table_pair pair;
            volatile char read; /* each byte is there */
            uint64_t pairs = 0;
            while (wp_table_next(mapped, &cursor, &pair)) {
                pairs++;
                for (uint64_t b = 0; b < pair.value_bytes; b++)
                    read = ((const char *)pair.value)[b];
            }
            (void)read;
            assert_true(pairs <= count); /* the number of pairs may be what is damaged */
            for (uint64_t key = 0; key < 256; key++) {
                wp_table_cursor search = {0};
                while (wp_table_find_next(mapped, &key, key == 0 ? 0 : 1, &search, &pair))
                    pairs++;
            }
            found_later += wp_table_check(mapped, &cursor, &err) == WP_STATUS_PARSE;
            wp_table_close(mapped);
        }
        wp_postpone_destroy(postpone);
        wp_table_close(table);
    }
    assert_true(found_later > 20 && refused > 5);
    wp_error err = {0};
    wp_table *table;
    (void)remove(path);
    assert_status_fails(wp_table_map(path, &table, &err), WP_STATUS_NOT_FOUND, &err, path);
}

static void a_table_that_was_added_to_ends_an_iteration(void **state) {
    (void)state;
    fill f = {.seed = 5, .distinct = 300, .units = 900, .passes = 1};
    wp_table_spec spec = WP_TABLE_SPEC_INIT;
    const wp_postpone_spec units = {f.units, 0, PAIRS_MAX, 0};
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_error err = {0};
    wp_table_cursor cursor = {0}, search = {0}, unused = {0};
    wp_table_pair pair;
    const uint64_t key = 255;
    spec.organisation = WP_TABLE_MULTIVALUED;
    spec.heap_bytes = 8192;
    spec.page_bytes = 256;
    assert_status_ok(wp_table_create(device, &spec, &f.table, &err), &err);
    assert_status_ok(wp_postpone_create(device, &units, &postpone, &err), &err);
    const wp_requester requester = {&f, process, retries};
    assert_status_ok(wp_table_run(f.table, postpone, &requester, &facts, &err), &err);
    assert_true(facts.postponed_units != 0);
    assert_true(wp_table_next(f.table, &cursor, &pair));
    assert_status_ok(wp_table_check(f.table, &cursor, &err), &err);
    (void)wp_table_find_next(f.table, &key, 1, &search, &pair);
    f.passes = 0;
    assert_status_ok(wp_table_run(f.table, postpone, &requester, &facts, &err), &err);
    assert_false(wp_table_next(f.table, &cursor, &pair));
    assert_false(wp_table_find_next(f.table, &key, 1, &search, &pair));
    assert_status_fails(wp_table_check(f.table, &cursor, &err), WP_STATUS_INVALID, &err,
                        "it was added to after this search or iteration began");
    assert_status_fails(wp_table_check(f.table, &search, &err), WP_STATUS_INVALID, &err,
                        "begin again");
    assert_status_ok(wp_table_check(f.table, &unused, &err), &err);
    uint64_t count = 0;
    cursor = (wp_table_cursor){0};
    while (wp_table_next(f.table, &cursor, &pair))
        count++;
    assert_u64(count, wp_table_pair_count(f.table));
    assert_status_ok(wp_table_check(f.table, &cursor, &err), &err);
    wp_postpone_destroy(postpone);
    wp_table_close(f.table);
}

static void a_path_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    fill f;
    wp_postpone *postpone;
    wp_error err = {0};
    wp_table *table = fill_one(WP_TABLE_COMBINING, &postpone, &f);
    assert_status_fails(wp_table_save(table, "/nowhere/at/all", &err), WP_STATUS_IO, &err,
                        "/nowhere/at/all");
    wp_postpone_destroy(postpone);
    wp_table_close(table);
}

/* Neither replaced nor, for reading, waited for. */
static void a_pipe_gets_the_table_and_stays_a_pipe(void **state) {
    (void)state;
    fill f;
    wp_postpone *postpone;
    wp_table *opened;
    wp_error err = {0};
    struct stat info;
    char magic[8], path[] = "/tmp/test_table.XXXXXX";
    assert_non_null(mkdtemp(path));
    char *pipe_path = wpi_path_join(path, "pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    assert_status_fails(wp_table_open(pipe_path, &opened, &err), WP_STATUS_IO, &err,
                        "is not a plain file");
    assert_status_fails(wp_table_map(pipe_path, &opened, &err), WP_STATUS_IO, &err,
                        "is not a plain file");
    wp_table *table = fill_one(WP_TABLE_COMBINING, &postpone, &f);
    const int end = open(pipe_path, O_RDWR | O_NONBLOCK);
    assert_true(end >= 0);
    assert_status_ok(wp_table_save(table, pipe_path, &err), &err);
    assert_int_equal(read(end, magic, sizeof magic), sizeof magic);
    assert_memory_equal(magic, "WPTABLE", 8);
    assert_int_equal(stat(pipe_path, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    (void)close(end);
    wpi_temp_dir_remove(path);
    wpi_free(pipe_path);
    wp_postpone_destroy(postpone);
    wp_table_close(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_table_is_the_same_and_a_damaged_one_is_refused),
        cmocka_unit_test(a_foreign_cut_or_older_file_is_refused_with_the_offset),
        cmocka_unit_test(a_full_disk_leaves_the_file_that_was_there),
        cmocka_unit_test(a_file_for_the_rest_that_cannot_be_written_is_an_error),
        cmocka_unit_test(damage_in_a_mapped_file_is_met_on_the_way),
        cmocka_unit_test(a_table_that_was_added_to_ends_an_iteration),
        cmocka_unit_test(a_path_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(a_pipe_gets_the_table_and_stays_a_pipe)};
    return table_test_main(tests);
}
