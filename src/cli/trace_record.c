/* SPDX-License-Identifier: Apache-2.0 */
/* warpage trace record: libwarpage, in the program, writes the trace under another name; it gets
 * its own when the program has ended and its exit status is in it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/trace_commands.h"
#include "study/trace_recording.h"
#include "warpage/device.h"
#include "warpage/trace.h"

enum option_index { OUTPUT, DEVICE, AS, SET, FUNCTIONAL, POLICY_FILE };

const wpi_cli_option wpi_trace_record_options[] = {[OUTPUT] = {"output", "FILE.wpt", ""},
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

/* Checks before the program runs that the folder exists and can be written. */
static wp_status check_target(const char *path, wp_error *err) {
    char *dir = wpi_path_dir(path);
    const bool exists = wpi_dir_exists(dir);
    wpi_free(dir);
    if (!exists) return WP_FAIL(err, INVALID, "--output %s: its folder does not exist", path);
    if (wpi_dir_exists(path)) return WP_FAIL(err, INVALID, "--output %s: that is a folder", path);
    return WP_STATUS_OK;
}

static void say(void *path, const wp_trace_info *info) {
    char bytes[32];
    (void)fprintf(stderr, "warpage trace: %s: %" PRIu64 " launches, %" PRIu64 " accesses, %s",
                  (const char *)path, info->launches, info->accesses,
                  wpi_format_bytes(info->file_bytes, bytes));
    if (info->accesses != 0)
        (void)fprintf(stderr, " (%.2f bytes an access)",
                      (double)info->file_bytes / (double)info->accesses);
    (void)fputs("\n", stderr);
}

static bool is_plain(const char *path) {
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* Into a device or a pipe, which is not replaced. */
static wp_status copy_trace(const char *from, const char *to, wp_error *err) {
    char *data;
    size_t bytes;
    WP_TRY(wpi_file_read(from, &data, &bytes, err));
    const wp_status status = wpi_file_write(to, data, bytes, err);
    wpi_free(data);
    return status;
}

static int record(const wpi_arguments *arguments, wpi_strings *environment) {
    const char *const *values = arguments->values;
    wp_error err = {0};
    int exit_code = WP_EXIT_FAILED;
    char *path = wpi_format("%s", values[OUTPUT]);
    char *folder = NULL; /* a trace that is to go elsewhere is in it first */
    char *made = NULL;
    wp_status status = WP_STATUS_OK;
    if (!is_plain(path)) {
        status = wpi_temp_dir_create(&folder, &err);
        if (status == WP_STATUS_OK) made = wpi_path_join(folder, "trace.wpt");
    }
    const char *trace = made != NULL ? made : path;
    if (status == WP_STATUS_OK)
        status =
            wpi_trace_record((const char *const *)arguments->operands, trace, values[DEVICE],
                             values[FUNCTIONAL] != NULL, NULL, NULL, environment, &exit_code, &err);
    if (status != WP_STATUS_OK) {
        (void)wpi_failure("trace record", "%s", err.message);
        if (exit_code == 0) exit_code = WP_EXIT_FAILED;
    } else if ((made != NULL && copy_trace(made, path, &err) != WP_STATUS_OK) ||
               wp_trace_read_info(trace, say, NULL, path, &err) != WP_STATUS_OK) {
        exit_code = wpi_failure("trace record", "%s", err.message);
    }
    wpi_temp_dir_remove(folder);
    wpi_free(folder);
    wpi_free(made);
    wpi_free(path);
    return exit_code;
}

int wpi_trace_record_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_strings environment = {0};
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
    wpi_strings_deinit(&environment);
    return exit_code;
}
