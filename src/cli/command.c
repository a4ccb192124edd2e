/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and the messages that all of them share. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/cli.h"

const wpi_cli_command wpi_commands[] = {
    {.name = "run",
     .summary = "run a CUDA program and report its kernels, copies and memory",
     .usage = "run [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Run a program that wpcc built. Its standard output and exit status pass through "
                "unchanged\n"
                "(128 + n if signal n ended it). The report goes to standard error unless --report "
                "or --output\n"
                "is given.",
     .options = wpi_run_options,
     .run = wpi_run_main},
    {.name = "compare",
     .summary = "compare a program's times on simulated GPUs or under varied parameters",
     .usage = "compare --vary KEY=A,B,C [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Record the program once and replay the trace for each combination. Where a "
                "replay would\n"
                "differ (the program queries a property of the GPU that varies, or a kernel "
                "depends on time)\n"
                "run the program instead. Results in --output DIR are reused; remove the folder "
                "when the\n"
                "program or its input has changed.",
     .options = wpi_compare_options,
     .run = wpi_compare_main},
    {.name = "advise",
     .summary = "find out what would speed up a program with managed memory",
     .usage = "advise [options] [--] PROGRAM [ARGUMENT...]",
     .details = "Record the program once and replay the trace with prefetches, with memory advice, "
                "under other\n"
                "driver parameters and policies, and with sufficient memory; rank them by the "
                "simulated time of\n"
                "the whole run, and print the CUDA calls of the best. With `--set service=batch` "
                "faults are\n"
                "serviced in batches, as by NVIDIA's driver, and the parameters of batching are "
                "tried, too. A\n"
                "program whose kernels depend on time cannot be replayed.",
     .options = wpi_advise_options,
     .run = wpi_advise_main},
    {.name = "trace",
     .summary = "record a program's memory accesses and replay them on simulated GPUs",
     .usage = "trace record|info|replay|cut|import [options] …",
     .details = wpi_trace_details,
     .commands = wpi_trace_commands,
     .run = wpi_trace_main},
    {.name = "probe",
     .summary = "measure TLBs and bandwidths of a device, or this machine as a host",
     .usage = "probe [options] | probe diff A.json B.json | probe points [options] POINT... | "
              "probe host [options] | probe bandwidth [options]",
     .details = wpi_probe_details,
     .options = wpi_probe_options,
     .run = wpi_probe_main},
    {.name = "groupby",
     .summary = "group the rows of a table and compute aggregates",
     .usage = "groupby --key COLUMN[,...] [options] TABLE",
     .details =
         "TABLE is a CSV or TSV file, also compressed by gzip or zstd (- is standard input); a "
         ".npy,\n"
         "Parquet or Arrow file; or several columns: .npy files and raw files FILE:TYPE, such as\n"
         "user.bin:int32. NULL keys form a group; aggregates ignore NULL values; a comparison of "
         "--where\n"
         "with NULL is not true, so that its row is left out.",
     .options = wpi_groupby_options,
     .run = wpi_groupby_main},
    {.name = "sample",
     .summary = "estimate a column's average, sum and extremes from a random sample",
     .usage = "sample --column COLUMN [options] TABLE",
     .details =
         "TABLE is described by `warpage help groupby`. The device reads values of the column at "
         "random\n"
         "positions, with replacement.",
     .options = wpi_sample_options,
     .run = wpi_sample_main},
    {.name = "devices",
     .summary = "list the devices that programs can run on",
     .usage = "devices [options]",
     .details = "",
     .options = wpi_devices_options,
     .run = wpi_devices_main},
    {.name = "params",
     .summary = "list parameters, their values and the sources of the values",
     .usage = "params [options] [NAME]",
     .details = "Without --device, list the parameters of Warpage, which are set by environment "
                "variables and\n"
                "options of `warpage run`. With --device, list those of a simulated GPU, which "
                "--set and profiles\n"
                "set. NAME selects one, or a section such as tlb.l2.",
     .options = wpi_params_options,
     .run = wpi_params_main},
    {.name = "policies",
     .summary = "list the policies of simulated GPUs",
     .usage = "policies [options] [KIND]",
     .details =
         "A policy is selected by its key, in a profile or by --set, as in --set sm.scheduler=rr.",
     .options = wpi_policies_options,
     .run = wpi_policies_main},
    {.name = "reproduce",
     .summary = "reproduce figures of papers and compare them with the published values",
     .usage = "reproduce [options] [PAPER[/FIGURE] | all]",
     .details =
         "Compile and run the programs of a figure, and print its published values beside the "
         "measured ones.",
     .options = wpi_reproduce_options,
     .run = wpi_reproduce_main},
    {.name = "study",
     .summary = "run a recorded study again: what no paper has a value for",
     .usage = "study [options] [SUBJECT[/STUDY] | all]",
     .details = "Variations, inputs and machines that the papers of `warpage reproduce` leave out. "
                "Claims\n"
                "are expectations, or values alone.",
     .options = wpi_study_options,
     .run = wpi_study_main},
    {.name = "doctor",
     .summary = "check this machine for what Warpage needs and can use",
     .usage = "doctor [options]",
     .details = "Print one line for each finding. The exit status is 1 if something that every "
                "program needs is\n"
                "missing.",
     .options = wpi_doctor_options,
     .run = wpi_doctor_main},
    {.name = "help",
     .summary = "print the description of a command",
     .usage = "help [COMMAND]",
     .details = "",
     .run = wpi_help_main},
    {0}};

const wpi_cli_command *wpi_command_find(const char *name) {
    wpi_nearest nearest = {.wanted = name};
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++) {
        if (strcmp(c->name, name) == 0) return c;
        wpi_nearest_offer(&nearest, c->name);
    }
    const char *meant = wpi_nearest_result(&nearest);
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
