/* SPDX-License-Identifier: Apache-2.0 */
/* The record as a value: release, order, and writing in the format of a path's extension. */
#include "report/run_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "report/cached.h"
#include "report/shapes.h"
#include "report/simulation.h"
#include "report/streamed.h"

typedef void (*render_fn)(const wp_run_record *record, wpi_text *out);

static const struct {
    const char *ending;
    render_fn render;
} forms[] = {{".txt", wpi_run_record_text},
             {".json", wpi_run_record_json},
             {".csv", wpi_run_record_csv},
             {".html", wpi_run_record_html}};

const char *wp_copy_kind_name(wp_copy_kind kind) {
    static const char *const names[WP_COPY_KIND_COUNT] = {"h2d", "d2h", "d2d", "h2h", "fill"};
    return (unsigned)kind < WP_COPY_KIND_COUNT ? names[kind] : "unknown";
}

void wp_run_record_deinit(wp_run_record *record) {
    wpi_free(record->version);
    wpi_free(record->device_spec);
    wpi_free(record->device_name);
    for (size_t i = 0; i < record->program_count; i++)
        wpi_free(record->program[i]);
    wpi_free(record->program);
    for (size_t i = 0; i < record->kernel_count; i++) {
        wpi_free(record->kernels[i].name);
        wpi_free(record->kernels[i].display_name);
        wpi_free(record->kernels[i].values);
        wpi_free(record->kernels[i].shapes);
        wpi_free(record->kernels[i].launched_by);
    }
    wpi_free(record->kernels);
    wpi_simulation_destroy(record->simulation);
    for (size_t i = 0; i < record->policy_file_count; i++)
        wpi_free(record->policy_files[i].path);
    wpi_free(record->policy_files);
    wpi_streamed_deinit(record);
    wpi_cached_deinit(record);
    for (size_t i = 0; i < record->estimate_count; i++) {
        wpi_free(record->estimates[i].rule);
        wpi_free(record->estimates[i].kernel_times_ns);
    }
    wpi_free(record->estimates);
    *record = (wp_run_record){0};
}

static int by_time(const void *a, const void *b) {
    const wp_run_kernel *x = a;
    const wp_run_kernel *y = b;
    if (x->time_ns != y->time_ns) return x->time_ns > y->time_ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

void wpi_run_record_sort(wp_run_record *record) {
    for (size_t i = 0; i < record->kernel_count; i++)
        wpi_shapes_sort(&record->kernels[i]);
    if (record->kernel_count != 0)
        qsort(record->kernels, record->kernel_count, sizeof *record->kernels, by_time);
}

static char *render_with(const wp_run_record *record, render_fn render) {
    wpi_text text = {0};
    render(record, &text);
    return wpi_text_take(&text);
}

char *wp_run_record_to_json(const wp_run_record *record) {
    return render_with(record, wpi_run_record_json);
}

char *wp_run_record_to_csv(const wp_run_record *record) {
    return render_with(record, wpi_run_record_csv);
}

char *wp_run_record_to_text(const wp_run_record *record) {
    return render_with(record, wpi_run_record_text);
}

void wp_run_text_free(char *text) {
    wpi_free(text);
}

static render_fn form_of(const char *path) {
    char *ending = wpi_path_extension(path);
    render_fn render = NULL;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (strcmp(ending, forms[i].ending) == 0) render = forms[i].render;
    wpi_free(ending);
    return render;
}

wp_status wp_run_record_check_path(const char *path, wp_error *err) {
    if (form_of(path) != NULL) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "%s: the name of a report must end in .txt, .json, .csv or .html",
                   path);
}

wp_status wp_run_record_write(const wp_run_record *record, const char *path, wp_error *err) {
    WP_TRY(wp_run_record_check_path(path, err));
    char *text = render_with(record, form_of(path));
    const wp_status status = wpi_file_write(path, text, strlen(text), err);
    wpi_free(text);
    return status;
}

wp_status wp_run_record_read(const char *path, wp_run_record *out, wp_error *err) {
    *out = (wp_run_record){0};
    char *data = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &data, &size_bytes, err));
    const wp_status status = wpi_run_record_parse(data, size_bytes, path, out, err);
    wpi_free(data);
    return status;
}
