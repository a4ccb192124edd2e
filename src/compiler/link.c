/* SPDX-License-Identifier: Apache-2.0 */
/* The last step: programs and libraries, by the system's linker through clang, or ar. */
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/job.h"

static wp_status archive(wp_job *job, const wp_strings *objects, const char *output, wp_error *err)
{
    wp_strings command = {0};
    wp_strings_add(&command, "ar");
    wp_strings_add(&command, "rcs");
    wp_strings_add(&command, output);
    wp_strings_add_all(&command, objects);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}

wp_status wpi_link(wp_job *job, const wp_strings *objects, const char *output, wp_error *err)
{
    const wp_options *o = job->options;
    if (o->goal == WP_GOAL_LIBRARY) return archive(job, objects, output, err);
    wp_strings command = {0};
    wp_strings_add(&command, job->tools->clang);
    wp_strings_add(&command, "--driver-mode=g++");
    if (o->goal == WP_GOAL_SHARED) wp_strings_add(&command, "-shared");
    wp_strings_add_all(&command, objects);
    wp_strings_add_all(&command, &o->link_args);
    wp_strings_addf(&command, "-L%s", job->tools->cuda_lib_dir);
    wp_strings_addf(&command, "-L%s", job->tools->lib_dir);
    wp_strings_addf(&command, "-Wl,-rpath,%s", job->tools->lib_dir);
    const char *const tail[] = {"-lwarpage", "-lm", "-ldl", "-lrt", "-lpthread", "-Wno-unused-command-line-argument",
                                "-o", output};
    for (size_t i = 0; i < sizeof tail / sizeof *tail; i++) wp_strings_add(&command, tail[i]);
    wp_status status = wpi_job_run(job, &command, err);
    wp_strings_deinit(&command);
    return status;
}
