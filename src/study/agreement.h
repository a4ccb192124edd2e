/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How far a figure's values are from the measured ones, over all claims of one unit: a figure whose
 * claims.json lists units under `agreement` compares a model with measurements, row by row.
 */
#ifndef WP_STUDY_AGREEMENT_H
#define WP_STUDY_AGREEMENT_H

#include "base/text.h"
#include "study/claims.h"

typedef struct wpi_agreement {
    const char *unit;
    size_t rows;
    double mean_error;     /* of |ours / published - 1| */
    double geometric_mean; /* of ours / published */
    double correlation;    /* of the logarithms; NAN below three rows */
} wpi_agreement;

/** Of the figure's n-th unit. False: it has no n-th unit, or no row of it has both values. */
bool wpi_agreement_find(const wpi_figure *figure, size_t n, wpi_agreement *out);

/** "24 rows in us: mean error 20 %, …", with `between` in place of the spaces between its parts. */
void wpi_agreement_describe(const wpi_agreement *agreement, const char *between, wpi_text *out);

/** A drawing (SVG) of its rows: measured across, ours up, both logarithmic. */
void wpi_agreement_draw(const wpi_figure *figure, const wpi_agreement *agreement, wpi_text *out);

#endif
