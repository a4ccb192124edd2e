/* SPDX-License-Identifier: Apache-2.0 */
#include "study/agreement.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define SIDE 320.0 /* of the drawing's square, in pixels */
#define LEFT 64.0
#define RIGHT 24.0
#define TOP 12.0

static bool is_row(const wpi_claim *claim, const char *unit) {
    return claim->has_published && claim->has_ours && claim->published > 0.0 && claim->ours > 0.0 &&
           strcmp(claim->unit, unit) == 0;
}

typedef struct sums {
    double x, y, xx, yy, xy; /* of logarithms: published, ours */
    double error;
    size_t rows;
} sums;

static double correlation_of(const sums *s) {
    const double n = (double)s->rows;
    const double spread = sqrt((n * s->xx - s->x * s->x)) * sqrt((n * s->yy - s->y * s->y));
    return s->rows < 3 || !(spread > 0.0) ? NAN : (n * s->xy - s->x * s->y) / spread;
}

bool wpi_agreement_find(const wpi_figure *figure, size_t n, wpi_agreement *out) {
    const char *unit =
        json_string_value(json_array_get(json_object_get(figure->json, "agreement"), n));
    sums s = {0};
    if (unit == NULL) return false;
    for (size_t i = 0; i < figure->claim_count; i++) {
        const wpi_claim *claim = &figure->claims[i];
        if (!is_row(claim, unit)) continue;
        const double x = log(claim->published), y = log(claim->ours);
        s.x += x, s.y += y, s.xx += x * x, s.yy += y * y, s.xy += x * y;
        s.error += fabs(claim->ours / claim->published - 1.0);
        s.rows++;
    }
    if (s.rows == 0) return false;
    *out = (wpi_agreement){.unit = unit,
                           .rows = s.rows,
                           .mean_error = s.error / (double)s.rows,
                           .geometric_mean = exp((s.y - s.x) / (double)s.rows),
                           .correlation = correlation_of(&s)};
    return true;
}

void wpi_agreement_describe(const wpi_agreement *a, const char *between, wpi_text *out) {
    wpi_text_appendf(out, "%zu rows in %s:%smean error %.0f %%,%s", a->rows, a->unit, between,
                     100.0 * a->mean_error, between);
    wpi_text_appendf(out, "ours over measured %.2f (geometric mean)", a->geometric_mean);
    if (!isnan(a->correlation))
        wpi_text_appendf(out, ",%scorrelation of logarithms %.3f", between, a->correlation);
}

/* ---- the drawing ---- */

typedef struct axes {
    double low, high; /* of both: powers of ten */
    wpi_text *out;
} axes;

static double place(const axes *a, double value) {
    return (log10(value) - log10(a->low)) / (log10(a->high) - log10(a->low)) * SIDE;
}

/* "10", "100k", "1M". */
static void name_tick(double value, char out[16]) {
    static const char *const units[] = {"", "k", "M", "G", "T"};
    size_t unit = 0;
    for (; value >= 999.0 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1000.0;
    (void)snprintf(out, 16, "%g%s", value, units[unit]);
}

static void draw_tick(const axes *a, double value) {
    const double at = place(a, value);
    char name[16];
    name_tick(value, name);
    wpi_text_appendf(a->out,
                     "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='currentColor' "
                     "stroke-opacity='.15'/><line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' "
                     "stroke='currentColor' stroke-opacity='.15'/>",
                     LEFT + at, TOP, LEFT + at, TOP + SIDE, LEFT, TOP + SIDE - at, LEFT + SIDE,
                     TOP + SIDE - at);
    wpi_text_appendf(a->out,
                     "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text>"
                     "<text x='%.1f' y='%.1f' text-anchor='end'>%s</text>",
                     LEFT + at, TOP + SIDE + 16.0, name, LEFT - 6.0, TOP + SIDE - at + 4.0, name);
}

/* A line on which ours is `times` what was measured. */
static void draw_diagonal(const axes *a, double times, const char *dash) {
    const double shift = log10(times) / (log10(a->high) - log10(a->low)) * SIDE;
    const double from = shift < 0.0 ? -shift : 0.0, to = shift > 0.0 ? SIDE - shift : SIDE;
    wpi_text_appendf(a->out,
                     "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='currentColor' "
                     "stroke-opacity='.5' stroke-dasharray='%s'/>",
                     LEFT + from, TOP + SIDE - from - shift, LEFT + to, TOP + SIDE - to - shift,
                     dash);
}

static void draw_points(const wpi_figure *figure, const char *unit, const axes *a) {
    for (size_t i = 0; i < figure->claim_count; i++) {
        const wpi_claim *claim = &figure->claims[i];
        if (!is_row(claim, unit)) continue;
        wpi_text_appendf(a->out,
                         "<circle cx='%.1f' cy='%.1f' r='4' fill='#4a6fa5' fill-opacity='.7'>"
                         "<title>",
                         LEFT + place(a, claim->published), TOP + SIDE - place(a, claim->ours));
        wpi_text_append_html(a->out, claim->text);
        wpi_text_appendf(a->out, ": %.6g, measured %.6g</title></circle>", claim->ours,
                         claim->published);
    }
}

void wpi_agreement_draw(const wpi_figure *figure, const wpi_agreement *agreement, wpi_text *out) {
    double least = INFINITY, most = 0.0;
    for (size_t i = 0; i < figure->claim_count; i++) {
        const wpi_claim *claim = &figure->claims[i];
        if (!is_row(claim, agreement->unit)) continue;
        least = fmin(least, fmin(claim->published, claim->ours));
        most = fmax(most, fmax(claim->published, claim->ours));
    }
    const axes a = {pow(10.0, floor(log10(least))), pow(10.0, floor(log10(most)) + 1.0), out};
    wpi_text_appendf(out, "<svg viewBox='0 0 %.0f %.0f' width='%.0f' role='img' aria-label='",
                     LEFT + SIDE + RIGHT, TOP + SIDE + 44.0, LEFT + SIDE + RIGHT);
    wpi_text_append(out, "Ours against measured, in ");
    wpi_text_append_html(out, agreement->unit);
    wpi_text_append(out, "' font-size='12' fill='currentColor' style='max-width:100%'>");
    for (double tick = a.low; tick <= a.high * 1.001; tick *= 10.0)
        draw_tick(&a, tick);
    draw_diagonal(&a, 1.0, "none");
    draw_diagonal(&a, 1.25, "4 4");
    draw_diagonal(&a, 0.75, "4 4");
    draw_points(figure, agreement->unit, &a);
    wpi_text_appendf(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>measured, ",
                     LEFT + SIDE / 2.0, TOP + SIDE + 36.0);
    wpi_text_append_html(out, agreement->unit);
    wpi_text_appendf(out,
                     "</text><text transform='translate(14 %.1f) rotate(-90)' "
                     "text-anchor='middle'>ours (dashed: 25 %% more or less)</text></svg>\n",
                     TOP + SIDE / 2.0);
}
