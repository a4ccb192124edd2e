/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/measure/sweep.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/gnuplot.h"
#include "probe/infer/sharing.h"
#include "probe/measure/points.h"
#include "probe/result.h"

#define REACHES 2.5 /* twice the stride has its step at twice the reach */
#define REPEATS 3u
#define PAIRS_LOADS_MAX ((uint64_t)1 << 24) /* limit for the pairs of a level */
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
        return WP_FAIL(err, NOT_FOUND, "the reach of L%" PRIu32 " is unknown", level + 1);
    if (distance_max > (double)sampler->memory_bytes) distance_max = (double)sampler->memory_bytes;
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        out->curves[c].stride_bytes = page_bytes / 2 << c;
        WP_TRY(measure_curve(sampler, distance_max, &out->curves[c], err));
    }
    return WP_STATUS_OK;
}

/* The pairs to measure: all, or if that takes too long and groups are known, each SM with itself,
 * with the first of each group, and with a random one. The others get the values of their groups'
 * first SMs. */
typedef struct asked_pairs {
    const wpi_sharing_groups *groups; /* NULL: all pairs */
    uint32_t first_of[WPI_PROBE_SMS_MAX];
    uint64_t random;
} asked_pairs;

static void choose_asked(const wpi_level *l, uint64_t loads, asked_pairs *out) {
    const wpi_sharing_groups *g = &l->sharing;
    const bool is_long = loads * g->sm_count * g->sm_count > PAIRS_LOADS_MAX;
    *out = (asked_pairs){.groups = is_long && g->count.is_known ? g : NULL, .random = 1};
    for (uint32_t sm = g->sm_count; sm-- > 0;)
        out->first_of[g->group_of[sm]] = sm;
}

static wp_status measure_row(const wpi_sampler *sampler, wpi_contest contest, asked_pairs *asked,
                             wpi_matrix *m, wp_error *err) {
    double *row = &m->cycles[(size_t)contest.sm_timed * m->sm_count];
    const uint32_t *group_of = asked->groups != NULL ? asked->groups->group_of : NULL;
    asked->random = asked->random * 6364136223846793005u + 1442695040888963407u;
    const uint32_t drawn = (uint32_t)((asked->random >> 33) % m->sm_count);
    for (uint32_t b = 0; b < m->sm_count; b++) {
        const uint32_t first = group_of != NULL ? asked->first_of[group_of[b]] : b;
        wpi_timing timing;
        if (b != first && b != contest.sm_timed && b != drawn) {
            row[b] = row[first];
            continue;
        }
        contest.sm_other = b;
        WP_TRY(sampler->contest(sampler->object, &contest, &timing, err));
        row[b] = timing.median_cycles;
        m->measured++;
    }
    return WP_STATUS_OK;
}

wp_status wpi_sweep_pairs(const wpi_sampler *sampler, const wpi_hierarchy *h, uint32_t level,
                          wpi_matrix *out, wp_error *err) {
    const uint32_t sms = sampler->sm_count;
    const wpi_level *l = &h->levels[level];
    asked_pairs asked;
    *out = (wpi_matrix){0};
    if (sampler->contest == NULL || !l->entries.is_known || !l->page_bytes.is_known)
        return WP_FAIL(err, UNSUPPORTED, "sharing cannot be measured on this device");
    wpi_contest contest = {.stride_bytes = (uint64_t)l->page_bytes.value,
                           .loads_timed = wpi_sharing_loads(h, level, sampler->memory_bytes),
                           .loads_other = (uint64_t)l->entries.value,
                           .repeats = 1};
    if (contest.loads_timed == 0)
        return WP_FAIL(err, UNSUPPORTED, "memory is too small for two SMs");
    *out = (wpi_matrix){sms, 0, wpi_calloc((size_t)sms * sms, sizeof *out->cycles)};
    if (out->cycles == NULL) return WP_FAIL(err, NOMEM, "pairs of %" PRIu32 " SMs", sms);
    choose_asked(l, 2 * contest.loads_timed + contest.loads_other, &asked);
    for (uint32_t sm = 0; sm < sms; sm++) {
        contest.sm_timed = sm;
        const wp_status status = measure_row(sampler, contest, &asked, out, err);
        if (status == WP_STATUS_OK) continue;
        wpi_matrix_deinit(out);
        return status;
    }
    return WP_STATUS_OK;
}

void wpi_matrix_deinit(wpi_matrix *matrix) {
    wpi_free(matrix->cycles);
    *matrix = (wpi_matrix){0};
}

/* An SM always evicts its own entries: this is the reference for sharing. */
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

void wpi_sweep_script(const wpi_sweep *sweep, uint32_t level, wpi_text *out) {
    char stride[32];
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        const wpi_curve *curve = &sweep->curves[c];
        wpi_text_appendf(out, "$c%" PRIu32 " << EOD\n", c);
        for (uint32_t i = 0; i < curve->count; i++)
            wpi_text_appendf(out, "%.6f %.4f\n", curve->distance_bytes[i] / MIB,
                             curve->added_cycles[i]);
        wpi_text_append(out, "EOD\n");
    }
    wpi_text_appendf(out,
                     "set title 'L%" PRIu32 " TLB'\nset xlabel 'traversed data, MiB'\n"
                     "set ylabel 'cycles a load, more than within reach'\nset yrange [0:*]\n"
                     "set key outside right title 'stride'\n",
                     level + 1);
    for (uint32_t c = 0; c < WPI_SWEEP_CURVES; c++) {
        wpi_text_appendf(
            out, "%s$c%" PRIu32 " using 1:2 with linespoints pointtype 7 pointsize 0.4 title '%s'",
            c == 0 ? "plot " : ", ", c,
            wpi_whole_bytes((double)sweep->curves[c].stride_bytes, stride));
    }
    wpi_text_append(out, "\n");
}

void wpi_matrix_script(const wpi_matrix *matrix, uint32_t level, wpi_text *out) {
    wpi_text_append(out, "$pairs << EOD\n");
    for (uint32_t a = 0; a < matrix->sm_count; a++) {
        for (uint32_t b = 0; b < matrix->sm_count; b++)
            wpi_text_appendf(out, "%.4g ", matrix->cycles[a * matrix->sm_count + b]);
        wpi_text_append(out, "\n");
    }
    wpi_text_appendf(out,
                     "EOD\nset title 'L%" PRIu32 " TLB: which SM evicts whose entries'\n"
                     "set xlabel 'SM that loads between'\nset ylabel 'SM that is timed'\n"
                     "set cblabel 'cycles a load'\nset size square\nset xrange [-0.5:%" PRIu32
                     ".5]\n"
                     "set yrange [-0.5:%" PRIu32 ".5]\n"
                     "set palette defined (0 '#f7fbff', 0.5 '#6baed6', 1 '#08306b')\n"
                     "plot $pairs matrix with image pixels notitle\n",
                     level + 1, matrix->sm_count - 1, matrix->sm_count - 1);
}
