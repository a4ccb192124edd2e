/* SPDX-License-Identifier: Apache-2.0 */
/* Plots of managed memory: pages on the vertical axis, allocation above allocation, or on the
 * horizontal one; time on the horizontal axis, with a mark where a kernel begins. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/gnuplot.h"
#include "base/units.h"
#include "report/managed_counts.h"
#include "report/simulation.h"

#define NAME_WIDTH 20u
#define NAMES_APART 20u /* of the axis */
#define TICKS_MAX 200u
#define NAMED_LAUNCHES_MAX 40u
#define WIDTH_COLUMNS 75 /* of the picture, in letters */

static double ms_of(uint64_t time_ps) {
    return (double)time_ps * 1e-9;
}

/* The end of the time axis: that of the run. */
static double end_ms(const wp_run_record *record) {
    return ms_of(record->simulation->time_ps);
}

/* ---- what all have --------------------------------------------------------------------------- */

static void append_name(const wp_run_managed *m, size_t number, wpi_text *out) {
    char bytes[32];
    char *name = wpi_managed_name(m, number);
    char *text = wpi_format("%.*s, %s", (int)NAME_WIDTH, name,
                            wpi_format_bytes(m->allocations[number].bytes, bytes));
    wpi_gnuplot_quote(out, text, strlen(text));
    wpi_text_append(out, "\n");
    wpi_free(text);
    wpi_free(name);
}

/* Whether the allocation's name is shown: of those that begin close to each other, the largest
 * one's is. */
static bool has_room(const wp_run_managed *m, size_t number) {
    const wp_run_managed_allocation *own = &m->allocations[number];
    for (size_t i = 0; i < m->allocation_count; i++) {
        const wp_run_managed_allocation *a = &m->allocations[i];
        const size_t apart = a->first_row > own->first_row ? a->first_row - own->first_row
                                                           : own->first_row - a->first_row;
        const bool is_larger =
            a->row_count > own->row_count || (a->row_count == own->row_count && i < number);
        if (i != number && is_larger && apart < m->row_count / NAMES_APART) return false;
    }
    return true;
}

/* Draws a line where an allocation begins, and its name. */
static void append_borders(const wp_run_managed *m, bool is_upright, wpi_text *out) {
    for (size_t i = 0; i < m->allocation_count; i++) {
        const uint64_t page = m->allocations[i].first_row * m->row_pages;
        wpi_text_appendf(
            out,
            is_upright ? "set arrow from graph 0,first %" PRIu64 " to graph 1,first %" PRIu64
                       : "set arrow from first %" PRIu64 ",graph 0 to first %" PRIu64 ",graph 1",
            page, page);
        wpi_text_append(out, " nohead linecolor 'grey'\n");
        if (!has_room(m, i)) continue;
        if (is_upright)
            wpi_text_appendf(out, "set label at graph 1.01,first %" PRIu64 " offset 0,0.5 ", page);
        else
            wpi_text_appendf(out, "set label at first %" PRIu64 ",graph 1.02 rotate by 20 ", page);
        append_name(m, i, out);
    }
}

/* Draws a tick above the plot where a kernel begins, with its name if it differs from the previous
 * one's and there is room. */
static void append_launches(const wp_run_record *record, const wp_run_managed *m, wpi_text *out) {
    const char *last = "";
    double tick_ms = -end_ms(record), free_ms = tick_ms; /* where a name ends */
    for (size_t i = 0; i < m->launch_count; i++) {
        const wp_run_launch *l = &m->launches[i];
        const double start_ms = ms_of(l->start_ps);
        if (start_ms - tick_ms < end_ms(record) / TICKS_MAX) continue;
        tick_ms = start_ms;
        wpi_text_appendf(
            out, "set arrow from first %.9g,graph 1 to first %.9g,graph 1.03 nohead front\n",
            start_ms, start_ms);
        if (m->launch_count > NAMED_LAUNCHES_MAX || strcmp(last, l->kernel) == 0 ||
            start_ms < free_ms)
            continue;
        char *name = wpi_cxx_name_short(l->kernel, NAME_WIDTH);
        last = l->kernel;
        free_ms = start_ms + end_ms(record) * (double)(wpi_text_columns(name) + 2) / WIDTH_COLUMNS;
        wpi_text_appendf(out, "set label at first %.9g,graph 1.05 ", start_ms);
        wpi_gnuplot_quote(out, name, strlen(name));
        wpi_free(name);
        wpi_text_append(out, "\n");
    }
}

static void append_time_axis(const wp_run_record *record, wpi_text *out) {
    wpi_text_appendf(out, "set xlabel 'simulated time, ms'\nset xrange [0:%.9g]\nset tmargin 3\n",
                     end_ms(record));
}

/* The vertical axis of pages. */
static void append_page_axis(const wp_run_managed *m, wpi_text *out) {
    wpi_text_appendf(out, "set ylabel 'page (4 KiB)'\nset yrange [0:%" PRIu64 "]\nset rmargin 24\n",
                     m->row_count * m->row_pages);
    append_borders(m, true, out);
}

static const wp_run_managed *managed_of(const wp_run_record *record) {
    return record->simulation->managed;
}

static const uint32_t *cell_of(const wp_run_managed *m, size_t slice, size_t row) {
    return m->map[slice * m->row_count + row];
}

/* ---- how often each page is accessed --------------------------------------------------------- */

/* The most accessed page of a row, and whether one of them was written. */
typedef struct peak {
    uint64_t accesses;
    bool is_written;
} peak;

static peak peak_of(const wp_run_managed *m, const wp_run_managed_allocation *a, size_t row) {
    peak out = {0};
    const uint64_t first = row * m->row_pages;
    for (uint64_t page = first; page < first + m->row_pages && page < a->page_count; page++) {
        const uint64_t *counts = a->pages[page];
        const uint64_t accesses = counts[WP_RUN_PAGE_READ] + counts[WP_RUN_PAGE_WRITTEN];
        if (accesses > out.accesses) out.accesses = accesses;
        out.is_written = out.is_written || counts[WP_RUN_PAGE_WRITTEN] != 0;
    }
    return out;
}

static bool append_peaks(const wp_run_managed *m, bool are_written, const char *name,
                         wpi_text *out) {
    bool has_one = false;
    wpi_text_appendf(out, "%s << EOD\n", name);
    for (size_t i = 0; i < m->allocation_count; i++) {
        const wp_run_managed_allocation *a = &m->allocations[i];
        for (size_t row = 0; row < a->row_count; row++) {
            const peak found = peak_of(m, a, row);
            if (found.accesses == 0 || found.is_written != are_written) continue;
            wpi_text_appendf(out, "%" PRIu64 " %" PRIu64 "\n", (a->first_row + row) * m->row_pages,
                             found.accesses);
            has_one = true;
        }
    }
    if (!has_one) wpi_text_append(out, "0 NaN\n");
    wpi_text_append(out, "EOD\n");
    return has_one;
}

bool wpi_plot_frequency(const wp_run_record *record, wpi_text *out) {
    const wp_run_managed *m = managed_of(record);
    const bool has_read = append_peaks(m, false, "$read", out);
    const bool has_written = append_peaks(m, true, "$written", out);
    append_borders(m, false, out);
    wpi_text_append(out, "set ylabel 'accesses of a page");
    if (m->row_pages > 1) wpi_text_appendf(out, ", the most of %" PRIu64, m->row_pages);
    wpi_text_appendf(out,
                     "'\nset xlabel 'page (4 KiB)'\nset xrange [0:%" PRIu64 "]\n"
                     "set yrange [0:*]\nset tmargin 6\nset key outside right\n"
                     "plot $read using 1:2 with points pointtype 7 pointsize 0.3 linecolor rgb "
                     "'#3182bd' title 'read only', $written using 1:2 with points pointtype 7 "
                     "pointsize 0.3 linecolor rgb '#c0392b' title 'written, too'\n",
                     m->row_count * m->row_pages);
    return has_read || has_written;
}

/* ---- which pages are accessed when ----------------------------------------------------------- */

bool wpi_plot_accesses(const wp_run_record *record, wpi_text *out) {
    const wp_run_managed *m = managed_of(record);
    bool has_one = false;
    wpi_text_append(out, "set datafile missing '?'\n$map << EOD\n");
    for (size_t row = 0; row < m->row_count; row++) {
        for (size_t slice = 0; slice < m->slice_count; slice++) {
            const uint32_t *cell = cell_of(m, slice, row);
            const uint64_t count = (uint64_t)cell[WP_RUN_PAGE_READ] + cell[WP_RUN_PAGE_WRITTEN];
            has_one = has_one || count != 0;
            wpi_text_appendf(out, count != 0 ? "%" PRIu64 " " : "? ", count);
        }
        wpi_text_append(out, "\n");
    }
    wpi_text_append(out, "EOD\n");
    append_time_axis(record, out);
    append_page_axis(m, out);
    append_launches(record, m, out);
    wpi_text_appendf(out,
                     "set logscale cb\nset cblabel 'accesses'\nset rmargin 32\nset colorbox "
                     "vertical user origin screen 0.94,screen 0.2 size screen 0.012,screen 0.6\n"
                     "set palette defined (0 '#c6dbef', 0.5 '#3182bd', 1 '#08306b')\n"
                     "plot $map matrix using (($1+0.5)*%.9g):(($2+0.5)*%" PRIu64
                     "):3 with image notitle\n",
                     ms_of(m->slice_ps), m->row_pages);
    return has_one && m->row_count > 1 && m->slice_count > 1;
}

/* ---- which pages come and leave when --------------------------------------------------------- */

/* Events that a cell shows, rarest first. */
static const struct {
    wp_run_page_event event;
    unsigned rgb;
    const char *title;
} shown[] = {{WP_RUN_PAGE_RETURNED, 0x8e44ad, "to the host"},
             {WP_RUN_PAGE_FAULTED, 0xc0392b, "far faults"},
             {WP_RUN_PAGE_EVICTED, 0xe6a23c, "evicted"},
             {WP_RUN_PAGE_FETCHED, 0x6baed6, "migrated in"},
             {WP_RUN_PAGE_REMOTE, 0x2a9d3f, "remote"}};

#define SHOWN (sizeof shown / sizeof shown[0])

/* SHOWN: nothing moved. */
static size_t kind_of(const uint32_t *cell) {
    size_t i = 0;
    while (i < SHOWN && cell[shown[i].event] == 0)
        i++;
    return i;
}

static void append_colours(wpi_text *out) {
    wpi_text_appendf(out,
                     "unset colorbox\nset cbrange [0:%zu]\nset palette maxcolors %zu defined (",
                     SHOWN, SHOWN);
    for (size_t i = 0; i < SHOWN; i++)
        wpi_text_appendf(out, "%s%zu '#%06x', %zu '#%06x'", i == 0 ? "" : ", ", i, shown[i].rgb,
                         i + 1, shown[i].rgb);
    wpi_text_append(out, ")\n");
}

bool wpi_plot_movement(const wp_run_record *record, wpi_text *out) {
    const wp_run_managed *m = managed_of(record);
    bool has[SHOWN] = {false}, has_one = false;
    wpi_text_append(out, "set datafile missing '?'\n$map << EOD\n");
    for (size_t row = 0; row < m->row_count; row++) {
        for (size_t slice = 0; slice < m->slice_count; slice++) {
            const size_t kind = kind_of(cell_of(m, slice, row));
            if (kind < SHOWN) has[kind] = has_one = true;
            if (kind < SHOWN)
                wpi_text_appendf(out, "%zu.5 ", kind);
            else
                wpi_text_append(out, "? ");
        }
        wpi_text_append(out, "\n");
    }
    wpi_text_append(out, "EOD\n");
    append_time_axis(record, out);
    append_page_axis(m, out);
    append_launches(record, m, out);
    append_colours(out);
    wpi_text_appendf(
        out,
        "set bmargin 7\nset key at screen 0.5,screen 0.07 center horizontal\nplot $map "
        "matrix using (($1+0.5)*%.9g):(($2+0.5)*%" PRIu64 "):3 with image notitle",
        ms_of(m->slice_ps), m->row_pages);
    for (size_t i = 0; i < SHOWN; i++)
        if (has[i])
            wpi_text_appendf(out, ", NaN with points pointtype 5 linecolor rgb '#%06x' title '%s'",
                             shown[i].rgb, shown[i].title);
    wpi_text_append(out, "\n");
    return has_one && m->row_count > 1 && m->slice_count > 1;
}

/* ---- the link -------------------------------------------------------------------------------- */

static const wp_run_series *series_of(const wp_run_record *record, const char *name) {
    const wp_run_simulation *s = record->simulation;
    for (size_t i = 0; i < s->series_count; i++)
        if (strcmp(s->series[i].name, name) == 0) return &s->series[i];
    return NULL;
}

static bool append_link(const wp_run_record *record, const char *series, const char *name,
                        wpi_text *out) {
    const wp_run_series *s = series_of(record, series);
    bool has_one = false;
    wpi_text_appendf(out, "%s << EOD\n", name);
    for (size_t i = 0; s != NULL && i < s->slice_count; i++) {
        wpi_text_appendf(out, "%.9g %.6g\n", ms_of(i * s->slice_ps),
                         100 * (double)s->busy_ps[i] / (double)s->slice_ps);
        has_one = has_one || s->busy_ps[i] != 0;
    }
    if (s != NULL) wpi_text_appendf(out, "%.9g 0\n", ms_of(s->slice_count * s->slice_ps));
    wpi_text_append(out, "EOD\n");
    return has_one;
}

bool wpi_plot_link(const wp_run_record *record, wpi_text *out) {
    const bool has_in = append_link(record, "link_to_device_utilisation", "$in", out);
    const bool has_out = append_link(record, "link_to_host_utilisation", "$out", out);
    append_time_axis(record, out);
    append_launches(record, managed_of(record), out);
    wpi_text_append(out, "set ylabel 'link busy, %'\nset yrange [0:105]\nset key outside right\n"
                         "plot $in using 1:2 with steps linewidth 1.5 linecolor rgb '#3182bd' "
                         "title 'to the device', $out using 1:2 with steps linewidth 1.5 linecolor "
                         "rgb '#e6a23c' title 'to the host'\n");
    return has_in || has_out;
}
