/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/job.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

char *wpi_job_temp(wp_job *job, const char *name, const char *extension)
{
    char *stem = wp_path_stem(name);
    char *file = wp_format("%u-%s%s", job->temp_count++, stem, extension);
    char *path = wp_path_join(job->temp_dir, file);
    wp_free(file);
    wp_free(stem);
    return path;
}

static void print_command(const wp_strings *command)
{
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i];
        bool is_plain = *word && !strpbrk(word, " \t\"'\\$*?<>|&;()");
        fprintf(stderr, is_plain ? "%s%s" : "%s\"%s\"", i ? " " : "", word);
    }
    fputc('\n', stderr);
}

wp_status wpi_job_run(wp_job *job, const wp_strings *command, wp_error *err)
{
    if (job->options->print_only || job->options->verbose) print_command(command);
    if (job->options->print_only) return WP_STATUS_OK;
    int exit_code = 0;
    WP_TRY(wp_subprocess_run(wp_strings_argv(command), NULL, &exit_code, err));
    if (exit_code == 0) return WP_STATUS_OK;
    if (exit_code > 128)
        return WP_FAIL(err, TOOLCHAIN, "%s was ended by signal %d", command->items[0], exit_code - 128);
    if (err) *err = (wp_error){.status = WP_STATUS_TOOLCHAIN};
    return WP_STATUS_TOOLCHAIN;
}
