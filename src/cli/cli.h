/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The `warpage` command: one table of commands, one file a command. Results go to stdout, messages
 * to stderr; exit codes are 0 done, 1 failed, 2 wrong usage.
 */
#ifndef WP_CLI_CLI_H
#define WP_CLI_CLI_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/strings.h"
#include "base/text.h"
#include "warpage/error.h"

enum { WP_EXIT_DONE = 0, WP_EXIT_FAILED = 1, WP_EXIT_USAGE = 2 };

typedef struct wpi_cli_option wpi_cli_option;

typedef struct wpi_cli_command wpi_cli_command;

struct wpi_cli_command {
    const char *name;
    const char *summary;               /* one line for `warpage help` */
    const char *usage;                 /* text after "warpage " */
    const char *details;               /* paragraph for `warpage help <name>`; may be "" */
    const wpi_cli_option *options;     /* {0}-terminated, for help; NULL: none */
    const wpi_cli_command *commands;   /* {0}-terminated: of a command that has its own; or NULL */
    int (*run)(int argc, char **argv); /* argv[0] is the command's name; returns the exit code */
};

/** {0}-terminated, in the order of the help page. */
extern const wpi_cli_command wpi_commands[];

/** The command, or NULL after a message with the nearest name. */
const wpi_cli_command *wpi_command_find(const char *name);

/** One option of a command: `--name VALUE`, `--name=VALUE`, or `--name` where `value_name` is NULL.
 */
struct wpi_cli_option {
    const char *name;
    const char *value_name;
    const char *doc;
};

/** The given options: `values[i]` belongs to `options[i]`; NULL: not given, "" for a flag. Of an
 * option given several times it is the last value; wpi_arguments_next returns all. */
typedef struct wpi_arguments {
    const char *values[32];
    char **operands; /* the rest of argv, NULL-terminated */
    int operand_count;
    const wpi_cli_option *options;
    char **argv;
    int options_end;   /* in argv */
    char device[1024]; /* --device and --as together (wpi_device_as) */
} wpi_arguments;

/** Reads options up to the first operand or "--". INVALID, with a message, on a wrong one. */
WP_NODISCARD wp_status wpi_arguments_parse(const wpi_cli_option *options, int argc, char **argv,
                                           wpi_arguments *out, wp_error *err);

/** The same for commands whose operands are not a program with options of its own: options may also
 * follow operands, and are moved before them in `argv`. */
WP_NODISCARD wp_status wpi_arguments_parse_mixed(const wpi_cli_option *options, int argc,
                                                 char **argv, wpi_arguments *out, wp_error *err);

/** The next value given for an option, in order; NULL behind the last. `*cursor` starts at 0. */
const char *wpi_arguments_next(const wpi_arguments *arguments, size_t option, int *cursor);

/** Makes the value of an option that takes a list all that were given, joined by commas. The string
 * is the caller's (wpi_free); NULL: not given. */
char *wpi_arguments_list(wpi_arguments *arguments, size_t option);

/** Keys of a simulated GPU that are options of their own, and their rows from number `first` on. */
#define WPI_PAGING_KEYS "oversubscribe", "prefetch", "evict", "migrate"
#define WPI_PAGING_OPTIONS(first)                                                                  \
    [first] =                                                                                      \
        {"oversubscribe", "PERCENT",                                                               \
         "size the device so that managed allocations are PERCENT of its memory, such as 125%"},   \
    [(first) + 1] = {"prefetch", "POLICY",                                                         \
                     "prefetch policy: which pages to migrate in with a faulting page"},           \
    [(first) + 2] = {"evict", "POLICY",                                                            \
                     "eviction policy: which pages to evict when device memory is full"},          \
    [(first) + 3] = {"migrate", "POLICY",                                                          \
                     "migration policy: when to migrate a page instead of accessing it remotely; " \
                     "`warpage policies` lists all three kinds"}

#define WPI_AS_OPTION                                                                              \
    {"as", "NAME", "use the parameters of another simulator, such as uvmsmart, where they differ"}

/** May be given several times. */
#define WPI_POLICY_FILE "policy-file"
#define WPI_POLICY_FILE_OPTION                                                                     \
    {WPI_POLICY_FILE, "FILE", "load policies that `wpcc --policy` compiled; repeatable"}

/** Loads all files of --policy-file into this process, and adds a row to `environment` (may be
 * NULL) for a program to be run. Does nothing for commands without the option. */
WP_NODISCARD wp_status wpi_policy_files_use(const wpi_arguments *arguments,
                                            wpi_strings *environment, wp_error *err);

/** --as NAME is an overlay of --device (else `otherwise`, else WARPAGE_DEVICE's): "sim:k80" becomes
 * "sim:k80+NAME" in the values. Does nothing where there is none. INVALID: no simulated GPU. */
WP_NODISCARD wp_status wpi_device_as(wpi_arguments *arguments, const char *otherwise,
                                     wp_error *err);

/** Applies --policy-file, --set and those keys for `device` (NULL: WARPAGE_DEVICE's) to this
 * process, and adds rows to `environment` (may be NULL) for a program to be run. Does nothing if
 * there are none. INVALID: no simulated GPU. */
WP_NODISCARD wp_status wpi_set_keys(const wpi_arguments *arguments, const char *device,
                                    wpi_strings *environment, wp_error *err);

/** Prints "warpage <command>: <message>" and the help command; returns WP_EXIT_USAGE or
 * WP_EXIT_FAILED.
 */
int wpi_usage_error(const char *command, const char *format, ...) WP_PRINTF(2, 3);
int wpi_failure(const char *command, const char *format, ...) WP_PRINTF(2, 3);

void wpi_help_print_overview(void);

/** The manual page of a command, or of warpage itself (NULL), in roff; from the table of commands.
 */
void wpi_manual_write(const wpi_cli_command *command, wpi_text *out);
/** Completion of commands, options and values for "bash" or "zsh"; INVALID for another shell. */
WP_NODISCARD wp_status wpi_completion_write(const char *shell, wpi_text *out, wp_error *err);

/** Flushes stdout: a full disk or closed pipe makes the command fail. */
int wpi_finish(const char *command);

int wpi_run_main(int argc, char **argv);
int wpi_compare_main(int argc, char **argv);
int wpi_advise_main(int argc, char **argv);
int wpi_trace_main(int argc, char **argv);
int wpi_probe_main(int argc, char **argv);
int wpi_groupby_main(int argc, char **argv);
int wpi_sample_main(int argc, char **argv);
int wpi_devices_main(int argc, char **argv);
int wpi_params_main(int argc, char **argv);
int wpi_policies_main(int argc, char **argv);
int wpi_doctor_main(int argc, char **argv);
int wpi_reproduce_main(int argc, char **argv);
int wpi_study_main(int argc, char **argv);
int wpi_help_main(int argc, char **argv);

extern const char wpi_trace_details[];
extern const wpi_cli_command wpi_trace_commands[];
extern const char wpi_probe_details[];
extern const wpi_cli_option wpi_probe_options[];
extern const wpi_cli_option wpi_groupby_options[];
extern const wpi_cli_option wpi_sample_options[];
extern const wpi_cli_option wpi_compare_options[];
extern const wpi_cli_option wpi_advise_options[];
extern const wpi_cli_option wpi_run_options[];
extern const wpi_cli_option wpi_devices_options[];
extern const wpi_cli_option wpi_doctor_options[];
extern const wpi_cli_option wpi_params_options[];
extern const wpi_cli_option wpi_policies_options[];
extern const wpi_cli_option wpi_reproduce_options[];
extern const wpi_cli_option wpi_study_options[];

/** Programs that this process starts find libwarpage under the names of NVIDIA's libraries, as
 * those built by nvcc look for it (LD_LIBRARY_PATH), and in place of NVIDIA's runtime in them
 * (LD_PRELOAD). */
void wpi_nvidia_names_use(void);
/** Adds to the environment of a program what makes its clocks follow a simulated GPU. */
wp_status wpi_program_clock_use(wpi_strings *environment, wp_error *err);

#endif
