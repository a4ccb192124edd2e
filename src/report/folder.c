/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The full set as a folder. It is written beside its place under another name and then takes its
 * place, so it is there complete or not at all; an earlier one is exchanged for it and removed. A
 * folder with files that are not ours is not touched.
 */
#define _GNU_SOURCE /* renameat2 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "report/json_parts.h"
#include "report/plots.h"
#include "report/run_record.h"

static const char *const own_names[] = {
    "report.txt",      "report.json",  "report.csv", "index.html", "host.json", "timeline.json",
    "utilisation.svg", "accesses.svg", "pages.svg",  "spent.svg",  "walks.svg"};

static bool is_own(const char *name) {
    for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++)
        if (strcmp(name, own_names[i]) == 0) return true;
    return false;
}

wp_status wp_run_record_check_folder(const char *dir, wp_error *err) {
    DIR *stream = opendir(dir);
    if (stream == NULL && errno == ENOENT) return WP_STATUS_OK;
    if (stream == NULL) return WP_FAIL(err, INVALID, "%s: %s", dir, strerror(errno));
    wp_status status = WP_STATUS_OK;
    for (const struct dirent *e = readdir(stream); e != NULL && status == WP_STATUS_OK;
         e = readdir(stream)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || is_own(e->d_name))
            continue;
        status = WP_FAIL(err, INVALID, "%s has '%s' in it, which is no report's: name a new folder",
                         dir, e->d_name);
    }
    (void)closedir(stream);
    return status;
}

/* ---- what goes into it
 * ---------------------------------------------------------------------------- */

typedef struct folder {
    const char *dir;
    wp_status status;
    wp_error *err;
} folder;

static void put(folder *f, const char *name, const char *data, size_t bytes) {
    if (f->status != WP_STATUS_OK) return;
    char *path = wp_path_join(f->dir, name);
    f->status = wp_file_write(path, data, bytes, f->err);
    wp_free(path);
}

static void put_form(folder *f, const char *name, const wp_run_record *record,
                     void (*render)(const wp_run_record *record, wp_text *out)) {
    wp_text text = {0};
    render(record, &text);
    put(f, name, wp_text_string(&text), text.length);
    wp_text_deinit(&text);
}

/* How long the simulation took: not the same from run to run, so it is beside the report. */
static void put_host(folder *f, const wp_run_record *record, uint64_t wall_time_ns) {
    const uint64_t instructions =
        wp_run_count(record, record->simulation->values, "kernel_thread_instructions");
    json_t *object = json_object();
    wpi_json_set(object, "wall_time_ns", wpi_json_number(wall_time_ns));
    if (wall_time_ns != 0)
        wpi_json_set(object, "thread_instructions_per_s",
                     json_real((double)instructions * 1e9 / (double)wall_time_ns));
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    WP_CHECK(text != NULL);
    put(f, "host.json", text, strlen(text));
    free(text);
    json_decref(object);
}

static void put_page(folder *f, const wp_run_record *record) {
    wpi_plots plots;
    wp_text html = {0};
    wpi_plots_make(record, &plots);
    wpi_run_record_html_with(record, &plots, &html);
    put(f, "index.html", wp_text_string(&html), html.length);
    for (size_t i = 0; i < plots.count; i++) {
        char *name = wp_format("%s.svg", plots.items[i].name);
        put(f, name, plots.items[i].svg, strlen(plots.items[i].svg));
        wp_free(name);
    }
    if (plots.why_not[0] != '\0') wp_log(WP_LOG_WARN, "report", "%s", plots.why_not);
    wp_text_deinit(&html);
    wpi_plots_deinit(&plots);
}

static void put_timeline(folder *f, const char *timeline_path) {
    char *data = NULL;
    size_t bytes = 0;
    if (timeline_path == NULL || f->status != WP_STATUS_OK) return;
    f->status = wp_file_read(timeline_path, &data, &bytes, f->err);
    put(f, "timeline.json", data, bytes);
    wp_free(data);
}

static wp_status fill(const char *dir, const wp_run_record *record, const char *timeline_path,
                      wp_error *err) {
    folder f = {.dir = dir, .err = err};
    wp_run_record told = *record;
    if (record->simulation != NULL) {
        put_host(&f, record, record->wall_time_ns);
        told.wall_time_ns = 0;
    }
    put_form(&f, "report.txt", &told, wpi_run_record_text);
    put_form(&f, "report.json", &told, wpi_run_record_json);
    put_form(&f, "report.csv", &told, wpi_run_record_csv);
    put_page(&f, &told);
    put_timeline(&f, timeline_path);
    return f.status;
}

/* ---- its place
 * ------------------------------------------------------------------------------------ */

static wp_status take_place(const char *made, const char *dir, wp_error *err) {
    if (rename(made, dir) == 0) return WP_STATUS_OK;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return WP_FAIL(err, IO, "%s: cannot be made: %s", dir, strerror(errno));
    if (renameat2(AT_FDCWD, made, AT_FDCWD, dir, RENAME_EXCHANGE) != 0)
        return WP_FAIL(err, IO, "%s: the earlier report cannot be replaced: %s; remove it", dir,
                       strerror(errno));
    wp_temp_dir_remove(made); /* the earlier one */
    return WP_STATUS_OK;
}

wp_status wp_run_record_write_folder(const wp_run_record *record, const char *dir,
                                     const char *timeline_path, wp_error *err) {
    WP_TRY(wp_run_record_check_folder(dir, err));
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    char *place = wp_format("%.*s", (int)length, dir);
    char *above = wp_path_dir(place);
    char *made = wp_format("%s.XXXXXX", place);
    wp_status status = wp_dir_create(above, err);
    bool is_made = false;
    if (status == WP_STATUS_OK) {
        is_made = mkdtemp(made) != NULL;
        if (!is_made) status = WP_FAIL(err, IO, "%s: cannot be made: %s", made, strerror(errno));
    }
    const mode_t mask = umask(0);
    (void)umask(mask);
    if (is_made) (void)chmod(made, 0777 & ~mask);
    if (status == WP_STATUS_OK) status = fill(made, record, timeline_path, err);
    if (status == WP_STATUS_OK) status = take_place(made, place, err);
    if (status != WP_STATUS_OK && is_made) wp_temp_dir_remove(made);
    wp_free(place);
    wp_free(above);
    wp_free(made);
    return status;
}
