/* SPDX-License-Identifier: Apache-2.0 */
/*
 * warpage run: sets the environment that libwarpage reads, runs the program, and reports from the
 * record that libwarpage left at its exit. Everything that can be wrong with the request is checked
 * before the program starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/in_step_choice.h"
#include "base/record_note.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/options/choice.h"
#include "cli/options/report_target.h"
#include "cli/print/report_colours.h"
#include "report/param_table.h"
#include "report/selection.h"
#include "study/estimate.h"
#include "study/foresee.h"
#include "warpage/device.h"
#include "warpage/report.h"

enum option_index {
    DEVICE,
    AS,
    SET,
    OVERSUBSCRIBE, /* … and three more of paging */
    DEVICE_MEMORY = OVERSUBSCRIBE + 4,
    WORKERS,
    IN_STEP,
    SIMULATED_CLOCK,
    CHECK,
    REPORT,
    OUTPUT,
    TIMELINE,
    PAGES,
    SOURCE,
    KERNELS,
    LAUNCHES,
    WARMUP,
    MAX_INSTRUCTIONS,
    REGION,
    ESTIMATE,
    POLICY_FILE
};

const wpi_cli_option wpi_run_options[] = {
    [DEVICE] = {"device", "SPEC",
                "run on this device: cpu (default), cuda:0, sim:k80 …; `warpage devices` lists "
                "them; several "
                "for one program: cpu,cpu or sim:p100,sim:p100"},
    [AS] = WPI_AS_OPTION,
    [SET] =
        {"set", "KEY=VALUE",
         "set a parameter of the simulated GPU; may be repeated (`warpage params --device sim:k80` "
         "lists them)"},
    WPI_PAGING_OPTIONS(OVERSUBSCRIBE),
    [DEVICE_MEMORY] = {"device-memory", "BYTES",
                       "limit device memory to BYTES, such as 1GiB (default: what the device has)"},
    [WORKERS] = {"workers", "N",
                 "run the CPU device with N threads (default: one for each processor)"},
    [IN_STEP] = {"in-step", "WHEN",
                 "execute threads in step with simulated time: auto (default: in kernels that read "
                 "a clock or "
                 "wait for other blocks), always or never"},
    [SIMULATED_CLOCK] =
        {"simulated-clock", NULL,
         "the clocks that the program reads (clock_gettime, gettimeofday, std::chrono, clock) "
         "follow the simulated GPU; its own code takes no time on them"},
    [CHECK] = {"check", NULL,
               "check kernels on the CPU for out-of-bounds and misaligned accesses, use of freed "
               "memory, divergent "
               "barriers, races within blocks and leaks; exit with status 1 if any is found. "
               "WARPAGE_CHECK_RACES=0: no races, which take most of the time"},
    [REPORT] = {"report", "FILE", WPI_REPORT_DOC},
    [OUTPUT] = {"output", "DIR",
                "write the report in every form, plots and a web page, index.html, to DIR"},
    [TIMELINE] =
        {"timeline", "FILE",
         "write a timeline of kernels and copies in Chrome's trace format, which Perfetto shows"},
    [PAGES] = {"pages", "DIR",
               "write when each page of managed memory was accessed, migrated and evicted to DIR"},
    [SOURCE] = {"source", NULL,
                "print the kernels' source with what each line cost on a simulated GPU"},
    [KERNELS] = {"kernels", "REGEX",
                 "report only kernels whose name matches this regular expression"},
    [LAUNCHES] = {"launches", "A-B",
                  "report only launches A to B, counted from 1 among those that --kernels selects"},
    [WARMUP] = {"warmup", "N",
                "leave the first N launches that --kernels selects out of the report (default: 0)"},
    [MAX_INSTRUCTIONS] = {"max-instructions", "N",
                          "end the program after N simulated thread instructions"},
    [REGION] = {"region", NULL,
                "report only what runs between cudaProfilerStart and cudaProfilerStop"},
    [ESTIMATE] =
        {"estimate", NULL,
         "run the program again for each thing that holds it back, with that part of the simulated "
         "GPU costing nothing, and report how much faster it is"},
    [POLICY_FILE] = WPI_POLICY_FILE_OPTION,
    {0}};

static bool library_has_param(const char *name) {
    for (const wpi_param_table *t = wpi_param_table_list(); t->room != NULL; t++)
        for (const wpi_param *row = t->rows; row->name != NULL; row++)
            if (strcmp(row->name, name) == 0) return true;
    return false;
}

/* The launches that the report covers. */
static wp_status set_selection(const char *const *values, wpi_strings *environment, wp_error *err) {
    uint64_t number = 0;
    if (values[KERNELS] != NULL) {
        WP_TRY(wpi_selection_check_kernels(values[KERNELS], err));
        wpi_strings_addf(environment, "WARPAGE_KERNELS=%s", values[KERNELS]);
    }
    if (values[LAUNCHES] != NULL) {
        WP_TRY(wpi_selection_check_launches(values[LAUNCHES], err));
        wpi_strings_addf(environment, "WARPAGE_LAUNCHES=%s", values[LAUNCHES]);
    }
    if (values[WARMUP] != NULL) {
        WP_TRY(wpi_parse_count(values[WARMUP], &number, err));
        wpi_strings_addf(environment, "WARPAGE_WARMUP=%s", values[WARMUP]);
    }
    if (values[MAX_INSTRUCTIONS] != NULL) {
        WP_TRY(wpi_parse_count(values[MAX_INSTRUCTIONS], &number, err));
        if (number == 0) return WP_FAIL(err, INVALID, "--max-instructions: at least 1");
        wpi_strings_addf(environment, "WARPAGE_MAX_INSTRUCTIONS=%s", values[MAX_INSTRUCTIONS]);
    }
    if (values[REGION] != NULL) wpi_strings_add(environment, "WARPAGE_REGION=on");
    return WP_STATUS_OK;
}

static wp_status set_in_step(const char *when, wpi_strings *environment, wp_error *err) {
    int unused;
    WP_TRY(wpi_choice_parse("in-step", when, wpi_in_step_words, &unused, err));
    wpi_strings_addf(environment, "WARPAGE_IN_STEP=%s", when);
    return WP_STATUS_OK;
}

/* Other devices have no events of pages, no counts by line, and no clock of their own. */
static wp_status check_simulated(const char *device, const char *what, wp_error *err) {
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device != NULL && strncmp(device, "sim:", 4) == 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "%s needs a simulated GPU: name one, as in --device sim:gtx1080ti",
                   what);
}

/* Kernels are checked where they run as code of the processor. */
static wp_status check_processor(const char *device, wp_error *err) {
    if (device == NULL) device = getenv("WARPAGE_DEVICE");
    if (device == NULL || device[0] == '\0' || strncmp(device, "cpu", 3) == 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "--check checks kernels on the CPU, not on %s; add --device cpu",
                   device);
}

/* Opens what the program will open, with its settings, so that their errors are the command's. */
static wp_status try_device(const char *const *values, wp_error *err) {
    wp_device *devices[WP_DEVICES_MAX];
    uint32_t count;
    const char *name = values[DEVICE] != NULL ? values[DEVICE] : getenv("WARPAGE_DEVICE");
    if (values[DEVICE] == NULL && values[WORKERS] == NULL) return WP_STATUS_OK;
    WP_TRY(wp_devices_open(name != NULL && name[0] != '\0' ? name : "cpu", devices, &count, err));
    while (count != 0)
        wp_device_close(devices[--count]);
    return WP_STATUS_OK;
}

/* Checks values and turns them into environment rows. */
static wp_status set_environment(wpi_arguments *arguments, wpi_strings *environment,
                                 wp_error *err) {
    uint64_t number = 0;
    const char *const *values = arguments->values;
    if (values[DEVICE_MEMORY] != NULL) {
        WP_TRY(wpi_parse_bytes(values[DEVICE_MEMORY], &number, err));
        wpi_strings_addf(environment, "WARPAGE_DEVICE_MEMORY=%s", values[DEVICE_MEMORY]);
    }
    if (values[WORKERS] != NULL) {
        WP_TRY(wpi_parse_count(values[WORKERS], &number, err));
        if (number == 0) return WP_FAIL(err, INVALID, "--workers: at least 1");
        (void)setenv("WARPAGE_WORKERS", values[WORKERS], 1); /* checked below, too */
        wpi_strings_addf(environment, "WARPAGE_WORKERS=%s", values[WORKERS]);
    }
    WP_TRY(wpi_device_as(arguments, NULL, err));
    WP_TRY(wpi_set_keys(arguments, values[DEVICE], environment, err));
    if (values[IN_STEP] != NULL) WP_TRY(set_in_step(values[IN_STEP], environment, err));
    WP_TRY(try_device(values, err));
    if (values[DEVICE] != NULL) wpi_strings_addf(environment, "WARPAGE_DEVICE=%s", values[DEVICE]);
    if (values[CHECK] != NULL) {
        if (!library_has_param("check"))
            return WP_FAIL(err, UNSUPPORTED, "--check: this libwarpage cannot check kernels");
        WP_TRY(check_processor(values[DEVICE], err));
        wpi_strings_add(environment, "WARPAGE_CHECK=1");
    }
    if (values[SIMULATED_CLOCK] != NULL) {
        WP_TRY(check_simulated(values[DEVICE], "--simulated-clock", err));
        WP_TRY(wpi_program_clock_use(environment, err));
    }
    return set_selection(values, environment, err);
}

static wp_status check_folder_of(const char *option, const char *path, wp_error *err) {
    char *dir = wpi_path_dir(path);
    const bool exists = wpi_dir_exists(dir);
    wpi_free(dir);
    if (!exists) return WP_FAIL(err, INVALID, "--%s %s: its folder does not exist", option, path);
    return WP_STATUS_OK;
}

static wp_status check_pages(const char *device, const char *pages, wp_error *err) {
    char *what = wpi_format("--pages %s", pages);
    const wp_status status = check_simulated(device, what, err);
    wpi_free(what);
    return status == WP_STATUS_OK ? wp_run_record_check_pages(pages, err) : status;
}

static wp_status check_targets(const wpi_arguments *arguments, wp_error *err) {
    const char *report = arguments->values[REPORT];
    const char *output = arguments->values[OUTPUT], *timeline = arguments->values[TIMELINE];
    const char *pages = arguments->values[PAGES];
    if (report != NULL) {
        WP_TRY(wpi_report_check(report, err));
        if (!wpi_report_is_stdout(report)) WP_TRY(check_folder_of("report", report, err));
    }
    if (timeline != NULL) WP_TRY(check_folder_of("timeline", timeline, err));
    if (output != NULL) WP_TRY(wp_run_record_check_folder(output, err));
    if (arguments->values[ESTIMATE] != NULL)
        WP_TRY(check_simulated(arguments->values[DEVICE], "--estimate", err));
    if (pages != NULL) WP_TRY(check_pages(arguments->values[DEVICE], pages, err));
    if (arguments->values[SOURCE] != NULL)
        WP_TRY(check_simulated(arguments->values[DEVICE], "--source", err));
    return WP_STATUS_OK;
}

/* The program itself writes the timeline; copies it to its destination. */
static wp_status copy_timeline(const char *from, const char *to, wp_error *err) {
    char *data = NULL;
    size_t bytes = 0;
    WP_TRY(wpi_file_read(from, &data, &bytes, err));
    const wp_status status = wpi_file_write(to, data, bytes, err);
    wpi_free(data);
    return status;
}

static wp_status write_report(const wp_run_record *record, const char *path, wp_error *err) {
    wp_run_record told = *record;
    /* A simulated GPU's record is reproducible to the byte; the wall time is not. */
    if (record->simulation != NULL) told.wall_time_ns = 0;
    return wpi_report_write(&told, path, err);
}

/* To stderr, in colour on a terminal. Takes the text. */
static void print_report(char *text) {
    wpi_text coloured = {0};
    if (wpi_colours_are_on(STDERR_FILENO)) wpi_report_colours(text, &coloured);
    (void)fputs(coloured.length != 0 ? coloured.data : text, stderr);
    wpi_text_deinit(&coloured);
    wp_run_text_free(text);
}

static wp_status write_reports(const wpi_arguments *arguments, const wp_run_record *record,
                               const char *timeline_path, wp_error *err) {
    const char *report = arguments->values[REPORT];
    const char *output = arguments->values[OUTPUT], *timeline = arguments->values[TIMELINE];
    const char *pages = arguments->values[PAGES];
    if (report != NULL) WP_TRY(write_report(record, report, err));
    if (output != NULL) WP_TRY(wp_run_record_write_folder(record, output, timeline_path, err));
    if (timeline != NULL) WP_TRY(copy_timeline(timeline_path, timeline, err));
    if (report == NULL && output == NULL) print_report(wp_run_record_to_text(record));
    if (arguments->values[SOURCE] != NULL) print_report(wp_run_record_to_source(record));
    return pages != NULL ? wp_run_record_write_pages(record, pages, err) : WP_STATUS_OK;
}

/* Why there is no record, in one sentence. */
static void explain_missing(const char *program, wpi_record_state state, int exit_code) {
    if (exit_code > 128)
        (void)fprintf(stderr,
                      "warpage run: %s was ended by signal %d (%s) before it could write its run "
                      "record\n",
                      program, exit_code - 128, strsignal(exit_code - 128));
    else if (state == WP_RECORD_STARTED)
        (void)fprintf(stderr,
                      "warpage run: %s left no run record: it did not exit normally, but called "
                      "_exit or exec\n",
                      program);
    else
        (void)fprintf(stderr,
                      "warpage run: %s left no run record: it was not built by wpcc, or did not "
                      "exit normally\n",
                      program);
}

static bool selects_launches(const wpi_arguments *arguments) {
    static const int options[] = {KERNELS, LAUNCHES, WARMUP, REGION};
    bool selects = false;
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
        selects = selects || arguments->values[options[i]] != NULL;
    return selects;
}

/* The exit code of `warpage run`: the program's, or 1 if it succeeded but the requested report
 * failed. */
static int report_run(const wpi_arguments *arguments, const char *record_path,
                      const char *timeline_path, const wpi_strings *environment, const char *folder,
                      int exit_code) {
    const bool has_target = arguments->values[REPORT] != NULL ||
                            arguments->values[OUTPUT] != NULL ||
                            arguments->values[TIMELINE] != NULL || arguments->values[PAGES] != NULL;
    const int failed_code = exit_code != 0 ? exit_code : WP_EXIT_FAILED;
    char reason[WP_RECORD_REASON_BYTES];
    const wpi_record_state state = wpi_record_note_state(record_path, reason);
    if (state == WP_RECORD_FAILED) {
        (void)wpi_failure("run",
                          "the run record of %s could not be written: %s; set TMPDIR to a folder "
                          "with more space",
                          arguments->operands[0], reason);
        return failed_code;
    }
    if (state != WP_RECORD_WRITTEN) {
        explain_missing(arguments->operands[0], state, exit_code);
        return has_target ? failed_code : exit_code;
    }
    wp_run_record record = {0};
    wp_error err = {0};
    wp_status status = wp_run_record_read(record_path, &record, &err);
    if (status == WP_STATUS_OK) {
        record.has_exit_status = true;
        record.exit_status = exit_code;
        if (arguments->values[ESTIMATE] != NULL && exit_code == 0)
            wpi_estimate(&record, (const char *const *)arguments->operands, environment, folder);
        status = write_reports(arguments, &record, timeline_path, &err);
        if (status == WP_STATUS_OK && record.kernel_count == 0 && selects_launches(arguments))
            (void)fprintf(stderr,
                          "warpage run: no launch was selected, so the report is of none\n");
        wp_run_record_deinit(&record);
    }
    if (status == WP_STATUS_OK) return exit_code;
    (void)wpi_failure("run", "%s", err.message);
    return failed_code;
}

/* If a policy looks ahead, runs the program once before, to record its page uses. */
static wp_status foresee(const wpi_arguments *arguments, const char *folder,
                         wpi_strings *environment, wp_error *err) {
    char *instead = wpi_foresee_instead(arguments->values[DEVICE]);
    if (instead == NULL) return WP_STATUS_OK;
    char *path = wpi_path_join(folder, "future");
    wpi_strings first = {0};
    int exit_code = 0;
    wpi_foresee_note(instead, path, &first); /* of rows with one name the first counts */
    wpi_strings_add_all(&first, environment);
    (void)fprintf(stderr,
                  "warpage run: a policy looks ahead: the program runs twice, first to note "
                  "what it uses when\n");
    const wpi_subprocess_options options = {.environment = wpi_strings_argv(&first),
                                            .stdin_path = "/dev/null",
                                            .stdout_path = "/dev/null",
                                            .leaves_signals = true};
    wp_status status =
        wpi_subprocess_run((const char *const *)arguments->operands, &options, &exit_code, err);
    if (status == WP_STATUS_OK && !wpi_file_exists(path))
        status = WP_FAIL(err, INVALID, "the first run, with exit status %d, has noted nothing",
                         exit_code);
    wpi_foresee_use(path, environment);
    wpi_strings_deinit(&first);
    wpi_free(path);
    wpi_free(instead);
    return status;
}

int wpi_run_main(int argc, char **argv) {
    wpi_arguments arguments;
    wpi_strings environment = {0};
    wp_error err = {0};
    char *temp = NULL;
    char *record_path = NULL;
    char *timeline_path = NULL;
    char *found_path = NULL; /* exists if a check found an error */
    int exit_code = WP_EXIT_FAILED;

    if (wpi_arguments_parse(wpi_run_options, argc, argv, &arguments, &err) != WP_STATUS_OK)
        return wpi_usage_error("run", "%s", err.message);
    if (arguments.operand_count == 0)
        return wpi_usage_error("run", "which program? For example: warpage run -- ./app");
    if (set_environment(&arguments, &environment, &err) != WP_STATUS_OK ||
        check_targets(&arguments, &err) != WP_STATUS_OK) {
        exit_code = wpi_usage_error("run", "%s", err.message);
        goto done;
    }
    if (wpi_temp_dir_create(&temp, &err) != WP_STATUS_OK) {
        (void)wpi_failure("run", "%s", err.message);
        goto done;
    }
    record_path = wpi_path_join(temp, "record.json");
    if (wpi_record_note_create(record_path, &err) != WP_STATUS_OK) {
        (void)wpi_failure("run", "%s; set TMPDIR to a folder with more space", err.message);
        goto done;
    }
    wpi_strings_addf(&environment, "WARPAGE_RUN_RECORD=%s", record_path);
    timeline_path = wpi_path_join(temp, "timeline.json");
    if (arguments.values[TIMELINE] != NULL || arguments.values[OUTPUT] != NULL)
        wpi_strings_addf(&environment, "WARPAGE_TIMELINE=%s", timeline_path);
    if (arguments.values[PAGES] != NULL) wpi_strings_add(&environment, "WARPAGE_PAGES=on");
    if (arguments.values[SOURCE] != NULL || arguments.values[OUTPUT] != NULL)
        wpi_strings_add(&environment, "WARPAGE_LINES=on");
    if (isatty(STDERR_FILENO)) wpi_strings_add(&environment, "WARPAGE_PROGRESS=on");
    found_path = wpi_path_join(temp, "found");
    if (arguments.values[CHECK] != NULL)
        wpi_strings_addf(&environment, "WARPAGE_CHECK_FOUND=%s", found_path);

    if (foresee(&arguments, temp, &environment, &err) != WP_STATUS_OK) {
        exit_code = wpi_failure("run", "%s", err.message);
        goto done;
    }
    const wpi_subprocess_options options = {.environment = wpi_strings_argv(&environment),
                                            .leaves_signals = true};
    if (wpi_subprocess_run((const char *const *)arguments.operands, &options, &exit_code, &err) !=
        WP_STATUS_OK) {
        exit_code = wpi_failure("run", "%s", err.message);
        goto done;
    }
    exit_code = report_run(&arguments, record_path, timeline_path, &environment, temp, exit_code);
    /* libwarpage has printed its findings; the program may exit with 0. */
    if (exit_code == 0 && wpi_file_exists(found_path)) exit_code = WP_EXIT_FAILED;
done:
    wpi_temp_dir_remove(temp);
    wpi_free(temp);
    wpi_free(record_path);
    wpi_free(timeline_path);
    wpi_free(found_path);
    wpi_strings_deinit(&environment);
    return exit_code;
}
