/* SPDX-License-Identifier: Apache-2.0 */
/* wpcc: the command. Compiles each source to an object, links device code where it is relocatable,
 * links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/leftovers.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/driver/host_question.h"
#include "compiler/driver/job.h"
#include "compiler/driver/stream_option.h"
#include "compiler/driver/supervise.h"
#include "compiler/nvptx/nvptx.h"
#include "compiler/pipeline.h"
#include "compiler/source/cpp_libraries.h"
#include "compiler/source/demangle.h"
#include "compiler/source/foreign_headers.h"

static bool makes_one_file_an_input(wpi_goal goal) {
    return goal != WP_GOAL_LINK && goal != WP_GOAL_SHARED && goal != WP_GOAL_LIBRARY &&
           goal != WP_GOAL_DEVICE_LINK && goal != WP_GOAL_POLICY;
}

/* The value of -o, or a name derived from the input's, in the current folder as in nvcc. */
static char *output_name(const wpi_options *o, const wpi_input *input) {
    static const char *const extensions[] = {
        [WP_GOAL_OBJECT] = ".o",    [WP_GOAL_PTX] = ".ptx",
        [WP_GOAL_CUBIN] = ".cubin", [WP_GOAL_FATBIN] = ".fatbin",
        [WP_GOAL_BITCODE] = ".bc",  [WP_GOAL_HOST_SOURCE] = ".cu.cpp.ii"};
    if (o->output) return wpi_must_strdup(o->output);
    if (o->goal == WP_GOAL_PREPROCESS || o->goal == WP_GOAL_DEPENDENCIES)
        return wpi_must_strdup("-");
    char *stem = wpi_path_stem(input->path);
    char *name = wpi_format("%s%s", stem, extensions[o->goal]);
    char *output = o->output_dir ? wpi_path_join(o->output_dir, name) : wpi_must_strdup(name);
    wpi_free(stem);
    wpi_free(name);
    return output;
}

static char *program_name(const wpi_options *o) {
    if (o->output) return wpi_must_strdup(o->output);
    const char *name = o->goal == WP_GOAL_DEVICE_LINK ? "a_dlink.o"
                       : o->goal == WP_GOAL_LIBRARY   ? "a.a"
                                                      : "a.out";
    return o->output_dir ? wpi_path_join(o->output_dir, name) : wpi_must_strdup(name);
}

/* Compiles to a temporary file, and moves it to its name at the end. */
static wp_status compile_to(wpi_compile_job *job, const wpi_input *input, const char *output,
                            wp_error *err) {
    bool is_stdout = strcmp(output, "-") == 0;
    char *temp = is_stdout ? wpi_must_strdup(output) : wpi_job_temp(job, output, ".out");
    wp_status status = wpi_compile_file(job, input, output, temp, err);
    if (status == WP_STATUS_OK && !is_stdout && !job->options->stop_after)
        status = wpi_job_publish(job, temp, output, err);
    wpi_free(temp);
    return status;
}

static wp_status compile_each(wpi_compile_job *job, wp_error *err) {
    const wpi_options *o = job->options;
    uint32_t sources = 0;
    for (uint32_t i = 0; i < o->input_count; i++)
        sources += o->inputs[i].language != WP_LANGUAGE_OBJECT;
    if (o->output && sources > 1)
        return WP_FAIL(err, INVALID,
                       "-o %s with %u input files: each produces its own file; remove -o",
                       o->output, sources);
    for (uint32_t i = 0; i < o->input_count; i++) {
        if (o->inputs[i].language == WP_LANGUAGE_OBJECT) continue;
        char *output = output_name(o, &o->inputs[i]);
        wp_status status = compile_to(job, &o->inputs[i], output, err);
        wpi_free(output);
        WP_TRY(status);
    }
    return wpi_stream_check_found(job, true, err);
}

/* The object of linked device code as the result. */
static wp_status finish_device_link(wpi_compile_job *job, const char *device, const char *output,
                                    wp_error *err) {
    if (device || job->options->print_only)
        return wpi_job_publish(job, device ? device : output, output, err);
    char *empty = wpi_job_temp(job, output, ".o");
    wp_status status = wpi_empty_object(empty, err);
    if (status == WP_STATUS_OK) status = wpi_job_publish(job, empty, output, err);
    wpi_free(empty);
    return status;
}

static bool has_objects(const wpi_options *o) {
    for (uint32_t i = 0; i < o->input_count; i++)
        if (o->inputs[i].language == WP_LANGUAGE_OBJECT) return true;
    return false;
}

static wp_status compile_and_link(wpi_compile_job *job, wp_error *err) {
    const wpi_options *o = job->options;
    wpi_strings objects = {0}, all = {0};
    char *device = NULL, *output = program_name(o), *temp = wpi_job_temp(job, output, ".out");
    wp_status status = WP_STATUS_OK;
    for (uint32_t i = 0; i < o->input_count; i++) {
        if (o->inputs[i].language == WP_LANGUAGE_OBJECT) continue;
        char *object = wpi_job_temp(job, o->inputs[i].path, ".o");
        wpi_strings_add_take(&objects, object);
        WP_TRY_GOTO(wpi_compile_file(job, &o->inputs[i], output, object, err), done);
    }
    if (o->goal == WP_GOAL_POLICY) {
        WP_TRY_GOTO(wpi_policy_link(job, &objects, temp, err), done);
        status = wpi_job_publish(job, temp, output, err);
        goto done;
    }
    wpi_strings_add_all(&all, &objects);
    wpi_strings_add_all(&all, &o->link_args);
    if (o->stop_after && !o->is_relocatable) goto done;
    if (o->goal != WP_GOAL_LIBRARY) WP_TRY_GOTO(wpi_device_link(job, &all, &device, err), done);
    WP_TRY_GOTO(wpi_stream_check_found(job, has_objects(o) && !job->has_linked_code, err), done);
    if (o->stop_after) goto done;
    if (o->goal == WP_GOAL_DEVICE_LINK) {
        status = finish_device_link(job, device, output, err);
        goto done;
    }
    if (device) wpi_strings_add(&objects, device);
    if (o->goal == WP_GOAL_LIBRARY)
        for (uint32_t i = 0; i < o->input_count; i++)
            if (o->inputs[i].language == WP_LANGUAGE_OBJECT)
                wpi_strings_add(&objects, o->inputs[i].path);
    WP_TRY_GOTO(wpi_link(job, &objects, output, temp, err), done);
    status = wpi_job_publish(job, temp, output, err);
done:
    wpi_free(device);
    wpi_free(output);
    wpi_free(temp);
    wpi_strings_deinit(&objects);
    wpi_strings_deinit(&all);
    return status;
}

/* Whether a file without a known extension is for the linker. */
static bool looks_linkable(const char *path) {
    char head[8] = {0};
    FILE *file = fopen(path, "rb");
    size_t count = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) (void)fclose(file);
    return (count >= 4 && memcmp(head, "\177ELF", 4) == 0) ||
           (count == 8 && memcmp(head, "!<arch>\n", 8) == 0);
}

static wp_status check_input(const wpi_input *input, wp_error *err) {
    const char *path = input->path;
    if (!wpi_file_exists(path)) return WP_FAIL(err, NOT_FOUND, "%s: no such file", path);
    if (wpi_dir_exists(path)) return WP_FAIL(err, IO, "%s is a folder, not a file", path);
    if (access(path, R_OK) != 0) return WP_FAIL(err, IO, "%s: no permission to read it", path);
    if (input->language != WP_LANGUAGE_OBJECT) return WP_STATUS_OK;
    char *extension = wpi_path_extension(path);
    bool is_known = strcmp(extension, ".o") == 0 || strcmp(extension, ".a") == 0 ||
                    strcmp(extension, ".so") == 0 || strstr(path, ".so.") || looks_linkable(path);
    wpi_free(extension);
    if (is_known) return WP_STATUS_OK;
    return WP_FAIL(
        err, INVALID,
        "%s: what kind of file is this? for a source, name its language before it: -x cu", path);
}

/* Checks the output's place before compiling. */
static wp_status check_output(const wpi_options *o, wp_error *err) {
    if (o->output_dir && !wpi_dir_exists(o->output_dir))
        return WP_FAIL(err, IO, "-odir %s: no such folder", o->output_dir);
    if (!o->output || strcmp(o->output, "-") == 0) return WP_STATUS_OK;
    char *dir = wpi_path_dir(o->output);
    wp_status status = WP_STATUS_OK;
    if (wpi_dir_exists(o->output))
        status = WP_FAIL(err, IO, "-o %s: that is a folder; name a file", o->output);
    else if (!wpi_dir_exists(dir))
        status = WP_FAIL(err, IO, "-o %s: there is no folder %s", o->output, dir);
    else if (!wpi_file_exists(o->output) && access(dir, W_OK) != 0)
        status = WP_FAIL(err, IO, "-o %s: no permission to write into %s", o->output, dir);
    wpi_free(dir);
    return status;
}

static wp_status check(const wpi_options *o, const wpi_toolchain *tools, wp_error *err) {
    if (o->stop_after && !wpi_pipeline_has(o->stop_after))
        return WP_FAIL(err, INVALID, "--stop-after=%s: no such pass", o->stop_after);
    if (o->print_after && strcmp(o->print_after, "all") != 0 && !wpi_pipeline_has(o->print_after))
        return WP_FAIL(err, INVALID, "--print-after=%s: no such pass", o->print_after);
    if (o->run && o->goal != WP_GOAL_LINK)
        return WP_FAIL(err, INVALID, "-run needs a program; leave -c and the like out");
    if (o->goal == WP_GOAL_POLICY) WP_TRY(wpi_policy_check(o, tools, err));
    if (o->print_only) return WP_STATUS_OK; /* files need not exist */
    for (uint32_t i = 0; i < o->input_count; i++)
        WP_TRY(check_input(&o->inputs[i], err));
    return check_output(o, err);
}

static int report(wp_status status, const wp_error *err) {
    if (status == WP_STATUS_OK) return 0;
    if (err->message[0]) {
        char *message = wpi_demangle(err->message);
        fprintf(stderr, "wpcc: error: %s\n", message);
        wpi_free(message);
    }
    return status == WP_STATUS_INVALID ? 2 : 1;
}

static int work(void *arg) {
    wpi_compile_job *job = arg;
    wp_error err = {0};
    wp_status status = wpi_host_args_prepare(job, &err);
    if (status == WP_STATUS_OK) status = wpi_foreign_headers_hide(job, &err);
    if (status == WP_STATUS_OK) status = wpi_cpp_libraries_find(job, &err);
    if (status == WP_STATUS_OK)
        status = makes_one_file_an_input(job->options->goal) ? compile_each(job, &err)
                                                             : compile_and_link(job, &err);
    char **texts[] = {&job->hidden, &job->libraries, &job->libraries_overlay,
                      &job->libraries_first};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wpi_free(*texts[i]);
        *texts[i] = NULL;
    }
    return report(status, &err);
}

static void clean(void *arg) {
    const wpi_compile_job *job = arg;
    if (!job->options->keep) wpi_temp_dir_remove(job->temp_dir);
}

/* Removes other toolkits from $CPATH, whose folders clang searches before ours. */
static void drop_foreign_cpath(const wpi_toolchain *tools) {
    const char *value = getenv("CPATH");
    if (!value) return;
    wpi_text kept = {0};
    char *copy = wpi_must_strdup(value), *rest = copy, *folder;
    while ((folder = strtok_r(rest, ":", &rest)))
        if (!wpi_toolchain_is_foreign(tools, folder))
            wpi_text_appendf(&kept, "%s%s", kept.length ? ":" : "", folder);
    (void)setenv("CPATH", wpi_text_string(&kept), 1);
    wpi_free(copy);
    wpi_text_deinit(&kept);
}

static wp_status make_temp_dir(wpi_compile_job *job, wp_error *err) {
    const wpi_options *o = job->options;
    if (!o->keep || !o->keep_dir) return wpi_temp_dir_create(&job->temp_dir, err);
    job->temp_dir = wpi_must_strdup(o->keep_dir);
    return wpi_dir_create(o->keep_dir, err);
}

static int run_program(const wpi_options *o) {
    char *output = program_name(o);
    wpi_strings command = {0};
    wpi_strings_addf(&command, "%s%s", strchr(output, '/') ? "" : "./", output);
    wpi_strings_add_all(&command, &o->run_args);
    (void)execv(command.items[0], command.items);
    fprintf(stderr, "wpcc: error: %s cannot be run\n", output);
    return 1;
}

static int run(const wpi_options *options) {
    wpi_toolchain tools;
    wpi_compile_job job = {.options = options, .tools = &tools};
    wp_error err = {0};
    wp_status status = wpi_toolchain_find(&tools, &err);
    if (status != WP_STATUS_OK) return report(status, &err);
    if (wpi_is_host_question(options) && !options->print_only) {
        int answered = 1;
        status = wpi_host_question_run(options, &tools, &answered, &err);
        wpi_toolchain_deinit(&tools);
        return status == WP_STATUS_OK ? answered : report(status, &err);
    }
    drop_foreign_cpath(&tools);
    if (options->print_only || options->verbose) wpi_job_print_environment(&job);
    status = check(options, &tools, &err);
    if (status == WP_STATUS_OK) status = make_temp_dir(&job, &err);
    int exit_code = report(status, &err);
    if (exit_code == 0) {
        exit_code = wpi_supervise(work, clean, &job);
        clean(&job);
        if (options->keep && !options->keep_dir)
            fprintf(stderr, "wpcc: temporary files are in %s\n", job.temp_dir);
    }
    wpi_free(job.temp_dir);
    wpi_toolchain_deinit(&tools);
    return exit_code == 0 && options->run && !options->print_only ? run_program(options)
                                                                  : exit_code;
}

static int run_library(wp_status (*run_it)(int argc, char **argv, int *exit_code, wp_error *err),
                       int argc, char **argv) {
    wp_error err = {0};
    int exit_code = 1;
    wp_status status = run_it(argc, argv, &exit_code, &err);
    if (status == WP_STATUS_OK) return exit_code;
    fprintf(stderr, "wpcc: error: %s\n", err.message);
    return status == WP_STATUS_INVALID ? 2 : 1;
}

/* Out of memory: exits; the supervising process, if any, removes the temporary folder. */
static void out_of_memory(void) {
    static const char sentence[] = "wpcc: error: out of host memory\n";
    _exit(write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0 ? 2 : 1);
}

static int run_words(int argc, char **argv) {
    wpi_options options;
    wp_error err = {0};
    bool show = false;
    int exit_code = 0;
    wp_status status = wpi_options_parse(argc, argv, &options, &show, &err);
    if (status != WP_STATUS_OK) {
        fprintf(stderr, "wpcc: %s\n", err.message);
        exit_code = 2;
    } else if (!show) {
        exit_code = run(&options);
    }
    wpi_options_deinit(&options);
    return exit_code;
}

static int run_ptxas(int argc, char **argv) {
    wpi_strings words = {0};
    wp_error err = {0};
    bool is_done = false;
    int exit_code = 0;
    const wp_status status = wpi_ptxas_words(argc, argv, &words, &is_done, &err);
    if (status != WP_STATUS_OK) {
        fprintf(stderr, "ptxas: %s\n", err.message);
        exit_code = 2;
    } else if (!is_done) {
        exit_code = run_words((int)words.count, words.items);
    }
    wpi_strings_deinit(&words);
    return exit_code;
}

int main(int argc, char **argv) {
    wpi_on_out_of_memory(out_of_memory);
    wpi_leftovers_remove_on_signals();
    if (argc > 0 && wpi_is_ptxas_command(argv[0])) return run_ptxas(argc, argv);
    if (wpi_is_variant_command(argc, argv)) return run_library(wpi_variant_run, argc, argv);
    if (wpi_is_stream_command(argc, argv)) return run_library(wpi_stream_run, argc, argv);
    if (wpi_is_module_command(argc, argv)) return run_library(wpi_module_run, argc, argv);
    return run_words(argc, argv);
}
