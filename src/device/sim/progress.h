/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A progress line on a terminal during long kernels: name, CTAs, speed, time left. WARPAGE_PROGRESS
 * turns it on; `warpage run` does so if stderr is a terminal.
 *
 *     warpage: add: CTA 1234 of 4096, 2.1 M thread instructions/s, 1 min 20 s left
 *
 * Times here are the host's; nothing simulated depends on them. One thread.
 */
#ifndef WP_DEVICE_SIM_PROGRESS_H
#define WP_DEVICE_SIM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Progress of the oldest launch. */
typedef struct wpi_progress_state {
    const char *kernel;
    uint64_t launch; /* its number */
    uint64_t ctas_ended, ctas;
    uint64_t thread_instructions; /* of all launches so far */
} wpi_progress_state;

typedef struct wpi_progress {
    bool is_on, is_shown;
    uint64_t launch;
    uint64_t begun_ns, shown_ns; /* the launch; the line */
    uint64_t instructions;       /* when it had begun */
} wpi_progress;

/** Reads WARPAGE_PROGRESS. */
void wpi_progress_init(wpi_progress *progress);
/** Updates the state at `now_ns` of the host's clock; NULL: nothing runs. `out` is the line to
 *  show, or "" if none is due. */
void wpi_progress_update(wpi_progress *progress, const wpi_progress_state *state, uint64_t now_ns,
                         char *out, size_t out_bytes);

#endif
