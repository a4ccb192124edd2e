/* SPDX-License-Identifier: Apache-2.0 */
/* warpage <command> …: finds the command and runs it. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/leftovers.h"
#include "base/must.h"
#include "cli/cli.h"
#include "report/report_leftovers.h"
#include "warpage/version.h"

static void out_of_memory(void) {
    static const char sentence[] = "warpage: error: out of host memory\n";
    _exit(write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0 ? WP_EXIT_USAGE : WP_EXIT_FAILED);
}

int main(int argc, char **argv) {
    wpi_on_out_of_memory(out_of_memory);
    wpi_leftovers_also(wpi_report_leftovers_remove);
    wpi_leftovers_remove_on_signals();
    wpi_nvidia_names_use();
    if (argc < 2) {
        (void)fprintf(stderr, "warpage: which command? See `warpage help`.\n");
        return WP_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        (void)printf("warpage %s\n", WP_VERSION_STRING);
        return wpi_finish("--version");
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        wpi_help_print_overview();
        return wpi_finish("help");
    }
    if (name[0] == '-') {
        (void)fprintf(stderr, "warpage: unknown option '%s'; see `warpage help`\n", name);
        return WP_EXIT_USAGE;
    }
    const wpi_cli_command *command = wpi_command_find(name);
    if (command == NULL) return WP_EXIT_USAGE;
    if (argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0)) {
        char help[] = "help";
        char *help_argv[] = {help, argv[1], NULL};
        return wpi_help_main(2, help_argv);
    }
    return command->run(argc - 1, argv + 1);
}
