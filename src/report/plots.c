/* SPDX-License-Identifier: Apache-2.0 */
/* A plot is a function that writes gnuplot's script, data included; gnuplot is run once for each.
 */
#include "report/plots.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/gnuplot.h"
#include "base/text.h"
#include "report/metrics.h"
#include "report/run_record.h"
#include "report/simulation.h"

#define ALLOCATIONS_MAX 12u /* named beside the map */
#define NAME_WIDTH 24
#define NAMES_APART 16u /* of the axis */

/* ---- utilisation over time ---- */

static bool is_busy(const wp_run_series *series) {
    for (size_t i = 0; i < series->slice_count && series->units != 0; i++)
        if (series->busy_ps[i] != 0) return true;
    return false;
}

static void append_series(const wp_run_series *s, size_t number, wpi_text *out) {
    wpi_text_appendf(out, "$u%zu << EOD\n", number);
    for (size_t i = 0; i < s->slice_count; i++)
        wpi_text_appendf(out, "%.9g %.6g\n", (double)i * (double)s->slice_ps * 1e-6,
                         100 * (double)s->busy_ps[i] / ((double)s->slice_ps * (double)s->units));
    wpi_text_appendf(out, "%.9g 0\nEOD\n", (double)s->slice_count * (double)s->slice_ps * 1e-6);
}

static bool draw_utilisation(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    bool has_one = false;
    for (size_t i = 0; i < s->series_count; i++)
        if (is_busy(&s->series[i])) append_series(&s->series[i], i, out);
    wpi_text_appendf(out,
                     "set xlabel 'simulated time, µs'\nset ylabel 'busy, %%'\n"
                     "set xrange [0:%.9g]\nset yrange [0:105]\nset key outside right\n",
                     (double)s->time_ps * 1e-6);
    for (size_t i = 0; i < s->series_count; i++) {
        if (!is_busy(&s->series[i])) continue;
        wpi_text_appendf(out, "%s$u%zu using 1:2 with fsteps linewidth 1.5 title ",
                         has_one ? ", " : "plot ", i);
        wpi_gnuplot_quote(out, wpi_series_label(s->series[i].name), 64);
        has_one = true;
    }
    wpi_text_append(out, "\n");
    return has_one;
}

/* ---- pages over time ---- */

static const char *name_of(const wp_run_allocation *a) {
    return a->name[0] != '\0' ? a->name : a->site;
}

/* Whether the name of allocation `number` has room beside those before it. */
static bool has_room(const wp_run_simulation *s, size_t number) {
    const uint64_t all = s->map.row_count * s->map.row_bytes;
    const uint64_t place = s->allocations[number].place_bytes;
    for (size_t i = 0; i < number; i++) {
        const uint64_t other = s->allocations[i].place_bytes;
        const uint64_t apart = other > place ? other - place : place - other;
        if (s->allocations[i].has_place && apart < all / NAMES_APART) return false;
    }
    return true;
}

/* A line where an allocation begins, and its name. */
static void append_borders(const wp_run_simulation *s, const char *axis, wpi_text *out) {
    for (size_t i = 0; i < s->allocation_count && i < ALLOCATIONS_MAX; i++) {
        const wp_run_allocation *a = &s->allocations[i];
        if (!a->has_place || !has_room(s, i)) continue;
        const double page = (double)a->place_bytes / (double)s->machine.page_bytes;
        if (axis[0] == 'y')
            wpi_text_appendf(out,
                             "set arrow from graph 0,first %.9g to graph 1,first %.9g nohead "
                             "linecolor 'grey'\nset label at graph 1.01,first %.9g offset 0,0.4 ",
                             page, page, page);
        else
            wpi_text_appendf(out,
                             "set arrow from first %.9g,graph 0 to first %.9g,graph 1 nohead "
                             "linecolor 'grey'\nset label at first %.9g,graph 1.02 rotate by 20 ",
                             page, page, page);
        wpi_gnuplot_quote(out, name_of(a), NAME_WIDTH);
        wpi_text_append(out, "\n");
    }
}

static bool draw_map(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    const wp_run_map *m = &s->map;
    if (m->row_count == 0 || m->slice_count == 0) return false;
    wpi_text_append(out, "set datafile missing '?'\n$map << EOD\n");
    for (size_t row = 0; row < m->row_count; row++) {
        for (size_t slice = 0; slice < m->slice_count; slice++) {
            const uint32_t count = m->accesses[slice * m->row_count + row];
            wpi_text_appendf(out, count != 0 ? "%" PRIu32 " " : "? ", count);
        }
        wpi_text_append(out, "\n");
    }
    const double slice_us = (double)m->slice_ps * 1e-6;
    const double row_pages = (double)m->row_bytes / (double)s->machine.page_bytes;
    wpi_text_append(out, "EOD\n");
    append_borders(s, "y", out);
    wpi_text_appendf(
        out,
        "set xlabel 'simulated time, µs'\nset ylabel 'page (%" PRIu64 " KiB)'\n"
        "set cblabel 'accesses'\nset logscale cb\nset rmargin at screen 0.68\n"
        "set colorbox user origin screen 0.88,0.2 size screen 0.015,0.65\n"
        "set palette defined (0 '#c6dbef', 0.5 '#3182bd', 1 '#08306b')\n"
        "set xrange [0:%.9g]\nset yrange [0:%.9g]\n"
        "plot $map matrix using (($1+0.5)*%.9g):(($2+0.5)*%.9g):3 with image notitle\n",
        s->machine.page_bytes / 1024, (double)m->slice_count * slice_us,
        (double)m->row_count * row_pages, slice_us, row_pages);
    return m->row_count > 1 && m->slice_count > 1;
}

static bool draw_pages(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    if (s->map.row_count == 0) return false;
    const double row_pages = (double)s->map.row_bytes / (double)s->machine.page_bytes;
    wpi_text_append(out, "$pages << EOD\n");
    for (size_t i = 0; i < s->map.row_count; i++) {
        const wp_run_touches *t = &s->footprint[i];
        wpi_text_appendf(out, "%.9g %.9g %.9g %.9g\n", ((double)i + 0.5) * row_pages,
                         (double)t->reads / row_pages, (double)(t->reads + t->writes) / row_pages,
                         (double)t->walks / row_pages);
    }
    wpi_text_append(out, "EOD\n");
    append_borders(s, "x", out);
    wpi_text_appendf(
        out,
        "set xlabel 'page (%" PRIu64
        " KiB)'\nset ylabel 'accesses per page, walks per page'\nset yrange [0:*]\n"
        "set xrange [0:%.9g]\nset style fill solid 0.8 noborder\nset boxwidth %.9g\n"
        "set key outside right\nset tmargin 6\n"
        "plot $pages using 1:3 with boxes title 'writes', '' using 1:2 with boxes title "
        "'reads', '' using 1:4 with steps title 'page walks'\n",
        s->machine.page_bytes / 1024, (double)s->map.row_count * row_pages, row_pages);
    return true;
}

/* ---- page walks ---- */

static bool draw_walks(const wp_run_record *record, wpi_text *out) {
    const wp_run_simulation *s = record->simulation;
    const wp_run_column *c = wpi_simulation_column(s, "walker_latency_ps");
    if (c == NULL || s->values[c->first] == 0) return false;
    const uint64_t *classes = &s->values[c->first + 2];
    size_t bars = 0;
    wpi_text_append(out, "$walks << EOD\n");
    for (size_t i = 1; i < WP_RUN_HISTOGRAM_CLASSES; i++) {
        const double first_ns = 1e-3 * (double)((uint64_t)1 << (i - 1));
        bars += classes[i] != 0;
        if (classes[i] != 0)
            wpi_text_appendf(out, "%.9g %" PRIu64 " %.9g\n", first_ns, classes[i], 2 * first_ns);
    }
    wpi_text_append(out, "EOD\nset logscale x 2\nset xlabel 'latency of a page walk, ns'\n"
                         "set ylabel 'walks'\nset yrange [0:*]\nset style fill solid 0.8 border\n"
                         "plot $walks using 1:2:1:3:(0):2 with boxxyerror notitle\n");
    return bars > 1; /* one bar is no picture */
}

/* ---- gnuplot ---- */

static const struct {
    const char *name, *title;
    bool (*draw)(const wp_run_record *record, wpi_text *out);
} plots[WPI_PLOTS_MAX] = {
    {"utilisation", "Utilisation over time", draw_utilisation},
    {"accesses", "Accesses to pages over time", draw_map},
    {"pages", "Accesses by page", draw_pages},
    {"walks", "Page walks by latency", draw_walks},
};

/* Adds a plot, if it has data. */
static wp_status draw(const wp_run_record *record, size_t number, wpi_plots *out, wp_error *err) {
    wpi_text script = {0};
    wp_status status = WP_STATUS_OK;
    wpi_gnuplot_begin(&script, plots[number].name, 960, 400);
    if (plots[number].draw(record, &script)) {
        wpi_plot *plot = &out->items[out->count];
        *plot = (wpi_plot){plots[number].name, plots[number].title, NULL};
        status = wpi_gnuplot_run(&script, &plot->svg, err);
        if (status == WP_STATUS_OK) out->count++;
    }
    wpi_text_deinit(&script);
    return status;
}

void wpi_plots_make(const wp_run_record *record, wpi_plots *out) {
    wp_error err = {0};
    wp_status status = WP_STATUS_OK;
    *out = (wpi_plots){0};
    if (record->simulation == NULL) return;
    for (size_t i = 0; i < WPI_PLOTS_MAX && status == WP_STATUS_OK; i++)
        status = draw(record, i, out, &err);
    if (status != WP_STATUS_OK)
        (void)snprintf(out->why_not, sizeof out->why_not, "%s: %.100s",
                       status == WP_STATUS_NOT_FOUND ? "no plots" : "plots are missing",
                       err.message);
}

void wpi_plots_deinit(wpi_plots *p) {
    for (size_t i = 0; i < p->count; i++)
        wpi_free(p->items[i].svg);
    *p = (wpi_plots){0};
}
