/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a table's file holds: all of it is read, or the reader says what is wrong in one
 * sentence. What begins as .npy does is read as such, anything else as CSV, and that twice: again
 * in small pieces by several threads, which must come to the same.
 *
 * With -DWP_FUZZ (clang -fsanitize=fuzzer) a libFuzzer target; otherwise a driver that tries the
 * files named, and for each of them cut at every byte and with every byte replaced by others; after
 * --every N at every N-th byte.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "table_io/column_table.h"
#include "table_io/npy.h"
#include "test_folder.h"

#define COLUMNS_MAX 64

static void stop(const char *what, wp_status status, const wp_error *err) {
    (void)fprintf(stderr, "%s: status %d, message '%s'\n", what, (int)status, err->message);
    abort();
}

static uint64_t fold(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t fold_value(const wpi_column_table *table, uint32_t place, const wp_column *column,
                           uint64_t row, uint64_t hash) {
    const wpi_dictionary *texts = wpi_column_table_dictionary(table, place);
    const uint32_t bytes = wp_type_bytes(column->type);
    if (column->valid != NULL && (column->valid[row / 8] >> (row % 8) & 1) == 0)
        return fold(hash, "NULL", 4);
    if (!wpi_column_table_field(table, place)->is_text)
        return fold(hash, (const char *)column->values + row * bytes, bytes);
    const uint32_t code = ((const uint32_t *)column->values)[row];
    if (code > texts->count) abort();
    if (code == 0) return fold(hash, "NULL", 4);
    return fold(hash, texts->strings[code - 1].text, texts->strings[code - 1].length);
}

/* Every bit of every value is looked at, so that sanitizers see what is not there; and how the text
 * was cut does not show. */
static uint64_t look(const wpi_column_table *table, const wpi_column_chunk *chunk, uint32_t columns,
                     uint64_t hash) {
    for (uint64_t row = 0; row < chunk->row_count; row++)
        for (uint32_t i = 0; i < columns; i++)
            hash = fold_value(table, i, &chunk->columns[i], row, hash);
    return hash;
}

typedef struct reading {
    wp_status status;
    uint64_t rows, hash;
    wp_error err;
} reading;

static void read_all(wpi_column_table *table, reading *r) {
    wpi_selected selected[COLUMNS_MAX];
    const uint32_t width = wpi_column_table_width(table),
                   count = width < COLUMNS_MAX ? width : COLUMNS_MAX;
    for (uint32_t i = 0; i < count; i++)
        selected[i] = (wpi_selected){i, WPI_USE_VALUES};
    r->status = wpi_column_table_select(table, selected, count, &r->err);
    wpi_column_chunk chunk = {0};
    while (r->status == WP_STATUS_OK) {
        r->status = wpi_column_table_next(table, &chunk, &r->err);
        if (r->status != WP_STATUS_OK || chunk.row_count == 0) break;
        r->hash = look(table, &chunk, count, r->hash);
        r->rows += chunk.row_count;
    }
}

static reading read_file(const char *path, uint32_t thread_count, size_t block_bytes) {
    const wpi_column_options options = {
        .null_text = "NA", .thread_count = thread_count, .block_bytes = block_bytes};
    reading r = {0};
    wpi_column_table *table = NULL;
    r.status = wpi_column_table_open(&path, 1, &options, &table, &r.err);
    if ((r.status == WP_STATUS_OK) != (table != NULL)) stop("open", r.status, &r.err);
    if (r.status == WP_STATUS_OK) read_all(table, &r);
    if (r.status != WP_STATUS_OK &&
        (r.err.message[0] == '\0' || strchr(r.err.message, '\n') != NULL))
        stop("no sentence", r.status, &r.err);
    wpi_column_table_close(table);
    return r;
}

static void try_data(const void *data, size_t size) {
    static char csv[PATH_MAX], npy[PATH_MAX];
    if (csv[0] == '\0') {
        (void)snprintf(csv, sizeof csv, "%s/t.csv", test_folder());
        (void)snprintf(npy, sizeof npy, "%s/t.npy", test_folder());
    }
    const size_t magic = strlen(WPI_NPY_MAGIC);
    const char *path = size >= magic && memcmp(data, WPI_NPY_MAGIC, magic) == 0 ? npy : csv;
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    const reading whole = read_file(path, 1, 0);
    if (path == npy) return;
    const uint64_t how = fold(0, data, size) >> 16;
    const reading pieces = read_file(path, 1 + (uint32_t)(how % 5), 1 + how / 5 % 40);
    const bool is_same =
        whole.status == pieces.status &&
        (whole.status == WP_STATUS_OK ? whole.rows == pieces.rows && whole.hash == pieces.hash
                                      : strcmp(whole.err.message, pieces.err.message) == 0);
    if (!is_same) stop("in pieces something else", pieces.status, &pieces.err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    try_data(data, size);
    return 0;
}

#ifndef WP_FUZZ
#include "every.h"

static void try_file(char *data, size_t size) {
    static const char others[] = "\",\n\r9-.e\xff";
    try_data(data, size);
    for (size_t length = 0; length < size; length += every)
        try_data(data, length);
    for (size_t at = 0; at < size; at += every) {
        const char before = data[at];
        for (size_t i = 0; i < sizeof others; i++) { /* the last one is NUL */
            data[at] = others[i];
            try_data(data, size);
        }
        data[at] = before;
    }
}

int main(int argc, char **argv) {
    for (int i = read_every(argc, argv); i < argc; i++) {
        wp_error err = {0};
        char *data = NULL;
        size_t size_bytes = 0;
        if (wpi_file_read(argv[i], &data, &size_bytes, &err) != WP_STATUS_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        try_file(data, size_bytes);
        wpi_free(data);
    }
    return argc > 1 ? 0 : 2;
}

#endif
