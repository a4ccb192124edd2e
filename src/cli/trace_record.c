/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace record: libwarpage, in the program, writes the trace under another name; it gets
 * its own when the program has ended and its exit status is in it. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "cli/trace.h"
#include "warpage/device.h"
#include "warpage/trace.h"

enum option_index { OUTPUT, DEVICE, AS, SET, FUNCTIONAL, POLICY_FILE };

const wp_option wpi_trace_record_options[] = {[OUTPUT] = {"output", "FILE.wpt", ""},
                                              [DEVICE] = {"device", "sim:GPU", ""},
                                              [AS] = WPI_AS_OPTION,
                                              [SET] = {"set", "KEY=VALUE", ""},
                                              [FUNCTIONAL] = {"functional", NULL, ""},
                                              [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
                                              {0}};

static wp_status check_device(const char *device, wp_error *err) {
    if (strncmp(device, "sim:", 4) != 0) {
        return WP_FAIL(err, INVALID,
                       "traces are recorded on simulated GPUs, such as sim:k80, not on '%s'",
                       device);
    }
    wp_device *opened;
    WP_TRY(wp_device_open(device, &opened, err));
    wp_device_close(opened);
    return WP_STATUS_OK;
}

/* The folder is there and can be written; said before the program runs. */
static wp_status check_target(const char *path, wp_error *err) {
    char *dir = wp_path_dir(path);
    const bool exists = wp_dir_exists(dir);
    wp_free(dir);
    if (!exists) return WP_FAIL(err, INVALID, "--output %s: its folder does not exist", path);
    if (wp_dir_exists(path)) return WP_FAIL(err, INVALID, "--output %s: that is a folder", path);
    return WP_STATUS_OK;
}

static wp_status keep_trace(const char *made, const char *path, int exit_code, wp_error *err) {
    if (!wp_file_exists(made))
        return WP_FAIL(err, INVALID,
                       "the program left no trace: it was not built by wpcc, used no GPU, failed "
                       "there, closed the trace's file, or did not exit normally (it called _exit "
                       "or exec)");
    WP_TRY(wp_trace_set_exit_status(made, exit_code, err));
    if (rename(made, path) == 0) return WP_STATUS_OK;
    return WP_FAIL(err, IO, "%s: cannot be written", path);
}

/* What a program that was ended had written so far: "<made>.<process id>.part". */
static void remove_parts(const char *made) {
    char *folder = wp_path_dir(made), *base = wp_path_base(made);
    DIR *dir = opendir(folder);
    const size_t length = strlen(base);
    for (const struct dirent *e = dir != NULL ? readdir(dir) : NULL; e != NULL; e = readdir(dir))
        if (strncmp(e->d_name, base, length) == 0 && e->d_name[length] == '.')
            (void)unlinkat(dirfd(dir), e->d_name, 0);
    if (dir != NULL) (void)closedir(dir);
    wp_free(base);
    wp_free(folder);
}

wp_status wpi_trace_record(const char *const *program, const char *path, const char *device,
                           bool is_functional, const char *stdout_path, wp_text *stderr_text,
                           wp_strings *environment, int *exit_code, wp_error *err) {
    char *made = wp_format("%s.%ld.recording", path, (long)getpid());
    char *absolute = NULL;
    wp_strings_addf(environment, "WARPAGE_DEVICE=%s", device != NULL ? device : WPI_TRACE_DEVICE);
    wp_strings_addf(environment, "WARPAGE_TRACE_FUNCTIONAL=%d", is_functional);
    /* The program may change its folder. */
    char here[4096];
    if (made[0] != '/' && getcwd(here, sizeof here) != NULL) absolute = wp_path_join(here, made);
    wp_strings_addf(environment, "WARPAGE_TRACE=%s", absolute != NULL ? absolute : made);
    const wp_subprocess_options how = {.environment = wp_strings_argv(environment),
                                       .stdout_path = stdout_path,
                                       .stderr_text = stderr_text,
                                       .leaves_signals = true};
    wp_status status = wp_subprocess_run(program, &how, exit_code, err);
    if (status != WP_STATUS_OK) *exit_code = WP_EXIT_FAILED; /* the program did not start */
    if (status == WP_STATUS_OK) status = keep_trace(made, path, *exit_code, err);
    (void)unlink(made);
    remove_parts(made);
    wp_free(absolute);
    wp_free(made);
    return status;
}

static void say(void *path, const wp_trace_info *info) {
    char bytes[32];
    (void)fprintf(stderr, "warpage trace: %s: %" PRIu64 " launches, %" PRIu64 " accesses, %s",
                  (const char *)path, info->launches, info->accesses,
                  wp_format_bytes(info->file_bytes, bytes));
    if (info->accesses != 0)
        (void)fprintf(stderr, " (%.2f bytes an access)",
                      (double)info->file_bytes / (double)info->accesses);
    (void)fputs("\n", stderr);
}

static int record(const wp_arguments *arguments, wp_strings *environment) {
    const char *const *values = arguments->values;
    wp_error err = {0};
    int exit_code = WP_EXIT_FAILED;
    char *path = wp_format("%s", values[OUTPUT]);
    const wp_status status =
        wpi_trace_record((const char *const *)arguments->operands, path, values[DEVICE],
                         values[FUNCTIONAL] != NULL, NULL, NULL, environment, &exit_code, &err);
    if (status != WP_STATUS_OK) {
        (void)wpi_failure("trace record", "%s", err.message);
        if (exit_code == 0) exit_code = WP_EXIT_FAILED;
    } else if (wp_trace_read_info(path, say, NULL, path, &err) != WP_STATUS_OK) {
        exit_code = wpi_failure("trace record", "%s", err.message);
    }
    wp_free(path);
    return exit_code;
}

int wpi_trace_record_main(int argc, char **argv) {
    wp_arguments arguments;
    wp_strings environment = {0};
    wp_error err = {0};
    wpi_expand_short_options(argc, argv);
    if (wpi_arguments_parse(wpi_trace_record_options, argc, argv, &arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "%s", err.message);
    const char *const *values = arguments.values;
    if (values[OUTPUT] == NULL) return wpi_usage_error("trace", "record: where to? -o FILE.wpt");
    if (arguments.operand_count == 0)
        return wpi_usage_error("trace", "record: which program? For example: warpage trace record "
                                        "-o app.wpt -- ./app");
    if (wpi_device_as(&arguments, WPI_TRACE_DEVICE, &err) != WP_STATUS_OK)
        return wpi_usage_error("trace", "record: %s", err.message);
    const char *device = values[DEVICE] != NULL ? values[DEVICE] : WPI_TRACE_DEVICE;
    int exit_code;
    if (wpi_set_keys(&arguments, device, &environment, &err) != WP_STATUS_OK ||
        check_device(device, &err) != WP_STATUS_OK ||
        check_target(values[OUTPUT], &err) != WP_STATUS_OK) {
        exit_code = wpi_usage_error("trace", "record: %s", err.message);
    } else {
        exit_code = record(&arguments, &environment);
    }
    wp_strings_deinit(&environment);
    return exit_code;
}
