/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line by the table of options. nvcc takes a value as the next argument or after
 * '='; long options may be written with one or two dashes. */
#include "compiler/driver/options.h"
#include "compiler/driver/option_table.h"
#include "compiler/driver/wpcc_manual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/nearest.h"
#include "compiler/driver/words.h"
#include "warpage/version.h"

static bool names_option(const char *name, const char *arg, size_t length) {
    if (!name) return false;
    if (strlen(name) == length && memcmp(name, arg, length) == 0) return true;
    /* -option for --option and vice versa */
    if (name[0] == '-' && name[1] == '-' && arg[1] != '-')
        return strlen(name + 1) == length && memcmp(name + 1, arg, length) == 0;
    if (name[1] && name[1] != '-' && name[2] && arg[1] == '-')
        return strlen(name) + 1 == length && memcmp(name, arg + 1, length - 1) == 0;
    return false;
}

static bool takes_attached(const wpi_option_row *row) {
    return row->value == WPI_ATTACHED || row->value == WPI_DIGIT;
}

/* The row for `arg`; `*value` points into it when the value is part of it. */
static const wpi_option_row *find(const char *arg, const char **value) {
    size_t count;
    const wpi_option_row *table = wpi_option_table(&count);
    size_t length = strcspn(arg, "=");
    for (size_t i = 0; i < count; i++) {
        const wpi_option_row *row = &table[i];
        if (takes_attached(row) ||
            (!names_option(row->name, arg, length) && !names_option(row->alias, arg, length)))
            continue;
        if (row->value == WPI_NO_VALUE && arg[length]) continue;
        *value = arg[length] ? arg + length + 1 : NULL;
        return row;
    }
    for (size_t i = 0; i < count; i++) {
        const wpi_option_row *row = &table[i];
        if (!takes_attached(row)) continue;
        if (names_option(row->alias, arg, length)) {
            *value = arg[length] ? arg + length + 1 : NULL;
            return row;
        }
        size_t name_length = strlen(row->name);
        if (strncmp(arg, row->name, name_length) != 0) continue;
        *value = arg[name_length] ? arg + name_length + (arg[name_length] == '=') : NULL;
        return row;
    }
    return NULL;
}

static wpi_language language_of(const char *path) {
    char *extension = wpi_path_extension(path);
    static const struct {
        const char *extension;
        wpi_language language;
    } known[] = {{".cu", WP_LANGUAGE_CUDA}, {".c", WP_LANGUAGE_C},     {".cpp", WP_LANGUAGE_CXX},
                 {".cc", WP_LANGUAGE_CXX},  {".cxx", WP_LANGUAGE_CXX}, {".C", WP_LANGUAGE_CXX},
                 {".c++", WP_LANGUAGE_CXX}, {".CPP", WP_LANGUAGE_CXX}, {".ptx", WP_LANGUAGE_PTX}};
    wpi_language language = WP_LANGUAGE_OBJECT;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(extension, known[i].extension) == 0) language = known[i].language;
    wpi_free(extension);
    return language;
}

/* Whether a file is for the linker, regardless of -x. */
static bool is_link_file(const char *path) {
    char *extension = wpi_path_extension(path);
    bool is_one = strcmp(extension, ".o") == 0 || strcmp(extension, ".a") == 0 ||
                  strcmp(extension, ".so") == 0 || strstr(path, ".so.") != NULL;
    wpi_free(extension);
    return is_one;
}

static void add_input(wpi_options *o, const char *path, wpi_language language) {
    o->inputs = wpi_must_realloc(o->inputs, (o->input_count + 1) * sizeof *o->inputs);
    o->inputs[o->input_count++] = (wpi_input){wpi_must_strdup(path), language};
    if (language == WP_LANGUAGE_OBJECT) wpi_strings_add(&o->link_args, path);
}

static wp_status unknown(const char *arg, wp_error *err) {
    size_t count;
    const wpi_option_row *table = wpi_option_table(&count);
    wpi_nearest search = {.wanted = arg};
    for (size_t i = 0; i < count; i++) {
        wpi_nearest_offer(&search, table[i].name);
        if (table[i].alias) wpi_nearest_offer(&search, table[i].alias);
    }
    const char *nearest = wpi_nearest_result(&search);
    return nearest
               ? WP_FAIL(err, INVALID, "unknown option %s; did you mean %s?", arg, nearest)
               : WP_FAIL(err, INVALID,
                         "unknown option %s; if it is meant for the host side's compiler, write "
                         "-Xcompiler %s",
                         arg, arg);
}

static void print_row(const wpi_option_row *row) {
    bool has_alias = row->alias && strcmp(row->alias + 1, row->name) != 0;
    printf("  %-14s %s%s%s%s\n", row->name, row->doc, has_alias ? "  (" : "",
           has_alias ? row->alias : "", has_alias ? ")" : "");
}

void wpi_options_visit(wpi_option_visit visit, void *object) {
    size_t count;
    const wpi_option_row *table = wpi_option_table(&count);
    for (size_t i = 0; i < count; i++) {
        const wpi_option_row *row = &table[i];
        bool has_alias = row->alias && strcmp(row->alias + 1, row->name) != 0;
        if (row->doc) visit(object, row->name, has_alias ? row->alias : NULL, row->doc);
    }
}

static void print_help(void) {
    size_t count;
    const wpi_option_row *table = wpi_option_table(&count);
    puts("usage: wpcc [options] file...\n"
         "\n"
         "Compiles CUDA C and C++ to programs that run on any Warpage device. Takes nvcc's "
         "options;\n"
         "those not listed here are accepted and have no effect on the CPU. Values of -arch that "
         "set\n"
         "__CUDA_ARCH__: sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_89 sm_90, or as compute_70 "
         "compute_72\n"
         "compute_75 compute_80 compute_86 compute_87 compute_89 compute_90; sm_10 to sm_62 mean "
         "sm_70.\n");
    for (size_t i = 0; i < count; i++)
        if (table[i].doc) print_row(&table[i]);
    puts("\nExamples:\n"
         "  wpcc app.cu -o app && ./app\n"
         "  wpcc -rdc=true a.cu b.cu -o app\n"
         "  wpcc --policy mine.c -o mine.so\n"
         "  wpcc --print-after=regions -c kernel.cu");
}

static void print_version(void) {
    /* Makefiles search nvcc's output for "release X.Y", CMake for the name of the driver. */
    puts("wpcc: the CUDA C compiler of Warpage " WP_VERSION_STRING ", in place of\n"
         "nvcc: NVIDIA (R) Cuda compiler driver\n"
         "Cuda compilation tools, release 12.4, V12.4.0");
}

static void print_archs(const char *prefix) {
    static const int archs[] = {70, 72, 75, 80, 86, 87, 89, 90};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
        printf("%s_%d\n", prefix, archs[i]);
}

/* Whether an option only prints. */
static bool shows(const char *arg) {
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "-help") == 0)
        print_help();
    else if (strcmp(arg, "--manual") == 0 || strcmp(arg, "--completion=bash") == 0 ||
             strcmp(arg, "--completion=zsh") == 0)
        wpi_manual_print(arg);
    else if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0)
        print_version();
    else if (strcmp(arg, "--list-gpu-arch") == 0 || strcmp(arg, "-arch-ls") == 0)
        print_archs("compute");
    else if (strcmp(arg, "--list-gpu-code") == 0 || strcmp(arg, "-code-ls") == 0)
        print_archs("sm");
    else
        return false;
    return true;
}

static wp_status set_language(const char *value, bool *forced, wpi_language *language,
                              wp_error *err) {
    *forced = true;
    if (strcmp(value, "cu") == 0 || strcmp(value, "cuda") == 0)
        *language = WP_LANGUAGE_CUDA;
    else if (strcmp(value, "c") == 0)
        *language = WP_LANGUAGE_C;
    else if (strcmp(value, "c++") == 0)
        *language = WP_LANGUAGE_CXX;
    else if (strcmp(value, "ptx") == 0)
        *language = WP_LANGUAGE_PTX;
    else if (strcmp(value, "none") == 0)
        *forced = false;
    else
        return WP_FAIL(err, INVALID, "-x %s: the languages are cu, c, c++ and ptx", value);
    return WP_STATUS_OK;
}

/* Whether the word is a kind of nvcc's -Werror, which takes a list; the host compiler's takes
 * none. */
static bool is_werror_kind(const char *word) {
    static const char *const kinds[] = {
        "all-warnings",           "cross-execution-space-call", "reorder",
        "default-stream-launch",  "missing-launch-bounds",      "ext-lambda-captures-this",
        "deprecated-declarations"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(word, kinds[i], strlen(kinds[i])) == 0) return true;
    return false;
}

static wp_status parse_words(const wpi_strings *words, wpi_options *o, bool *show, wp_error *err) {
    bool forced = false;
    wpi_language forced_language = WP_LANGUAGE_CUDA;
    for (size_t i = 0; i < words->count; i++) {
        const char *arg = words->items[i], *value = NULL;
        const char *next = i + 1 < words->count ? words->items[i + 1] : NULL;
        if (shows(arg)) {
            *show = true;
            return WP_STATUS_OK;
        }
        if (arg[0] != '-' || arg[1] == '\0') {
            wpi_language language = language_of(arg);
            if (*arg) add_input(o, arg, forced && !is_link_file(arg) ? forced_language : language);
            continue;
        }
        if (strncmp(arg, "-Wl,", 4) == 0) {
            wpi_strings_add(&o->link_args, arg);
            continue;
        }
        const wpi_option_row *row = find(arg, &value);
        if (!row && o->forward_unknown) {
            wpi_strings_add(&o->compiler_args, arg);
            continue;
        }
        if (!row) return unknown(arg, err);
        bool wants_next = (row->value == WPI_VALUE || row->value == WPI_ATTACHED) && !value;
        if (row->value == WPI_DIGIT && !value)
            wants_next = next && next[0] >= '0' && next[0] <= '3' && next[1] == '\0';
        if (strcmp(row->name, "-Werror") == 0 && !value) wants_next = next && is_werror_kind(next);
        if (wants_next) {
            if (!next) return WP_FAIL(err, INVALID, "%s needs a value", arg);
            value = next;
            i++;
        }
        if (!row->apply) /* -x */
            WP_TRY(set_language(value, &forced, &forced_language, err));
        else
            WP_TRY(row->apply(o, value, row->arg, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_options_parse(int argc, char **argv, wpi_options *o, bool *show, wp_error *err) {
    memset(o, 0, sizeof *o);
    o->optimization = '2';
    *show = false;
    char *name = wpi_path_base(argc > 0 ? argv[0] : "wpcc");
    o->is_nvcc = strncmp(name, "nvcc", 4) == 0;
    wpi_free(name);
    wpi_strings words = {0};
    wp_status status = wpi_words_gather(argc, argv, &words, err);
    if (status == WP_STATUS_OK) status = parse_words(&words, o, show, err);
    wpi_strings_deinit(&words);
    if (status != WP_STATUS_OK || *show) return status;
    const char *lockstep = getenv("WARPAGE_LOCKSTEP");
    if (lockstep && strcmp(lockstep, "1") == 0) o->lockstep = true;
    if (o->arch == 0) o->arch = WPI_ARCH_LOWEST;
    if (o->input_count == 0)
        return WP_FAIL(err, INVALID, "no input files; wpcc --help shows the usage");
    return WP_STATUS_OK;
}

void wpi_options_deinit(wpi_options *o) {
    for (uint32_t i = 0; i < o->input_count; i++)
        wpi_free(o->inputs[i].path);
    wpi_free(o->inputs);
    char *texts[] = {o->output,   o->output_dir,  o->standard,   o->host_compiler, o->cuda_path,
                     o->keep_dir, o->print_after, o->stop_after, o->lowered_names};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wpi_free(texts[i]);
    wpi_strings *lists[] = {&o->source_args,  &o->host_args, &o->compiler_args, &o->link_args,
                            &o->depfile_args, &o->run_args,  &o->rewrites,      &o->streams};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        wpi_strings_deinit(lists[i]);
    memset(o, 0, sizeof *o);
}
