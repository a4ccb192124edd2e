/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/param.h"

#define SILENT_NS 1000000000u /* shorter launches are not shown */
#define EVERY_NS 250000000u

const wpi_param wpi_progress_params[] = {
    {"progress", WP_UNIT_FLAG, "off", 0, 1,
     "show the progress of long-running kernels of simulated GPUs on stderr"},
    {0}};

void wpi_progress_init(wpi_progress *progress) {
    wpi_param_value value = {0};
    *progress = (wpi_progress){0};
    if (wpi_param_load(&wpi_progress_params[0], &value, NULL) == WP_STATUS_OK)
        progress->is_on = value.number != 0;
}

/* "45 s", "3 min 20 s", "2 h 5 min". */
static void format_left(double seconds, char out[32]) {
    const uint64_t s = (uint64_t)(seconds + 0.5);
    if (s < 60)
        (void)snprintf(out, 32, "%" PRIu64 " s", s);
    else if (s < 3600)
        (void)snprintf(out, 32, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else
        (void)snprintf(out, 32, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
}

static void format_line(const wpi_progress *p, const wpi_progress_state *state, double seconds,
                        char *out, size_t out_bytes) {
    const double rate = (double)(state->thread_instructions - p->instructions) / seconds;
    char left[32] = "";
    if (state->ctas_ended != 0)
        format_left(seconds * (double)(state->ctas - state->ctas_ended) / (double)state->ctas_ended,
                    left);
    (void)snprintf(out, out_bytes,
                   "\r\033[Kwarpage: %.60s: CTA %" PRIu64 " of %" PRIu64
                   ", %.1f M thread instructions/s%s%s%s",
                   state->kernel, state->ctas_ended, state->ctas, rate * 1e-6,
                   left[0] != '\0' ? ", " : "", left, left[0] != '\0' ? " left" : "");
}

static void clear(wpi_progress *p, char *out, size_t out_bytes) {
    if (p->is_shown) (void)snprintf(out, out_bytes, "\r\033[K");
    p->is_shown = false;
}

void wpi_progress_update(wpi_progress *p, const wpi_progress_state *state, uint64_t now_ns,
                         char *out, size_t out_bytes) {
    out[0] = '\0';
    if (!p->is_on) return;
    if (state == NULL) {
        clear(p, out, out_bytes);
        p->launch = 0;
        return;
    }
    if (state->launch != p->launch) {
        clear(p, out, out_bytes);
        p->launch = state->launch;
        p->begun_ns = p->shown_ns = now_ns;
        p->instructions = state->thread_instructions;
        return;
    }
    if (now_ns - p->begun_ns < SILENT_NS || now_ns - p->shown_ns < EVERY_NS) return;
    format_line(p, state, 1e-9 * (double)(now_ns - p->begun_ns), out, out_bytes);
    p->shown_ns = now_ns;
    p->is_shown = true;
}
