/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of `warpage probe`: from the request to the result. */
#ifndef WP_CLI_PROBE_H
#define WP_CLI_PROBE_H

#include "cli/cli.h"
#include "probe/measure/samples.h"
#include "probe/result.h"

typedef struct wpi_probe_request {
    const char *spec;          /* "sim:k80" */
    uint64_t budget_ns;        /* 0: none */
    uint64_t max_memory_bytes; /* 0: all */
    const char *output;        /* the folder, or NULL */
    bool has_pairs;            /* measure all pairs of SMs for the folder */
    bool is_sharing_skipped;
    bool has_progress; /* on stderr */
} wpi_probe_request;

/** Measures and infers; with an output folder, its plots (probe_measure.c). The record gets all
 * rounds. DEVICE_NOMEM, UNSUPPORTED, INVALID: as the sampler says. */
WP_NODISCARD wp_status wpi_probe_device(const wpi_probe_request *request, wpi_probe_record *record,
                                        wpi_probe_result *out, wp_error *err);

/** warpage probe host (probe_host.c). */
int wpi_probe_host_main(int argc, char **argv);
/** warpage probe bandwidth (probe_bandwidth.c). */
int wpi_probe_bandwidth_main(int argc, char **argv);

/** Points given by the user, "NAME VALUE" lines on stdout. */
WP_NODISCARD wp_status wpi_probe_points(const wpi_probe_request *request, char **points,
                                        wp_error *err);

#endif
