/* SPDX-License-Identifier: Apache-2.0 */
/* Manual pages, from the table that `warpage help` prints. */
#include <string.h>

#include "base/alloc.h"
#include "base/roff.h"
#include "cli/cli.h"
#include "warpage/version.h"

static void add_usage(const char *usage, wpi_text *out) {
    char *line = wpi_format("warpage %s", usage);
    wpi_roff_section(out, "SYNOPSIS");
    wpi_roff_verbatim(out, line);
    wpi_free(line);
}

/* Details that are set out in columns stay as they are. */
static void add_details(const wpi_cli_command *command, wpi_text *out) {
    if (command->details[0] == '\0') return;
    wpi_roff_section(out, "DESCRIPTION");
    if (strstr(command->details, "\n  ") != NULL)
        wpi_roff_verbatim(out, command->details);
    else
        wpi_roff_line(out, command->details);
}

static void add_options(const wpi_cli_option *options, wpi_text *out) {
    if (options == NULL) return;
    wpi_roff_section(out, "OPTIONS");
    for (const wpi_cli_option *o = options; o->name != NULL; o++) {
        char *term = wpi_format("--%s", o->name);
        wpi_roff_item(out, term, o->value_name, o->doc);
        wpi_free(term);
    }
}

static void add_exit_status(const wpi_cli_command *command, wpi_text *out) {
    wpi_roff_section(out, "EXIT STATUS");
    if (command != NULL && strcmp(command->name, "run") == 0) {
        wpi_roff_line(out, "The exit status of PROGRAM, or 128 + n when signal n ended it; "
                           "1 when PROGRAM succeeded and the report could not be written; "
                           "2 when the command line is wrong.");
        return;
    }
    wpi_roff_line(out, "0 on success, 1 on failure, 2 when the command line is wrong.");
}

static void add_overview(wpi_text *out) {
    wpi_roff_begin(out, "warpage", "run and measure CUDA programs, with or without a GPU",
                   WP_VERSION_STRING);
    add_usage("COMMAND [argument...]", out);
    wpi_roff_section(out, "DESCRIPTION");
    wpi_roff_line(out, "Runs CUDA programs that wpcc(1) compiled, on this processor, on simulated "
                       "GPUs and on NVIDIA GPUs, and reports what they did.");
    wpi_roff_section(out, "COMMANDS");
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++)
        wpi_roff_item(out, c->name, NULL, c->summary);
    wpi_text_append(out, ".PP\n");
    wpi_roff_line(out, "`warpage help COMMAND` and the page warpage-COMMAND(1) describe one.");
}

void wpi_manual_write(const wpi_cli_command *command, wpi_text *out) {
    if (command == NULL) {
        add_overview(out);
    } else {
        char *name = wpi_format("warpage-%s", command->name);
        wpi_roff_begin(out, name, command->summary, WP_VERSION_STRING);
        wpi_free(name);
        add_usage(command->usage, out);
        add_details(command, out);
        add_options(command->options, out);
    }
    add_exit_status(command, out);
    wpi_roff_section(out, "SEE ALSO");
    wpi_roff_line(out, command == NULL ? "wpcc(1), warpage-run(1)" : "warpage(1), wpcc(1)");
}
