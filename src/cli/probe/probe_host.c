/* SPDX-License-Identifier: Apache-2.0 */
/* warpage probe host: this machine as a host of the simulator. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/probe/probe.h"
#include "probe/host/host_measure.h"

#define REPEATS_DEFAULT 7u

enum option_index { DEVICE, MAX_MEMORY, REPEATS, FORMAT, OUTPUT };

static const wpi_cli_option options[] = {
    [DEVICE] = {"device", "SPEC",
                "measure the cost of a call on this device: cpu (default), cuda:0"},
    [MAX_MEMORY] = {"max-memory", "BYTES",
                    "read and write at most BYTES (default: 1GiB, or half of what is free)"},
    [REPEATS] = {"repeats", "N", "repeat each measurement N times (default: 7)"},
    [FORMAT] = {"format", "FORM", "print text (default) or json"},
    [OUTPUT] = {"output", "FILE", "write a profile of this host to FILE, such as my-host.ini"},
    {0}};

static wp_status parse_repeats(const char *text, uint32_t *out, wp_error *err) {
    char *end = NULL;
    if (text == NULL) return WP_STATUS_OK;
    const unsigned long value = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || value == 0 ||
        value > WPI_HOST_REPEATS_MAX)
        return WP_FAIL(err, INVALID, "--repeats: '%s' is not a number from 1 to %u", text,
                       WPI_HOST_REPEATS_MAX);
    *out = (uint32_t)value;
    return WP_STATUS_OK;
}

static wp_status check_output(const char *path, wp_error *err) {
    if (path == NULL) return WP_STATUS_OK;
    char *dir = wpi_path_dir(path);
    const bool exists = wpi_dir_exists(dir);
    wpi_free(dir);
    if (exists) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "--output %s: its folder does not exist", path);
}

static wp_status parse_request(const wpi_arguments *arguments, wpi_host_request *out, bool *is_json,
                               wp_error *err) {
    const char *const *values = arguments->values;
    const char *form = values[FORMAT] != NULL ? values[FORMAT] : "text";
    *out = (wpi_host_request){.call_device = values[DEVICE] != NULL ? values[DEVICE] : "cpu",
                              .repeats = REPEATS_DEFAULT};
    *is_json = strcmp(form, "json") == 0;
    if (!*is_json && strcmp(form, "text") != 0)
        return WP_FAIL(err, INVALID, "format '%s' is none of text, json", form);
    if (strncmp(out->call_device, "sim:", 4) == 0)
        return WP_FAIL(err, INVALID,
                       "--device %s: calls of a simulated GPU say nothing about a driver; give cpu "
                       "or cuda:0",
                       out->call_device);
    if (values[MAX_MEMORY] != NULL)
        WP_TRY(wpi_parse_bytes(values[MAX_MEMORY], &out->memory_bytes, err));
    if (values[MAX_MEMORY] != NULL && out->memory_bytes < ((uint64_t)1 << 20))
        return WP_FAIL(err, INVALID, "--max-memory: at least 1MiB");
    WP_TRY(parse_repeats(values[REPEATS], &out->repeats, err));
    return check_output(values[OUTPUT], err);
}

static void show_progress(void *object, const char *what, uint32_t done, uint32_t all) {
    (void)object;
    (void)fprintf(stderr, "\r\033[Kwarpage probe host: %u of %u, %s", done + 1, all, what);
    (void)fflush(stderr);
}

static wp_status write_profile(const wpi_host_result *result, const char *path, wp_error *err) {
    wpi_text text = {0};
    wpi_host_result_profile(result, &text);
    const wp_status status = wpi_file_write(path, wpi_text_string(&text), text.length, err);
    wpi_text_deinit(&text);
    return status;
}

int wpi_probe_host_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_host_request request;
    wpi_host_result result = {0};
    wp_error err = {0};
    bool is_json = false;
    if (wpi_arguments_parse(options, argc, argv, &arguments, &err) != WP_STATUS_OK ||
        parse_request(&arguments, &request, &is_json, &err) != WP_STATUS_OK)
        return wpi_usage_error("probe", "%s", err.message);
    if (arguments.operand_count != 0)
        return wpi_usage_error("probe", "no operand is expected, got '%s'", arguments.operands[0]);
    const bool has_progress = isatty(STDERR_FILENO) != 0;
    if (has_progress) request.progress = show_progress;
    wp_status status = wpi_host_measure_all(&request, &result, &err);
    if (has_progress) (void)fputs("\r\033[K", stderr);
    if (status == WP_STATUS_OK && arguments.values[OUTPUT] != NULL)
        status = write_profile(&result, arguments.values[OUTPUT], &err);
    if (status == WP_STATUS_OK) {
        wpi_text text = {0};
        (is_json ? wpi_host_result_json : wpi_host_result_text)(&result, &text);
        (void)fputs(wpi_text_string(&text), stdout);
        wpi_text_deinit(&text);
    }
    wpi_host_result_deinit(&result);
    const int code = wpi_finish("probe");
    return status == WP_STATUS_OK ? code : wpi_failure("probe", "%s", err.message);
}
