/* SPDX-License-Identifier: Apache-2.0 */
/* A bar for each combination, drawn by gnuplot. */
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/gnuplot.h"
#include "cli/compare.h"

#define BAR_PIXELS 26u

static void append_data(const wp_variation *variation, const uint64_t *times_ns, size_t best,
                        size_t worst, wp_text *script) {
    wp_text_append(script, "$times << END\n");
    for (size_t i = 0; i < variation->combination_count; i++) {
        wp_text_append(script, "\"");
        wpi_variation_label(variation, i, script);
        wp_text_appendf(script, "\" %.6f %d\n", (double)times_ns[i] / 1e6,
                        i == best    ? 0x2a9d3f
                        : i == worst ? 0xc0392b
                                     : 0x4a6fa5);
    }
    wp_text_append(script, "END\n");
}

static void append_script(const wp_variation *variation, const uint64_t *times_ns, size_t best,
                          size_t worst, wp_text *script) {
    const unsigned count = (unsigned)variation->combination_count;
    wp_gnuplot_begin(script, "compare", 860, 120 + count * BAR_PIXELS);
    append_data(variation, times_ns, best, worst, script);
    wp_text_appendf(script,
                    "set xlabel 'kernel time (ms)'\nset xrange [0:]\nset yrange [%u.5:-0.5]\n"
                    "set key off\nset style fill solid\n"
                    "plot $times using (0):0:(0):2:($0-0.35):($0+0.35):3:ytic(1) "
                    "with boxxyerror linecolor rgb variable\n",
                    count - 1);
}

wp_status wpi_compare_plot(const wp_variation *variation, const uint64_t *times_ns, size_t best,
                           size_t worst, const char *folder, wp_error *err) {
    wp_text script = {0};
    char *svg = NULL, *path = wp_path_join(folder, "compare.svg");
    append_script(variation, times_ns, best, worst, &script);
    wp_status status = wp_gnuplot_run(&script, &svg, err);
    if (status == WP_STATUS_OK) status = wp_file_write(path, svg, strlen(svg), err);
    wp_text_deinit(&script);
    wp_free(svg);
    wp_free(path);
    return status;
}
