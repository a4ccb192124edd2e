/* SPDX-License-Identifier: Apache-2.0 */
/* The full set of a report's forms, as a folder. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "report/json/json_parts.h"
#include "report/new_folder.h"
#include "report/plots.h"
#include "report/run_record.h"

static const char *const own_names[] = {
    "report.txt",      "report.json",  "report.csv", "index.html", "host.json", "timeline.json",
    "utilisation.svg", "accesses.svg", "pages.svg",  "spent.svg",  "walks.svg", NULL};

wp_status wp_run_record_check_folder(const char *dir, wp_error *err) {
    return wpi_new_folder_check(dir, own_names, err);
}

static void put_form(wpi_new_folder *f, const char *name, const wp_run_record *record,
                     void (*render)(const wp_run_record *record, wpi_text *out)) {
    wpi_text text = {0};
    render(record, &text);
    wpi_new_folder_put_text(f, name, &text);
}

/* Writes the duration of the simulation, which differs between runs, beside the report. */
static void put_host(wpi_new_folder *f, const wp_run_record *record, uint64_t wall_time_ns) {
    const uint64_t instructions =
        wp_run_count(record, record->simulation->values, "kernel_thread_instructions");
    json_t *object = json_object();
    wpi_json_set(object, "wall_time_ns", wpi_json_number(wall_time_ns));
    if (wall_time_ns != 0)
        wpi_json_set(object, "thread_instructions_per_s",
                     json_real((double)instructions * 1e9 / (double)wall_time_ns));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    WP_CHECK(text != NULL);
    wpi_new_folder_put(f, "host.json", text, strlen(text));
    free(text);
    json_decref(object);
}

static void put_page(wpi_new_folder *f, const wp_run_record *record) {
    wpi_plots plots;
    wpi_text html = {0};
    wpi_plots_make(record, &plots);
    wpi_run_record_html_with(record, &plots, &html);
    wpi_new_folder_put(f, "index.html", wpi_text_string(&html), html.length);
    for (size_t i = 0; i < plots.count; i++) {
        char *name = wpi_format("%s.svg", plots.items[i].name);
        wpi_new_folder_put(f, name, plots.items[i].svg, strlen(plots.items[i].svg));
        wpi_free(name);
    }
    if (plots.why_not[0] != '\0') wpi_log(WP_LOG_WARN, "report", "%s", plots.why_not);
    wpi_text_deinit(&html);
    wpi_plots_deinit(&plots);
}

static void put_timeline(wpi_new_folder *f, const char *timeline_path) {
    char *data = NULL;
    size_t bytes = 0;
    if (timeline_path == NULL || f->status != WP_STATUS_OK) return;
    f->status = wpi_file_read(timeline_path, &data, &bytes, f->err);
    wpi_new_folder_put(f, "timeline.json", data, bytes);
    wpi_free(data);
}

/* Contents of a folder. */
typedef struct content {
    const wp_run_record *record;
    const char *timeline_path;
} content;

static void fill(wpi_new_folder *folder, void *object) {
    const content *c = object;
    wp_run_record told = *c->record;
    if (told.simulation != NULL) {
        put_host(folder, c->record, told.wall_time_ns);
        told.wall_time_ns = 0;
    }
    put_form(folder, "report.txt", &told, wpi_run_record_text);
    put_form(folder, "report.json", &told, wpi_run_record_json);
    put_form(folder, "report.csv", &told, wpi_run_record_csv);
    put_page(folder, &told);
    put_timeline(folder, c->timeline_path);
}

wp_status wp_run_record_write_folder(const wp_run_record *record, const char *dir,
                                     const char *timeline_path, wp_error *err) {
    content c = {record, timeline_path};
    WP_TRY(wp_run_record_check_folder(dir, err));
    return wpi_new_folder_write(dir, fill, &c, err);
}
