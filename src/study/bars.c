/* SPDX-License-Identifier: Apache-2.0 */
#include "study/bars.h"

#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/gnuplot.h"
#include "base/text.h"

#define BAR_PIXELS 26u

static void append_data(const wpi_bar *bars, size_t count, wpi_text *script) {
    static const int colours[] = {
        [WP_BAR_PLAIN] = 0x4a6fa5, [WP_BAR_GOOD] = 0x2a9d3f, [WP_BAR_BAD] = 0xc0392b};
    wpi_text_append(script, "$times << END\n");
    for (size_t i = 0; i < count; i++)
        wpi_text_appendf(script, "\"%s\" %.6f %d\n", bars[i].label, (double)bars[i].time_ns / 1e6,
                         colours[bars[i].mark]);
    wpi_text_append(script, "END\n");
}

wp_status wpi_bars_plot(const wpi_bar *bars, size_t count, const char *x_label, const char *folder,
                        const char *name, wp_error *err) {
    wpi_text script = {0};
    char *svg = NULL, *file = wpi_format("%s.svg", name), *path = wpi_path_join(folder, file);
    wpi_gnuplot_begin(&script, name, 860, 120 + (unsigned)count * BAR_PIXELS);
    append_data(bars, count, &script);
    wpi_text_appendf(&script,
                     "set xlabel '%s'\nset xrange [0:]\nset yrange [%u.5:-0.5]\n"
                     "set key off\nset style fill solid\n"
                     "plot $times using (0):0:(0):2:($0-0.35):($0+0.35):3:ytic(1) "
                     "with boxxyerror linecolor rgb variable\n",
                     x_label, (unsigned)count - 1);
    wp_status status = wpi_gnuplot_run(&script, &svg, err);
    if (status == WP_STATUS_OK) status = wpi_file_write(path, svg, strlen(svg), err);
    wpi_text_deinit(&script);
    wpi_free(svg);
    wpi_free(path);
    wpi_free(file);
    return status;
}
