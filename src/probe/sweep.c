/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/sweep.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/gnuplot.h"
#include "probe/points.h"
#include "probe/result.h"

#define REACHES 2.5 /* twice the stride has its step at twice the reach */
#define REPEATS 3u
#define MIB 1048576.0

static wp_status measure_curve(const wpi_sampler *sampler, double distance_max, wpi_curve *curve,
                               wp_error *err) {
    uint64_t before = 0;
    curve->count = 0;
    for (uint32_t i = 1; i < WPI_SWEEP_POINTS; i++) {
        const double distance = distance_max * i / (WPI_SWEEP_POINTS - 1);
        const uint64_t loads = (uint64_t)(distance / (double)curve->stride_bytes);
        double added = 0;
        if (loads == before || loads == 0) continue;
        WP_TRY(wpi_added_cycles(sampler, curve->stride_bytes, loads, WPI_SM_ANY, REPEATS, &added,
                                err));
        curve->distance_bytes[curve->count] = (double)loads * (double)curve->stride_bytes;
        curve->added_cycles[curve->count++] = added;
        before = loads;
    }
    return WP_STATUS_OK;
}

wp_status wpi_sweep_level(const wpi_sampler *sampler, const wpi_hierarchy *hierarchy,
                          uint32_t level, wpi_sweep *out, wp_error *err) {
    const wpi_level *l = &hierarchy->levels[level];
    const uint64_t page_bytes = (uint64_t)l->page_bytes.value;
    double distance_max = REACHES * l->reach_bytes.value;
    if (!l->page_bytes.is_known || !l->reach_bytes.is_known)
        return WP_FAIL(err, NOT_FOUND, "the reach of L%" PRIu32 " is not known", level + 1);
    if (distance_max > (double)sampler->memory_bytes) distance_max = (double)sampler->memory_bytes;
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        out->curves[c].stride_bytes = page_bytes / 2 << c;
        WP_TRY(measure_curve(sampler, distance_max, &out->curves[c], err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_sweep_pairs(const wpi_sampler *sampler, const wpi_level *level, wpi_matrix *out,
                          wp_error *err) {
    const uint32_t sms = sampler->sm_count;
    *out = (wpi_matrix){0};
    if (sampler->contest == NULL || !level->entries.is_known || !level->page_bytes.is_known)
        return WP_FAIL(err, UNSUPPORTED, "there is no sharing to be measured");
    const uint64_t entries = (uint64_t)level->entries.value;
    *out = (wpi_matrix){sms, wp_calloc((size_t)sms * sms, sizeof *out->cycles)};
    if (out->cycles == NULL) return WP_FAIL(err, NOMEM, "pairs of %" PRIu32 " SMs", sms);
    for (uint32_t i = 0; i < sms * sms; i++) {
        const wpi_contest contest = {i / sms, i % sms, (uint64_t)level->page_bytes.value,
                                     entries, entries, 1};
        wpi_timing timing;
        const wp_status status = sampler->contest(sampler->object, &contest, &timing, err);
        if (status != WP_STATUS_OK) {
            wpi_matrix_deinit(out);
            return status;
        }
        out->cycles[i] = timing.median_cycles;
    }
    return WP_STATUS_OK;
}

void wpi_matrix_deinit(wpi_matrix *matrix) {
    wp_free(matrix->cycles);
    *matrix = (wpi_matrix){0};
}

/* An SM pushes out its own entries at any rate: that is what sharing looks like. */
uint32_t wpi_matrix_contradictions(const wpi_matrix *m, const wpi_level *level) {
    const uint32_t *group_of = level->sharing.group_of;
    uint32_t count = 0;
    for (uint32_t a = 0; a < m->sm_count; a++) {
        const double *row = &m->cycles[(size_t)a * m->sm_count];
        for (uint32_t b = 0; b < m->sm_count; b++) {
            const bool is_shared = row[a] - row[b] < level->miss_cycles.value / 2;
            count += is_shared != (group_of[a] == group_of[b]);
        }
    }
    return count;
}

void wpi_sweep_script(const wpi_sweep *sweep, uint32_t level, wp_text *out) {
    char stride[32];
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        const wpi_curve *curve = &sweep->curves[c];
        wp_text_appendf(out, "$c%" PRIu32 " << EOD\n", c);
        for (uint32_t i = 0; i < curve->count; i++)
            wp_text_appendf(out, "%.6f %.4f\n", curve->distance_bytes[i] / MIB,
                            curve->added_cycles[i]);
        wp_text_append(out, "EOD\n");
    }
    wp_text_appendf(out,
                    "set title 'L%" PRIu32 " TLB'\nset xlabel 'traversed data, MiB'\n"
                    "set ylabel 'cycles a load, more than within reach'\nset yrange [0:*]\n"
                    "set key outside right title 'stride'\n",
                    level + 1);
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        wp_text_appendf(
            out, "%s$c%" PRIu32 " using 1:2 with linespoints pointtype 7 pointsize 0.4 title '%s'",
            c == 0 ? "plot " : ", ", c,
            wpi_whole_bytes((double)sweep->curves[c].stride_bytes, stride));
    }
    wp_text_append(out, "\n");
}

void wpi_matrix_script(const wpi_matrix *matrix, uint32_t level, wp_text *out) {
    wp_text_append(out, "$pairs << EOD\n");
    for (uint32_t a = 0; a < matrix->sm_count; a++) {
        for (uint32_t b = 0; b < matrix->sm_count; b++)
            wp_text_appendf(out, "%.4g ", matrix->cycles[a * matrix->sm_count + b]);
        wp_text_append(out, "\n");
    }
    wp_text_appendf(out,
                    "EOD\nset title 'L%" PRIu32 " TLB: who pushes whose entries out'\n"
                    "set xlabel 'SM that loads between'\nset ylabel 'SM that is timed'\n"
                    "set cblabel 'cycles a load'\nset size square\nset xrange [-0.5:%" PRIu32
                    ".5]\n"
                    "set yrange [-0.5:%" PRIu32 ".5]\n"
                    "set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')\n"
                    "plot $pairs matrix with image pixels notitle\n",
                    level + 1, matrix->sm_count - 1, matrix->sm_count - 1);
}
