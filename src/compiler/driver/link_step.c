/* SPDX-License-Identifier: Apache-2.0 */
/* Links programs and libraries, by the system's linker through clang, or by ar. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "compiler/driver/job.h"
#include "compiler/source/known_names.h"

static wp_status archive(wpi_compile_job *job, const wpi_strings *objects, const char *output,
                         wp_error *err) {
    wpi_strings command = {0};
    wpi_strings_add(&command, "ar");
    wpi_strings_add(&command, "rcs");
    wpi_strings_add(&command, output);
    wpi_strings_add_all(&command, objects);
    wp_status status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    return status;
}

/* The row of `names` that begins the file name of the path `word`; NULL if none does. */
static const char *file_of(const char *word, const char *const *names) {
    const char *slash = strrchr(word, '/');
    const char *base = slash ? slash + 1 : word;
    for (; word[0] != '-' && *names; names++)
        if (strncmp(base, *names, strlen(*names)) == 0) return *names;
    return NULL;
}

/* Whether the word is the path of another toolkit's CUDA runtime, which ours replaces. */
static bool is_foreign_runtime(const char *word) {
    static const char *const names[] = {"libcudart.so", "libcudart_static.a", "libcudadevrt.a",
                                        "libcuda.so", NULL};
    return file_of(word, names) != NULL;
}

/* The libraries of ours that are beside libwarpage's links, as options of the linker. */
static const char *const own_options[] = {"-lcublas",    "-lcublasLt", "-lcudnn",    "-lcurand",
                                          "-lcufft",     "-lcusolver", "-lcusparse", "-lnccl",
                                          "-lnvidia-ml", NULL};

/* The option for our library in place of another toolkit's file; NULL if it is no such path. */
static const char *own_library(const char *word) {
    const char *slash = strrchr(word, '/');
    const char *base = slash ? slash + 1 : word;
    if (word[0] == '-' || strncmp(base, "lib", 3) != 0) return NULL;
    for (const char *const *option = own_options; *option; option++) {
        const size_t length = strlen(*option + 2);
        const char *rest = base + 3 + length;
        if (strncmp(base + 3, *option + 2, length) == 0 &&
            (strncmp(rest, ".so", 3) == 0 || strcmp(rest, "_static.a") == 0))
            return *option;
    }
    return NULL;
}

/* -lcufft, or -lcufft_static, which is a text that names our library. */
static bool is_own_option(const char *word) {
    for (const char *const *option = own_options; *option; option++) {
        const size_t length = strlen(*option);
        if (strncmp(word, *option, length) != 0) continue;
        if (word[length] == '\0' || strcmp(word + length, "_static") == 0) return true;
    }
    return false;
}

static bool needs_libraries(const wpi_compile_job *job) {
    const wpi_strings *words = &job->options->link_args;
    for (size_t i = 0; i < words->count; i++) {
        if (is_own_option(words->items[i]) || own_library(words->items[i])) return true;
    }
    return false;
}

/* Whether the word is GCC's OpenMP library, by name or, as CMake writes it, by path. */
static bool is_gcc_openmp(const char *word) {
    static const char *const names[] = {"libgomp.so", "libgomp.a", NULL};
    return strcmp(word, "-lgomp") == 0 || file_of(word, names) != NULL;
}

static void add_link_args(const wpi_compile_job *job, wpi_strings *command) {
    const wpi_strings *words = &job->options->link_args;
    bool has_openmp = wpi_strings_contains(&job->compiler_args, "-fopenmp");
    for (size_t i = 0; i < words->count; i++) {
        /* Code of wpcc calls LLVM's OpenMP library, which has libgomp's functions too; two of them
         * in one program would not see each other. */
        if (is_gcc_openmp(words->items[i]) && (has_openmp || job->tools->has_openmp)) {
            if (!has_openmp) wpi_strings_add(command, "-fopenmp");
            has_openmp = true;
            continue;
        }
        if (is_foreign_runtime(words->items[i])) continue;
        const char *own = own_library(words->items[i]);
        wpi_strings_add(command, own ? own : words->items[i]);
    }
}

static void add_words(wpi_strings *command, const char *const *words) {
    for (; *words; words++)
        wpi_strings_add(command, *words);
}

/* The same step as a command of nvcc. Build systems parse the printed link line: CMake for the
 * linker and the libraries, configure scripts for the words after -o "a.out". */
static void show_as_nvcc(const wpi_compile_job *job, const wpi_strings *objects, const char *output,
                         wpi_strings *shown) {
    wpi_strings_addf(shown, "%s/bin/nvcc", job->tools->cuda_dir);
    if (job->options->goal == WP_GOAL_SHARED) wpi_strings_add(shown, "-shared");
    add_words(shown, (const char *const[]){"-o", output, NULL});
    wpi_strings_add_all(shown, objects);
    add_link_args(job, shown);
    wpi_strings_addf(shown, "-L%s", job->tools->cuda_lib_dir);
    wpi_strings_addf(shown, "-Wl,-rpath,%s", job->tools->lib_dir);
    wpi_strings_add(shown, "-lcudart");
}

wp_status wpi_link(wpi_compile_job *job, const wpi_strings *objects, const char *output,
                   const char *temp, wp_error *err) {
    const wpi_options *o = job->options;
    if (o->goal == WP_GOAL_LIBRARY) return archive(job, objects, temp, err);
    wpi_strings command = {0}, shown = {0};
    add_words(&command, (const char *const[]){job->tools->clang, "--driver-mode=g++", NULL});
    if (o->goal == WP_GOAL_SHARED) wpi_strings_add(&command, "-shared");
    /* CMake reads the linker's own command for the library search path. */
    if (o->verbose) wpi_strings_add(&command, "-v");
    /* Our folder comes before those of other toolkits. */
    wpi_strings_addf(&command, "-L%s", job->tools->cuda_lib_dir);
    wpi_strings_add_all(&command, &o->host_args);
    wpi_strings_add_all(&command, &job->compiler_args);
    wpi_strings_add_all(&command, objects);
    add_link_args(job, &command);
    wpi_strings_addf(&command, "-L%s", job->tools->lib_dir);
    wpi_strings_addf(&command, "-Wl,-rpath,%s", job->tools->lib_dir);
    if (needs_libraries(job)) wpi_strings_addf(&command, "-Wl,-rpath,%s", job->tools->cuda_lib_dir);
    /* The runtime tracks the program's copies into page-locked memory: device/host_copies.h. */
    add_words(&command, (const char *const[]){"-Wl,--wrap=memcpy", "-Wl,--wrap=memmove", NULL});
    add_words(&command,
              (const char *const[]){"-lwarpage", "-lm", "-ldl", "-lrt", "-lpthread",
                                    "-Wno-unused-command-line-argument", "-o", temp, NULL});
    if (o->is_nvcc)
        show_as_nvcc(job, objects, output, &shown);
    else
        wpi_strings_add_all(&shown, &command);
    wpi_text talk = {0}, notes = {0};
    wp_status status = wpi_job_run_quietly(job, &command, &shown, &talk, err);
    wpi_known_libraries_explain(wpi_text_string(&talk), &notes);
    fputs(wpi_text_string(&talk), stderr);
    fputs(wpi_text_string(&notes), stderr);
    wpi_text_deinit(&talk);
    wpi_text_deinit(&notes);
    wpi_strings_deinit(&command);
    wpi_strings_deinit(&shown);
    return status;
}
