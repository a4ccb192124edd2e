/* SPDX-License-Identifier: Apache-2.0 */
/* wpcc: the command. Compiles each source to an object, links device code where it is relocatable, links. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "compiler/job.h"
#include "compiler/pipeline.h"

static bool makes_one_file_an_input(wp_goal goal)
{
    return goal != WP_GOAL_LINK && goal != WP_GOAL_SHARED && goal != WP_GOAL_LIBRARY &&
           goal != WP_GOAL_DEVICE_LINK;
}

static char *default_output(const wp_options *o, const wp_input *input)
{
    static const char *const extensions[] = {
        [WP_GOAL_OBJECT] = ".o", [WP_GOAL_PTX] = ".ptx", [WP_GOAL_BITCODE] = ".bc", [WP_GOAL_HOST_SOURCE] = ".cu.cpp.ii"};
    if (o->goal == WP_GOAL_PREPROCESS || o->goal == WP_GOAL_DEPENDENCIES) return wp_strdup("-");
    char *stem = wp_path_stem(input->path);
    char *output = wp_format("%s%s", stem, extensions[o->goal]);
    wp_free(stem);
    return output;
}

static wp_status compile_each(wp_job *job, wp_error *err)
{
    const wp_options *o = job->options;
    if (o->output && o->input_count > 1)
        return WP_FAIL(err, INVALID, "-o %s with %u input files: each makes a file of its own; leave -o out", o->output,
                       o->input_count);
    for (uint32_t i = 0; i < o->input_count; i++) {
        if (o->inputs[i].language == WP_LANGUAGE_OBJECT) continue;
        char *output = o->output ? wp_strdup(o->output) : default_output(o, &o->inputs[i]);
        wp_status status = wpi_compile_file(job, &o->inputs[i], output, err);
        wp_free(output);
        WP_TRY(status);
    }
    return WP_STATUS_OK;
}

static wp_status compile_and_link(wp_job *job, wp_error *err)
{
    const wp_options *o = job->options;
    wp_strings objects = {0}, all = {0};
    char *device = NULL;
    wp_status status = WP_STATUS_OK;
    const char *output = o->output ? o->output : o->goal == WP_GOAL_DEVICE_LINK ? "a_dlink.o" : "a.out";
    for (uint32_t i = 0; i < o->input_count; i++) {
        if (o->inputs[i].language == WP_LANGUAGE_OBJECT) continue;
        char *object = wpi_job_temp(job, o->inputs[i].path, ".o");
        wp_strings_add_take(&objects, object);
        WP_TRY_GOTO(wpi_compile_file(job, &o->inputs[i], object, err), done);
    }
    wp_strings_add_all(&all, &objects);
    wp_strings_add_all(&all, &o->link_args);
    if (o->stop_after) goto done;
    if (o->goal != WP_GOAL_LIBRARY) WP_TRY_GOTO(wpi_device_link(job, &all, &device, err), done);
    if (o->goal == WP_GOAL_DEVICE_LINK) {
        char *data = NULL;
        size_t size_bytes = 0;
        if (!device) {
            status = WP_FAIL(err, INVALID, "-dlink: none of the objects has relocatable device code; compile them with -dc");
            goto done;
        }
        WP_TRY_GOTO(wp_file_read(device, &data, &size_bytes, err), done);
        status = wp_file_write(output, data, size_bytes, err);
        wp_free(data);
        goto done;
    }
    if (device) wp_strings_add(&objects, device);
    if (o->goal == WP_GOAL_LIBRARY)
        for (uint32_t i = 0; i < o->input_count; i++)
            if (o->inputs[i].language == WP_LANGUAGE_OBJECT) wp_strings_add(&objects, o->inputs[i].path);
    status = wpi_link(job, &objects, output, err);
done:
    wp_free(device);
    wp_strings_deinit(&objects);
    wp_strings_deinit(&all);
    return status;
}

static wp_status run(const wp_options *options, wp_error *err)
{
    wp_toolchain tools;
    wp_job job = {.options = options, .tools = &tools};
    if (options->stop_after && !wpi_pipeline_has(options->stop_after))
        return WP_FAIL(err, INVALID, "--stop-after=%s: no such pass", options->stop_after);
    if (options->print_after && strcmp(options->print_after, "all") != 0 && !wpi_pipeline_has(options->print_after))
        return WP_FAIL(err, INVALID, "--print-after=%s: no such pass", options->print_after);
    WP_TRY(wpi_toolchain_find(&tools, err));
    wp_status status;
    WP_TRY_GOTO(wp_temp_dir_create(&job.temp_dir, err), done);
    status = makes_one_file_an_input(options->goal) ? compile_each(&job, err) : compile_and_link(&job, err);
    if (options->keep)
        fprintf(stderr, "wpcc: temporary files are in %s\n", job.temp_dir);
    else
        wp_temp_dir_remove(job.temp_dir);
done:
    wp_free(job.temp_dir);
    wpi_toolchain_deinit(&tools);
    return status;
}

int main(int argc, char **argv)
{
    wp_options options;
    wp_error err = {0};
    bool show = false;
    int exit_code = 0;
    if (wpi_options_parse(argc, argv, &options, &show, &err) != WP_STATUS_OK) {
        fprintf(stderr, "wpcc: %s\n", err.message);
        exit_code = 2;
    } else if (!show) {
        wp_status status = run(&options, &err);
        if (status != WP_STATUS_OK) {
            if (err.message[0]) fprintf(stderr, "wpcc: error: %s\n", err.message);
            exit_code = status == WP_STATUS_INVALID ? 2 : 1;
        }
    }
    wpi_options_deinit(&options);
    return exit_code;
}
