/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace <command> … */
#include "cli/trace_commands.h"

#include <stdio.h>
#include <string.h>

#include "base/nearest.h"

const wpi_cli_command wpi_trace_commands[] = {
    {.name = "record", .options = wpi_trace_record_options, .run = wpi_trace_record_main},
    {.name = "info", .options = wpi_trace_info_options, .run = wpi_trace_info_main},
    {.name = "replay", .options = wpi_trace_replay_options, .run = wpi_trace_replay_main},
    {.name = "cut", .options = wpi_trace_cut_options, .run = wpi_trace_cut_main},
    {.name = "import", .options = wpi_trace_import_options, .run = wpi_trace_import_main},
    {0}};

const char wpi_trace_details[] =
    "record -o FILE.wpt [options] [--] PROGRAM [ARGUMENT...]\n"
    "    run a program on a simulated GPU and write a trace of its kernels to FILE.wpt\n"
    "    --device sim:GPU         run on this GPU (default: sim:gtx1080ti)\n"
    "    --as NAME                use the parameters of another simulator, such as uvmsmart\n"
    "    --set KEY=VALUE          set a parameter (see `warpage params --device sim:GPU`)\n"
    "    --functional             do not simulate time, which is faster; the trace differs only "
    "in\n"
    "                             the order in which diverged parts of warps executed\n"
    "info [--format text|json|csv] [--launches] FILE.wpt\n"
    "    list what a trace contains, by kernel or, with --launches, by launch\n"
    "replay --device sim:GPU [options] FILE.wpt\n"
    "    simulate the trace on that GPU; refused where the program would have seen another GPU in\n"
    "    a query of its properties, or where a kernel depends on time\n"
    "    --as NAME                use the parameters of another simulator, such as uvmsmart\n"
    "    --set KEY=VALUE          set a parameter of the GPU\n"
    "    --hint N=WORD[,WORD]     apply advice to managed allocation N, or to `all`: host, "
    "device,\n"
    "                             accessed-by, read-mostly, prefetch or copy (see "
    "docs/rooms/wpt.md)\n"
    "    --format text|json|csv   print the report as text (default), JSON or CSV\n"
    "    --report FILE            write the report to FILE.txt, .json, .csv or .html instead; - "
    "is\n"
    "                             standard output (-.json, -.csv: in that form)\n"
    "    --pages DIR              write when each page of managed memory was accessed, migrated "
    "and\n"
    "                             evicted to DIR\n"
    "    --source                 also print the kernels' source with what each line cost\n"
    "cut -o FILE.wpt [--kernels REGEX] [--launches A-B] FILE.wpt\n"
    "    copy some of the launches, numbered from 1 as in `info --launches`, to a new trace\n"
    "import -o FILE.wpt kernelslist.g\n"
    "    convert kernel traces of Accel-Sim: memory accesses, instruction counts and barriers";

void wpi_expand_short_options(int argc, char **argv) {
    static char output[] = "--output", jobs[] = "--jobs";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-o") == 0) argv[i] = output;
        if (strcmp(argv[i], "-j") == 0) argv[i] = jobs;
    }
}

int wpi_trace_main(int argc, char **argv) {
    if (argc < 2)
        return wpi_usage_error("trace", "which command? Give record, info, replay, cut or import");
    wpi_nearest nearest = {.wanted = argv[1]};
    for (const wpi_cli_command *c = wpi_trace_commands; c->name != NULL; c++) {
        wpi_nearest_offer(&nearest, c->name);
        if (strcmp(argv[1], c->name) != 0) continue;
        if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
            char help[] = "help", trace[] = "trace", *help_argv[] = {help, trace, NULL};
            return wpi_help_main(2, help_argv);
        }
        return c->run(argc - 1, argv + 1);
    }
    const char *meant = wpi_nearest_result(&nearest);
    if (meant != NULL)
        return wpi_usage_error("trace", "no command '%s'; did you mean '%s'?", argv[1], meant);
    return wpi_usage_error("trace", "no command '%s'; there are record, info, replay, cut, import",
                           argv[1]);
}
