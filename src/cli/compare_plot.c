/* SPDX-License-Identifier: Apache-2.0 */
/* A bar for each combination, drawn by gnuplot. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"
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

wp_status wpi_compare_plot(const wp_variation *variation, const uint64_t *times_ns, size_t best,
                           size_t worst, const char *folder, wp_error *err) {
    char *gnuplot = wp_program_find("gnuplot");
    if (gnuplot == NULL)
        return WP_FAIL(err, NOT_FOUND, "no plot: install gnuplot (Debian: gnuplot-nox)");
    char *script_path = wp_path_join(folder, "compare.gp"),
         *svg = wp_path_join(folder, "compare.svg");
    char *part = wp_path_join(folder, "compare.svg.part");
    const size_t count = variation->combination_count;
    wp_text script = {0}, said = {0};
    wp_text_appendf(&script, "set terminal svg size 860,%zu\nset output '%s'\n",
                    120 + count * BAR_PIXELS, part);
    append_data(variation, times_ns, best, worst, &script);
    wp_text_appendf(&script,
                    "set xlabel 'kernel time (ms)'\nset xrange [0:]\nset yrange [%zu.5:-0.5]\n"
                    "set ytics nomirror noenhanced\nset key off\nset style fill solid\n"
                    "set grid x\n"
                    "plot $times using (0):0:(0):2:($0-0.35):($0+0.35):3:ytic(1) "
                    "with boxxyerror linecolor rgb variable\n",
                    count - 1);
    wp_status status = wp_file_write(script_path, script.data, script.length, err);
    int exit_code = 0;
    const char *const argv[] = {gnuplot, script_path, NULL};
    const wp_subprocess_options how = {.stdout_text = &said, .stderr_text = &said};
    if (status == WP_STATUS_OK) status = wp_subprocess_run(argv, &how, &exit_code, err);
    if (status == WP_STATUS_OK && (exit_code != 0 || rename(part, svg) != 0))
        status = WP_FAIL(err, IO, "no plot: gnuplot: %.300s", wp_text_string(&said));
    (void)unlink(part);
    wp_text_deinit(&script);
    wp_text_deinit(&said);
    wp_free(script_path);
    wp_free(svg);
    wp_free(part);
    wp_free(gnuplot);
    return status;
}
