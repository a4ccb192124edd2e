/* SPDX-License-Identifier: Apache-2.0 */
/* The words of -Xcompiler are options of gcc. clang supports nearly all of them; the others are
 * tuning options and are left out with a warning. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compiler/driver/job.h"

/* Common options that clang supports. */
static bool is_common(const char *word) {
    static const char *const common[] = {
        "-fPIC",          "-fpic",          "-fPIE",        "-fpie",         "-fopenmp",
        "-ffast-math",    "-m64",           "-fpermissive", "-march=native", "-fno-strict-aliasing",
        "-funroll-loops", "-fno-exceptions"};
    if (strncmp(word, "-f", 2) != 0 && strncmp(word, "-m", 2) != 0) return true;
    if (strncmp(word, "-fsanitize=", 11) == 0 || strncmp(word, "-fvisibility", 12) == 0)
        return true;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(word, common[i]) == 0) return true;
    return false;
}

static bool is_unknown(const char *complaints, const char *word) {
    char *complaint = wpi_format("unknown argument: '%s'", word);
    bool found = strstr(complaints, complaint) != NULL;
    wpi_free(complaint);
    return found;
}

/* Checks options by clang -###, which only parses them. */
static wp_status ask_clang(const wpi_compile_job *job, wpi_text *complaints, wp_error *err) {
    wpi_strings command = {0};
    const char *const head[] = {job->tools->clang, "-###", "-x",       "c++", "-c",
                                "/dev/null",       "-o",   "/dev/null"};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        wpi_strings_add(&command, head[i]);
    wpi_strings_add_all(&command, &job->options->compiler_args);
    int exit_code = 0;
    const wpi_subprocess_options options = {.stderr_text = complaints};
    wp_status status = wpi_subprocess_run(wpi_strings_argv(&command), &options, &exit_code, err);
    wpi_strings_deinit(&command);
    return status;
}

wp_status wpi_host_args_prepare(wpi_compile_job *job, wp_error *err) {
    const wpi_strings *words = &job->options->compiler_args;
    bool ask = false;
    for (size_t i = 0; i < words->count; i++) {
        ask = ask || !is_common(words->items[i]);
        if (strcmp(words->items[i], "-fopenmp") == 0 && !job->tools->has_openmp)
            return WP_FAIL(
                err, TOOLCHAIN,
                "-fopenmp needs LLVM's OpenMP library; install the package libomp-19-dev");
    }
    wpi_text complaints = {0};
    wp_status status = ask ? ask_clang(job, &complaints, err) : WP_STATUS_OK;
    for (size_t i = 0; i < words->count && status == WP_STATUS_OK; i++) {
        if (!is_unknown(wpi_text_string(&complaints), words->items[i]))
            wpi_strings_add(&job->compiler_args, words->items[i]);
        else if (!job->options->quiet_warnings)
            fprintf(stderr, "wpcc: warning: clang does not know %s; it is left out\n",
                    words->items[i]);
    }
    wpi_text_deinit(&complaints);
    return status;
}

void wpi_host_args_add(const wpi_compile_job *job, wpi_strings *command, const wpi_strings *words) {
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i],
                   *next = i + 1 < words->count ? words->items[i + 1] : NULL;
        if (next && (strcmp(word, "-isystem") == 0 || strcmp(word, "-I") == 0)) {
            if (wpi_toolchain_is_foreign(job->tools, next)) {
                i++;
                continue;
            }
        } else if (strncmp(word, "-I", 2) == 0 && wpi_toolchain_is_foreign(job->tools, word + 2)) {
            continue;
        }
        wpi_strings_add(command, word);
    }
}
