/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"

char *wpi_job_temp(wpi_compile_job *job, const char *name, const char *extension) {
    char *stem = wpi_path_stem(name);
    char *file = wpi_format("%u-%s%s", job->temp_count++, stem, extension);
    char *path = wpi_path_join(job->temp_dir, file);
    wpi_free(file);
    wpi_free(stem);
    return path;
}

/* As nvcc prints it: "#$ " first, folders and files in quotes. Scripts read these lines. */
static void print_command(const wpi_strings *command) {
    wpi_text line = {0};
    wpi_text_append(&line, "#$");
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i];
        bool is_folder = strncmp(word, "-L", 2) == 0 || strncmp(word, "-I", 2) == 0;
        bool is_plain = *word && !strpbrk(word, " \t\"'\\$*?<>|&;()`") && !is_folder &&
                        (i == 0 || word[0] == '-');
        wpi_text_append(&line, is_plain ? " " : " \"");
        for (const char *c = word; *c; c++) {
            if (strchr("\"\\$`", *c)) wpi_text_append_n(&line, "\\", 1);
            wpi_text_append_n(&line, c, 1);
        }
        if (!is_plain) wpi_text_append(&line, "\"");
    }
    wpi_text_append(&line, "\n");
    fputs(wpi_text_string(&line), stderr); /* at once: other processes print at the same time */
    wpi_text_deinit(&line);
}

void wpi_job_print_environment(const wpi_compile_job *job) {
    const wpi_toolchain *t = job->tools;
    const char *path = getenv("PATH");
    fprintf(
        stderr,
        "#$ _SPACE_= \n#$ _CUDART_=cudart\n#$ _HERE_=%s/bin\n#$ _THERE_=%s/bin\n#$ _TARGET_SIZE_=\n"
        "#$ _TARGET_DIR_=\n#$ TOP=%s\n#$ NVVMIR_LIBRARY_DIR=%s/nvvm/libdevice\n#$ PATH=%s/bin:%s\n"
        "#$ INCLUDES=\"-I%s\"  \n#$ LIBRARIES=  \"-L%s\"\n#$ CUDAFE_FLAGS=\n#$ CICC_FLAGS=-arch "
        "compute_%u\n"
        "#$ PTXAS_FLAGS=\n",
        t->cuda_dir, t->cuda_dir, t->cuda_dir, t->cuda_dir, t->cuda_dir, path ? path : "",
        t->include_dir, t->cuda_lib_dir, job->options->arch);
}

wp_status wpi_job_run_quietly(wpi_compile_job *job, const wpi_strings *command,
                              const wpi_strings *shown, wpi_text *talk, wp_error *err) {
    if (job->options->print_only || job->options->verbose) print_command(shown);
    if (job->options->print_only) return WP_STATUS_OK;
    int exit_code = 0;
    const wpi_subprocess_options options = {.stderr_text = talk};
    WP_TRY(wpi_subprocess_run(wpi_strings_argv(command), &options, &exit_code, err));
    if (exit_code == 0) return WP_STATUS_OK;
    if (exit_code > 128)
        return WP_FAIL(err, TOOLCHAIN, "%s was ended by signal %d", command->items[0],
                       exit_code - 128);
    if (err) *err = (wp_error){.status = WP_STATUS_TOOLCHAIN};
    return WP_STATUS_TOOLCHAIN;
}

wp_status wpi_job_run_as(wpi_compile_job *job, const wpi_strings *command, const wpi_strings *shown,
                         wp_error *err) {
    return wpi_job_run_quietly(job, command, shown, NULL, err);
}

wp_status wpi_job_run(wpi_compile_job *job, const wpi_strings *command, wp_error *err) {
    return wpi_job_run_as(job, command, command, err);
}

/* Copies a file, as rename fails if the temporary folder is on another file system. */
static wp_status copy(const char *temp, mode_t mode, const char *output, bool is_special,
                      wp_error *err) {
    char *data = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(temp, &data, &size_bytes, err));
    wp_status status = wpi_file_write(output, data, size_bytes, err);
    wpi_free(data);
    if (status == WP_STATUS_OK && !is_special && chmod(output, mode) != 0)
        status = WP_FAIL(err, IO, "%s: cannot be made executable: %s", output, strerror(errno));
    return status;
}

wp_status wpi_job_publish(const wpi_compile_job *job, const char *temp, const char *output,
                          wp_error *err) {
    if (job->options->print_only || strcmp(temp, output) == 0) return WP_STATUS_OK;
    struct stat from, to;
    if (stat(temp, &from) != 0) return WP_FAIL(err, IO, "%s: %s", temp, strerror(errno));
    bool exists = stat(output, &to) == 0;
    if (exists && S_ISDIR(to.st_mode))
        return WP_FAIL(err, IO, "%s is a folder; -o names a file", output);
    bool is_special = exists && !S_ISREG(to.st_mode);
    if (!is_special && !job->options->keep && rename(temp, output) == 0) return WP_STATUS_OK;
    return copy(temp, from.st_mode & 07777, output, is_special, err);
}
