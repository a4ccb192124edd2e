/* SPDX-License-Identifier: Apache-2.0 */
/* warpage help: the overview, or the description of one command with its options. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

#define LINE 100u     /* characters */
#define DOC_COLUMN 29 /* where the text of an option begins */

void wpi_help_print_overview(void) {
    (void)printf("Run and measure CUDA programs, with or without a GPU.\n\n"
                 "    wpcc app.cu -o app             compile; takes the options of nvcc\n"
                 "    ./app                          run on the CPU\n"
                 "    warpage run -- ./app           run and report what it did\n\n"
                 "Commands:\n");
    for (const wpi_cli_command *c = wpi_commands; c->name != NULL; c++)
        (void)printf("    %-10s %s\n", c->name, c->summary);
    (void)printf(
        "\n`warpage help COMMAND` describes a command; `warpage --version` prints the version.\n");
}

/* Words of `text` in lines of at most LINE characters; the first line has `used` already. */
static void print_wrapped(const char *text, size_t used) {
    for (bool is_first = true; *text != '\0'; is_first = false) {
        const size_t length = strcspn(text, " ");
        if (!is_first && used + 1 + length > LINE) {
            (void)printf("\n%*s", DOC_COLUMN, "");
            used = DOC_COLUMN;
        } else if (!is_first) {
            (void)putchar(' ');
            used++;
        }
        (void)printf("%.*s", (int)length, text);
        used += length;
        text += length + (text[length] == ' ');
    }
    (void)putchar('\n');
}

static void print_command(const wpi_cli_command *command) {
    (void)printf("warpage %s\n\n%c%s.\n", command->usage, toupper(command->summary[0]),
                 command->summary + 1);
    if (command->details[0] != '\0') (void)printf("\n%s\n", command->details);
    if (command->options == NULL) return;
    (void)printf("\nOptions:\n");
    for (const wpi_cli_option *o = command->options; o->name != NULL; o++) {
        char left[64];
        (void)snprintf(left, sizeof left, "--%s%s%s", o->name, o->value_name != NULL ? " " : "",
                       o->value_name != NULL ? o->value_name : "");
        (void)printf("    %-24s ", left);
        if (strlen(left) > DOC_COLUMN - 5) (void)printf("\n%*s", DOC_COLUMN, "");
        print_wrapped(o->doc, DOC_COLUMN);
    }
}

/* For the build, which installs them: `help --manual [COMMAND]`, `help --completion SHELL`. */
static int write_generated(int argc, char **argv) {
    const bool is_manual = strcmp(argv[1], "--manual") == 0;
    const wpi_cli_command *command = NULL;
    wpi_text text = {0};
    wp_error err = {0};
    if (argc > 3 || (!is_manual && argc != 3))
        return wpi_usage_error("help", "--manual [COMMAND], or --completion bash|zsh");
    if (is_manual && argc == 3) {
        command = wpi_command_find(argv[2]);
        if (command == NULL) return WP_EXIT_USAGE;
    }
    if (is_manual)
        wpi_manual_write(command, &text);
    else if (wpi_completion_write(argv[2], &text, &err) != WP_STATUS_OK)
        return wpi_usage_error("help", "%s", err.message);
    (void)fputs(wpi_text_string(&text), stdout);
    wpi_text_deinit(&text);
    return wpi_finish("help");
}

int wpi_help_main(int argc, char **argv) {
    if (argc >= 2 && (strcmp(argv[1], "--manual") == 0 || strcmp(argv[1], "--completion") == 0))
        return write_generated(argc, argv);
    if (argc > 2) return wpi_usage_error("help", "describes one command at a time");
    if (argc < 2) {
        wpi_help_print_overview();
        return wpi_finish("help");
    }
    const wpi_cli_command *command = wpi_command_find(argv[1]);
    if (command == NULL) return WP_EXIT_USAGE;
    print_command(command);
    return wpi_finish("help");
}
