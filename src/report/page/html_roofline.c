/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The roofline of a run's kernels: warp instructions a second over warp instructions per byte, on
 * logarithmic axes. A kernel is a dot by its bytes of DRAM and, where it moves pages, a ring by its
 * bytes of the link; the roofs are the issue slots, DRAM and the link. A table has the numbers.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/cxx_name.h"
#include "base/page.h"
#include "report/page/page_parts.h"

#define KERNELS_MAX 8u
#define NAME_WIDTH 24u
#define LABELS_MAX 32u

/* The drawing, in pixels; text is 11 pixels high, 6.7 a column. */
#define WIDTH 560.0
#define HEIGHT 330.0
#define LEFT 54.0
#define RIGHT 548.0
#define TOP 12.0
#define BOTTOM 284.0
#define COLUMN 6.7

typedef struct point {
    const wp_run_kernel *kernel;
    double rate;       /* warp instructions a second */
    double dram, link; /* warp instructions per byte; 0: no bytes */
} point;

typedef struct box {
    double x, y, width; /* of a text: left, baseline */
} box;

typedef struct roofline {
    point points[KERNELS_MAX];
    size_t count;
    double issue, dram, link; /* peaks: a second, and bytes a second; 0: no such roof */
    double x_first, x_outer;  /* of the axes, powers of 10 as logarithms */
    double y_first, y_outer;
    box labels[LABELS_MAX];
    size_t label_count;
    wpi_text *out;
} roofline;

/* ---- numbers ---- */

static double count_of(const wp_run_record *r, const wp_run_kernel *k, const char *name) {
    return (double)wp_run_count(r, k->values, name);
}

static void add_point(const wp_run_record *r, const wp_run_kernel *k, roofline *to) {
    const double seconds = 1e-12 * count_of(r, k, "kernel_time_ps");
    const double instructions = count_of(r, k, "kernel_warp_instructions");
    const double dram = count_of(r, k, "dram_read_bytes") + count_of(r, k, "dram_written_bytes");
    const double to_device = count_of(r, k, "link_to_device_copied_bytes") +
                             count_of(r, k, "link_to_device_remote_bytes");
    const double to_host =
        count_of(r, k, "link_to_host_copied_bytes") + count_of(r, k, "link_to_host_remote_bytes");
    const double link = to_device > to_host ? to_device : to_host;
    if (seconds <= 0 || instructions <= 0 || dram + link <= 0) return;
    to->points[to->count++] = (point){k, instructions / seconds, dram > 0 ? instructions / dram : 0,
                                      link > 0 ? instructions / link : 0};
}

static void find(const wp_run_record *record, roofline *to) {
    const wp_run_machine *m = &record->simulation->machine;
    bool has_link = false;
    for (size_t i = 0; i < record->kernel_count && to->count < KERNELS_MAX; i++)
        if (record->kernels[i].values != NULL) add_point(record, &record->kernels[i], to);
    for (size_t i = 0; i < to->count; i++)
        has_link = has_link || to->points[i].link > 0;
    to->issue = (double)m->sm_count * (double)m->schedulers * (double)m->clock_hz;
    to->dram = (double)m->dram_bytes_per_s;
    to->link = has_link ? (double)m->link_bytes_per_s : 0;
}

static void widen(double value, double *least, double *most) {
    if (value <= 0) return;
    if (value < *least) *least = value;
    if (value > *most) *most = value;
}

/* Whole decades around all points and the ridges. */
static void find_axes(roofline *r) {
    double x_least = r->issue / r->dram / 10, x_most = 10 * x_least, y_least = r->issue,
           y_most = r->issue;
    if (r->link > 0) widen(r->issue / r->link, &x_least, &x_most);
    for (size_t i = 0; i < r->count; i++) {
        widen(r->points[i].dram, &x_least, &x_most);
        widen(r->points[i].link, &x_least, &x_most);
        widen(r->points[i].rate, &y_least, &y_most);
    }
    r->x_first = floor(log10(x_least / 2));
    r->x_outer = ceil(log10(x_most * 2));
    r->y_first = floor(log10(y_least / 2));
    r->y_outer = ceil(log10(y_most * 1.5));
}

/* The roof above a kernel: the least of those that it is limited by. */
static double roof_of(const roofline *r, const point *p, const char **name) {
    double least = r->issue;
    *name = "issue slots";
    if (p->dram > 0 && p->dram * r->dram < least) {
        least = p->dram * r->dram;
        *name = "DRAM";
    }
    if (p->link > 0 && r->link > 0 && p->link * r->link < least) {
        least = p->link * r->link;
        *name = "link";
    }
    return least;
}

/* ---- the drawing ---- */

static double x_of(const roofline *r, double value) {
    return LEFT + (RIGHT - LEFT) * (log10(value) - r->x_first) / (r->x_outer - r->x_first);
}

static double y_of(const roofline *r, double value) {
    return BOTTOM - (BOTTOM - TOP) * (log10(value) - r->y_first) / (r->y_outer - r->y_first);
}

static bool is_free(const roofline *r, const box *b) {
    if (b->x < LEFT || b->x + b->width > RIGHT || b->y - 9 < TOP || b->y + 3 > BOTTOM) return false;
    for (size_t i = 0; i < r->label_count; i++) {
        const box *o = &r->labels[i];
        if (b->x < o->x + o->width && o->x < b->x + b->width && fabs(b->y - o->y) < 13)
            return false;
    }
    return true;
}

/* A label at the first of some places around a point that is free; without one it is left out. */
static void append_label(roofline *r, double x, double y, const char *text, const char *class) {
    const double width = COLUMN * (double)wpi_text_columns(text);
    const box places[] = {{x + 9, y + 4, width},          {x - 9 - width, y + 4, width},
                          {x - width / 2, y - 9, width},  {x - width / 2, y + 18, width},
                          {x + 9, y + 18, width},         {x + 9, y - 9, width},
                          {x - 9 - width, y + 18, width}, {x - 9 - width, y - 9, width}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (!is_free(r, &places[i]) || r->label_count == LABELS_MAX) continue;
        r->labels[r->label_count++] = places[i];
        wpi_text_appendf(r->out, "<text class=%s x=\"%.1f\" y=\"%.1f\">", class, places[i].x,
                         places[i].y);
        wpi_text_append_html(r->out, text);
        wpi_text_append(r->out, "</text>\n");
        return;
    }
}

static void append_line(const roofline *r, const char *class, double x1, double y1, double x2,
                        double y2) {
    wpi_text_appendf(r->out, "<line class=%s x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                     class, x1, y1, x2, y2);
}

static void append_axes(const roofline *r) {
    for (double e = r->x_first; e <= r->x_outer; e++) {
        const double x = x_of(r, pow(10, e));
        append_line(r, "grid", x, TOP, x, BOTTOM);
        wpi_text_appendf(r->out,
                         "<text class=tick text-anchor=middle x=\"%.1f\" y=\"%.1f\">%g</text>", x,
                         BOTTOM + 15, pow(10, e));
    }
    for (double e = r->y_first; e <= r->y_outer; e++) {
        const double y = y_of(r, pow(10, e));
        append_line(r, "grid", LEFT, y, RIGHT, y);
        wpi_text_appendf(r->out, "<text class=tick text-anchor=end x=\"%.1f\" y=\"%.1f\">%g</text>",
                         LEFT - 6, y + 4, pow(10, e - 9));
    }
    wpi_text_appendf(r->out,
                     "<text class=tick text-anchor=middle x=\"%.1f\" y=\"%.1f\">warp instructions "
                     "per byte</text><text class=tick text-anchor=middle transform=\"translate(13 "
                     "%.1f) rotate(-90)\">10⁹ warp instructions / s</text>\n",
                     (LEFT + RIGHT) / 2, HEIGHT - 12, (TOP + BOTTOM) / 2);
}

/* A roof by bytes: a line of slope 1 up to the issue slots' roof. */
static void append_slope(roofline *r, const char *name, double bytes_per_s) {
    char label[48];
    const double left = pow(10, r->x_first), bottom = pow(10, r->y_first);
    double from = left;
    if (left * bytes_per_s < bottom) from = bottom / bytes_per_s;
    const double to = r->issue / bytes_per_s;
    const double middle = sqrt(from * to);
    append_line(r, "roof", x_of(r, from), y_of(r, from * bytes_per_s), x_of(r, to),
                y_of(r, r->issue));
    (void)snprintf(label, sizeof label, "%s, %.0f GB/s", name, bytes_per_s / 1e9);
    const double x = x_of(r, middle) - COLUMN * (double)wpi_text_columns(label) / 2;
    append_label(r, x, y_of(r, middle * bytes_per_s) - 14, label, "rooftext");
}

static void append_roofs(roofline *r) {
    char label[48];
    const double steepest = r->dram > r->link ? r->dram : r->link;
    append_line(r, "roof", x_of(r, r->issue / steepest), y_of(r, r->issue), RIGHT,
                y_of(r, r->issue));
    (void)snprintf(label, sizeof label, "issue slots, %.0f × 10⁹/s", r->issue / 1e9);
    append_label(r, RIGHT, y_of(r, r->issue) - 11, label, "rooftext");
    append_slope(r, "DRAM", r->dram);
    if (r->link > 0) append_slope(r, "link", r->link);
}

static void append_marker(const roofline *r, const point *p, double x, const char *class) {
    wpi_text_appendf(r->out, "<circle class=%s cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>", class,
                     x_of(r, x), y_of(r, p->rate));
    char *name = wpi_cxx_name_short(p->kernel->display_name, 80);
    wpi_text_append_html(r->out, name);
    wpi_text_append(r->out, "</title></circle>\n");
    wpi_free(name);
}

/* Markers first, so that no label covers one. */
static void append_points(roofline *r) {
    for (size_t i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        const double at[] = {p->dram, p->link};
        for (size_t k = 0; k < 2; k++) {
            if (at[k] <= 0) continue;
            append_marker(r, p, at[k], k == 0 ? "dot" : "ring");
            if (r->label_count < LABELS_MAX)
                r->labels[r->label_count++] = (box){x_of(r, at[k]) - 6, y_of(r, p->rate) + 5, 12};
        }
    }
    for (size_t i = 0; i < r->count; i++) {
        const point *p = &r->points[i];
        char *name = wpi_cxx_name_short(p->kernel->display_name, NAME_WIDTH);
        append_label(r, x_of(r, p->dram > 0 ? p->dram : p->link), y_of(r, p->rate), name, "point");
        wpi_free(name);
    }
}

/* ---- the table ---- */

static void append_intensity(double value, wpi_text *out) {
    if (value > 0)
        wpi_text_appendf(out, "<td class=n>%.3g</td>", value);
    else
        wpi_text_append(out, "<td class=n></td>");
}

static void append_row(const roofline *r, const point *p, wpi_text *out) {
    const char *name;
    const double roof = roof_of(r, p, &name);
    wpi_text_append(out, "<tr>");
    wpi_html_kernel_name(out, "th scope=row", p->kernel, 32);
    wpi_text_appendf(out, "<td class=n>%.3g</td>", p->rate / 1e9);
    append_intensity(p->dram, out);
    if (r->link > 0) append_intensity(p->link, out);
    wpi_text_appendf(out, "<td class=n>%s</td><td class=n>%.1f %%</td></tr>\n", name,
                     100 * p->rate / roof);
}

static void append_table(const roofline *r, wpi_text *out) {
    wpi_page_begin_wide(out, "Roofline, in numbers");
    wpi_text_appendf(out,
                     "<table class=fit><thead><tr><th scope=col>kernel</th><th scope=col>10⁹ warp "
                     "instructions / s</th><th scope=col>per byte of DRAM%s</th>%s<th "
                     "scope=col>roof</th><th scope=col>of it</th></tr></thead><tbody>\n",
                     r->link > 0 ? " (dot)" : "",
                     r->link > 0 ? "<th scope=col>per byte of link (ring)</th>" : "");
    for (size_t i = 0; i < r->count; i++)
        append_row(r, &r->points[i], out);
    wpi_text_append(out, "</tbody>");
    wpi_page_end_table(out);
}

void wpi_html_roofline(const wp_run_record *record, wpi_text *out) {
    roofline r = {.out = out};
    find(record, &r);
    if (r.count == 0 || r.issue <= 0 || r.dram <= 0) return;
    find_axes(&r);
    wpi_page_begin_fold(out, "Roofline", "how near kernels are to issue slots, DRAM and link",
                        false);
    wpi_page_begin_wide(out, "Roofline");
    wpi_text_appendf(out,
                     "<svg class=chart viewBox=\"0 0 %.0f %.0f\" role=img aria-label=\"Warp "
                     "instructions a second over warp instructions per byte; the table has the "
                     "numbers\">\n",
                     WIDTH, HEIGHT);
    append_axes(&r);
    append_points(&r);
    append_roofs(&r);
    wpi_text_append(out, "</svg></div>\n");
    append_table(&r, out);
    wpi_page_end_fold(out);
}
