/* SPDX-License-Identifier: Apache-2.0 */
#include "study/claims_run.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/time.h"
#include "warpage/report.h"

/* "name value" lines become an object of numbers; a value that is a word is none. */
static wp_status parse_values(const char *text, json_t *values, const char *program,
                              wp_error *err) {
    while (*text != '\0') {
        const size_t length = strcspn(text, "\n");
        char *line = wpi_strndup(text, length), *end = NULL;
        WP_CHECK(line != NULL);
        char *space = strrchr(line, ' ');
        const double value = space != NULL ? strtod(space + 1, &end) : 0.0;
        const bool is_number = space != NULL && end != space + 1 && *end == '\0' && isfinite(value);
        const bool is_good = is_number || (space != NULL && space == strchr(line, ' ') &&
                                           space != line && isalpha((unsigned char)space[1]));
        if (is_number) {
            *space = '\0';
            WP_CHECK(json_object_set_new(values, line, json_real(value)) == 0);
        }
        wp_status status = WP_STATUS_OK;
        if (!is_good)
            status = WP_FAIL(err, PARSE, "%s printed '%s', not NAME VALUE", program, line);
        wpi_free(line);
        WP_TRY(status);
        text += length + (text[length] == '\n');
    }
    return WP_STATUS_OK;
}

static wp_status compile(const wpi_figure *figure, const char *wpcc, const char *program,
                         wp_error *err) {
    char *source = wpi_path_join(figure->program_folder, wpi_json_text(figure->json, "program"));
    wpi_text errors = {0};
    const char *library = wpi_json_text(figure->json, "library");
    char *bin = wpi_path_dir(wpcc), *prefix = wpi_path_dir(bin);
    char *headers = wpi_format("-I%s/include", prefix);
    const char *const argv[] = {wpcc, "-O2", headers, source, "-o", program, library, NULL};
    const wpi_subprocess_options options = {.stdout_text = &errors, .stderr_text = &errors};
    int code = 0;
    wp_status status = wpi_subprocess_run(argv, &options, &code, err);
    if (status == WP_STATUS_OK && code != 0)
        status = WP_FAIL(err, TOOLCHAIN, "%s: wpcc failed: %s", source, wpi_text_string(&errors));
    wpi_text_deinit(&errors);
    wpi_free(headers);
    wpi_free(prefix);
    wpi_free(bin);
    wpi_free(source);
    return status;
}

/* Whether `name` is the figure's `program`. */
static bool has_program(const wpi_figure *figure, const char *name) {
    return strcmp(wpi_json_text(figure->json, "program"), name) == 0;
}

static void add_arguments(const json_t *run, size_t first, wpi_strings *argv) {
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(run, "arguments"), i, value) {
        if (i < first) continue;
        if (json_is_integer(value))
            wpi_strings_addf(argv, "%" PRId64, (int64_t)json_integer_value(value));
        else
            wpi_strings_add(argv, json_string_value(value) != NULL ? json_string_value(value) : "");
    }
}

/* Runs `argv` in `directory` (NULL: here); its output goes to `out`. An app appends values to a
 * file. */
static wp_status run_once(const json_t *run, const wpi_strings *argv, const char *directory,
                          const char *values_path, wpi_text *out, wp_error *err) {
    wpi_strings environment = {0};
    wpi_text errors = {0};
    const char *program = argv->items[0];
    wpi_strings_addf(&environment, "WARPAGE_DEVICE=%s", wpi_json_text(run, "device"));
    wpi_strings_addf(&environment, "WARPAGE_SET=%s",
                     wpi_json_text(run, "set") != NULL ? wpi_json_text(run, "set") : "");
    wpi_strings_addf(&environment, "WARPAGE_VALUES=%s", values_path != NULL ? values_path : "");
    size_t i;
    json_t *value;
    json_array_foreach(json_object_get(run, "environment"), i, value) {
        if (json_string_value(value) != NULL)
            wpi_strings_add(&environment, json_string_value(value));
    }
    const wpi_subprocess_options options = {.stdout_text = out,
                                            .stderr_text = &errors,
                                            .environment = wpi_strings_argv(&environment),
                                            .directory = directory};
    int code = 0;
    wp_status status = wpi_subprocess_run(wpi_strings_argv(argv), &options, &code, err);
    if (status == WP_STATUS_OK && code != 0)
        status = WP_FAIL(err, IO, "%s on %s ended with %d: %s", program,
                         wpi_json_text(run, "device"), code, wpi_text_string(&errors));
    wpi_text_deinit(&errors);
    wpi_strings_deinit(&environment);
    return status;
}

/* The values are what the program prints. */
static wp_status run_program(const json_t *run, const char *program, json_t *values,
                             wp_error *err) {
    wpi_strings argv = {0};
    wpi_text out = {0};
    wpi_strings_add(&argv, program);
    add_arguments(run, 0, &argv);
    wp_status status = run_once(run, &argv, NULL, NULL, &out, err);
    if (status == WP_STATUS_OK) status = parse_values(wpi_text_string(&out), values, program, err);
    wpi_text_deinit(&out);
    wpi_strings_deinit(&argv);
    return status;
}

static void set_mean(json_t *values, const char *name, double value) {
    WP_CHECK(json_object_set_new(values, name, json_real(value)) == 0);
}

static void set_value(json_t *values, const char *name, uint64_t value) {
    set_mean(values, name, (double)value);
}

/* The time in which pages were transferred while no kernel ran: prefetches between launches. */
static uint64_t paging_between_kernels_ns(const wp_run_record *record) {
    static const char *const name = "paging_link_to_device_ps";
    const uint64_t all_ps = wp_run_count(record, record->simulation->values, name);
    uint64_t kernels_ps = 0;
    for (size_t i = 0; i < record->kernel_count; i++)
        if (record->kernels[i].values != NULL)
            kernels_ps += wp_run_count(record, record->kernels[i].values, name);
    /* Kernels at the same time have the same transfers. */
    return all_ps > kernels_ps ? (all_ps - kernels_ps) / WP_PS_PER_NS : 0;
}

/* Of all streamed kernels together. */
static void read_streamed(const wp_run_record *record, json_t *values) {
    wp_run_streamed sum = {0};
    for (size_t i = 0; i < record->streamed_count; i++) {
        const wp_run_streamed *row = &record->streamed[i];
        sum.mapped_bytes += row->mapped_bytes;
        sum.read_bytes += row->read_bytes;
        sum.written_bytes += row->written_bytes;
        sum.address_ns += row->address_ns;
        sum.gather_ns += row->gather_ns;
        sum.compute_ns += row->compute_ns;
        sum.store_ns += row->store_ns;
    }
    set_value(values, "streamed_mapped_bytes", sum.mapped_bytes);
    set_value(values, "streamed_read_bytes", sum.read_bytes);
    set_value(values, "streamed_written_bytes", sum.written_bytes);
    set_value(values, "streamed_address_ns", sum.address_ns);
    set_value(values, "streamed_gather_ns", sum.gather_ns);
    set_value(values, "streamed_compute_ns", sum.compute_ns);
    set_value(values, "streamed_store_ns", sum.store_ns);
}

/* Of all cached kernels together: monitored accesses, and the hits of structures that some threads
 * cache; and the registers of the one with the most, in both forms. */
static void read_cached(const wp_run_record *record, json_t *values) {
    uint64_t accesses = 0, hits = 0, registers = 0, plain_registers = 0;
    for (size_t i = 0; i < record->cached_count; i++) {
        if (record->cached[i].registers > registers) registers = record->cached[i].registers;
        if (record->cached[i].plain_registers > plain_registers)
            plain_registers = record->cached[i].plain_registers;
        for (uint32_t s = 0; s < record->cached[i].structure_count; s++) {
            const wp_run_cached_structure *row = &record->cached[i].structures[s];
            accesses += row->accesses;
            hits += row->chosen != 0 ? row->hits : 0;
        }
    }
    set_value(values, "cached_monitored_accesses", accesses);
    set_value(values, "cached_hits", hits);
    set_value(values, "cached_registers", registers);
    set_value(values, "cached_plain_registers", plain_registers);
}

/* A launch of a kernel, the mean of its launches: `<kernel>.time_ns`, `<kernel>.<counter>`; of
 * those with one grid, `<kernel>[15x1x1].time_ns`. A name ends before its parameters. */
static void read_kernel(const wp_run_record *record, const wp_run_kernel *kernel, json_t *values) {
    const double launches = (double)kernel->launches;
    char *kernel_name = wpi_strndup(kernel->display_name, strcspn(kernel->display_name, "(<"));
    WP_CHECK(kernel_name != NULL);
    char *name = wpi_format("%s.time_ns", kernel_name);
    set_mean(values, name, (double)kernel->time_ns / launches);
    wpi_free(name);
    for (size_t i = 0; i < kernel->shape_count; i++) {
        const wp_run_shape *shape = &kernel->shapes[i];
        name = wpi_format("%s[%" PRIu32 "x%" PRIu32 "x%" PRIu32 "].time_ns", kernel_name,
                          shape->grid[0], shape->grid[1], shape->grid[2]);
        set_mean(values, name, (double)shape->time_ns / (double)shape->launches);
        wpi_free(name);
    }
    const wp_run_simulation *simulation = record->simulation;
    for (size_t i = 0; kernel->values != NULL && i < simulation->column_count; i++) {
        const char *counter = simulation->columns[i].name;
        name = wpi_format("%s.%s", kernel_name, counter);
        set_mean(values, name, (double)wp_run_count(record, kernel->values, counter) / launches);
        wpi_free(name);
    }
    wpi_free(kernel_name);
}

/* Accesses to an allocation, and to all: `<name>.reads`, `.writes`, `.pages` (that were touched)
 * and so on. */
static void set_accesses(const char *name, const wp_run_touches *touches,
                         const wp_run_spread *spread, json_t *values) {
    const struct {
        const char *name;
        uint64_t value;
    } members[] = {
        {"reads", touches->reads},
        {"writes", touches->writes},
        {"pages", spread->pages},
        {"most_accesses", spread->most_accesses},
        {"median_accesses", spread->median_accesses},
        {"near_median", spread->near_median},
        {"hottest_tenth_accesses", spread->hottest_tenth_accesses},
    };
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        char *full = wpi_format("%s.%s", name, members[i].name);
        set_value(values, full, members[i].value);
        wpi_free(full);
    }
}

static void read_allocations(const wp_run_simulation *simulation, json_t *values) {
    wp_run_touches all = {0};
    for (size_t i = 0; i < simulation->allocation_count; i++) {
        const wp_run_allocation *a = &simulation->allocations[i];
        set_accesses(a->name, &a->touches, &a->spread, values);
        all.reads += a->touches.reads;
        all.writes += a->touches.writes;
    }
    set_accesses("all", &all, &simulation->spread, values);
}

/* What TLBs that query each other add to private ones. */
static void read_sharing(const wp_run_tlb_sharing *sharing, json_t *values) {
    set_value(values, "tlb_directories", sharing->directories);
    set_value(values, "tlb_directory_entries", sharing->directory_entries);
    set_value(values, "tlb_directory_tag_bits", sharing->tag_bits);
    set_value(values, "tlb_directory_map_bits", sharing->map_bits);
    set_value(values, "tlb_directory_bits", sharing->directory_bits);
    set_value(values, "tlb_sharing_buffers", sharing->buffers);
    set_value(values, "tlb_sharing_buffer_bits", sharing->buffer_bits);
}

/* The report's counters, by name. */
static wp_status read_report(const char *path, json_t *values, wp_error *err) {
    wp_run_record record = {0};
    WP_TRY(wp_run_record_read(path, &record, err));
    const wp_run_simulation *simulation = record.simulation;
    uint64_t kernel_ns = 0;
    for (size_t i = 0; i < record.kernel_count; i++) {
        kernel_ns += record.kernels[i].time_ns;
        read_kernel(&record, &record.kernels[i], values);
    }
    set_value(values, "kernel_time_ns", kernel_ns);
    for (int kind = 0; kind < WP_COPY_KIND_COUNT; kind++) {
        char *name = wpi_format("copy_%s_time_ns", wp_copy_kind_name((wp_copy_kind)kind));
        set_value(values, name, record.copies[kind].time_ns);
        wpi_free(name);
    }
    if (record.streamed_count != 0) read_streamed(&record, values);
    if (record.cached_count != 0) read_cached(&record, values);
    if (simulation != NULL) {
        set_value(values, "simulated_time_ns", simulation->time_ps / WP_PS_PER_NS);
        set_value(values, "paging_between_kernels_ns", paging_between_kernels_ns(&record));
        read_allocations(simulation, values);
        set_value(values, "dram_bytes_per_s", simulation->machine.dram_bytes_per_s);
        read_sharing(&simulation->machine.tlb_sharing, values);
    }
    for (size_t i = 0; simulation != NULL && i < simulation->column_count; i++) {
        const char *name = simulation->columns[i].name;
        set_value(values, name, wp_run_count(&record, simulation->values, name));
    }
    wp_run_record_deinit(&record);
    return WP_STATUS_OK;
}

/* The values that an app measured itself. */
static wp_status read_values(const char *path, json_t *values, wp_error *err) {
    char *text;
    size_t bytes;
    if (!wpi_file_exists(path)) return WP_STATUS_OK;
    WP_TRY(wpi_file_read(path, &text, &bytes, err));
    const wp_status status = parse_values(text, values, "the app", err);
    wpi_free(text);
    return status;
}

/* A program under `warpage run`: an app, another one, or the figure's own. */
typedef struct reported {
    const char *program, *directory; /* NULL: here */
    size_t first;                    /* of its arguments, in those of the run */
} reported;

static wp_status run_with_report(const json_t *run, const char *warpage, const reported *of,
                                 const char *report, json_t *values, wp_error *err) {
    char *values_path = wpi_format("%s.values", report);
    wpi_strings argv = {0};
    wpi_text out = {0};
    (void)remove(values_path); /* of the run before */
    wpi_strings_add(&argv, warpage);
    wpi_strings_add(&argv, "run");
    wpi_strings_addf(&argv, "--report=%s", report);
    wpi_strings_add(&argv, "--");
    wpi_strings_add(&argv, of->program);
    add_arguments(run, of->first, &argv);
    wp_status status = run_once(run, &argv, of->directory, values_path, &out, err);
    if (status == WP_STATUS_OK) status = read_report(report, values, err);
    if (status == WP_STATUS_OK) status = read_values(values_path, values, err);
    wpi_text_deinit(&out);
    wpi_strings_deinit(&argv);
    wpi_free(values_path);
    return status;
}

static const char *first_argument(const json_t *run) {
    const char *name = json_string_value(json_array_get(json_object_get(run, "arguments"), 0));
    return name != NULL ? name : "";
}

/* An app, which the first argument names. */
static wp_status run_app(const json_t *run, const char *warpage, const char *report, json_t *values,
                         wp_error *err) {
    char *bin = wpi_path_dir(warpage), *prefix = wpi_path_dir(bin);
    char *app = wpi_format("%s/lib/warpage/apps/%s", prefix, first_argument(run));
    const wp_status status =
        wpi_file_exists(app)
            ? run_with_report(run, warpage, &(reported){app, NULL, 1}, report, values, err)
            : WP_FAIL(err, NOT_FOUND,
                      "%s is missing: the app does not exist, or the installation is incomplete",
                      app);
    wpi_free(app);
    wpi_free(prefix);
    wpi_free(bin);
    return status;
}

static const char *programs_folder(void) {
    const char *folder = getenv("WARPAGE_PROGRAMS");
    return folder != NULL && folder[0] != '\0' ? folder : NULL;
}

/* Another program, which the first argument names, in the folder of such programs. */
static wp_status run_other(const json_t *run, const char *warpage, const char *report,
                           json_t *values, wp_error *err) {
    const char *folder = programs_folder();
    if (folder == NULL)
        return WP_FAIL(err, NOT_FOUND,
                       "the programs of this figure are not part of Warpage: make them by "
                       "bench/hardware/programs.sh FOLDER, and set WARPAGE_PROGRAMS=FOLDER");
    char *path = wpi_path_join(folder, first_argument(run));
    char *program = wpi_format("./%s", first_argument(run));
    const wp_status status =
        wpi_file_exists(path)
            ? run_with_report(run, warpage, &(reported){program, folder, 1}, report, values, err)
            : WP_FAIL(err, NOT_FOUND,
                      "%s is missing: bench/hardware/programs.sh makes the programs of this figure",
                      path);
    wpi_free(program);
    wpi_free(path);
    return status;
}

/* How a figure is run. */
typedef struct runner {
    const char *program; /* or `warpage`, where that runs it */
    wp_status (*run_reported)(const json_t *run, const char *warpage, const char *report,
                              json_t *values, wp_error *err);
    const char *report;   /* its file; NULL: the program prints its values */
    const char *compiled; /* the figure's own program, where `warpage` runs it */
    void (*say)(const char *text);
} runner;

bool wpi_figure_lacks_programs(const wpi_figure *figure) {
    return has_program(figure, "programs") && programs_folder() == NULL;
}

static wp_status run_by(const runner *how, const json_t *run, json_t *values, wp_error *err) {
    if (how->compiled != NULL)
        return run_with_report(run, how->program, &(reported){how->compiled, NULL, 0}, how->report,
                               values, err);
    if (how->run_reported != NULL)
        return how->run_reported(run, how->program, how->report, values, err);
    return run_program(run, how->program, values, err);
}

static wp_status run_all(const wpi_figure *figure, const runner *how, json_t *all, wp_error *err) {
    const char *name;
    json_t *run;
    json_object_foreach(json_object_get(figure->json, "runs"), name, run) {
        char *text =
            wpi_format("%s/%s: %s on %s", figure->paper, figure->name, name,
                       wpi_json_text(run, "device") != NULL ? wpi_json_text(run, "device") : "?");
        if (how->say != NULL) how->say(text);
        wpi_free(text);
        json_t *values = json_object();
        WP_CHECK(json_object_set_new(all, name, values) == 0);
        WP_TRY(run_by(how, run, values, err));
    }
    return WP_STATUS_OK;
}

/* With `"report": true` under `warpage`; else the program prints its values. */
static wp_status run_source(const wpi_figure *figure, const char *wpcc, const char *folder,
                            const runner *reporting, json_t *all, wp_error *err) {
    char *stem = wpi_path_stem(wpi_json_text(figure->json, "program"));
    char *program = wpi_path_join(folder, stem);
    wp_status status = compile(figure, wpcc, program, err);
    runner how = {.program = program, .say = reporting->say};
    if (json_is_true(json_object_get(figure->json, "report"))) {
        how = *reporting;
        how.compiled = program;
    }
    if (status == WP_STATUS_OK) status = run_all(figure, &how, all, err);
    wpi_free(program);
    wpi_free(stem);
    return status;
}

wp_status wpi_claims_run(const wpi_figure *figure, const char *wpcc, void (*say)(const char *text),
                         json_t *all, wp_error *err) {
    char *temp = NULL;
    WP_TRY(wpi_temp_dir_create(&temp, err));
    char *bin = wpi_path_dir(wpcc), *warpage = wpi_path_join(bin, "warpage");
    char *report = wpi_path_join(temp, "report.json");
    wp_status status;
    if (has_program(figure, "warpage"))
        status = run_all(figure, &(runner){.program = warpage, .say = say}, all, err);
    else if (has_program(figure, "apps"))
        status = run_all(figure, &(runner){warpage, run_app, report, NULL, say}, all, err);
    else if (has_program(figure, "programs"))
        status = run_all(figure, &(runner){warpage, run_other, report, NULL, say}, all, err);
    else
        status = run_source(figure, wpcc, temp,
                            &(runner){.program = warpage, .report = report, .say = say}, all, err);
    wpi_temp_dir_remove(temp);
    wpi_free(report);
    wpi_free(warpage);
    wpi_free(bin);
    wpi_free(temp);
    return status;
}
