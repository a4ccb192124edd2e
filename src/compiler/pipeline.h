/* SPDX-License-Identifier: Apache-2.0 */
/** From device bitcode to a host object: the ordered table of passes. */
#ifndef WP_COMPILER_PIPELINE_H
#define WP_COMPILER_PIPELINE_H

#include "compiler/context.h"

typedef struct wpi_pipeline_options {
    const char *print_after; /* name of a pass whose result goes to stderr, "all", or NULL */
    const char *stop_after;  /* the last pass to run, or NULL */
    const char *stop_output; /* file for the IR then */
} wpi_pipeline_options;

/** Runs every pass; `*stopped`: `stop_after` ended it early. */
WP_NODISCARD wp_status wpi_pipeline_run(wpi_compile *c, const wpi_pipeline_options *options,
                                        bool *stopped, wp_error *err);
/** Writes the module as a relocatable object for c->isa. */
WP_NODISCARD wp_status wpi_emit_object(wpi_compile *c, const char *path, wp_error *err);
/** True if a pass of that name exists; prints all names to stderr otherwise. */
bool wpi_pipeline_has(const char *name);

#endif
