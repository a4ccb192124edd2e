/* SPDX-License-Identifier: Apache-2.0 */
/* The command line parser. Common options are ordinary rows, put before the program's own. */
#include "common/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"

enum { MAX_ROWS = 40 };

typedef struct row_table {
    app_option rows[MAX_ROWS];
    size_t count;
} row_table;

static void add_row(row_table *table, app_option row) {
    if (table->count == MAX_ROWS) {
        app_fail("more than %d options in the table", (int)MAX_ROWS);
    }
    table->rows[table->count++] = row;
}

/* Length of the choice at `choices`, up to '|' or the end. */
static size_t choice_length(const char *choices) {
    return strcspn(choices, "|");
}

const char *app_choice_name(const char *choices, int index) {
    static char names[4][32];
    static unsigned turn;
    for (; index > 0 && *choices != '\0'; index--) {
        choices += choice_length(choices);
        choices += *choices == '|';
    }
    char *name = names[turn++ % 4u];
    snprintf(name, sizeof names[0], "%.*s", (int)choice_length(choices), choices);
    return name;
}

/* Number with optional K, M, G, and for sizes B, KiB, MiB, GiB. */
static bool parse_scaled(const char *text, bool allows_bytes, uint64_t *value, bool *is_bytes) {
    char *end;
    *is_bytes = false;
    if (*text < '0' || *text > '9') {
        return false;
    }
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno != 0) {
        return false;
    }
    static const char scales[] = "KMG";
    unsigned shift = 0;
    const char *scale = strchr(scales, *end & ~0x20); /* k is K */
    if (scale != NULL && *scale != '\0') {
        shift = 10u * (unsigned)(scale - scales + 1);
        end++;
    }
    if (allows_bytes && (strcmp(end, "iB") == 0 || strcmp(end, "B") == 0)) {
        *is_bytes = true;
        end += strlen(end);
    }
    if (*end != '\0' || number > (UINT64_MAX >> shift)) {
        return false;
    }
    *value = number << shift;
    return true;
}

static void parse_value(const app_option *option, const char *text) {
    bool is_bytes = false;
    switch (option->kind) {
    case APP_OPTION_FLAG:
        app_fail_usage("option %s takes no value, but '%s' was given", option->name, text);
    case APP_OPTION_TEXT: *(const char **)option->value = text; break;
    case APP_OPTION_COUNT: {
        uint64_t value;
        if (!parse_scaled(text, false, &value, &is_bytes)) {
            app_fail_usage("option %s needs a whole number such as 1000 or 64K, not '%s'",
                           option->name, text);
        }
        if ((double)value < option->min || (double)value > option->max) {
            app_fail_usage("option %s must lie between %.0f and %.0f, not %s", option->name,
                           option->min, option->max, text);
        }
        *(uint64_t *)option->value = value;
        break;
    }
    case APP_OPTION_REAL: {
        char *end;
        double value = strtod(text, &end);
        if (end == text || *end != '\0') {
            app_fail_usage("option %s needs a number, not '%s'", option->name, text);
        }
        if (!(value >= option->min && value <= option->max)) {
            app_fail_usage("option %s must lie between %g and %g, not %s", option->name,
                           option->min, option->max, text);
        }
        *(double *)option->value = value;
        break;
    }
    case APP_OPTION_SIZE: {
        app_size *size = option->value;
        if (!parse_scaled(text, true, &size->value, &size->is_bytes) || size->value == 0) {
            app_fail_usage("option %s needs a number of items such as 1M, or bytes such as 64MiB, "
                           "not '%s'",
                           option->name, text);
        }
        break;
    }
    case APP_OPTION_CHOICE: {
        const char *choice = option->argument;
        for (int index = 0; *choice != '\0'; index++) {
            size_t length = choice_length(choice);
            if (strlen(text) == length && strncmp(text, choice, length) == 0) {
                *(int *)option->value = index;
                return;
            }
            choice += length;
            choice += *choice == '|';
        }
        app_fail_usage("option %s must be one of %s, not '%s'", option->name, option->argument,
                       text);
    }
    }
}

/* Edit distance of two short words: small enough to take the plain recurrence row by row. */
static size_t edit_distance(const char *a, size_t a_length, const char *b) {
    size_t row[64];
    size_t b_length = strlen(b);
    if (a_length > 60 || b_length > 60) {
        return 60;
    }
    for (size_t j = 0; j <= b_length; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) {
                best = row[j] + 1;
            }
            if (row[j - 1] + 1 < best) {
                best = row[j - 1] + 1;
            }
            row[j] = best;
        }
    }
    return row[b_length];
}

/* Ends the program: no row of the table is called so. */
__attribute__((noreturn)) static void fail_unknown(const row_table *table, const char *argument,
                                                   size_t length) {
    const app_option *nearest = NULL;
    size_t nearest_distance = 4;
    for (size_t i = 0; i < table->count; i++) {
        size_t distance = edit_distance(argument, length, table->rows[i].name);
        if (distance < nearest_distance) {
            nearest_distance = distance;
            nearest = &table->rows[i];
        }
    }
    if (nearest != NULL) {
        app_fail_usage("unknown option '%.*s'; did you mean %s?", (int)length, argument,
                       nearest->name);
    }
    app_fail_usage("unknown option '%.*s'", (int)length, argument);
}

/* Programs without input refuse files in the same words, however the user names one. */
__attribute__((noreturn)) static void fail_no_input(const char *argument) {
    app_fail_usage("%s: this program reads no files; its data are generated, see --size and --seed",
                   argument);
}

static const app_option *find_row(const row_table *table, const app_program *program,
                                  const char *argument, size_t length) {
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->rows[i].name;
        if (strlen(name) == length && strncmp(name, argument, length) == 0) {
            return &table->rows[i];
        }
    }
    static const char input[] = "--input";
    if (program->input == NULL && length == strlen(input) &&
        strncmp(argument, input, length) == 0) {
        fail_no_input(input);
    }
    fail_unknown(table, argument, length);
}

/* What is said behind the help of an option: its default, unless the help has one, or it stands for
 * no value. */
static void default_text(const app_option *option, char *text, size_t bytes) {
    text[0] = '\0';
    if (strstr(option->help, "(default") != NULL) {
        return;
    }
    switch (option->kind) {
    case APP_OPTION_COUNT:
        if ((double)*(uint64_t *)option->value >= option->min) {
            snprintf(text, bytes, " (default %s)", app_count(*(uint64_t *)option->value));
        }
        break;
    case APP_OPTION_REAL:
        snprintf(text, bytes, " (default %g)", *(double *)option->value);
        break;
    case APP_OPTION_CHOICE:
        snprintf(text, bytes, " (default %s)",
                 app_choice_name(option->argument, *(int *)option->value));
        break;
    case APP_OPTION_FLAG:
    case APP_OPTION_TEXT:
    case APP_OPTION_SIZE: break;
    }
}

/* Prints words from the given column on, in lines of at most 100 columns; the cursor is there. */
static void print_wrapped(const char *text, int column) {
    int used = column;
    while (*text != '\0') {
        int length = (int)strcspn(text, " ");
        if (used + length > 100 && used > column) {
            printf("\n%*s", column, "");
            used = column;
        } else if (used > column) {
            putchar(' ');
        }
        printf("%.*s", length, text);
        used += length + 1;
        text += length;
        text += *text == ' ';
    }
}

static void print_help(const app_program *program, const row_table *table) {
    printf("%s: %s\n\nusage: %s [options]\n\n", program->name, program->summary, program->name);
    for (size_t i = 0; i < table->count; i++) {
        const app_option *option = &table->rows[i];
        char left[192], help[512], behind[64];
        snprintf(left, sizeof left, "%s%s%s", option->name, option->argument != NULL ? " " : "",
                 option->argument != NULL ? option->argument : "");
        if (strlen(left) > 26) {
            printf("  %s\n%29s", left, "");
        } else {
            printf("  %-26s ", left);
        }
        default_text(option, behind, sizeof behind);
        snprintf(help, sizeof help, "%s%s", option->help, behind);
        print_wrapped(help, 29);
        putchar('\n');
    }
    print_wrapped(
        "\nResults go to stdout, times to stderr. Exit status: 0 success, 1 failure or a check "
        "found a difference, 2 wrong usage.",
        0);
    printf("\n\nExample: %s\n", program->example);
}

void app_options_parse(int argc, char **argv, const app_program *program, app_common *common,
                       const app_option *options) {
    bool wants_help = false;
    char size_help[160];
    char input_help[200];
    row_table table = {.count = 0};

    app_start(program->name);
    snprintf(size_help, sizeof size_help, "%s", program->size);
    if (program->input != NULL) {
        snprintf(input_help, sizeof input_help, "%s; without it, generated from --seed",
                 program->input);
        add_row(&table,
                (app_option){"--input", APP_OPTION_TEXT, &common->input, "FILE", 0, 0, input_help});
    }
    add_row(&table, (app_option){"--size", APP_OPTION_SIZE, &common->size, "N", 0, 0, size_help});
    add_row(&table, (app_option){"--seed", APP_OPTION_COUNT, &common->seed, "N", 0, 1e18,
                                 "seed of all random numbers"});
    add_row(&table, (app_option){"--memory", APP_OPTION_CHOICE, &common->memory,
                                 "copy|managed|zerocopy", 0, 0, "memory that holds the data"});
    add_row(&table, (app_option){"--check", APP_OPTION_FLAG, &common->check, NULL, 0, 0,
                                 "check the result against a serial computation in C"});
    for (; options->name != NULL; options++) {
        add_row(&table, *options);
    }
    add_row(&table,
            (app_option){"--help", APP_OPTION_FLAG, &wants_help, NULL, 0, 0, "print this help and exit"});

    /* --help first, so that the defaults it shows are still those. */
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            print_help(program, &table);
            exit(0);
        }
    }
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        if (strncmp(argument, "--", 2) != 0) {
            if (program->input == NULL) {
                fail_no_input(argument);
            }
            app_fail_usage("unexpected argument '%s'; input files are given with --input",
                           argument);
        }
        size_t length = strcspn(argument, "=");
        const app_option *option = find_row(&table, program, argument, length);
        if (argument[length] == '=') {
            parse_value(option, argument + length + 1);
        } else if (option->kind == APP_OPTION_FLAG) {
            *(bool *)option->value = true;
        } else if (i + 1 == argc) {
            app_fail_usage("option %s needs a value (%s)", option->name, option->argument);
        } else {
            parse_value(option, argv[++i]);
        }
    }
}

uint64_t app_size_items(app_size size, double item_bytes, uint64_t default_count,
                        uint64_t min_count, uint64_t max_count) {
    uint64_t count = default_count;
    if (size.value != 0) {
        count = size.is_bytes ? (uint64_t)((double)size.value / item_bytes) : size.value;
    }
    if (count < min_count) {
        if (size.is_bytes) {
            app_fail_usage("--size %s is too small: %s items are needed, about %s",
                           app_bytes(size.value), app_count(min_count),
                           app_bytes((uint64_t)(item_bytes * (double)min_count)));
        }
        app_fail_usage("--size %s is too small: at least %s are needed", app_count(count),
                       app_count(min_count));
    }
    if (count > max_count) {
        app_fail_usage("--size asks for %s items, but this program handles at most %s",
                       app_count(count), app_count(max_count));
    }
    return count;
}
