/* SPDX-License-Identifier: Apache-2.0 */
/* The command line. One table: names, how the value is given, what to do. nvcc takes a value as the next
 * argument or after '='; long options may be written with one or two dashes. */
#include "compiler/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/text.h"
#include "warpage/version.h"

typedef enum option_value {
    NO_VALUE,
    VALUE,    /* -o x, -o=x */
    ATTACHED, /* -Ix, -I x */
    OPTIONAL  /* -rdc, -rdc=x */
} option_value;

typedef wp_status (*option_fn)(wp_options *o, const char *value, int arg, wp_error *err);

typedef struct option {
    const char *name, *alias;
    option_value value;
    option_fn apply;
    int arg;
    const char *doc; /* NULL: accepted, not listed */
} option;

static wp_status set_goal(wp_options *o, const char *value, int goal, wp_error *err)
{
    (void)value;
    (void)err;
    o->goal = (wp_goal)goal;
    return WP_STATUS_OK;
}

static wp_status set_device_c(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)value;
    (void)arg;
    (void)err;
    o->goal = WP_GOAL_OBJECT;
    o->is_relocatable = true;
    return WP_STATUS_OK;
}

static wp_status set_rdc(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)arg;
    (void)err;
    o->is_relocatable = !value || strcmp(value, "true") == 0;
    return WP_STATUS_OK;
}

static void set_string(char **place, const char *value)
{
    wp_free(*place);
    *place = wp_strdup(value);
}

enum { S_OUTPUT, S_STD, S_CCBIN, S_PRINT_AFTER, S_STOP_AFTER, S_VARIANT };

static wp_status set_text(wp_options *o, const char *value, int which, wp_error *err)
{
    (void)err;
    char **places[] = {&o->output,      &o->standard,   &o->host_compiler,
                       &o->print_after, &o->stop_after, &o->variant};
    set_string(places[which], value);
    return WP_STATUS_OK;
}

enum { F_FAST, F_KEEP, F_PRINT, F_VERBOSE, F_QUIET, F_DEBUG_DEVICE };

static wp_status set_flag(wp_options *o, const char *value, int which, wp_error *err)
{
    (void)err;
    bool *places[] = {&o->fast_math, &o->keep, &o->print_only, &o->verbose, &o->quiet_warnings, &o->debug_device};
    *places[which] = !value || strcmp(value, "false") != 0;
    return WP_STATUS_OK;
}

static wp_status set_fmad(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)arg;
    (void)err;
    o->contract = strcmp(value, "true") == 0;
    o->no_contract = !o->contract;
    return WP_STATUS_OK;
}

static wp_status set_stream(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)arg;
    (void)err;
    o->per_thread_stream = strcmp(value, "per-thread") == 0;
    return WP_STATUS_OK;
}

static wp_status set_optimization(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)arg;
    char level = value && *value ? *value : '2';
    if (level == 's' || level == 'z' || level == 'f') level = '3';
    if (level < '0' || level > '9') return WP_FAIL(err, INVALID, "-O%s is no optimisation level", value);
    o->optimization = level > '3' ? '3' : level;
    return WP_STATUS_OK;
}

/* compute_70, sm_80, "sm_10,compute_10", native: the number; 0 if there is none. */
static uint32_t arch_number(const char *text)
{
    const char *digits = strpbrk(text, "0123456789");
    return digits ? (uint32_t)strtoul(digits, NULL, 10) : 0;
}

/* The lowest architecture named wins, so that the code runs wherever the program was meant to; below sm_70 (which
 * clang's front end and independent thread scheduling need) it is raised to sm_70. */
static wp_status add_arch(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)arg;
    (void)err;
    uint32_t number = arch_number(value);
    if (number < 70) number = 70;
    if (number > 90) number = 90;
    if (o->arch == 0 || number < o->arch) o->arch = number;
    return WP_STATUS_OK;
}

static wp_status ignore(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)o;
    (void)value;
    (void)arg;
    (void)err;
    return WP_STATUS_OK;
}

static wp_status refuse_32_bit(wp_options *o, const char *value, int arg, wp_error *err)
{
    (void)o;
    (void)value;
    (void)arg;
    return WP_FAIL(err, UNSUPPORTED, "-m32: only 64-bit programs are supported; leave the option out");
}

enum { TO_SOURCE, TO_HOST, TO_LINK };

/* Adds `prefix` + value; which list and which prefix are in `arg`'s row of this table. */
static const struct {
    int list;
    const char *prefix;
} forwards[] = {{TO_SOURCE, "-I"},        {TO_SOURCE, "-D"},      {TO_SOURCE, "-U"},
                {TO_SOURCE, "-isystem"},  {TO_SOURCE, "-include"}, {TO_LINK, "-L"},
                {TO_LINK, "-l"},          {TO_HOST, "-g"},         {TO_HOST, "-pg"},
                {TO_SOURCE, "-f"},        {TO_SOURCE, "-W"},       {TO_HOST, "-m"},
                {TO_SOURCE, "-pthread"}};
enum {
    FW_I, FW_D, FW_U, FW_ISYSTEM, FW_INCLUDE, FW_LDIR, FW_LIB, FW_G, FW_PG, FW_F, FW_W, FW_M, FW_PTHREAD
};

static wp_status forward(wp_options *o, const char *value, int which, wp_error *err)
{
    (void)err;
    wp_strings *lists[] = {&o->source_args, &o->host_args, &o->link_args};
    wp_strings *list = lists[forwards[which].list];
    const char *prefix = forwards[which].prefix;
    if (which == FW_ISYSTEM || which == FW_INCLUDE) {
        wp_strings_add(list, prefix);
        wp_strings_add(list, value);
    } else {
        wp_strings_addf(list, "%s%s", prefix, value ? value : "");
    }
    return WP_STATUS_OK;
}

/* -Xcompiler a,b ; -Xlinker a,b */
static wp_status forward_list(wp_options *o, const char *value, int to_link, wp_error *err)
{
    (void)err;
    char *copy = wp_strdup(value), *rest = copy, *item;
    while ((item = strtok_r(rest, to_link ? "," : ", ", &rest))) {
        if (to_link) {
            wp_strings_add(&o->link_args, "-Xlinker");
            wp_strings_add(&o->link_args, item);
        } else if (strncmp(item, "-Wl", 3) == 0) {
            wp_strings_add(&o->link_args, value); /* its commas are its own */
            break;
        } else if (strcmp(item, "-fopenmp") == 0) {
            wp_strings_add(&o->host_args, item);
            wp_strings_add(&o->link_args, item);
        } else {
            wp_strings_add(&o->host_args, item);
        }
    }
    wp_free(copy);
    return WP_STATUS_OK;
}

static wp_status add_link_word(wp_options *o, const char *value, int arg, wp_error *err)
{
    static const char *const words[] = {"-static", "-rdynamic", "-s"};
    (void)value;
    (void)err;
    wp_strings_add(&o->link_args, words[arg]);
    return WP_STATUS_OK;
}

static wp_status add_depfile(wp_options *o, const char *value, int arg, wp_error *err)
{
    static const char *const words[] = {"-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP"};
    (void)err;
    wp_strings_add(&o->depfile_args, words[arg]);
    if (value) wp_strings_add(&o->depfile_args, value);
    return WP_STATUS_OK;
}

static const option table[] = {
    {"-o", "--output-file", VALUE, set_text, S_OUTPUT, "FILE  write the result there"},
    {"-c", "--compile", NO_VALUE, set_goal, WP_GOAL_OBJECT, "compile to an object, do not link"},
    {"-dc", "--device-c", NO_VALUE, set_device_c, 0, "-c with relocatable device code"},
    {"-rdc", "--relocatable-device-code", VALUE, set_rdc, 0, "=true  device code may refer to other files"},
    {"-dlink", "--device-link", NO_VALUE, set_goal, WP_GOAL_DEVICE_LINK, "link device code of objects into one object"},
    {"-shared", "--shared", NO_VALUE, set_goal, WP_GOAL_SHARED, "make a shared library"},
    {"-lib", "--lib", NO_VALUE, set_goal, WP_GOAL_LIBRARY, "make a static library"},
    {"-E", "--preprocess", NO_VALUE, set_goal, WP_GOAL_PREPROCESS, "preprocess only"},
    {"-M", "--generate-dependencies", NO_VALUE, set_goal, WP_GOAL_DEPENDENCIES, "print dependencies"},
    {"-MM", "--generate-nonsystem-dependencies", NO_VALUE, set_goal, WP_GOAL_DEPENDENCIES, NULL},
    {"-ptx", "--ptx", NO_VALUE, set_goal, WP_GOAL_PTX, "write the kernels as PTX text"},
    {"-emit-llvm", NULL, NO_VALUE, set_goal, WP_GOAL_BITCODE, "write the kernels as LLVM bitcode"},
    {"-cuda", "--cuda", NO_VALUE, set_goal, WP_GOAL_HOST_SOURCE, NULL},
    {"-I", "--include-path", ATTACHED, forward, FW_I, "DIR  search headers there"},
    {"-isystem", "--system-include", VALUE, forward, FW_ISYSTEM, NULL},
    {"-include", "--pre-include", VALUE, forward, FW_INCLUDE, NULL},
    {"-D", "--define-macro", ATTACHED, forward, FW_D, "NAME[=VALUE]  define a macro"},
    {"-U", "--undefine-macro", ATTACHED, forward, FW_U, "NAME  undefine a macro"},
    {"-L", "--library-path", ATTACHED, forward, FW_LDIR, "DIR  search libraries there"},
    {"-l", "--library", ATTACHED, forward, FW_LIB, "NAME  link a library"},
    {"-O", "--optimize", ATTACHED, set_optimization, 0, "LEVEL  optimisation of the host side, 0 to 3"},
    {"-g", "--debug", NO_VALUE, forward, FW_G, "debug information for the host side"},
    {"-G", "--device-debug", NO_VALUE, set_flag, F_DEBUG_DEVICE, "debug information for kernels"},
    {"-pg", "--profile", NO_VALUE, forward, FW_PG, NULL},
    {"-std", "--std", VALUE, set_text, S_STD, "c++17  language standard"},
    {"-x", "--x", VALUE, NULL, 0, "cu|c|c++  language of the files that follow"},
    {"-arch", "--gpu-architecture", VALUE, add_arch, 0, "sm_70  sets __CUDA_ARCH__; below sm_70 means sm_70"},
    {"-code", "--gpu-code", VALUE, ignore, 0, NULL},
    {"-gencode", "--generate-code", VALUE, add_arch, 0, "arch=…,code=…  as -arch; the lowest counts"},
    {"--gpu-name", NULL, VALUE, add_arch, 0, NULL},
    {"--cuda-gpu-arch", NULL, VALUE, add_arch, 0, NULL},
    {"-Xcompiler", "--compiler-options", VALUE, forward_list, 0, "OPTIONS  to the host side's compiler"},
    {"-Xlinker", "--linker-options", VALUE, forward_list, 1, "OPTIONS  to the linker"},
    {"-Xptxas", "--ptxas-options", VALUE, ignore, 0, NULL},
    {"-Xnvlink", "--nvlink-options", VALUE, ignore, 0, NULL},
    {"-Xcudafe", "--cudafe-options", VALUE, ignore, 0, NULL},
    {"-Xopencc", "--opencc-options", VALUE, ignore, 0, NULL},
    {"-Xfatbin", "--fatbin-options", VALUE, ignore, 0, NULL},
    {"-maxrregcount", "--maxrregcount", VALUE, ignore, 0, NULL},
    {"-use_fast_math", "--use_fast_math", NO_VALUE, set_flag, F_FAST, "fast, less exact floating point in kernels"},
    {"-fmad", "--fmad", VALUE, set_fmad, 0, "=true  fuse multiply and add on the CPU too"},
    {"-ftz", "--ftz", VALUE, ignore, 0, NULL},
    {"-prec-div", "--prec-div", VALUE, ignore, 0, NULL},
    {"-prec-sqrt", "--prec-sqrt", VALUE, ignore, 0, NULL},
    {"-ccbin", "--compiler-bindir", VALUE, set_text, S_CCBIN, "PROGRAM  compiler for plain C and C++ files (default: clang)"},
    {"-m64", "--m64", NO_VALUE, ignore, 0, NULL},
    {"--machine", NULL, VALUE, ignore, 0, NULL},
    {"-m32", "--m32", NO_VALUE, refuse_32_bit, 0, NULL},
    {"-lineinfo", "--generate-line-info", NO_VALUE, ignore, 0, NULL},
    {"-src-in-ptx", "--source-in-ptx", NO_VALUE, ignore, 0, NULL},
    {"-res-usage", "--resource-usage", NO_VALUE, ignore, 0, NULL},
    {"-restrict", "--restrict", NO_VALUE, ignore, 0, NULL},
    {"-extra-device-vectorization", "--extra-device-vectorization", NO_VALUE, ignore, 0, NULL},
    {"-dlto", "--dlink-time-opt", NO_VALUE, ignore, 0, NULL},
    {"-cudart", "--cudart", VALUE, ignore, 0, NULL},
    {"-cudadevrt", "--cudadevrt", VALUE, ignore, 0, NULL},
    {"-t", "--threads", VALUE, ignore, 0, NULL},
    {"-default-stream", "--default-stream", VALUE, set_stream, 0, "per-thread|legacy"},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", NO_VALUE, ignore, 0, NULL},
    {"-expt-extended-lambda", "--expt-extended-lambda", NO_VALUE, ignore, 0, NULL},
    {"-extended-lambda", "--extended-lambda", NO_VALUE, ignore, 0, NULL},
    {"-deviceemu", "--device-emulation", NO_VALUE, ignore, 0, NULL},
    {"-diag-suppress", "--diag-suppress", VALUE, ignore, 0, NULL},
    {"-diag-error", "--diag-error", VALUE, ignore, 0, NULL},
    {"-diag-warn", "--diag-warn", VALUE, ignore, 0, NULL},
    {"-err-no", "--display-error-number", NO_VALUE, ignore, 0, NULL},
    {"-no-err-no", "--no-display-error-number", NO_VALUE, ignore, 0, NULL},
    {"-w", "--disable-warnings", NO_VALUE, set_flag, F_QUIET, "no warnings"},
    {"-Wno-deprecated-gpu-targets", NULL, NO_VALUE, ignore, 0, NULL},
    {"-Werror", "--Werror", OPTIONAL, ignore, 0, NULL},
    {"-Wreorder", "--Wreorder", NO_VALUE, ignore, 0, NULL},
    {"-W", NULL, ATTACHED, forward, FW_W, NULL},
    {"-f", NULL, ATTACHED, forward, FW_F, NULL},
    {"-march", NULL, VALUE, ignore, 0, NULL},
    {"-mtune", NULL, VALUE, ignore, 0, NULL},
    {"-pthread", NULL, NO_VALUE, forward, FW_PTHREAD, NULL},
    {"-static", NULL, NO_VALUE, add_link_word, 0, NULL},
    {"-rdynamic", NULL, NO_VALUE, add_link_word, 1, NULL},
    {"-s", NULL, NO_VALUE, add_link_word, 2, NULL},
    {"-MD", "--generate-dependencies-with-compile", NO_VALUE, add_depfile, 0, "write dependencies beside the object"},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", NO_VALUE, add_depfile, 1, NULL},
    {"-MF", "--dependency-output", VALUE, add_depfile, 2, "FILE  where dependencies go"},
    {"-MT", NULL, VALUE, add_depfile, 3, NULL},
    {"-MQ", NULL, VALUE, add_depfile, 4, NULL},
    {"-MP", "--generate-dependency-targets", NO_VALUE, add_depfile, 5, NULL},
    {"-keep", "--keep", NO_VALUE, set_flag, F_KEEP, NULL},
    {"--keep-temps", "--save-temps", NO_VALUE, set_flag, F_KEEP, "keep the files between the steps, and say where"},
    {"--keep-dir", NULL, VALUE, ignore, 0, NULL},
    {"-###", "--dryrun", NO_VALUE, set_flag, F_PRINT, "print the commands, run none"},
    {"-v", "--verbose", NO_VALUE, set_flag, F_VERBOSE, "print the commands as they run"},
    {"--print-after", NULL, VALUE, set_text, S_PRINT_AFTER, "PASS|all  print the IR after a pass, to stderr"},
    {"--stop-after", NULL, VALUE, set_text, S_STOP_AFTER, "PASS  write the IR after a pass to -o, and stop"},
    {"--variant", NULL, VALUE, set_text, S_VARIANT, NULL},
};

static bool names_option(const char *name, const char *arg, size_t length)
{
    if (!name) return false;
    if (strlen(name) == length && memcmp(name, arg, length) == 0) return true;
    /* -option for --option and the other way round */
    if (name[0] == '-' && name[1] == '-' && arg[1] != '-')
        return strlen(name + 1) == length && memcmp(name + 1, arg, length) == 0;
    if (name[1] && name[1] != '-' && name[2] && arg[1] == '-')
        return strlen(name) + 1 == length && memcmp(name, arg + 1, length - 1) == 0;
    return false;
}

/* The row for `arg`; `*value` points into it when the value is part of it. */
static const option *find(const char *arg, const char **value)
{
    size_t length = strcspn(arg, "=");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const option *row = &table[i];
        if (row->value == ATTACHED || (!names_option(row->name, arg, length) && !names_option(row->alias, arg, length)))
            continue;
        if (row->value == NO_VALUE && arg[length]) continue;
        *value = arg[length] ? arg + length + 1 : NULL;
        return row;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const option *row = &table[i];
        if (row->value != ATTACHED) continue;
        if (names_option(row->alias, arg, length)) {
            *value = arg[length] ? arg + length + 1 : NULL;
            return row;
        }
        size_t name_length = strlen(row->name);
        if (strncmp(arg, row->name, name_length) != 0) continue;
        *value = arg[name_length] ? arg + name_length : NULL;
        return row;
    }
    return NULL;
}

static wp_language language_of(const char *path)
{
    char *extension = wp_path_extension(path);
    static const struct {
        const char *extension;
        wp_language language;
    } known[] = {{".cu", WP_LANGUAGE_CUDA}, {".c", WP_LANGUAGE_C},     {".cpp", WP_LANGUAGE_CXX},
                 {".cc", WP_LANGUAGE_CXX},  {".cxx", WP_LANGUAGE_CXX}, {".C", WP_LANGUAGE_CXX},
                 {".c++", WP_LANGUAGE_CXX}};
    wp_language language = WP_LANGUAGE_OBJECT;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(extension, known[i].extension) == 0) language = known[i].language;
    wp_free(extension);
    return language;
}

static void add_input(wp_options *o, const char *path, wp_language language)
{
    o->inputs = wp_realloc(o->inputs, (o->input_count + 1) * sizeof *o->inputs);
    o->inputs[o->input_count++] = (wp_input){wp_strdup(path), language};
    if (language == WP_LANGUAGE_OBJECT) wp_strings_add(&o->link_args, path);
}

static wp_status unknown(const char *arg, wp_error *err)
{
    wp_nearest search = {.wanted = arg};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        wp_nearest_offer(&search, table[i].name);
        if (table[i].alias) wp_nearest_offer(&search, table[i].alias);
    }
    const char *nearest = wp_nearest_result(&search);
    return nearest ? WP_FAIL(err, INVALID, "unknown option %s; did you mean %s?", arg, nearest)
                   : WP_FAIL(err, INVALID, "unknown option %s; wpcc --help lists the options", arg);
}

static void print_help(void)
{
    puts("usage: wpcc [options] file...\n"
         "\n"
         "Compiles CUDA C and C++ to programs that run on any Warpage device. Takes nvcc's options;\n"
         "those not listed here are accepted and have no effect on the CPU.\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].doc) printf("  %-18s %s\n", table[i].name, table[i].doc);
    puts("\nExamples:\n"
         "  wpcc app.cu -o app && ./app\n"
         "  wpcc -rdc=true a.cu b.cu -o app\n"
         "  wpcc --print-after=regions -c kernel.cu");
}

static void print_version(void)
{
    /* Makefiles look for "release X.Y" in nvcc's answer. */
    puts("wpcc: the CUDA C compiler of Warpage " WP_VERSION_STRING "\n"
         "compatible with Cuda compilation tools, release 12.3, V12.3.0");
}

static bool is_language_word(const char *value, wp_language *language)
{
    if (strcmp(value, "cu") == 0 || strcmp(value, "cuda") == 0)
        *language = WP_LANGUAGE_CUDA;
    else if (strcmp(value, "c") == 0)
        *language = WP_LANGUAGE_C;
    else if (strcmp(value, "c++") == 0)
        *language = WP_LANGUAGE_CXX;
    else
        return false;
    return true;
}

wp_status wpi_options_parse(int argc, char **argv, wp_options *o, bool *show, wp_error *err)
{
    memset(o, 0, sizeof *o);
    o->optimization = '2';
    *show = false;
    bool forced = false;
    wp_language forced_language = WP_LANGUAGE_CUDA;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i], *value = NULL;
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0 || strcmp(arg, "-help") == 0) {
            print_help();
            *show = true;
            return WP_STATUS_OK;
        }
        if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
            print_version();
            *show = true;
            return WP_STATUS_OK;
        }
        if (arg[0] != '-' || arg[1] == '\0') {
            if (*arg) add_input(o, arg, forced ? forced_language : language_of(arg));
            continue;
        }
        if (strncmp(arg, "-Wl,", 4) == 0) {
            wp_strings_add(&o->link_args, arg);
            continue;
        }
        const option *row = find(arg, &value);
        if (!row) return unknown(arg, err);
        bool wants_next = (row->value == VALUE || row->value == ATTACHED) && !value;
        if (row->apply == set_optimization) wants_next = false;
        if (wants_next) {
            if (i + 1 == argc) return WP_FAIL(err, INVALID, "%s needs a value", arg);
            value = argv[++i];
        }
        if (!row->apply) { /* -x */
            if (!is_language_word(value, &forced_language))
                return WP_FAIL(err, INVALID, "-x %s: the languages are cu, c and c++", value);
            forced = true;
            continue;
        }
        WP_TRY(row->apply(o, value, row->arg, err));
    }
    if (o->arch == 0) o->arch = 70;
    if (o->input_count == 0) return WP_FAIL(err, INVALID, "no input files; wpcc --help shows the usage");
    return WP_STATUS_OK;
}

void wpi_options_deinit(wp_options *o)
{
    for (uint32_t i = 0; i < o->input_count; i++) wp_free(o->inputs[i].path);
    wp_free(o->inputs);
    char *texts[] = {o->output,      o->standard,   o->host_compiler,
                     o->print_after, o->stop_after, o->variant};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) wp_free(texts[i]);
    wp_strings *lists[] = {&o->source_args, &o->host_args, &o->link_args, &o->depfile_args};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) wp_strings_deinit(lists[i]);
}
