/* SPDX-License-Identifier: Apache-2.0 */
/* What each option does, and the table of all. */
#include "compiler/driver/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/driver/stream_option.h"
#include "compiler/driver/words.h"
#include "compiler/rewrite/rewrite.h"

/* Sets the goal. The last option counts, but others override -c, and -c overrides -shared. */
static wp_status set_goal(wpi_options *o, const char *value, int goal, wp_error *err) {
    (void)value;
    (void)err;
    bool is_weak = goal == WP_GOAL_OBJECT && o->goal != WP_GOAL_LINK && o->goal != WP_GOAL_SHARED;
    if (!is_weak && !(goal == WP_GOAL_SHARED && o->goal == WP_GOAL_OBJECT))
        o->goal = (wpi_goal)goal;
    return WP_STATUS_OK;
}

static wp_status set_device_c(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    o->is_relocatable = true;
    return set_goal(o, value, WP_GOAL_OBJECT, err);
}

static wp_status parse_bool(const char *name, const char *value, bool *out, wp_error *err) {
    *out = strcmp(value, "true") == 0;
    if (*out || strcmp(value, "false") == 0) return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "%s=%s: the value is true or false", name, value);
}

static wp_status set_rdc(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    return parse_bool("-rdc", value, &o->is_relocatable, err);
}

static void set_string(char **place, const char *value) {
    wpi_free(*place);
    *place = wpi_must_strdup(value);
}

enum { S_OUTPUT, S_OUTPUT_DIR, S_CCBIN, S_PRINT_AFTER, S_STOP_AFTER, S_CUDA_PATH, S_NAMES };

static wp_status set_text(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)err;
    char **places[] = {&o->output,     &o->output_dir, &o->host_compiler, &o->print_after,
                       &o->stop_after, &o->cuda_path,  &o->lowered_names};
    set_string(places[which], value);
    return WP_STATUS_OK;
}

static wp_status set_standard(wpi_options *o, const char *value, int arg, wp_error *err) {
    static const char *const known[] = {
        "c++98", "c++03", "c++0x", "c++11", "c++1y", "c++14", "c++1z", "c++17", "c++2a", "c++20",
        "c++2b", "c++23", "c89",   "c90",   "c99",   "c11",   "c17",   "c18",   "c2x",   "c23"};
    (void)arg;
    const char *name = strncmp(value, "gnu", 3) == 0 ? value + 2 : value; /* gnu++17, gnu11 */
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name + (name != value), known[i] + (name != value)) != 0) continue;
        set_string(&o->standard, value);
        return WP_STATUS_OK;
    }
    return WP_FAIL(err, INVALID,
                   "-std=%s: unknown standard; use c++11, c++14, c++17, c++20 or c++23", value);
}

enum { C_ON, C_LINE, C_LINES, C_LAYOUT, C_RUNS };

static wp_status add_rewrite(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    wpi_strings_add(&o->rewrites, value);
    return wpi_rewrite_check(&o->rewrites, err);
}

/* --cache and the options that imply it: each adds `KEY=value` to the rewrite's argument. */
static wp_status add_cache(wpi_options *o, const char *value, int key, wp_error *err) {
    static const char *const keys[] = {[C_ON] = "",
                                       [C_LINE] = "line=",
                                       [C_LINES] = "lines=",
                                       [C_LAYOUT] = "layout=",
                                       [C_RUNS] = "runs="};
    char *made =
        value == NULL ? wpi_must_strdup("cache") : wpi_format("cache:%s%s", keys[key], value);
    wp_status status = WP_STATUS_OK;
    bool is_new = true;
    if (key == C_LINE) {
        wpi_cache_options read;
        wp_error why = {0};
        if (wpi_rewrite_cache_check(made + strlen("cache:"), &read, &why) != WP_STATUS_OK) {
            fprintf(stderr, "wpcc: warning: %s; kernels run without it\n", why.message);
            wpi_free(made);
            made = wpi_must_strdup("cache:line=0");
        }
    }
    for (size_t i = 0; i < o->rewrites.count; i++)
        if (strncmp(o->rewrites.items[i], "cache", strlen("cache")) == 0) {
            char *old = o->rewrites.items[i];
            is_new = false;
            if (value == NULL) continue;
            o->rewrites.items[i] = strchr(old, ':') == NULL
                                       ? wpi_must_strdup(made)
                                       : wpi_format("%s,%s", old, made + strlen("cache:"));
            wpi_free(old);
            status = wpi_rewrite_check(&o->rewrites, err);
        }
    if (is_new) status = add_rewrite(o, made, key, err);
    wpi_free(made);
    return status;
}

static wp_status add_stream(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    WP_TRY(wpi_stream_check(value, err));
    if (!wpi_strings_contains(&o->streams, value)) wpi_strings_add(&o->streams, value);
    return WP_STATUS_OK;
}

static wp_status set_cpu_isas(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    return wpi_cpu_isas_parse(value, &o->cpu_isas, err);
}

enum {
    F_FAST,
    F_KEEP,
    F_PRINT,
    F_VERBOSE,
    F_QUIET,
    F_DEBUG_DEVICE,
    F_RUN,
    F_FORWARD,
    F_NO_HEADER_CACHE,
    F_LOCKSTEP,
    F_THROUGH_PTX,
    F_RESOURCES
};

static wp_status set_flag(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)value;
    (void)err;
    bool *places[] = {&o->fast_math,       &o->keep,         &o->print_only,  &o->verbose,
                      &o->quiet_warnings,  &o->debug_device, &o->run,         &o->forward_unknown,
                      &o->no_header_cache, &o->lockstep,     &o->through_ptx, &o->resource_usage};
    *places[which] = true;
    return WP_STATUS_OK;
}

/* -keep: keeps intermediate files in the current folder, or in --keep-dir. */
static wp_status set_keep_here(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    (void)err;
    if (value || !o->keep_dir) set_string(&o->keep_dir, value ? value : ".");
    o->keep = o->keep || !value;
    return WP_STATUS_OK;
}

static wp_status set_user_dependencies(wpi_options *o, const char *value, int arg, wp_error *err) {
    o->user_headers_only = true;
    return set_goal(o, value, arg, err);
}

static wp_status set_fmad(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    WP_TRY(parse_bool("-fmad", value, &o->contract, err));
    o->no_contract = !o->contract;
    return WP_STATUS_OK;
}

static wp_status set_registers(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    char *end;
    const unsigned long registers = strtoul(value, &end, 10);
    if (*value < '0' || *value > '9' || *end != '\0' || registers > 1024)
        return WP_FAIL(err, INVALID, "-maxrregcount %s: the value is a number of registers", value);
    o->registers_max = (uint32_t)registers;
    return WP_STATUS_OK;
}

static bool asks_for_resources(const char *words) {
    static const char *const names[] = {"-v", "--verbose"};
    for (const char *at = words; *at != '\0'; at += strspn(at, " ,")) {
        const size_t length = strcspn(at, " ,");
        for (size_t n = 0; n < sizeof names / sizeof *names; n++)
            if (strlen(names[n]) == length && memcmp(at, names[n], length) == 0) return true;
        at += length;
    }
    return false;
}

/* -Xptxas: of its options only --maxrregcount and -v have an effect. */
static wp_status set_assembler(wpi_options *o, const char *value, int arg, wp_error *err) {
    static const char name[] = "maxrregcount";
    const char *at = strstr(value, name);
    o->resource_usage = o->resource_usage || asks_for_resources(value);
    if (at == NULL) return WP_STATUS_OK;
    at += strlen(name) + strspn(at + strlen(name), "= ,");
    char *number = wpi_must_strndup(at, strspn(at, "0123456789"));
    const wp_status status = *number == '\0' ? WP_STATUS_OK : set_registers(o, number, arg, err);
    wpi_free(number);
    return status;
}

static wp_status set_stream(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    o->per_thread_stream = strcmp(value, "per-thread") == 0;
    if (o->per_thread_stream || strcmp(value, "legacy") == 0 || strcmp(value, "null") == 0)
        return WP_STATUS_OK;
    return WP_FAIL(err, INVALID, "--default-stream %s: the value is legacy or per-thread", value);
}

static wp_status set_optimization(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    char level = value && *value ? *value : '2';
    if (level == 's' || level == 'z' || level == 'f') level = '3';
    if (level < '0' || level > '9')
        return WP_FAIL(err, INVALID, "-O%s is not an optimisation level; use -O0 to -O3", value);
    o->optimization = level > '3' ? '3' : level;
    return WP_STATUS_OK;
}

/* The number in compute_70, sm_90a, "arch=compute_10,code=sm_10"; 0 if it has another form.
 * `*is_specific`: it has the letter. */
static uint32_t arch_number(const char *text, bool *is_specific) {
    if (strncmp(text, "arch=", 5) == 0) text += 5;
    while (*text == '"' || *text == '[')
        text++;
    if (strncmp(text, "compute_", 8) == 0 || strncmp(text, "sm_", 3) == 0 ||
        strncmp(text, "lto_", 4) == 0)
        text = strchr(text, '_') + 1;
    if (*text < '0' || *text > '9') return 0;
    char *end;
    const uint32_t number = (uint32_t)strtoul(text, &end, 10);
    *is_specific = *end == 'a' || *end == 'f';
    return number;
}

/* The lowest named architecture is used, so that the code runs on all named ones; at least sm_70,
 * which clang's front end and independent thread scheduling need. */
static wp_status add_arch(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    static const char *const whole[] = {"native", "all", "all-major", "host"};
    bool is_specific = false;
    uint32_t number = arch_number(value, &is_specific);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(value, whole[i]) == 0) number = WPI_ARCH_LOWEST;
    if (number == 0)
        return WP_FAIL(err, INVALID,
                       "-arch %s: unknown architecture; use sm_70 to sm_90, or native", value);
    if (number < WPI_ARCH_LOWEST) number = WPI_ARCH_LOWEST;
    if (number > WPI_ARCH_HIGHEST) number = WPI_ARCH_HIGHEST;
    if (o->arch == 0 || number < o->arch) {
        o->arch = number;
        o->arch_is_specific = is_specific && number == WPI_ARCH_HIGHEST;
    }
    return WP_STATUS_OK;
}

static void add_cubin(wpi_options *o, uint32_t arch) {
    for (uint32_t i = 0; i < o->cubin_count; i++)
        if (o->cubins[i] == arch) return;
    if (arch >= WPI_ARCH_LOWEST && o->cubin_count < WP_CUBINS_MAX)
        o->cubins[o->cubin_count++] = arch;
}

/* Adds every sm_NN of "sm_80,compute_80", "[sm_80,sm_86]"; PTX for compute_NN is made anyway. */
static wp_status add_codes(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg, (void)err;
    for (const char *at = value; (at = strstr(at, "sm_")) != NULL;) {
        char *end;
        add_cubin(o, (uint32_t)strtoul(at + 3, &end, 10));
        at = end;
    }
    return WP_STATUS_OK;
}

static wp_status add_gencode(wpi_options *o, const char *value, int arg, wp_error *err) {
    WP_TRY(add_arch(o, value, arg, err));
    const char *codes = strstr(value, "code=");
    return codes != NULL ? add_codes(o, codes, arg, err) : WP_STATUS_OK;
}

static wp_status ignore(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)o;
    (void)value;
    (void)arg;
    (void)err;
    return WP_STATUS_OK;
}

/* Options that change nothing, because clang accepts what they allow, but define a macro. */
static wp_status define_macro(wpi_options *o, const char *value, int which, wp_error *err) {
    static const char *const macros[] = {"-D__CUDACC_EXTENDED_LAMBDA__=1",
                                         "-D__CUDACC_RELAXED_CONSTEXPR__=1"};
    (void)value;
    (void)err;
    if (!wpi_strings_contains(&o->source_args, macros[which]))
        wpi_strings_add(&o->source_args, macros[which]);
    return WP_STATUS_OK;
}

static wp_status check_machine(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)o;
    (void)arg;
    if (value && strcmp(value, "64") == 0) return WP_STATUS_OK;
    return WP_FAIL(err, UNSUPPORTED, "-m32: only 64-bit programs are supported; remove the option");
}

static wp_status refuse_format(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)o;
    (void)value;
    (void)arg;
    return WP_FAIL(err, UNSUPPORTED,
                   "NVIDIA's own intermediate formats cannot be written; -fatbin writes Warpage's, "
                   "-emit-llvm bitcode");
}

enum { TO_SOURCE, TO_HOST, TO_LINK, TO_COMPILER };

/* The list to which `prefix` + value is added. nvcc accepts comma lists for those with
 * `is_list`. */
static const struct {
    int list;
    const char *prefix;
    bool is_list, is_apart; /* prefix and value are two words */
} forwards[] = {{TO_SOURCE, "-I", true, false},
                {TO_SOURCE, "-D", true, false},
                {TO_SOURCE, "-U", true, false},
                {TO_SOURCE, "-isystem", true, true},
                {TO_SOURCE, "-include", true, true},
                {TO_LINK, "-L", true, false},
                {TO_LINK, "-l", true, false},
                {TO_HOST, "-g", false, false},
                {TO_HOST, "-pg", false, false},
                {TO_COMPILER, "-f", false, false},
                {TO_SOURCE, "-W", false, false},
                {TO_COMPILER, "-pthread", false, false},
                {TO_COMPILER, "-march=", false, false},
                {TO_SOURCE, "-ftemplate-depth=", false, false},
                {TO_SOURCE, "-ftemplate-backtrace-limit=", false, false},
                {TO_HOST, "-fno-exceptions", false, false}};
enum {
    FW_I,
    FW_D,
    FW_U,
    FW_ISYSTEM,
    FW_INCLUDE,
    FW_LDIR,
    FW_LIB,
    FW_G,
    FW_PG,
    FW_F,
    FW_W,
    FW_PTHREAD,
    FW_MARCH,
    FW_TEMPLATE_DEPTH,
    FW_TEMPLATE_LIMIT,
    FW_NO_EXCEPTIONS
};

static void forward_one(wpi_options *o, int which, const char *value) {
    wpi_strings *lists[] = {&o->source_args, &o->host_args, &o->link_args, &o->compiler_args};
    wpi_strings *list = lists[forwards[which].list];
    if (forwards[which].is_apart) wpi_strings_add(list, forwards[which].prefix);
    wpi_strings_addf(list, "%s%s", forwards[which].is_apart ? "" : forwards[which].prefix,
                     value ? value : "");
}

/* -DF(x,y)=… and -DLIST=1,2 are one macro each: a comma starts another one only where a name can
 * follow it, and never after a backslash. */
static bool is_one_macro(const char *value) {
    const char *comma = strchr(value, ',');
    for (; comma; comma = strchr(comma + 1, ','))
        if ((comma == value || comma[-1] != '\\') && comma[1] != '_' &&
            !((comma[1] | 32) >= 'a' && (comma[1] | 32) <= 'z'))
            return true;
    return strpbrk(value, "(\"'") != NULL;
}

/* "1\,2" is "1,2": CMake writes a macro's commas so. */
static void forward_macro(wpi_options *o, const char *value) {
    wpi_text text = {0};
    for (const char *c = value; *c; c++)
        if (c[0] != '\\' || c[1] != ',') wpi_text_append_n(&text, c, 1);
    forward_one(o, FW_D, wpi_text_string(&text));
    wpi_text_deinit(&text);
}

static wp_status forward(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)err;
    /* The macro is equivalent to --default-stream per-thread. */
    if (which == FW_D && strncmp(value, "CUDA_API_PER_THREAD_DEFAULT_STREAM", 34) == 0) {
        o->per_thread_stream = true;
        return WP_STATUS_OK;
    }
    if (value && which == FW_D && is_one_macro(value)) {
        forward_macro(o, value);
        return WP_STATUS_OK;
    }
    if (!value || !forwards[which].is_list || !strchr(value, ',')) {
        forward_one(o, which, value);
        return WP_STATUS_OK;
    }
    wpi_strings items = {0};
    wpi_words_split(value, ",", &items);
    for (size_t i = 0; i < items.count; i++)
        forward_one(o, which, items.items[i]);
    wpi_strings_deinit(&items);
    return WP_STATUS_OK;
}

/* -Xlinker a,b */
static wp_status forward_to_linker(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    (void)err;
    wpi_strings items = {0};
    wpi_words_split(value, ",", &items);
    for (size_t i = 0; i < items.count; i++) {
        wpi_strings_add(&o->link_args, "-Xlinker");
        wpi_strings_add(&o->link_args, items.items[i]);
    }
    wpi_strings_deinit(&items);
    return WP_STATUS_OK;
}

/* -Xcompiler a,b or "a b". The commas of -Wl,x,y are its own. */
static wp_status forward_to_compiler(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    (void)err;
    bool has_own_commas = strncmp(value, "-Wl,", 4) == 0 || strncmp(value, "-Wp,", 4) == 0 ||
                          strncmp(value, "-Wa,", 4) == 0;
    wpi_words_split(value, has_own_commas ? " \t" : ", \t", &o->compiler_args);
    return WP_STATUS_OK;
}

static wp_status add_run_args(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    (void)err;
    wpi_words_split(value, ",", &o->run_args);
    return WP_STATUS_OK;
}

static wp_status add_link_word(wpi_options *o, const char *value, int arg, wp_error *err) {
    static const char *const words[] = {"-static", "-rdynamic", "-s"};
    (void)value;
    (void)err;
    wpi_strings_add(&o->link_args, words[arg]);
    return WP_STATUS_OK;
}

static wp_status add_depfile(wpi_options *o, const char *value, int arg, wp_error *err) {
    static const char *const words[] = {"-MD", "-MMD", "-MF", "-MT", "-MQ", "-MP"};
    (void)err;
    wpi_strings_add(&o->depfile_args, words[arg]);
    if (value) wpi_strings_add(&o->depfile_args, value);
    return WP_STATUS_OK;
}

static const wpi_option_row table[] = {
    {"-o", "--output-file", WPI_VALUE, set_text, S_OUTPUT, "FILE  write the output to FILE"},
    {"-odir", "--output-directory", WPI_VALUE, set_text, S_OUTPUT_DIR,
     "DIR  write outputs to DIR if -o is not given"},
    {"-c", "--compile", WPI_NO_VALUE, set_goal, WP_GOAL_OBJECT,
     "compile to an object file without linking"},
    {"-dc", "--device-c", WPI_NO_VALUE, set_device_c, 0, "like -c, with relocatable device code"},
    {"-dw", "--device-w", WPI_NO_VALUE, set_goal, WP_GOAL_OBJECT, NULL},
    {"-rdc", "--relocatable-device-code", WPI_VALUE, set_rdc, 0,
     "=true  allow device code to refer to symbols of other files"},
    {"-link", "--link", WPI_NO_VALUE, set_goal, WP_GOAL_LINK, NULL},
    {"-dlink", "--device-link", WPI_NO_VALUE, set_goal, WP_GOAL_DEVICE_LINK,
     "link the device code of object files into one object file"},
    {"-shared", "--shared", WPI_NO_VALUE, set_goal, WP_GOAL_SHARED, "create a shared library"},
    {"-lib", "--lib", WPI_NO_VALUE, set_goal, WP_GOAL_LIBRARY, "create a static library"},
    {"-run", "--run", WPI_NO_VALUE, set_flag, F_RUN, "run the program after linking"},
    {"-run-args", "--run-args", WPI_VALUE, add_run_args, 0,
     "A,B  arguments of the program that -run runs"},
    {"-E", "--preprocess", WPI_NO_VALUE, set_goal, WP_GOAL_PREPROCESS, "preprocess only"},
    {"-M", "--generate-dependencies", WPI_NO_VALUE, set_goal, WP_GOAL_DEPENDENCIES,
     "print make dependencies"},
    {"-MM", "--generate-nonsystem-dependencies", WPI_NO_VALUE, set_user_dependencies,
     WP_GOAL_DEPENDENCIES, "… without system headers"},
    {"-ptx", "--ptx", WPI_NO_VALUE, set_goal, WP_GOAL_PTX, "write the kernels as PTX text"},
    {"-cubin", "--cubin", WPI_NO_VALUE, set_goal, WP_GOAL_CUBIN,
     "write the kernels in Warpage's binary format"},
    {"-fatbin", "--fatbin", WPI_NO_VALUE, set_goal, WP_GOAL_FATBIN, "same as -cubin"},
    {"-optix-ir", "--optix-ir", WPI_NO_VALUE, refuse_format, 0, NULL},
    {"-ltoir", "--ltoir", WPI_NO_VALUE, refuse_format, 0, NULL},
    {"-emit-llvm", NULL, WPI_NO_VALUE, set_goal, WP_GOAL_BITCODE,
     "write the kernels as LLVM bitcode"},
    {"-cuda", "--cuda", WPI_NO_VALUE, set_goal, WP_GOAL_HOST_SOURCE,
     "write the preprocessed host code"},
    {"--policy", NULL, WPI_NO_VALUE, set_goal, WP_GOAL_POLICY,
     "compile policies of simulated GPUs, written in C, for `warpage run --policy-file`"},
    {"-I", "--include-path", WPI_ATTACHED, forward, FW_I, "DIR  search DIR for headers"},
    {"-isystem", "--system-include", WPI_VALUE, forward, FW_ISYSTEM,
     "DIR  search DIR for headers and suppress warnings in them"},
    {"-include", "--pre-include", WPI_VALUE, forward, FW_INCLUDE,
     "FILE  include FILE before the source"},
    {"-D", "--define-macro", WPI_ATTACHED, forward, FW_D, "NAME[=VALUE]  define a macro"},
    {"-U", "--undefine-macro", WPI_ATTACHED, forward, FW_U, "NAME  undefine a macro"},
    {"-L", "--library-path", WPI_ATTACHED, forward, FW_LDIR, "DIR  search DIR for libraries"},
    {"-l", "--library", WPI_ATTACHED, forward, FW_LIB, "NAME  link a library"},
    {"-O", "--optimize", WPI_DIGIT, set_optimization, 0,
     "LEVEL  optimisation level of host code, 0 to 3"},
    {"-g", "--debug", WPI_NO_VALUE, forward, FW_G, "generate debug information for host code"},
    {"-G", "--device-debug", WPI_NO_VALUE, set_flag, F_DEBUG_DEVICE,
     "generate debug information for kernels"},
    {"-pg", "--profile", WPI_NO_VALUE, forward, FW_PG, "instrument host code for gprof"},
    {"-std", "--std", WPI_VALUE, set_standard, 0, "c++17  language standard"},
    {"-x", "--x", WPI_VALUE, NULL, 0, "cu|c|c++  language of the following files"},
    {"-arch", "--gpu-architecture", WPI_VALUE, add_arch, 0,
     "sm_NN|compute_NN|native  sets __CUDA_ARCH__: sm_70 to sm_90; below sm_70 means sm_70"},
    {"-code", "--gpu-code", WPI_VALUE, add_codes, 0,
     "sm_NN,…  also assemble the kernels for these GPUs if ptxas is installed"},
    {"-gencode", "--generate-code", WPI_VALUE, add_gencode, 0,
     "arch=compute_NN,code=sm_NN  set -arch (the lowest is used) and -code"},
    {"-arch-ls", "--list-gpu-arch", WPI_NO_VALUE, ignore, 0,
     "list the supported compute_NN values"},
    {"-code-ls", "--list-gpu-code", WPI_NO_VALUE, ignore, 0, "list the supported sm_NN values"},
    {"--gpu-name", NULL, WPI_VALUE, add_arch, 0, NULL},
    {"--cuda-gpu-arch", NULL, WPI_VALUE, add_arch, 0, NULL},
    {"-Xcompiler", "--compiler-options", WPI_VALUE, forward_to_compiler, 0,
     "OPTIONS  pass OPTIONS to the host compiler"},
    {"-Xlinker", "--linker-options", WPI_VALUE, forward_to_linker, 0,
     "OPTIONS  pass OPTIONS to the linker"},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", WPI_NO_VALUE,
     set_flag, F_FORWARD, "pass unknown options to the host compiler"},
    {"-forward-unknown-opts", "--forward-unknown-opts", WPI_NO_VALUE, set_flag, F_FORWARD, NULL},
    {"-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker", WPI_NO_VALUE, set_flag,
     F_FORWARD, NULL},
    {"-Xptxas", "--ptxas-options", WPI_VALUE, set_assembler, 0, NULL},
    {"-Xnvlink", "--nvlink-options", WPI_VALUE, ignore, 0, NULL},
    {"-Xarchive", "--archive-options", WPI_VALUE, ignore, 0, NULL},
    {"-Xcudafe", "--cudafe-options", WPI_VALUE, ignore, 0, NULL},
    {"-Xopencc", "--opencc-options", WPI_VALUE, ignore, 0, NULL},
    {"-Xcicc", "--cicc-options", WPI_VALUE, ignore, 0, NULL},
    {"-Xfatbin", "--fatbin-options", WPI_VALUE, ignore, 0, NULL},
    {"-maxrregcount", "--maxrregcount", WPI_VALUE, set_registers, 0,
     "NUMBER  registers of a thread, at most, on simulated and real GPUs"},
    {"-use_fast_math", "--use_fast_math", WPI_NO_VALUE, set_flag, F_FAST,
     "use faster, less accurate floating-point arithmetic in kernels"},
    {"-fmad", "--fmad", WPI_VALUE, set_fmad, 0,
     "=true  fuse multiplications and additions also on the CPU"},
    {"-ftz", "--ftz", WPI_VALUE, ignore, 0, NULL},
    {"-prec-div", "--prec-div", WPI_VALUE, ignore, 0, NULL},
    {"-prec-sqrt", "--prec-sqrt", WPI_VALUE, ignore, 0, NULL},
    {"-ccbin", "--compiler-bindir", WPI_VALUE, set_text, S_CCBIN,
     "PROGRAM  compiler for plain C and C++ files (default: clang)"},
    {"--cuda-path", "-cuda-path", WPI_VALUE, set_text, S_CUDA_PATH,
     "DIR  toolkit, or folder, whose Thrust, CUB and libcu++ are used (default: those that "
     "`warpage "
     "doctor --install cccl` installed)"},
    {"-allow-unsupported-compiler", "--allow-unsupported-compiler", WPI_NO_VALUE, ignore, 0, NULL},
    {"-arbin", "--archiver-binary", WPI_VALUE, ignore, 0, NULL},
    {"-m64", "--m64", WPI_NO_VALUE, ignore, 0, NULL},
    {"-m32", "--m32", WPI_NO_VALUE, check_machine, 0, NULL},
    {"-m", "--machine", WPI_VALUE, check_machine, 0, NULL},
    {"-lineinfo", "--generate-line-info", WPI_NO_VALUE, ignore, 0, NULL},
    {"-opt-info", "--optimization-info", WPI_VALUE, ignore, 0, NULL},
    {"-Ofc", "--Ofast-compile", WPI_VALUE, ignore, 0, NULL},
    {"-dopt", "--dopt", WPI_VALUE, ignore, 0, NULL},
    {"-src-in-ptx", "--source-in-ptx", WPI_NO_VALUE, ignore, 0, NULL},
    {"-res-usage", "--resource-usage", WPI_NO_VALUE, set_flag, F_RESOURCES,
     "print each kernel's registers, estimated, and its memory; also -Xptxas -v"},
    {"-restrict", "--restrict", WPI_NO_VALUE, ignore, 0, NULL},
    {"-extra-device-vectorization", "--extra-device-vectorization", WPI_NO_VALUE, ignore, 0, NULL},
    {"-keep-device-functions", "--keep-device-functions", WPI_NO_VALUE, ignore, 0, NULL},
    {"-ewp", "--extensible-whole-program", WPI_NO_VALUE, ignore, 0, NULL},
    {"-e", "--entries", WPI_VALUE, ignore, 0, NULL},
    {"-dlto", "--dlink-time-opt", WPI_NO_VALUE, ignore, 0, NULL},
    {"-lto", "--lto", WPI_NO_VALUE, ignore, 0, NULL},
    {"-gen-opt-lto", "--gen-opt-lto", WPI_NO_VALUE, ignore, 0, NULL},
    {"-nodlink", "--no-device-link", WPI_NO_VALUE, ignore, 0, NULL},
    {"-r", "--relocatable-link", WPI_NO_VALUE, ignore, 0, NULL},
    {"-cudart", "--cudart", WPI_VALUE, ignore, 0, NULL},
    {"-cudadevrt", "--cudadevrt", WPI_VALUE, ignore, 0, NULL},
    {"-ldir", "--libdevice-directory", WPI_VALUE, ignore, 0, NULL},
    {"-target-dir", "--target-directory", WPI_VALUE, ignore, 0, NULL},
    {"-use-local-env", "--use-local-env", WPI_NO_VALUE, ignore, 0, NULL},
    {"-force-cl-env-setup", "--force-cl-env-setup", WPI_NO_VALUE, ignore, 0, NULL},
    {"-t", "--threads", WPI_VALUE, ignore, 0, NULL},
    {"-split-compile", "--split-compile", WPI_VALUE, ignore, 0, NULL},
    {"-split-compile-extended", "--split-compile-extended", WPI_VALUE, ignore, 0, NULL},
    {"-jobserver", "--jobserver", WPI_NO_VALUE, ignore, 0, NULL},
    {"-objtemp", "--objdir-as-tempdir", WPI_NO_VALUE, ignore, 0, NULL},
    {"-time", "--time", WPI_VALUE, ignore, 0, NULL},
    {"-fdevice-time-trace", "--fdevice-time-trace", WPI_VALUE, ignore, 0, NULL},
    {"-default-stream", "--default-stream", WPI_VALUE, set_stream, 0,
     "per-thread|legacy  meaning of stream 0"},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", WPI_NO_VALUE, define_macro, 1, NULL},
    {"-expt-extended-lambda", "--expt-extended-lambda", WPI_NO_VALUE, define_macro, 0, NULL},
    {"-extended-lambda", "--extended-lambda", WPI_NO_VALUE, define_macro, 0, NULL},
    {"-nohdinitlist", "--no-host-device-initializer-list", WPI_NO_VALUE, ignore, 0, NULL},
    {"-nohdmoveforward", "--no-host-device-move-forward", WPI_NO_VALUE, ignore, 0, NULL},
    {"-noeh", "--no-exceptions", WPI_NO_VALUE, forward, FW_NO_EXCEPTIONS,
     "disable exceptions in host code"},
    {"-ftemplate-depth", "--ftemplate-depth", WPI_VALUE, forward, FW_TEMPLATE_DEPTH, NULL},
    {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit", WPI_VALUE, forward,
     FW_TEMPLATE_LIMIT, NULL},
    {"-deviceemu", "--device-emulation", WPI_NO_VALUE, ignore, 0, NULL},
    {"-host-compilation", "--host-compilation", WPI_VALUE, ignore, 0, NULL},
    {"-diag-suppress", "--diag-suppress", WPI_VALUE, ignore, 0, NULL},
    {"-diag-error", "--diag-error", WPI_VALUE, ignore, 0, NULL},
    {"-diag-warn", "--diag-warn", WPI_VALUE, ignore, 0, NULL},
    {"-err-no", "--display-error-number", WPI_NO_VALUE, ignore, 0, NULL},
    {"-no-err-no", "--no-display-error-number", WPI_NO_VALUE, ignore, 0, NULL},
    {"-brief-diag", "--brief-diagnostics", WPI_VALUE, ignore, 0, NULL},
    {"-qpp-config", "--qpp-config", WPI_VALUE, ignore, 0, NULL},
    {"-astoolspatch", "--compile-as-tools-patch", WPI_NO_VALUE, ignore, 0, NULL},
    {"-no-compress", "--no-compress", WPI_NO_VALUE, ignore, 0, NULL},
    {"-compress-mode", "--compress-mode", WPI_VALUE, ignore, 0, NULL},
    {"-jtd", "--jump-table-density", WPI_VALUE, ignore, 0, NULL},
    {"-reloc-ptx", "--relocatable-ptx", WPI_VALUE, ignore, 0, NULL},
    {"-static-global-template-stub", "--static-global-template-stub", WPI_VALUE, ignore, 0, NULL},
    {"-device-entity-has-hidden-visibility", "--device-entity-has-hidden-visibility", WPI_VALUE,
     ignore, 0, NULL},
    {"-device-stack-protector", "--device-stack-protector", WPI_VALUE, ignore, 0, NULL},
    {"-frandom-seed", "--frandom-seed", WPI_VALUE, ignore, 0, NULL},
    {"-sanitize", "--sanitize", WPI_VALUE, ignore, 0, NULL},
    {"-hls", "--host-linker-script", WPI_VALUE, ignore, 0, NULL},
    {"-aug-hls", "--augment-host-linker-script", WPI_NO_VALUE, ignore, 0, NULL},
    {"-noprof", "--dont-use-profile", WPI_NO_VALUE, ignore, 0, NULL},
    {"-idp", "--input-drive-prefix", WPI_VALUE, ignore, 0, NULL},
    {"-ddp", "--dependency-drive-prefix", WPI_VALUE, ignore, 0, NULL},
    {"-dp", "--drive-prefix", WPI_VALUE, ignore, 0, NULL},
    {"--no-align-double", NULL, WPI_NO_VALUE, ignore, 0, NULL},
    {"-w", "--disable-warnings", WPI_NO_VALUE, set_flag, F_QUIET, "suppress all warnings"},
    {"-Wno-deprecated-gpu-targets", NULL, WPI_NO_VALUE, ignore, 0, NULL},
    {"-Werror", "--Werror", WPI_NO_VALUE, ignore, 0, NULL},
    {"-Werror", "--Werror", WPI_VALUE, ignore, 0, NULL}, /* -Werror=all-warnings */
    {"-Wreorder", "--Wreorder", WPI_NO_VALUE, ignore, 0, NULL},
    {"-Wdefault-stream-launch", "--Wdefault-stream-launch", WPI_NO_VALUE, ignore, 0, NULL},
    {"-Wmissing-launch-bounds", "--Wmissing-launch-bounds", WPI_NO_VALUE, ignore, 0, NULL},
    {"-Wext-lambda-captures-this", "--Wext-lambda-captures-this", WPI_NO_VALUE, ignore, 0, NULL},
    {"-W", NULL, WPI_ATTACHED, forward, FW_W, NULL},
    {"-f", NULL, WPI_ATTACHED, forward, FW_F, NULL},
    {"-march", NULL, WPI_VALUE, forward, FW_MARCH, NULL},
    {"-mtune", NULL, WPI_VALUE, ignore, 0, NULL},
    {"-pthread", NULL, WPI_NO_VALUE, forward, FW_PTHREAD, NULL},
    {"-static", NULL, WPI_NO_VALUE, add_link_word, 0, NULL},
    {"-rdynamic", NULL, WPI_NO_VALUE, add_link_word, 1, NULL},
    {"-s", NULL, WPI_NO_VALUE, add_link_word, 2, NULL},
    {"-MD", "--generate-dependencies-with-compile", WPI_NO_VALUE, add_depfile, 0,
     "write make dependencies to a file beside the object file"},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", WPI_NO_VALUE, add_depfile, 1,
     "… without system headers"},
    {"-MF", "--dependency-output", WPI_VALUE, add_depfile, 2, "FILE  write dependencies to FILE"},
    {"-MT", "--dependency-target-name", WPI_VALUE, add_depfile, 3,
     "NAME  target of the dependency rule"},
    {"-MQ", NULL, WPI_VALUE, add_depfile, 4, NULL},
    {"-MP", "--generate-dependency-targets", WPI_NO_VALUE, add_depfile, 5,
     "add an empty rule for each header"},
    {"-optf", "--options-file", WPI_VALUE, ignore, 0, "FILE  read options from FILE; also @FILE"},
    {"-keep", "--keep", WPI_NO_VALUE, set_keep_here, 0,
     "keep intermediate files in the current folder or in --keep-dir"},
    {"--keep-dir", "-keep-dir", WPI_VALUE, set_keep_here, 0,
     "DIR  folder of the intermediate files that -keep keeps"},
    {"--keep-temps", "--save-temps", WPI_NO_VALUE, set_flag, F_KEEP,
     "keep intermediate files in the temporary folder and print its path"},
    {"-###", "--dryrun", WPI_NO_VALUE, set_flag, F_PRINT,
     "print the commands without running them"},
    {"-v", "--verbose", WPI_NO_VALUE, set_flag, F_VERBOSE, "print each command before it runs"},
    {"--no-header-cache", NULL, WPI_NO_VALUE, set_flag, F_NO_HEADER_CACHE,
     "do not use or update the user's cache of headers"},
    {"--lockstep", NULL, WPI_NO_VALUE, set_flag, F_LOCKSTEP,
     "keep the lanes of a warp in step at every access to shared and global memory on the CPU, for "
     "kernels that rely on it; slower (also: WARPAGE_LOCKSTEP=1 in wpcc's environment)"},
    {"--through-ptx", NULL, WPI_NO_VALUE, set_flag, F_THROUGH_PTX,
     "make the device code of the PTX that it compiles to: all devices run what a GPU's driver "
     "is given"},
    {"--cpu-isa", NULL, WPI_VALUE, set_cpu_isas, 0,
     "all|native|baseline|x86-64-v3  processors that the kernels' CPU code is for: any x86-64 and, "
     "faster, those with AVX2 (all, the default), or only one of the two; native, the one for this "
     "processor, compiles in less time"},
    {"--rewrite", NULL, WPI_VALUE, add_rewrite, 0,
     "NAME[:ARGUMENT]  add to the device code what the rewrite NAME makes of its kernels: cache, "
     "counted, stream:KERNEL:MASK"},
    {"--cache", NULL, WPI_NO_VALUE, add_cache, C_ON,
     "add to each kernel a form that caches its arrays in shared memory, in lines of 16 bytes a "
     "thread; launches run that form"},
    {"--cache-line", NULL, WPI_VALUE, add_cache, C_LINE,
     "8|16|24|32  --cache, with lines of so many bytes (default: 16)"},
    {"--cache-lines", NULL, WPI_VALUE, add_cache, C_LINES,
     "1|2|4  --cache, with so many lines for each array that a thread caches (default: 1)"},
    {"--cache-layout", NULL, WPI_VALUE, add_cache, C_LAYOUT,
     "dense|padded  --cache, without gaps between lines, or with some that spread a warp's "
     "accesses over the banks of shared memory (default: dense)"},
    {"--cache-runs", NULL, WPI_VALUE, add_cache, C_RUNS,
     "on|off  --cache, with loops over consecutive elements that load and store 16 bytes at a "
     "time, "
     "past the cache (default: on)"},
    {"--stream", NULL, WPI_VALUE, add_stream, 0,
     "KERNEL:PARAMETER[,PARAMETER...]  add the form of KERNEL that streams what these pointer "
     "parameters, by name or number from 0, point to (streamingMap)"},
    {"--print-after", NULL, WPI_VALUE, set_text, S_PRINT_AFTER,
     "PASS|all  print the IR after PASS to stderr"},
    {"--stop-after", NULL, WPI_VALUE, set_text, S_STOP_AFTER,
     "PASS  write the IR after PASS to -o and stop"},
    {"--lowered-names", NULL, WPI_VALUE, set_text, S_NAMES, NULL},
};

const wpi_option_row *wpi_option_table(size_t *count) {
    *count = sizeof table / sizeof *table;
    return table;
}
