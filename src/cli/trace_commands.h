/* SPDX-License-Identifier: Apache-2.0 */
/** The subcommands of `warpage trace`, one per file. */
#ifndef WP_CLI_TRACE_H
#define WP_CLI_TRACE_H

#include "cli/cli.h"
#include "study/trace_recording.h"

int wpi_trace_record_main(int argc, char **argv);
int wpi_trace_info_main(int argc, char **argv);
int wpi_trace_replay_main(int argc, char **argv);
int wpi_trace_cut_main(int argc, char **argv);
int wpi_trace_import_main(int argc, char **argv);

extern const wpi_cli_option wpi_trace_record_options[];
extern const wpi_cli_option wpi_trace_info_options[];
extern const wpi_cli_option wpi_trace_replay_options[];
extern const wpi_cli_option wpi_trace_cut_options[];
extern const wpi_cli_option wpi_trace_import_options[];

/** "-o" and "-j" become "--output" and "--jobs", up to the first operand. */
void wpi_expand_short_options(int argc, char **argv);

#endif
