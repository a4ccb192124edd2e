/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wpcc by the name of NVIDIA's assembler: `ptxas kernel.ptx -o kernel.cubin`. Compilers that make
 * PTX at run time, as XLA and Triton do, start it; the driver loads what they get from it. The
 * options that steer machine code are accepted and have no effect.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "compiler/nvptx/nvptx.h"
#include "warpage/version.h"

bool wpi_is_ptxas_command(const char *program) {
    char *name = wpi_path_base(program);
    const bool is_it = strcmp(name, "ptxas") == 0;
    wpi_free(name);
    return is_it;
}

bool wpi_ptxas_is_ours(const char *path) {
    char *target = realpath(path, NULL);
    const bool is_ours = target != NULL && strcmp(strrchr(target, '/') + 1, "wpcc") == 0;
    free(target);
    return is_ours;
}

/* Options whose value is the next word. */
static bool takes_next(const char *word) {
    static const char *const names[] = {"-arch",
                                        "--gpu-name",
                                        "-m",
                                        "--machine",
                                        "-O",
                                        "--opt-level",
                                        "-e",
                                        "--entry",
                                        "-maxrregcount",
                                        "--maxrregcount",
                                        "-dlcm",
                                        "--def-load-cache",
                                        "-dscm",
                                        "--def-store-cache",
                                        "-optf",
                                        "--options-file",
                                        "-split-compile",
                                        "--split-compile",
                                        "-fmad",
                                        "--fmad",
                                        "-allow-expensive-optimizations",
                                        "--allow-expensive-optimizations"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(word, names[i]) == 0) return true;
    return false;
}

static const char help[] =
    "Usage: ptxas FILE.ptx -o FILE.cubin\n"
    "Warpage's place for NVIDIA's assembler: checks PTX, and writes a file that the driver's\n"
    "cuModuleLoad… of Warpage takes. Options that steer machine code have no effect.\n";

/* Makers of PTX choose its version by this one. */
static const char version[] = "ptxas: NVIDIA (R) Ptx optimizing assembler, in place of which is\n"
                              "Warpage " WP_VERSION_STRING "\n"
                              "Cuda compilation tools, release 12.4, V12.4.0\n";

wp_status wpi_ptxas_words(int argc, char **argv, wpi_strings *words, bool *is_done, wp_error *err) {
    const char *input = NULL, *output = "elf.o"; /* as NVIDIA's */
    *is_done = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        const bool is_output = strcmp(word, "-o") == 0 || strcmp(word, "--output-file") == 0;
        if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
            strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            *is_done = true;
            (void)fputs(word[1] == 'h' || word[2] == 'h' ? help : version, stdout);
            return WP_STATUS_OK;
        }
        if (is_output || takes_next(word)) {
            if (++i == argc) return WP_FAIL(err, INVALID, "%s needs a value", word);
            if (is_output) output = argv[i];
        } else if (strncmp(word, "--output-file=", 14) == 0) {
            output = word + 14;
        } else if (word[0] != '-') {
            if (input != NULL)
                return WP_FAIL(err, INVALID, "%s and %s: one file of PTX at a time", input, word);
            input = word;
        }
    }
    if (input == NULL) return WP_FAIL(err, INVALID, "which file of PTX? ptxas FILE.ptx -o FILE");
    const char *const all[] = {"wpcc", "-cubin", "-o", output, "-x", "ptx", input};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wpi_strings_add(words, all[i]);
    return WP_STATUS_OK;
}
