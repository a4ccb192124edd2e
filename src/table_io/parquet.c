/* SPDX-License-Identifier: Apache-2.0 */
#include "table_io/parquet.h"

#include "base/alloc.h"
#include "base/file.h"
#include "table_io/output.h"
#include "table_io/python.h"

static const char *shown_name(const char *path) {
    return path != NULL ? path : "stdout";
}

wp_status wpi_parquet_check(const char *path, wp_error *err) {
    wpi_strings argv = {0};
    const wpi_subprocess_options options = {.stdin_path = "/dev/null"};
    wp_status status = wpi_python_argv("arrow_write.py", &argv, err);
    wpi_strings_add(&argv, shown_name(path));
    if (status == WP_STATUS_OK) status = wpi_python_run(&argv, &options, err);
    wpi_strings_deinit(&argv);
    return status;
}

static wp_status copy(const char *from, const char *to, wp_error *err) {
    char *data = NULL;
    size_t size_bytes;
    wpi_output *output = NULL;
    WP_TRY(wpi_file_read(from, &data, &size_bytes, err));
    wp_status status = wpi_output_open(to, &output, err);
    if (status == WP_STATUS_OK) {
        wpi_output_write(output, data, size_bytes);
        status = wpi_output_finish(output, err);
    }
    wpi_output_close(output);
    wpi_free(data);
    return status;
}

wp_status wpi_parquet_write(const char *csv_path, const wpi_parquet_field *fields,
                            size_t field_count, const char *folder, const char *path,
                            wp_error *err) {
    wpi_strings argv = {0};
    char *file = wpi_path_join(folder, "result.parquet");
    const wpi_subprocess_options options = {.stdin_path = csv_path};
    wp_status status = wpi_python_argv("arrow_write.py", &argv, err);
    wpi_strings_add(&argv, shown_name(path));
    wpi_strings_add(&argv, file);
    for (size_t i = 0; i < field_count; i++) {
        wpi_strings_add(&argv, fields[i].type);
        wpi_strings_add(&argv, fields[i].name);
    }
    if (status == WP_STATUS_OK) status = wpi_python_run(&argv, &options, err);
    if (status == WP_STATUS_OK) status = copy(file, path, err);
    wpi_strings_deinit(&argv);
    wpi_free(file);
    return status;
}
