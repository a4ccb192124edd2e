/* SPDX-License-Identifier: Apache-2.0 */
/* warpage probe: options and output. The measurement is in probe_measure.c. */
#include "cli/probe/probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/print/probe_page.h"
#include "warpage/device.h"

enum option_index {
    DEVICE,
    SET,
    BUDGET,
    MAX_MEMORY,
    PAIRS,
    FORMAT,
    RAW,
    OUTPUT,
    WRITE_PROFILE,
    BASE,
    FROM
};

const wpi_cli_option wpi_probe_options[] = {
    [DEVICE] = {"device", "SPEC", "probe this device: cpu (default), cuda:0, sim:k80 …"},
    [SET] = {"set", "KEY=VALUE", "set a parameter of the simulated GPU; may be repeated"},
    [BUDGET] = {"budget", "TIME",
                "start no measurement after TIME, such as 60s (default: no limit)"},
    [MAX_MEMORY] =
        {"max-memory", "BYTES",
         "use at most BYTES of device memory, such as 4GiB (default: what the device has)"},
    [PAIRS] =
        {"pairs", "WHICH",
         "test pairs of SMs for shared TLBs: few (default: enough to find the groups), all (also "
         "plotted) or none"},
    [FORMAT] = {"format", "FORM",
                "print text (default), json, or values: one line NAME VALUE for each result"},
    [RAW] = {"raw", "FILE", "write every timed round to FILE as CSV"},
    [OUTPUT] = {"output", "DIR",
                "write the result in every form, a web page, plots and raw samples to DIR"},
    [WRITE_PROFILE] = {"write-profile", "FILE",
                       "write a profile of a simulated GPU that has these TLBs to FILE"},
    [BASE] =
        {"base", "PROFILE",
         "take all other parameters of that profile from PROFILE (default: the most similar GPU)"},
    [FROM] = {"from", NULL, "infer TLBs from the curves in the given files instead of measuring"},
    {0}};

const char wpi_probe_details[] =
    "Measures the delay of memory accesses and infers the device's TLBs: levels, entries, sets "
    "and\n"
    "ways, page size, miss latency, and which SMs share them. A property that cannot be "
    "determined\n"
    "is reported as unknown, with the reason.\n"
    "\n"
    "  warpage probe --device sim:k80               a simulated GPU; cuda:0: a real one; "
    "cpu: this\n                                               processor\n"
    "  warpage probe --from FILE…                   curves from other measurements\n"
    "  warpage probe diff A.json B.json             the differences of two results; exit "
    "status 1\n                                               if there are any\n"
    "  warpage probe points NAME=STRIDE*COUNT …     additional cycles of each of COUNT loads "
    "that\n                                               are STRIDE apart\n"
    "                       NAME=STRIDE<CYCLES      the largest COUNT with fewer additional "
    "cycles\n"
    "                       NAME=SM,SM:STRIDE*COUNT the same on the first SM after the loads "
    "of\n                                               the second\n"
    "  warpage probe host                           this machine as the host of simulated GPUs:\n"
    "                                               memory bandwidth and latency, the cost of a\n"
    "                                               call, a poll and copies\n"
    "    --device SPEC          measure the cost of a call on this device: cpu (default), cuda:0\n"
    "    --max-memory BYTES     read and write at most BYTES (default: 1GiB, or half of what is "
    "free)\n"
    "    --repeats N            repeat each measurement N times (default: 7)\n"
    "    --format text|json     print text (default) or JSON\n"
    "    --output FILE          write a profile for sim:GPU@FILE, such as my-host.ini\n"
    "  warpage probe bandwidth                      bytes a second from each level of memory: "
    "moved, "
    "in\n                                               sectors of 32 bytes, and used by threads\n"
    "    --device SPEC          measure this device: cpu (default), cuda:0, sim:k80 …\n"
    "    --set KEY=VALUE        set a parameter of the simulated GPU; may be repeated\n"
    "    --level LIST           of dram, l2, l1, shared (default: all); an L1 that a profile has "
    "off\n                           needs --set l1.on=on\n"
    "    --blocks LIST          numbers of blocks (default: 1, half of the SMs, all of them)\n"
    "    --threads LIST         threads of a block, multiples of 32 (default: 128,256,512,1024)\n"
    "    --coalesced LIST       lanes that read neighbouring words: 1, 2, 4, 8, 16, 32 (default: "
    "4)\n"
    "    --repeats N            repeat each measurement N times, but on simulated GPUs (default: "
    "5)\n"
    "    --format text|csv|values  print text (default), CSV, or moved GB/s as "
    "LEVEL_BLOCKSxTHREADS_COALESCED";

typedef enum result_form { FORM_TEXT, FORM_JSON, FORM_VALUES, FORM_COUNT } result_form;

static wp_status parse_form(const char *name, result_form *out, wp_error *err) {
    static const char *const names[FORM_COUNT] = {"text", "json", "values"};
    *out = FORM_TEXT;
    for (int f = 0; name != NULL && f < FORM_COUNT; f++) {
        if (strcmp(names[f], name) != 0) continue;
        *out = (result_form)f;
        return WP_STATUS_OK;
    }
    if (name == NULL) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "format '%s' is none of text, json, values", name);
}

static wp_status parse_pairs(const char *which, wpi_probe_request *request, wp_error *err) {
    if (which == NULL || strcmp(which, "few") == 0) return WP_STATUS_OK;
    request->has_pairs = strcmp(which, "all") == 0;
    request->is_sharing_skipped = strcmp(which, "none") == 0;
    if (request->has_pairs || request->is_sharing_skipped) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "--pairs: '%s' is none of few, all, none", which);
}

static wp_status parse_request(const wpi_arguments *arguments, wpi_probe_request *out,
                               result_form *form, wp_error *err) {
    const char *const *values = arguments->values;
    const char *device = values[DEVICE] != NULL ? values[DEVICE] : getenv("WARPAGE_DEVICE");
    *out = (wpi_probe_request){.spec = device != NULL && device[0] != '\0' ? device : "cpu",
                               .output = values[OUTPUT],
                               .has_progress = isatty(STDERR_FILENO) != 0};
    WP_TRY(parse_form(values[FORMAT], form, err));
    WP_TRY(parse_pairs(values[PAIRS], out, err));
    if (values[BUDGET] != NULL) WP_TRY(wpi_parse_duration_ns(values[BUDGET], &out->budget_ns, err));
    if (values[MAX_MEMORY] != NULL)
        WP_TRY(wpi_parse_bytes(values[MAX_MEMORY], &out->max_memory_bytes, err));
    if (values[BUDGET] != NULL && out->budget_ns == 0)
        return WP_FAIL(err, INVALID, "--budget: more than 0");
    if (values[MAX_MEMORY] != NULL && out->max_memory_bytes == 0)
        return WP_FAIL(err, INVALID, "--max-memory: more than 0");
    WP_TRY(wpi_set_keys(arguments, out->spec, NULL, err));
    return WP_STATUS_OK;
}

/* ---- output ---- */

static void render(const wpi_probe_result *result, result_form form, wpi_text *out) {
    switch (form) {
    case FORM_JSON: wpi_probe_result_json(result, out); break;
    case FORM_VALUES: wpi_probe_result_values(result, out); break;
    case FORM_TEXT:
    case FORM_COUNT: wpi_probe_result_text(result, out); break;
    }
}

static wp_status write_text(const char *path, wpi_text *text, wp_error *err) {
    const wp_status status = wpi_file_write(path, wpi_text_string(text), text->length, err);
    wpi_text_deinit(text);
    return status;
}

static wp_status write_form(const wpi_probe_result *result, const char *dir, const char *name,
                            result_form form, wp_error *err) {
    wpi_text text = {0};
    char *path = wpi_path_join(dir, name);
    render(result, form, &text);
    const wp_status status = write_text(path, &text, err);
    wpi_free(path);
    return status;
}

static wp_status write_raw(const wpi_probe_record *record, const char *path, wp_error *err) {
    wpi_text text = {0};
    if (record->is_lost) return WP_FAIL(err, NOMEM, "%s: not all samples could be kept", path);
    wpi_probe_record_csv(record, &text);
    return write_text(path, &text, err);
}

static wp_status write_folder(const wpi_probe_result *result, const wpi_probe_record *record,
                              const char *dir, wp_error *err) {
    char *raw = wpi_path_join(dir, "samples.csv");
    wp_status status = write_form(result, dir, "probe.txt", FORM_TEXT, err);
    if (status == WP_STATUS_OK) status = write_form(result, dir, "probe.json", FORM_JSON, err);
    if (status == WP_STATUS_OK && record->count != 0) status = write_raw(record, raw, err);
    if (status == WP_STATUS_OK) status = wpi_probe_page_write(result, dir, err);
    wpi_free(raw);
    return status;
}

/* ---- a profile ---- */

typedef struct likeness {
    const char *name; /* of the device, from its driver */
    char best[64];
    size_t length;
} likeness;

/* A profile matches a device whose name contains the profile's: "p100" and "Tesla P100-PCIE-16GB".
 */
static void compare_name(void *object, const char *spec) {
    likeness *l = object;
    const char *profile = spec + strlen("sim:");
    const size_t length = strlen(profile);
    for (const char *at = l->name; *at != '\0'; at++) {
        if (strncasecmp(at, profile, length) != 0 || length <= l->length) continue;
        (void)snprintf(l->best, sizeof l->best, "%s", profile);
        l->length = length;
    }
}

static wp_status find_base(const wpi_probe_result *result, const char *wanted, char out[64],
                           wp_error *err) {
    likeness like = {.name = result->name};
    const char *simulated = strncmp(result->spec, "sim:", 4) == 0 ? result->spec + 4 : NULL;
    if (wanted == NULL) wanted = simulated;
    if (wanted == NULL) {
        wp_device_visit_simulated(compare_name, &like);
        wanted = like.best;
    }
    if (wanted[0] == '\0')
        return WP_FAIL(err, INVALID,
                       "--write-profile: no profile is like '%s'; name one that the rest is taken "
                       "from: --base v100",
                       result->name);
    (void)snprintf(out, 64, "%s", wanted);
    return WP_STATUS_OK;
}

static wp_status write_profile(const wpi_probe_result *result, const char *base, const char *path,
                               wp_error *err) {
    char name[64];
    wpi_text text = {0};
    WP_TRY(find_base(result, base, name, err));
    const wp_status status = wpi_profile_write(result->tlbs, name, result->name, &text, err);
    if (status == WP_STATUS_OK) return write_text(path, &text, err);
    wpi_text_deinit(&text);
    return status;
}

/* ---- the command ---- */

static wp_status read_curves(const wpi_arguments *arguments, wpi_probe_result *out, wp_error *err) {
    wpi_curves *curves = NULL;
    WP_TRY(wpi_curves_load((const char *const *)arguments->operands,
                           (size_t)arguments->operand_count, &curves, err));
    const wp_status status = wpi_curves_infer(curves, &out->tlbs, err);
    wpi_curves_destroy(curves);
    (void)snprintf(out->spec, sizeof out->spec, "from files");
    (void)snprintf(out->name, sizeof out->name, "Measured elsewhere");
    if (status == WP_STATUS_OK) out->sm_count = out->tlbs->sm_count;
    return status;
}

static wp_status check_targets(const wpi_arguments *arguments, wp_error *err) {
    static const int files[] = {RAW, WRITE_PROFILE};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        const char *path = arguments->values[files[i]];
        if (path == NULL) continue;
        char *dir = wpi_path_dir(path);
        const bool exists = wpi_dir_exists(dir);
        wpi_free(dir);
        if (!exists)
            return WP_FAIL(err, INVALID, "--%s %s: its folder does not exist",
                           wpi_probe_options[files[i]].name, path);
    }
    return WP_STATUS_OK;
}

static wp_status say(const wpi_arguments *arguments, const wpi_probe_result *result,
                     const wpi_probe_record *record, result_form form, wp_error *err) {
    const char *const *values = arguments->values;
    wpi_text text = {0};
    if (values[RAW] != NULL) WP_TRY(write_raw(record, values[RAW], err));
    if (values[OUTPUT] != NULL) WP_TRY(write_folder(result, record, values[OUTPUT], err));
    if (values[WRITE_PROFILE] != NULL)
        WP_TRY(write_profile(result, values[BASE], values[WRITE_PROFILE], err));
    render(result, form, &text);
    (void)fputs(wpi_text_string(&text), stdout);
    wpi_text_deinit(&text);
    return WP_STATUS_OK;
}

static int probe(const wpi_arguments *arguments) {
    wpi_probe_request request;
    wpi_probe_result result = {0};
    wpi_probe_record record = {0};
    wp_error err = {0};
    result_form form;
    const bool is_from = arguments->values[FROM] != NULL;
    if (parse_request(arguments, &request, &form, &err) != WP_STATUS_OK ||
        check_targets(arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("probe", "%s", err.message);
    if (is_from != (arguments->operand_count != 0))
        return is_from ? wpi_usage_error("probe", "--from: which files?")
                       : wpi_usage_error("probe", "no operand is expected, got '%s'",
                                         arguments->operands[0]);
    wp_status status = request.output != NULL ? wpi_dir_create(request.output, &err) : WP_STATUS_OK;
    if (status == WP_STATUS_OK)
        status = is_from ? read_curves(arguments, &result, &err)
                         : wpi_probe_device(&request, &record, &result, &err);
    if (status == WP_STATUS_OK) status = say(arguments, &result, &record, form, &err);
    if (status == WP_STATUS_OK && result.tlbs->level_count == 0)
        status = WP_FAIL(&err, NOT_FOUND, "no TLB was found: %s", result.tlbs->levels_known.reason);
    wpi_probe_result_deinit(&result);
    wpi_probe_record_deinit(&record);
    const int code = wpi_finish("probe");
    return status == WP_STATUS_OK ? code : wpi_failure("probe", "%s", err.message);
}

static int diff(int argc, char **argv) {
    bool is_same = false;
    wpi_text text = {0};
    wp_error err = {0};
    if (argc != 3)
        return wpi_usage_error("probe", "which two results? warpage probe diff A.json B.json");
    if (wpi_probe_diff(argv[1], argv[2], &text, &is_same, &err) != WP_STATUS_OK)
        return wpi_failure("probe", "%s", err.message);
    (void)fputs(wpi_text_string(&text), stdout);
    wpi_text_deinit(&text);
    const int code = wpi_finish("probe");
    return is_same ? code : WP_EXIT_FAILED;
}

static int points(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_probe_request request;
    wp_error err = {0};
    result_form form;
    if (wpi_arguments_parse_mixed(wpi_probe_options, argc, argv, &arguments, &err) !=
            WP_STATUS_OK ||
        parse_request(&arguments, &request, &form, &err) != WP_STATUS_OK)
        return wpi_usage_error("probe", "%s", err.message);
    if (arguments.operand_count == 0)
        return wpi_usage_error("probe", "which points? For example l1=128KiB*16");
    const wp_status status = wpi_probe_points(&request, arguments.operands, &err);
    if (status == WP_STATUS_INVALID) return wpi_usage_error("probe", "%s", err.message);
    return status == WP_STATUS_OK ? wpi_finish("probe") : wpi_failure("probe", "%s", err.message);
}

/* Commands that parse their own options have their help with the probe's. */
static int with_help(int argc, char **argv, int (*run)(int argc, char **argv)) {
    char help[] = "help", own[] = "probe", *help_argv[] = {help, own, NULL};
    const bool is_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    return is_help ? wpi_help_main(2, help_argv) : run(argc, argv);
}

int wpi_probe_main(int argc, char **argv) {
    wpi_arguments arguments;
    wp_error err = {0};
    if (argc > 1 && strcmp(argv[1], "diff") == 0) return diff(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "points") == 0) return points(argc - 1, argv + 1);
    if (argc > 1 && strcmp(argv[1], "host") == 0)
        return with_help(argc - 1, argv + 1, wpi_probe_host_main);
    if (argc > 1 && strcmp(argv[1], "bandwidth") == 0)
        return with_help(argc - 1, argv + 1, wpi_probe_bandwidth_main);
    if (wpi_arguments_parse_mixed(wpi_probe_options, argc, argv, &arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("probe", "%s", err.message);
    return probe(&arguments);
}
