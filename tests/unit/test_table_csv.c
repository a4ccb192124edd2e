/* SPDX-License-Identifier: Apache-2.0 */
/* CSV of more than one block: records that lie across blocks' ends, codes and lines that go on. */
#include "table_io/column_table.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/sanitizer.h"
#include "base/text.h"
#include "wp_random.h"
#include "wp_test.h"

static char *folder;

/* Opens the text as a file, and selects all columns. */
static wp_status open_text(const wpi_text *text, uint32_t threads, wpi_column_table **out,
                           wp_error *err) {
    char *path = wpi_path_join(folder, "t.csv");
    const char *const paths[] = {path};
    const wpi_column_options options = {.thread_count = threads};
    const wpi_selected selected[] = {{0, WPI_USE_VALUES}, {1, WPI_USE_VALUES}, {1, WPI_USE_NULLS}};
    wp_status status = wpi_file_write(path, text->data, text->length, err);
    if (status == WP_STATUS_OK) status = wpi_column_table_open(paths, 1, &options, out, err);
    if (status == WP_STATUS_OK) status = wpi_column_table_select(*out, selected, 3, err);
    wpi_free(path);
    return status;
}

#define ROWS 200000

/* Record `row`: its number, and a text of many lines, quotes and delimiters; every seventh is NULL.
 */
static void add_row(wpi_text *text, unsigned row) {
    wpi_text_appendf(text, "%u,", row);
    if (row % 7 != 0)
        wpi_text_appendf(
            text, "\"%u,\"\"%.*s\n\"", row % 1000, (int)(row % 90),
            "............................................................................."
            "..............");
    wpi_text_append(text, "\r\n");
}

static void check_row(const wpi_column_table *table, const wpi_column_chunk *chunk, uint64_t at,
                      unsigned row) {
    const wpi_dictionary *texts = wpi_column_table_dictionary(table, 1);
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
    wpi_text text = {0};
    wpi_text_append(&text, "n,t\r\n");
    for (unsigned row = 0; row < ROWS; row++)
        add_row(&text, row);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        wpi_column_table *table = NULL;
        wpi_column_chunk chunk;
        wp_error err = {0};
        unsigned row = 0, chunks = 0;
        assert_status_ok(open_text(&text, threads, &table, &err), &err);
        for (;;) {
            assert_status_ok(wpi_column_table_next(table, &chunk, &err), &err);
            if (chunk.row_count == 0) break;
            for (uint64_t at = 0; at < chunk.row_count; at++)
                check_row(table, &chunk, at, row++);
            chunks++;
        }
        assert_int_equal(row, ROWS);
        assert_true(chunks > 2);
        wpi_column_table_close(table);
    }
    wpi_text_deinit(&text);
}

/* Two lines a record, and each seventh only one. */
static void a_mistake_far_behind_is_told_with_its_line(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_column_table *table = NULL;
    wpi_column_chunk chunk;
    wp_error err = {0};
    char wanted[64];
    wp_status status;
    unsigned lines = 1;
    wpi_text_append(&text, "n,t\r\n");
    for (unsigned row = 0; row < ROWS; row++) {
        add_row(&text, row);
        lines += row % 7 == 0 ? 1 : 2;
    }
    wpi_text_append(&text, "1,2,3\r\n1,2\r\n");
    assert_status_ok(open_text(&text, 2, &table, &err), &err);
    do
        status = wpi_column_table_next(table, &chunk, &err);
    while (status == WP_STATUS_OK && chunk.row_count != 0);
    (void)snprintf(wanted, sizeof wanted, "t.csv:%u: this row has 3 fields", lines + 1);
    assert_int_equal(status, WP_STATUS_PARSE);
    assert_contains(err.message, wanted);
    wpi_column_table_close(table);
    wpi_text_deinit(&text);
}

static void a_table_can_be_left_before_its_end(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_column_table *table = NULL;
    wpi_column_chunk chunk;
    wp_error err = {0};
    wpi_text_append(&text, "n,t\n");
    for (unsigned row = 0; row < ROWS; row++)
        add_row(&text, row);
    assert_status_ok(open_text(&text, 2, &table, &err), &err);
    assert_status_ok(wpi_column_table_next(table, &chunk, &err), &err);
    wpi_column_table_close(table);
    wpi_text_deinit(&text);
}

/* From the first rows, for all of the file. */
static void how_many_rows_there_are_is_known_about(void **state) {
    (void)state;
    static const unsigned counts[] = {0, 1, 1000, ROWS};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        wpi_text text = {0};
        wpi_column_table *table = NULL;
        wp_error err = {0};
        wpi_text_append(&text, "n,t\n");
        for (unsigned row = 0; row < counts[i]; row++)
            add_row(&text, row);
        assert_status_ok(open_text(&text, 1, &table, &err), &err);
        const uint64_t expected = wpi_column_table_expected_rows(table);
        assert_in_range(expected, counts[i] - counts[i] / 20, counts[i] + counts[i] / 20);
        wpi_column_table_close(table);
        wpi_text_deinit(&text);
    }
}

/* ---- random tables, in pieces ---- */

#define WIDTH 4 /* integers, texts, floats, texts */

typedef struct random_table {
    uint64_t random;
    wpi_text text;
    uint64_t line, bad_line; /* from 1 on; bad_line 0: nothing is wrong so far */
    uint64_t rows, hash;     /* of its fields, as they are to be read */
} random_table;

static uint64_t below(random_table *t, uint64_t outer) {
    return wp_random_next(&t->random) % outer;
}

static uint64_t fold(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return (hash ^ size) * UINT64_C(0x100000001b3);
}

static void keep_field(random_table *t, const void *data, size_t size) {
    if (t->bad_line == 0) t->hash = fold(t->hash, data, size);
}

static void mistake(random_table *t) {
    if (t->bad_line == 0) t->bad_line = t->line;
}

static void add_text_field(random_table *t) {
    static const char *const parts[] = {"a",  "bc",   ",", "\n",  "\r\n",
                                        "\"", "\"\"", " ", "xyz", "12"};
    wpi_text plain = {0};
    const uint64_t count = below(t, 5);
    const bool is_quoted = count > 0 && below(t, 2) == 0;
    if (is_quoted) wpi_text_append(&t->text, "\"");
    for (uint64_t i = 0; i < count; i++) {
        const char *part = is_quoted ? parts[below(t, sizeof parts / sizeof parts[0])] : "ab";
        wpi_text_append(&plain, part);
        for (const char *at = part; *at != '\0'; at++) {
            wpi_text_append_n(&t->text, at, 1);
            if (*at == '"') wpi_text_append(&t->text, "\"");
            t->line += *at == '\n';
        }
    }
    if (is_quoted) wpi_text_append(&t->text, "\"");
    keep_field(t, plain.data, plain.length);
    wpi_text_deinit(&plain);
}

static void add_integer_field(random_table *t, bool is_wrong) {
    const int64_t value = (int64_t)wp_random_next(&t->random) >> below(t, 64);
    wpi_text_appendf(&t->text, "%lld%s", (long long)value, is_wrong ? "x" : "");
    if (is_wrong) mistake(t);
    keep_field(t, &value, sizeof value);
}

static void add_float_field(random_table *t, bool is_wrong) {
    const double value = (double)below(t, 100000) / 100;
    wpi_text_appendf(&t->text, is_wrong ? "%.2f?" : "%.2f", value);
    if (is_wrong) mistake(t);
    keep_field(t, &value, sizeof value);
}

/* A row, in which one of the three mistakes a row can have may be made. */
static void add_random_row(random_table *t, unsigned wrong_one_in) {
    const uint64_t which = wrong_one_in != 0 && below(t, wrong_one_in) == 0 ? 1 + below(t, 4) : 0;
    const uint64_t rows = t->rows, hash = t->hash;
    if (which > 2) mistake(t);
    add_integer_field(t, which == 1);
    wpi_text_append(&t->text, ",");
    add_text_field(t);
    wpi_text_append(&t->text, ",");
    add_float_field(t, which == 2);
    if (which != 3) wpi_text_append(&t->text, ",");
    if (which != 3) add_text_field(t);
    if (which == 4) wpi_text_append(&t->text, ",");
    wpi_text_append(&t->text, below(t, 2) == 0 ? "\n" : "\r\n");
    t->line++;
    t->rows = rows + (t->bad_line == 0);
    if (t->bad_line != 0) t->hash = hash;
    for (; below(t, 8) == 0; t->line++)
        wpi_text_append(&t->text, below(t, 2) == 0 ? "\n" : "\r\n");
}

static void make_random_table(random_table *t, uint64_t seed) {
    *t = (random_table){.random = seed, .line = 2};
    wpi_text_append(&t->text, "i,s,f,t\n");
    const uint64_t rows = below(t, 40);
    const unsigned wrong_one_in = below(t, 2) == 0 ? 20 : 0;
    for (uint64_t i = 0; i < rows; i++)
        add_random_row(t, wrong_one_in);
    if (below(t, 4) == 0) { /* a last row without a line's end, or with a quote that stays open */
        const bool is_open = below(t, 2) == 0;
        wpi_text_append(&t->text, is_open ? "1,\"no,1.5,end" : "1,,1.5,");
        if (is_open) {
            mistake(t);
        } else if (t->bad_line == 0) {
            const int64_t one = 1;
            const double number = 1.5;
            keep_field(t, &one, sizeof one);
            keep_field(t, "", 0);
            keep_field(t, &number, sizeof number);
            keep_field(t, "", 0);
            t->rows++;
        }
    }
}

static uint64_t fold_chunk(const wpi_column_table *table, const wpi_column_chunk *chunk,
                           uint64_t hash) {
    for (uint64_t row = 0; row < chunk->row_count; row++)
        for (uint32_t column = 0; column < WIDTH; column++) {
            const wpi_dictionary *texts = wpi_column_table_dictionary(table, column);
            const void *values = chunk->columns[column].values;
            assert_null(chunk->columns[column].valid);
            if (column % 2 == 0) {
                hash = fold(hash, (const uint64_t *)values + row, sizeof(uint64_t));
                continue;
            }
            const uint32_t code = ((const uint32_t *)values)[row];
            assert_in_range(code, 0, texts->count);
            hash = code == 0
                       ? fold(hash, "", 0)
                       : fold(hash, texts->strings[code - 1].text, texts->strings[code - 1].length);
        }
    return hash;
}

typedef struct reading {
    wp_status status;
    uint64_t rows, hash;
    wp_error err;
} reading;

static reading read_in_pieces(const char *path, uint32_t threads, size_t block_bytes) {
    reading r = {0};
    const char *const paths[] = {path};
    const wpi_column_options options = {.types = "i:int64,s:text,f:float64,t:text",
                                        .thread_count = threads,
                                        .block_bytes = block_bytes};
    const wpi_selected selected[WIDTH] = {
        {.column = 0}, {.column = 1}, {.column = 2}, {.column = 3}};
    wpi_column_table *table = NULL;
    wpi_column_chunk chunk = {0};
    r.status = wpi_column_table_open(paths, 1, &options, &table, &r.err);
    if (r.status == WP_STATUS_OK)
        r.status = wpi_column_table_select(table, selected, WIDTH, &r.err);
    while (r.status == WP_STATUS_OK) {
        r.status = wpi_column_table_next(table, &chunk, &r.err);
        if (r.status != WP_STATUS_OK || chunk.row_count == 0) break;
        r.hash = fold_chunk(table, &chunk, r.hash);
        r.rows += chunk.row_count;
    }
    wpi_column_table_close(table);
    return r;
}

static void check_reading(const random_table *t, const reading *r, const reading *whole,
                          const char *path) {
    char wanted[256];
    if (t->bad_line == 0) {
        assert_status_ok(r->status, &r->err);
        assert_u64(r->rows, t->rows);
        assert_u64(r->hash, t->hash);
        return;
    }
    (void)snprintf(wanted, sizeof wanted, "%s:%llu: ", path, (unsigned long long)t->bad_line);
    assert_int_equal(r->status, WP_STATUS_PARSE);
    assert_contains(r->err.message, wanted);
    assert_string_equal(r->err.message, whole->err.message);
}

#ifdef WP_HAS_TSAN
enum { TABLES = 100 }; /* 1,500 threads */
#else
enum { TABLES = 400 };
#endif

/* The table and the reported error depend neither on how the text is cut nor on which thread reads
 * which piece. */
static void pieces_of_any_size_are_the_same_table(void **state) {
    (void)state;
    const char *said = getenv("SEED");
    uint64_t seed = said != NULL ? strtoull(said, NULL, 10) | 1 : 7;
    printf("SEED=%llu\n", (unsigned long long)seed);
    char *path = wpi_path_join(folder, "r.csv");
    for (int i = 0; i < TABLES; i++) {
        random_table t;
        wp_error err = {0};
        make_random_table(&t, wp_random_next(&seed));
        assert_status_ok(wpi_file_write(path, t.text.data, t.text.length, &err), &err);
        const reading whole = read_in_pieces(path, 1, 0);
        check_reading(&t, &whole, &whole, path);
        for (uint32_t threads = 1; threads <= 5; threads++) {
            const reading r = read_in_pieces(path, threads, 1 + below(&t, 60));
            check_reading(&t, &r, &whole, path);
        }
        wpi_text_deinit(&t.text);
    }
    wpi_free(path);
}

static int make_folder(void **state) {
    wp_error err = {0};
    (void)state;
    return wpi_temp_dir_create(&folder, &err) == WP_STATUS_OK ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_record_once_whatever_the_threads),
                                       cmocka_unit_test(a_mistake_far_behind_is_told_with_its_line),
                                       cmocka_unit_test(a_table_can_be_left_before_its_end),
                                       cmocka_unit_test(how_many_rows_there_are_is_known_about),
                                       cmocka_unit_test(pieces_of_any_size_are_the_same_table)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
