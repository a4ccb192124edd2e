/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace <command> … */
#include "cli/trace.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

const wp_command wpi_trace_commands[] = {
    {.name = "record", .options = wpi_trace_record_options, .run = wpi_trace_record_main},
    {.name = "info", .options = wpi_trace_info_options, .run = wpi_trace_info_main},
    {.name = "replay", .options = wpi_trace_replay_options, .run = wpi_trace_replay_main},
    {.name = "cut", .options = wpi_trace_cut_options, .run = wpi_trace_cut_main},
    {.name = "import", .options = wpi_trace_import_options, .run = wpi_trace_import_main},
    {0}};

const char wpi_trace_details[] =
    "record -o FILE.wpt [options] [--] PROGRAM [ARGUMENT...]\n"
    "    runs a program that wpcc built on a simulated GPU, and writes what it does to FILE.wpt\n"
    "    --device sim:GPU         the GPU that the program sees (default: sim:gtx1080ti)\n"
    "    --as NAME                with the numbers of another simulator, such as uvmsmart\n"
    "    --set KEY=VALUE          a number of it (see `warpage params --device sim:GPU`)\n"
    "    --policy-file FILE       load policies that `wpcc --policy` compiled; repeatable\n"
    "    --functional             kernels take no simulated time: faster, the trace is the same "
    "but\n"
    "                             for the order in which parts of warps took turns\n"
    "info [--format text|json|csv] [--launches] FILE.wpt\n"
    "    what is in a trace: by kernel, or by launch\n"
    "replay --device sim:GPU [options] FILE.wpt\n"
    "    simulates the trace on that GPU; refused where the GPU would have told the program\n"
    "    something else, or a kernel depends on time\n"
    "    --as NAME                with the numbers of another simulator, such as uvmsmart\n"
    "    --set KEY=VALUE          a number of the GPU\n"
    "    --policy-file FILE       load policies that `wpcc --policy` compiled; repeatable\n"
    "    --hint N=WORD[,WORD]     what the program might say of its managed allocation N, or of "
    "all:\n"
    "                             host, device, accessed-by, read-mostly, prefetch or copy (see\n"
    "                             docs/rooms/wpt.md)\n"
    "    --format text|json|csv   form of the report on stdout\n"
    "    --report FILE            write the report to FILE.txt, .json, .csv or .html instead\n"
    "    --pages DIR              write which pages of managed memory were accessed and moved "
    "when\n"
    "cut -o FILE.wpt [--kernels REGEX] [--launches A-B] FILE.wpt\n"
    "    a trace of some of the launches (numbered from 1, as `info --launches` shows them)\n"
    "import -o FILE.wpt kernelslist.g\n"
    "    Accel-Sim's kernel traces as a trace: their memory accesses, instruction counts, barriers";

void wpi_expand_short_options(int argc, char **argv) {
    static char output[] = "--output", jobs[] = "--jobs";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-o") == 0) argv[i] = output;
        if (strcmp(argv[i], "-j") == 0) argv[i] = jobs;
    }
}

int wpi_trace_main(int argc, char **argv) {
    if (argc < 2)
        return wpi_usage_error("trace", "which command? record, info, replay, cut or import");
    wp_nearest nearest = {.wanted = argv[1]};
    for (const wp_command *c = wpi_trace_commands; c->name != NULL; c++) {
        wp_nearest_offer(&nearest, c->name);
        if (strcmp(argv[1], c->name) != 0) continue;
        if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
            char help[] = "help", trace[] = "trace", *help_argv[] = {help, trace, NULL};
            return wpi_help_main(2, help_argv);
        }
        return c->run(argc - 1, argv + 1);
    }
    const char *meant = wp_nearest_result(&nearest);
    if (meant != NULL)
        return wpi_usage_error("trace", "no command '%s'; did you mean '%s'?", argv[1], meant);
    return wpi_usage_error("trace", "no command '%s'; there are record, info, replay, cut, import",
                           argv[1]);
}
