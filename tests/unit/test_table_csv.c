/* SPDX-License-Identifier: Apache-2.0 */
/* CSV of more than one block: records that lie across blocks' ends, codes and lines that go on. */
#include "table_io/table.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "wp_test.h"

static char *folder;

/* Opens the text as a file, and selects all columns. */
static wp_status open_text(const wp_text *text, uint32_t threads, wpi_table **out, wp_error *err) {
    char *path = wp_path_join(folder, "t.csv");
    const char *const paths[] = {path};
    const wpi_table_options options = {.thread_count = threads};
    const wpi_selected selected[] = {{0, WPI_USE_VALUES}, {1, WPI_USE_VALUES}, {1, WPI_USE_NULLS}};
    wp_status status = wp_file_write(path, text->data, text->length, err);
    if (status == WP_STATUS_OK) status = wpi_table_open(paths, 1, &options, out, err);
    if (status == WP_STATUS_OK) status = wpi_table_select(*out, selected, 3, err);
    wp_free(path);
    return status;
}

#define ROWS 200000

/* Record `row`: its number, and a text of many lines, quotes and delimiters; every seventh is NULL.
 */
static void add_row(wp_text *text, unsigned row) {
    wp_text_appendf(text, "%u,", row);
    if (row % 7 != 0)
        wp_text_appendf(
            text, "\"%u,\"\"%.*s\n\"", row % 1000, (int)(row % 90),
            "............................................................................."
            "..............");
    wp_text_append(text, "\r\n");
}

static void check_row(const wpi_table *table, const wpi_chunk *chunk, uint64_t at, unsigned row) {
    const wpi_dictionary *texts = wpi_table_dictionary(table, 1);
    const uint32_t code = ((const uint32_t *)chunk->columns[1].values)[at];
    const uint8_t *valid = chunk->columns[2].valid;
    assert_u64(((const uint64_t *)chunk->columns[0].values)[at], row);
    assert_int_equal(valid == NULL || (valid[at / 8] >> at % 8 & 1) != 0, row % 7 != 0);
    if (row % 7 == 0) {
        assert_int_equal(code, 0);
        return;
    }
    char wanted[16];
    const int length = snprintf(wanted, sizeof wanted, "%u,\"", row % 1000);
    assert_in_range(code, 1, texts->count);
    assert_memory_equal(texts->strings[code - 1].text, wanted, (size_t)length);
    assert_int_equal(texts->strings[code - 1].length, (size_t)length + row % 90 + 1);
}

static void every_record_once_whatever_the_threads(void **state) {
    (void)state;
    wp_text text = {0};
    wp_text_append(&text, "n,t\r\n");
    for (unsigned row = 0; row < ROWS; row++)
        add_row(&text, row);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        wpi_table *table = NULL;
        wpi_chunk chunk;
        wp_error err = {0};
        unsigned row = 0, chunks = 0;
        assert_status_ok(open_text(&text, threads, &table, &err), &err);
        for (;;) {
            assert_status_ok(wpi_table_next(table, &chunk, &err), &err);
            if (chunk.row_count == 0) break;
            for (uint64_t at = 0; at < chunk.row_count; at++)
                check_row(table, &chunk, at, row++);
            chunks++;
        }
        assert_int_equal(row, ROWS);
        assert_true(chunks > 2);
        wpi_table_close(table);
    }
    wp_text_deinit(&text);
}

/* Two lines a record, and each seventh only one. */
static void a_mistake_far_behind_is_told_with_its_line(void **state) {
    (void)state;
    wp_text text = {0};
    wpi_table *table = NULL;
    wpi_chunk chunk;
    wp_error err = {0};
    char wanted[64];
    wp_status status;
    unsigned lines = 1;
    wp_text_append(&text, "n,t\r\n");
    for (unsigned row = 0; row < ROWS; row++) {
        add_row(&text, row);
        lines += row % 7 == 0 ? 1 : 2;
    }
    wp_text_append(&text, "1,2,3\r\n1,2\r\n");
    assert_status_ok(open_text(&text, 2, &table, &err), &err);
    do
        status = wpi_table_next(table, &chunk, &err);
    while (status == WP_STATUS_OK && chunk.row_count != 0);
    (void)snprintf(wanted, sizeof wanted, "t.csv:%u: this row has 3 fields", lines + 1);
    assert_int_equal(status, WP_STATUS_PARSE);
    assert_contains(err.message, wanted);
    wpi_table_close(table);
    wp_text_deinit(&text);
}

static void a_table_can_be_left_before_its_end(void **state) {
    (void)state;
    wp_text text = {0};
    wpi_table *table = NULL;
    wpi_chunk chunk;
    wp_error err = {0};
    wp_text_append(&text, "n,t\n");
    for (unsigned row = 0; row < ROWS; row++)
        add_row(&text, row);
    assert_status_ok(open_text(&text, 2, &table, &err), &err);
    assert_status_ok(wpi_table_next(table, &chunk, &err), &err);
    wpi_table_close(table);
    wp_text_deinit(&text);
}

/* From the first rows, for all of the file. */
static void how_many_rows_there_are_is_known_about(void **state) {
    (void)state;
    static const unsigned counts[] = {0, 1, 1000, ROWS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        wp_text text = {0};
        wpi_table *table = NULL;
        wp_error err = {0};
        wp_text_append(&text, "n,t\n");
        for (unsigned row = 0; row < counts[i]; row++)
            add_row(&text, row);
        assert_status_ok(open_text(&text, 1, &table, &err), &err);
        const uint64_t expected = wpi_table_expected_rows(table);
        assert_in_range(expected, counts[i] - counts[i] / 20, counts[i] + counts[i] / 20);
        wpi_table_close(table);
        wp_text_deinit(&text);
    }
}

static int make_folder(void **state) {
    wp_error err = {0};
    (void)state;
    return wp_temp_dir_create(&folder, &err) == WP_STATUS_OK ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    wp_temp_dir_remove(folder);
    wp_free(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_record_once_whatever_the_threads),
                                       cmocka_unit_test(a_mistake_far_behind_is_told_with_its_line),
                                       cmocka_unit_test(a_table_can_be_left_before_its_end),
                                       cmocka_unit_test(how_many_rows_there_are_is_known_about)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
