/* SPDX-License-Identifier: Apache-2.0 */
/** Records every timed round of a probe, for raw samples and matrices. One thread. */
#ifndef WP_PROBE_RECORD_H
#define WP_PROBE_RECORD_H

#include "base/text.h"
#include "probe/measure/probe_gpu.h"

typedef struct wpi_sample {
    bool is_contest;
    uint32_t round;
    double cycles; /* of the round */
    wpi_chase chase;
    wpi_contest contest;
} wpi_sample;

typedef struct wpi_probe_record {
    wpi_sample *samples;
    size_t count, capacity;
    bool is_lost; /* memory was too small for all */
} wpi_probe_record;

/** A listener that stores rounds in `record`, which must outlive it. */
wpi_round_listener wpi_probe_record_listener(wpi_probe_record *record);
void wpi_probe_record_deinit(wpi_probe_record *record); /* `{0}` is fine */

/** A line a round, in the order they were measured: kind, stride, loads, … its cycles. */
void wpi_probe_record_csv(const wpi_probe_record *record, wpi_text *out);

#endif
