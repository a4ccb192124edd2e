/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and the messages that all of them share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

const wp_command wpi_commands[] = {
    {.name = "run",
     .summary = "run a CUDA program and report what it did",
     .usage = "run [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Runs a program that wpcc built. Its stdout and exit status pass through untouched "
                "(128 + n\n"
                "when signal n ended it); the report goes to stderr, or where an option says.",
     .options = wpi_run_options,
     .run = wpi_run_main},
    {.name = "compare",
     .summary = "run a program under many combinations of a simulated GPU's numbers",
     .usage = "compare --vary KEY=A,B,C [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Records the program once and replays it for each combination, where that may be: "
                "what the\n"
                "program was told of the GPU must be the same, and no kernel may depend on time. "
                "Elsewhere\n"
                "the program runs. Results in --output DIR are used again: remove the folder when "
                "what the\n"
                "program reads has changed.",
     .options = wpi_compare_options,
     .run = wpi_compare_main},
    {.name = "advise",
     .summary = "say what would help a program with managed memory, and how to get it in CUDA",
     .usage = "advise [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Records the program once, and replays it with prefetches, with advice for its "
                "allocations, under\n"
                "other driver parameters and policies, and with enough memory; ranks them by "
                "simulated time of the\n"
                "whole run. `--set service=batch` serves faults as NVIDIA's driver does, and tries "
                "its parameters of\n"
                "that, too. A program that depends on time, or is told what the GPU is, may not be "
                "replayed.",
     .options = wpi_advise_options,
     .run = wpi_advise_main},
    {.name = "trace",
     .summary = "record what a program does on a simulated GPU, and replay it on others",
     .usage = "trace record|info|replay|cut|import [options] …",
     .details = wpi_trace_details,
     .commands = wpi_trace_commands,
     .run = wpi_trace_main},
    {.name = "probe",
     .summary = "measure a device's TLBs",
     .usage = "probe [options] | probe diff A.json B.json | probe points [options] POINT...",
     .details = wpi_probe_details,
     .options = wpi_probe_options,
     .run = wpi_probe_main},
    {.name = "groupby",
     .summary = "group a table's rows by columns, and aggregate others",
     .usage = "groupby --key COLUMN[,...] [options] TABLE",
     .details =
         "TABLE is CSV or TSV (.gz and .zst too, - is stdin), a .npy file, or a Parquet or Arrow "
         "file; "
         "or columns\n"
         "side by side: .npy files and FILE:TYPE, such as user.bin:int32. NULL is a group of its "
         "own, and is\n"
         "not aggregated.",
     .options = wpi_groupby_options,
     .run = wpi_groupby_main},
    {.name = "sample",
     .summary = "estimate a column's numbers from values at random positions",
     .usage = "sample --column COLUMN [options] TABLE",
     .details =
         "TABLE as `warpage help groupby` says. The column is read into memory; its values are "
         "read at random\n"
         "positions by the device.",
     .options = wpi_sample_options,
     .run = wpi_sample_main},
    {.name = "devices",
     .summary = "list the devices a program can run on",
     .usage = "devices [options]",
     .details = "",
     .options = wpi_devices_options,
     .run = wpi_devices_main},
    {.name = "params",
     .summary = "list what can be set, and to what it is set now",
     .usage = "params [options] [NAME]",
     .details = "A parameter is set by its environment variable, or by an option of `warpage run`. "
                "With --device,\n"
                "the numbers of a simulated GPU; NAME is a key, or a section such as tlb.l2.",
     .options = wpi_params_options,
     .run = wpi_params_main},
    {.name = "policies",
     .summary = "list what simulated GPUs can be told to decide by",
     .usage = "policies [options] [KIND]",
     .details = "A policy is chosen by its key, in a profile or with --set: --set sm.scheduler=rr.",
     .options = wpi_policies_options,
     .run = wpi_policies_main},
    {.name = "reproduce",
     .summary = "run again what the papers claim",
     .usage = "reproduce [options] [PAPER[/FIGURE] | all]",
     .details =
         "Compiles and runs a figure's programs, and puts its published numbers beside ours.",
     .options = wpi_reproduce_options,
     .run = wpi_reproduce_main},
    {.name = "doctor",
     .summary = "say what was found on this machine, and what that enables",
     .usage = "doctor [options]",
     .details = "Exit status 1 when something that every program needs is missing.",
     .options = wpi_doctor_options,
     .run = wpi_doctor_main},
    {.name = "help",
     .summary = "explain a command",
     .usage = "help [COMMAND]",
     .details = "",
     .run = wpi_help_main},
    {0}};

const wp_command *wpi_command_find(const char *name) {
    wp_nearest nearest = {.wanted = name};
    for (const wp_command *c = wpi_commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) return c;
        wp_nearest_offer(&nearest, c->name);
    }
    const char *meant = wp_nearest_result(&nearest);
    (void)fprintf(stderr, "warpage: no command '%s'", name);
    if (meant != NULL)
        (void)fprintf(stderr, "; did you mean '%s'?\n", meant);
    else
        (void)fprintf(stderr, "; see `warpage help`\n");
    return NULL;
}

static void print_error(const char *command, const char *format, va_list args) {
    (void)fprintf(stderr, "warpage %s: ", command);
    (void)vfprintf(stderr, format, args);
    (void)fprintf(stderr, "\n");
}

int wpi_usage_error(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_error(command, format, args);
    va_end(args);
    (void)fprintf(stderr, "See `warpage help %s`.\n", command);
    return WP_EXIT_USAGE;
}

int wpi_failure(const char *command, const char *format, ...) {
    va_list args;
    va_start(args, format);
    print_error(command, format, args);
    va_end(args);
    return WP_EXIT_FAILED;
}

int wpi_finish(const char *command) {
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return WP_EXIT_DONE;
    return wpi_failure(command, "cannot write to stdout");
}
