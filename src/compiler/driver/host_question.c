/* SPDX-License-Identifier: Apache-2.0 */
/* gcc and clang print such a fact whatever else the command line says, and need no file for it.
 * CMake projects ask with the name of a file that does not exist. Only the words of -Xcompiler are
 * handed on: clang would refuse a GPU's architecture. */
#include "compiler/driver/host_question.h"

#include <string.h>

#include "base/file.h"
#include "base/subprocess.h"

static bool is_question(const char *word) {
    static const char *const questions[] = {"--version",    "-dumpversion", "-dumpfullversion",
                                            "-dumpmachine", "--help",       "--target-help"};
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (strcmp(word, questions[i]) == 0) return true;
    return strncmp(word, "-print-", 7) == 0 || strncmp(word, "--print-", 8) == 0;
}

bool wpi_is_host_question(const wpi_options *options) {
    for (size_t i = 0; i < options->compiler_args.count; i++)
        if (is_question(options->compiler_args.items[i])) return true;
    return false;
}

void wpi_host_compiler_add(const wpi_options *options, const wpi_toolchain *tools, bool is_c,
                           wpi_strings *command) {
    const char *wanted = options->host_compiler;
    if (!wanted)
        wpi_strings_add(command, tools->clang);
    else if (wpi_dir_exists(wanted))
        wpi_strings_add_take(command, wpi_path_join(wanted, is_c ? "gcc" : "g++"));
    else
        wpi_strings_add(command, wanted);
    if (!wanted && !is_c) wpi_strings_add(command, "--driver-mode=g++");
}

wp_status wpi_host_question_run(const wpi_options *options, const wpi_toolchain *tools,
                                int *exit_code, wp_error *err) {
    wpi_strings command = {0};
    const wpi_language language = options->inputs[0].language;
    if (language == WP_LANGUAGE_CUDA) /* always clang's */
        wpi_strings_add(&command, tools->clang);
    else
        wpi_host_compiler_add(options, tools, language != WP_LANGUAGE_CXX, &command);
    wpi_strings_add_all(&command, &options->compiler_args);
    wp_status status = wpi_subprocess_run(wpi_strings_argv(&command), &(wpi_subprocess_options){0},
                                          exit_code, err);
    wpi_strings_deinit(&command);
    return status;
}
