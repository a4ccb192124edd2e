/* SPDX-License-Identifier: Apache-2.0 */
/** Plots: gnuplot scripts, and the SVG that gnuplot prints. */
#ifndef WP_BASE_GNUPLOT_H
#define WP_BASE_GNUPLOT_H

#include "base/fail.h"
#include "base/text.h"

/** A script's first lines: an SVG of this name (of its styles), a grid, axes on two sides. */
void wpi_gnuplot_begin(wpi_text *script, const char *name, unsigned width, unsigned height);
/** Text as gnuplot takes it, at most `length` bytes of it. */
void wpi_gnuplot_quote(wpi_text *script, const char *text, size_t length);
/** Runs a script and returns its output, the SVG (wpi_free). NOT_FOUND: there is no gnuplot, with
 * the package's name; IO. */
WP_NODISCARD wp_status wpi_gnuplot_run(const wpi_text *script, char **svg, wp_error *err);

#endif
