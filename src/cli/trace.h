/* SPDX-License-Identifier: Apache-2.0 */
/** The commands behind `warpage trace`, one a file. */
#ifndef WP_CLI_TRACE_H
#define WP_CLI_TRACE_H

#include "base/text.h"
#include "cli/cli.h"

int wpi_trace_record_main(int argc, char **argv);
int wpi_trace_info_main(int argc, char **argv);
int wpi_trace_replay_main(int argc, char **argv);
int wpi_trace_cut_main(int argc, char **argv);
int wpi_trace_import_main(int argc, char **argv);

extern const wp_option wpi_trace_record_options[];
extern const wp_option wpi_trace_info_options[];
extern const wp_option wpi_trace_replay_options[];
extern const wp_option wpi_trace_cut_options[];
extern const wp_option wpi_trace_import_options[];

/** What `warpage trace record` does, for others: runs `program` so that it writes the trace
 *  `path`. `device`: NULL for the default. `stderr_text`: takes what it says;
 *  NULL: that goes to stderr. `*exit_code` is the program's. IO, NOT_FOUND (no such
 *  program), INVALID (it left no trace: why was said on stderr). */
WP_NODISCARD wp_status wpi_trace_record(const char *const *program, const char *path,
                                        const char *device, bool is_functional,
                                        const char *stdout_path, wp_text *stderr_text,
                                        wp_strings *environment, int *exit_code, wp_error *err);
#define WPI_TRACE_DEVICE "sim:gtx1080ti" /* where programs are recorded if nobody says */

/** "-o" and "-j" become "--output" and "--jobs", up to the first operand. */
void wpi_expand_short_options(int argc, char **argv);

#endif
