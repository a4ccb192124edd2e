/* SPDX-License-Identifier: Apache-2.0 */
/* Events of pages of managed memory, as a folder: a summary, tables, plots. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/gnuplot.h"
#include "base/log.h"
#include "base/page.h"
#include "report/managed_counts.h"
#include "report/new_folder.h"
#include "report/page/html.h"
#include "report/simulation.h"

#define EVENTS WP_RUN_PAGE_EVENTS
#define PAGE_BYTES 4096u

static const char *const own_names[] = {
    "summary.json", "pages.csv",    "time.csv", "link.csv",   "frequency.svg",
    "accesses.svg", "movement.svg", "link.svg", "index.html", NULL};

static const struct {
    const char *name, *title;
    wpi_page_plot_fn draw;
} plots[] = {{"movement", "Which pages move when", wpi_plot_movement},
             {"accesses", "Which pages are accessed when", wpi_plot_accesses},
             {"frequency", "How often each page is accessed", wpi_plot_frequency},
             {"link", "The link over time", wpi_plot_link}};

#define PLOTS (sizeof plots / sizeof plots[0])

/* ---- tables ---------------------------------------------------------------------------------- */

static void append_event_names(wpi_text *out) {
    for (uint32_t event = 0; event < EVENTS; event++)
        wpi_text_appendf(out, ",%s", wp_run_page_event_name(event));
    wpi_text_append(out, "\n");
}

static void put_pages(wpi_new_folder *folder, const wp_run_managed *m) {
    wpi_text out = {0};
    wpi_text_append(&out, "allocation,page");
    append_event_names(&out);
    for (size_t i = 0; i < m->allocation_count; i++) {
        const wp_run_managed_allocation *a = &m->allocations[i];
        for (uint64_t page = 0; page < a->page_count; page++) {
            const uint64_t *counts = a->pages[page];
            uint64_t sum = 0;
            for (uint32_t event = 0; event < EVENTS; event++)
                sum += counts[event];
            if (sum == 0) continue;
            wpi_text_appendf(&out, "%zu,%" PRIu64, i, page);
            for (uint32_t event = 0; event < EVENTS; event++)
                wpi_text_appendf(&out, ",%" PRIu64, counts[event]);
            wpi_text_append(&out, "\n");
        }
    }
    wpi_new_folder_put_text(folder, "pages.csv", &out);
}

static void append_cell(const wp_run_managed *m, size_t slice, size_t number, size_t row,
                        wpi_text *out) {
    const wp_run_managed_allocation *a = &m->allocations[number];
    const uint32_t *counts = m->map[slice * m->row_count + a->first_row + row];
    uint64_t sum = 0;
    for (uint32_t event = 0; event < EVENTS; event++)
        sum += counts[event];
    if (sum == 0) return;
    wpi_text_appendf(out, "%.3f,%zu,%" PRIu64, (double)(slice * m->slice_ps) * 1e-3, number,
                     row * m->row_pages);
    for (uint32_t event = 0; event < EVENTS; event++)
        wpi_text_appendf(out, ",%" PRIu32, counts[event]);
    wpi_text_append(out, "\n");
}

static void put_time(wpi_new_folder *folder, const wp_run_managed *m) {
    wpi_text out = {0};
    wpi_text_append(&out, "time_ns,allocation,page");
    append_event_names(&out);
    for (size_t slice = 0; slice < m->slice_count; slice++)
        for (size_t i = 0; i < m->allocation_count; i++)
            for (size_t row = 0; row < m->allocations[i].row_count; row++)
                append_cell(m, slice, i, row, &out);
    wpi_new_folder_put_text(folder, "time.csv", &out);
}

static void put_link(wpi_new_folder *folder, const wp_run_simulation *s) {
    static const char *const names[] = {"link_to_device_utilisation", "link_to_host_utilisation"};
    wpi_text out = {0};
    wpi_text_append(&out, "direction,time_ns,slice_ns,busy_ns\n");
    for (size_t i = 0; i < s->series_count; i++) {
        const wp_run_series *series = &s->series[i];
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            if (strcmp(series->name, names[k]) != 0) continue;
            for (size_t slice = 0; slice < series->slice_count; slice++)
                wpi_text_appendf(&out, "%s,%.3f,%.3f,%.3f\n", k == 0 ? "to_device" : "to_host",
                                 (double)(slice * series->slice_ps) * 1e-3,
                                 (double)series->slice_ps * 1e-3,
                                 (double)series->busy_ps[slice] * 1e-3);
        }
    }
    wpi_new_folder_put_text(folder, "link.csv", &out);
}

/* ---- the summary ----------------------------------------------------------------------------- */

static json_t *sum_of(const wp_run_managed_allocation *a) {
    json_t *object = json_object();
    for (uint32_t event = 0; event < EVENTS; event++) {
        uint64_t sum = 0;
        for (uint64_t page = 0; page < a->page_count; page++)
            sum += a->pages[page][event];
        wpi_json_set(object, wp_run_page_event_name(event), wpi_json_number(sum));
    }
    return object;
}

static uint64_t accessed_pages(const wp_run_managed_allocation *a) {
    uint64_t count = 0;
    for (uint64_t page = 0; page < a->page_count; page++)
        count += a->pages[page][WP_RUN_PAGE_READ] + a->pages[page][WP_RUN_PAGE_WRITTEN] != 0;
    return count;
}

static json_t *allocations_of(const wp_run_managed *m) {
    json_t *array = json_array();
    for (size_t i = 0; i < m->allocation_count; i++) {
        const wp_run_managed_allocation *a = &m->allocations[i];
        json_t *object = json_object();
        wpi_json_set(object, "name", wpi_json_string(a->name));
        wpi_json_set(object, "address", wpi_json_number(a->address));
        wpi_json_set(object, "bytes", wpi_json_number(a->bytes));
        wpi_json_set(object, "pages", wpi_json_number(a->page_count));
        wpi_json_set(object, "pages_accessed", wpi_json_number(accessed_pages(a)));
        wpi_json_set(object, "sums", sum_of(a));
        wpi_json_append(array, object);
    }
    return array;
}

static json_t *launches_of(const wp_run_managed *m) {
    json_t *array = json_array();
    for (size_t i = 0; i < m->launch_count; i++) {
        json_t *object = json_object();
        wpi_json_set(object, "kernel", wpi_json_string(m->launches[i].kernel));
        wpi_json_set(object, "start_ps", wpi_json_number(m->launches[i].start_ps));
        wpi_json_set(object, "end_ps", wpi_json_number(m->launches[i].end_ps));
        wpi_json_append(array, object);
    }
    return array;
}

static void put_summary(wpi_new_folder *folder, const wp_run_record *record) {
    const wp_run_managed *m = record->simulation->managed;
    json_t *object = json_object(), *program = json_array();
    for (size_t i = 0; i < record->program_count; i++)
        wpi_json_append(program, wpi_json_string(record->program[i]));
    wpi_json_set(object, "schema", wpi_json_string("warpage.pages/1"));
    wpi_json_set(object, "program", program);
    wpi_json_set(object, "device", wpi_json_string(record->device_spec));
    wpi_json_set(object, "time_ps", wpi_json_number(record->simulation->time_ps));
    wpi_json_set(object, "page_bytes", wpi_json_number(PAGE_BYTES));
    wpi_json_set(object, "row_pages", wpi_json_number(m->row_pages));
    wpi_json_set(object, "slice_ps", wpi_json_number(m->slice_ps));
    wpi_json_set(object, "allocations", allocations_of(m));
    wpi_json_set(object, "allocations_left_out", wpi_json_number(m->allocations_left_out));
    wpi_json_set(object, "launches", launches_of(m));
    wpi_json_set(object, "launches_left_out", wpi_json_number(m->launches_left_out));
    char *text = json_dumps(object, JSON_INDENT(2));
    WP_CHECK(text != NULL);
    wpi_new_folder_put(folder, "summary.json", text, strlen(text));
    free(text);
    json_decref(object);
}

/* ---- plots ----------------------------------------------------------------------------------- */

/* NOT_FOUND: there is no gnuplot. `*svg` is NULL if there is nothing to draw. */
static wp_status put_plot(wpi_new_folder *folder, const wp_run_record *record, size_t number,
                          char **svg, wp_error *err) {
    wpi_text script = {0};
    char *name = wpi_format("%s.svg", plots[number].name);
    wp_status status = WP_STATUS_OK;
    wpi_gnuplot_begin(&script, plots[number].name, 960, 440);
    if (plots[number].draw(record, &script)) status = wpi_gnuplot_run(&script, svg, err);
    if (*svg != NULL) wpi_new_folder_put(folder, name, *svg, strlen(*svg));
    wpi_text_deinit(&script);
    wpi_free(name);
    return status;
}

static void put_plots(wpi_new_folder *folder, const wp_run_record *record, char *svgs[PLOTS]) {
    wp_error err = {0};
    wp_status status = WP_STATUS_OK;
    for (size_t i = 0; i < PLOTS && status == WP_STATUS_OK; i++)
        status = put_plot(folder, record, i, &svgs[i], &err);
    if (status != WP_STATUS_OK)
        wpi_log(WP_LOG_WARN, "report", "%s: %s",
                status == WP_STATUS_NOT_FOUND ? "no plots" : "plots are missing", err.message);
}

static void put_index(wpi_new_folder *folder, const wp_run_record *record, char *svgs[PLOTS]) {
    wpi_text out = {0};
    wpi_html_begin(record, &out);
    for (size_t i = 0; i < PLOTS; i++) {
        if (svgs[i] != NULL) wpi_page_plot(&out, plots[i].title, svgs[i]);
    }
    wpi_html_moves(record->simulation, &out);
    wpi_html_end(record, &out);
    wpi_new_folder_put_text(folder, "index.html", &out);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void fill(wpi_new_folder *folder, void *object) {
    const wp_run_record *record = object;
    put_summary(folder, record);
    put_pages(folder, record->simulation->managed);
    put_time(folder, record->simulation->managed);
    put_link(folder, record->simulation);
    char *svgs[PLOTS] = {NULL};
    put_plots(folder, record, svgs);
    put_index(folder, record, svgs);
    for (size_t i = 0; i < PLOTS; i++)
        wpi_free(svgs[i]);
}

wp_status wp_run_record_check_pages(const char *dir, wp_error *err) {
    return wpi_new_folder_check(dir, own_names, err);
}

wp_status wp_run_record_write_pages(const wp_run_record *record, const char *dir, wp_error *err) {
    const wp_run_simulation *s = record->simulation;
    if (s == NULL || s->managed == NULL)
        return WP_FAIL(err, NOT_FOUND,
                       "--pages: pages do not migrate on this device: name a simulated GPU with "
                       "paging.on");
    if (s->managed->allocation_count == 0)
        return WP_FAIL(err, NOT_FOUND,
                       "--pages: the program has no managed memory (cudaMallocManaged), so there "
                       "is nothing to show");
    WP_TRY(wp_run_record_check_pages(dir, err));
    wp_run_record told = *record;
    told.wall_time_ns = 0; /* for equal output of equal runs */
    return wpi_new_folder_write(dir, fill, &told, err);
}
