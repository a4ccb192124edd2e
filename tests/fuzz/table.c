/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a table's file holds: all of it is read, or the reader says what is wrong in one
 * sentence. What begins as .npy does is read as such, anything else as CSV.
 *
 * With -DWP_FUZZ (clang -fsanitize=fuzzer) a libFuzzer target; otherwise a driver that tries the
 * files named, and for each of them cut at every byte and with every byte replaced by others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "table_io/npy.h"
#include "table_io/table.h"

#define COLUMNS_MAX 64

static void stop(const char *what, wp_status status, const wp_error *err) {
    (void)fprintf(stderr, "%s: status %d, message '%s'\n", what, (int)status, err->message);
    abort();
}

/* Every bit of every value is looked at, so that sanitizers see what is not there. */
static uint64_t look(const wpi_table *table, const wpi_chunk *chunk, uint32_t columns) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < columns; i++) {
        const wp_column *column = &chunk->columns[i];
        const unsigned char *bytes = column->values;
        const wpi_dictionary *texts = wpi_table_dictionary(table, i);
        for (uint64_t at = 0; at < chunk->row_count * wp_type_bytes(column->type); at++)
            sum += bytes[at];
        for (uint64_t row = 0; column->valid != NULL && row < chunk->row_count; row++)
            sum += column->valid[row / 8] >> (row % 8) & 1;
        if (!wpi_table_field(table, i)->is_text) continue;
        for (uint64_t row = 0; row < chunk->row_count; row++)
            if (((const uint32_t *)column->values)[row] > texts->count) abort();
    }
    return sum;
}

static wp_status read_all(wpi_table *table, uint64_t *sum, wp_error *err) {
    wpi_selected selected[COLUMNS_MAX];
    const uint32_t width = wpi_table_width(table),
                   count = width < COLUMNS_MAX ? width : COLUMNS_MAX;
    for (uint32_t i = 0; i < count; i++)
        selected[i] = (wpi_selected){i, WPI_USE_VALUES};
    wp_status status = wpi_table_select(table, selected, count, err);
    wpi_chunk chunk = {0};
    while (status == WP_STATUS_OK) {
        status = wpi_table_next(table, &chunk, err);
        if (status != WP_STATUS_OK || chunk.row_count == 0) break;
        *sum += look(table, &chunk, count);
    }
    return status;
}

static uint64_t try_data(const void *data, size_t size) {
    static char *folder, *csv, *npy;
    wp_error err = {0};
    uint64_t sum = 0;
    if (folder == NULL) {
        if (wp_temp_dir_create(&folder, &err) != WP_STATUS_OK) stop("a folder", err.status, &err);
        csv = wp_path_join(folder, "t.csv");
        npy = wp_path_join(folder, "t.npy");
    }
    const size_t magic = strlen(WPI_NPY_MAGIC);
    const char *path = size >= magic && memcmp(data, WPI_NPY_MAGIC, magic) == 0 ? npy : csv;
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
    const wpi_table_options options = {.null_text = "NA", .thread_count = 1};
    wpi_table *table = NULL;
    wp_status status = wpi_table_open(&path, 1, &options, &table, &err);
    if ((status == WP_STATUS_OK) != (table != NULL)) stop("open", status, &err);
    if (status == WP_STATUS_OK) status = read_all(table, &sum, &err);
    if (status != WP_STATUS_OK && (err.message[0] == '\0' || strchr(err.message, '\n') != NULL))
        stop("no sentence", status, &err);
    wpi_table_close(table);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)try_data(data, size);
    return 0;
}

#ifndef WP_FUZZ

static void try_file(char *data, size_t size) {
    static const char others[] = "\",\n\r9-.e\xff";
    for (size_t length = 0; length <= size; length++)
        (void)try_data(data, length);
    for (size_t at = 0; at < size; at++) {
        const char before = data[at];
        for (size_t i = 0; i < sizeof others; i++) { /* the last one is NUL */
            data[at] = others[i];
            (void)try_data(data, size);
        }
        data[at] = before;
    }
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        wp_error err = {0};
        char *data = NULL;
        size_t size_bytes = 0;
        if (wp_file_read(argv[i], &data, &size_bytes, &err) != WP_STATUS_OK) {
            (void)fprintf(stderr, "%s\n", err.message);
            return 1;
        }
        try_file(data, size_bytes);
        wp_free(data);
    }
    return argc > 1 ? 0 : 2;
}

#endif
