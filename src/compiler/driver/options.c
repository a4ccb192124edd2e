/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the command line by one table: names, form of the value, action. nvcc accepts a value as
 * the next argument or after '='; long options may have one or two dashes. */
#include "compiler/driver/options.h"
#include "compiler/driver/stream_option.h"
#include "compiler/driver/wpcc_manual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/nearest.h"
#include "base/text.h"
#include "compiler/driver/words.h"
#include "compiler/rewrite/rewrite.h"
#include "warpage/version.h"

typedef enum option_value {
    NO_VALUE,
    VALUE,    /* -o x, -o=x */
    ATTACHED, /* -Ix, -I x */
    DIGIT     /* -O2, -O 2, -O */
} option_value;

typedef wp_status (*option_fn)(wpi_options *o, const char *value, int arg, wp_error *err);

typedef struct option {
    const char *name, *alias;
    option_value value;
    option_fn apply;
    int arg;
    const char *doc; /* NULL: accepted, not listed */
} option;

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

enum { S_OUTPUT, S_OUTPUT_DIR, S_CCBIN, S_PRINT_AFTER, S_STOP_AFTER };

static wp_status set_text(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)err;
    char **places[] = {&o->output, &o->output_dir, &o->host_compiler, &o->print_after,
                       &o->stop_after};
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

enum { C_ON, C_LINE, C_LINES, C_LAYOUT };

static wp_status add_rewrite(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    wpi_strings_add(&o->rewrites, value);
    return wpi_rewrite_check(&o->rewrites, err);
}

/* --cache and the options that imply it: each adds `KEY=value` to the rewrite's argument. */
static wp_status add_cache(wpi_options *o, const char *value, int key, wp_error *err) {
    static const char *const keys[] = {
        [C_ON] = "", [C_LINE] = "line=", [C_LINES] = "lines=", [C_LAYOUT] = "layout="};
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

enum {
    F_FAST,
    F_KEEP,
    F_PRINT,
    F_VERBOSE,
    F_QUIET,
    F_DEBUG_DEVICE,
    F_RUN,
    F_FORWARD,
    F_NO_HEADER_CACHE
};

static wp_status set_flag(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)value;
    (void)err;
    bool *places[] = {&o->fast_math,      &o->keep,         &o->print_only, &o->verbose,
                      &o->quiet_warnings, &o->debug_device, &o->run,        &o->forward_unknown,
                      &o->no_header_cache};
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

/* -Xptxas: of its options only --maxrregcount has an effect. */
static wp_status set_assembler(wpi_options *o, const char *value, int arg, wp_error *err) {
    static const char name[] = "maxrregcount";
    const char *at = strstr(value, name);
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

/* The number in compute_70, sm_90a, "arch=compute_10,code=sm_10"; 0 if it has another form. */
static uint32_t arch_number(const char *text) {
    if (strncmp(text, "arch=", 5) == 0) text += 5;
    while (*text == '"' || *text == '[')
        text++;
    if (strncmp(text, "compute_", 8) == 0 || strncmp(text, "sm_", 3) == 0 ||
        strncmp(text, "lto_", 4) == 0)
        text = strchr(text, '_') + 1;
    return *text >= '0' && *text <= '9' ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

#define ARCH_LOWEST 70
#define ARCH_HIGHEST 90

/* The lowest named architecture is used, so that the code runs on all named ones; at least sm_70,
 * which clang's front end and independent thread scheduling need. */
static wp_status add_arch(wpi_options *o, const char *value, int arg, wp_error *err) {
    (void)arg;
    static const char *const whole[] = {"native", "all", "all-major", "host"};
    uint32_t number = arch_number(value);
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (strcmp(value, whole[i]) == 0) number = ARCH_LOWEST;
    if (number == 0)
        return WP_FAIL(err, INVALID,
                       "-arch %s: unknown architecture; use sm_70 to sm_90, or native", value);
    if (number < ARCH_LOWEST) number = ARCH_LOWEST;
    if (number > ARCH_HIGHEST) number = ARCH_HIGHEST;
    if (o->arch == 0 || number < o->arch) o->arch = number;
    return WP_STATUS_OK;
}

static void add_cubin(wpi_options *o, uint32_t arch) {
    for (uint32_t i = 0; i < o->cubin_count; i++)
        if (o->cubins[i] == arch) return;
    if (arch >= ARCH_LOWEST && o->cubin_count < WP_CUBINS_MAX) o->cubins[o->cubin_count++] = arch;
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
 * follow it. */
static bool is_one_macro(const char *value) {
    const char *comma = strchr(value, ',');
    for (; comma; comma = strchr(comma + 1, ','))
        if (comma[1] != '_' && !((comma[1] | 32) >= 'a' && (comma[1] | 32) <= 'z')) return true;
    return strpbrk(value, "(\"'") != NULL;
}

static wp_status forward(wpi_options *o, const char *value, int which, wp_error *err) {
    (void)err;
    /* The macro is equivalent to --default-stream per-thread. */
    if (which == FW_D && strncmp(value, "CUDA_API_PER_THREAD_DEFAULT_STREAM", 34) == 0) {
        o->per_thread_stream = true;
        return WP_STATUS_OK;
    }
    if (!value || !forwards[which].is_list || !strchr(value, ',') ||
        (which == FW_D && is_one_macro(value))) {
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

static const option table[] = {
    {"-o", "--output-file", VALUE, set_text, S_OUTPUT, "FILE  write the output to FILE"},
    {"-odir", "--output-directory", VALUE, set_text, S_OUTPUT_DIR,
     "DIR  write outputs to DIR if -o is not given"},
    {"-c", "--compile", NO_VALUE, set_goal, WP_GOAL_OBJECT,
     "compile to an object file without linking"},
    {"-dc", "--device-c", NO_VALUE, set_device_c, 0, "like -c, with relocatable device code"},
    {"-dw", "--device-w", NO_VALUE, set_goal, WP_GOAL_OBJECT, NULL},
    {"-rdc", "--relocatable-device-code", VALUE, set_rdc, 0,
     "=true  allow device code to refer to symbols of other files"},
    {"-link", "--link", NO_VALUE, set_goal, WP_GOAL_LINK, NULL},
    {"-dlink", "--device-link", NO_VALUE, set_goal, WP_GOAL_DEVICE_LINK,
     "link the device code of object files into one object file"},
    {"-shared", "--shared", NO_VALUE, set_goal, WP_GOAL_SHARED, "create a shared library"},
    {"-lib", "--lib", NO_VALUE, set_goal, WP_GOAL_LIBRARY, "create a static library"},
    {"-run", "--run", NO_VALUE, set_flag, F_RUN, "run the program after linking"},
    {"-run-args", "--run-args", VALUE, add_run_args, 0,
     "A,B  arguments of the program that -run runs"},
    {"-E", "--preprocess", NO_VALUE, set_goal, WP_GOAL_PREPROCESS, "preprocess only"},
    {"-M", "--generate-dependencies", NO_VALUE, set_goal, WP_GOAL_DEPENDENCIES,
     "print make dependencies"},
    {"-MM", "--generate-nonsystem-dependencies", NO_VALUE, set_user_dependencies,
     WP_GOAL_DEPENDENCIES, "… without system headers"},
    {"-ptx", "--ptx", NO_VALUE, set_goal, WP_GOAL_PTX, "write the kernels as PTX text"},
    {"-cubin", "--cubin", NO_VALUE, set_goal, WP_GOAL_CUBIN,
     "write the kernels in Warpage's binary format"},
    {"-fatbin", "--fatbin", NO_VALUE, set_goal, WP_GOAL_FATBIN, "same as -cubin"},
    {"-optix-ir", "--optix-ir", NO_VALUE, refuse_format, 0, NULL},
    {"-ltoir", "--ltoir", NO_VALUE, refuse_format, 0, NULL},
    {"-emit-llvm", NULL, NO_VALUE, set_goal, WP_GOAL_BITCODE, "write the kernels as LLVM bitcode"},
    {"-cuda", "--cuda", NO_VALUE, set_goal, WP_GOAL_HOST_SOURCE,
     "write the preprocessed host code"},
    {"--policy", NULL, NO_VALUE, set_goal, WP_GOAL_POLICY,
     "compile policies of simulated GPUs, written in C, for `warpage run --policy-file`"},
    {"-I", "--include-path", ATTACHED, forward, FW_I, "DIR  search DIR for headers"},
    {"-isystem", "--system-include", VALUE, forward, FW_ISYSTEM,
     "DIR  search DIR for headers and suppress warnings in them"},
    {"-include", "--pre-include", VALUE, forward, FW_INCLUDE,
     "FILE  include FILE before the source"},
    {"-D", "--define-macro", ATTACHED, forward, FW_D, "NAME[=VALUE]  define a macro"},
    {"-U", "--undefine-macro", ATTACHED, forward, FW_U, "NAME  undefine a macro"},
    {"-L", "--library-path", ATTACHED, forward, FW_LDIR, "DIR  search DIR for libraries"},
    {"-l", "--library", ATTACHED, forward, FW_LIB, "NAME  link a library"},
    {"-O", "--optimize", DIGIT, set_optimization, 0,
     "LEVEL  optimisation level of host code, 0 to 3"},
    {"-g", "--debug", NO_VALUE, forward, FW_G, "generate debug information for host code"},
    {"-G", "--device-debug", NO_VALUE, set_flag, F_DEBUG_DEVICE,
     "generate debug information for kernels"},
    {"-pg", "--profile", NO_VALUE, forward, FW_PG, "instrument host code for gprof"},
    {"-std", "--std", VALUE, set_standard, 0, "c++17  language standard"},
    {"-x", "--x", VALUE, NULL, 0, "cu|c|c++  language of the following files"},
    {"-arch", "--gpu-architecture", VALUE, add_arch, 0,
     "sm_NN|compute_NN|native  sets __CUDA_ARCH__: sm_70 to sm_90; below sm_70 means sm_70"},
    {"-code", "--gpu-code", VALUE, add_codes, 0,
     "sm_NN,…  also assemble the kernels for these GPUs if ptxas is installed"},
    {"-gencode", "--generate-code", VALUE, add_gencode, 0,
     "arch=compute_NN,code=sm_NN  set -arch (the lowest is used) and -code"},
    {"-arch-ls", "--list-gpu-arch", NO_VALUE, ignore, 0, "list the supported compute_NN values"},
    {"-code-ls", "--list-gpu-code", NO_VALUE, ignore, 0, "list the supported sm_NN values"},
    {"--gpu-name", NULL, VALUE, add_arch, 0, NULL},
    {"--cuda-gpu-arch", NULL, VALUE, add_arch, 0, NULL},
    {"-Xcompiler", "--compiler-options", VALUE, forward_to_compiler, 0,
     "OPTIONS  pass OPTIONS to the host compiler"},
    {"-Xlinker", "--linker-options", VALUE, forward_to_linker, 0,
     "OPTIONS  pass OPTIONS to the linker"},
    {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler", NO_VALUE, set_flag,
     F_FORWARD, "pass unknown options to the host compiler"},
    {"-forward-unknown-opts", "--forward-unknown-opts", NO_VALUE, set_flag, F_FORWARD, NULL},
    {"-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker", NO_VALUE, set_flag,
     F_FORWARD, NULL},
    {"-Xptxas", "--ptxas-options", VALUE, set_assembler, 0, NULL},
    {"-Xnvlink", "--nvlink-options", VALUE, ignore, 0, NULL},
    {"-Xarchive", "--archive-options", VALUE, ignore, 0, NULL},
    {"-Xcudafe", "--cudafe-options", VALUE, ignore, 0, NULL},
    {"-Xopencc", "--opencc-options", VALUE, ignore, 0, NULL},
    {"-Xcicc", "--cicc-options", VALUE, ignore, 0, NULL},
    {"-Xfatbin", "--fatbin-options", VALUE, ignore, 0, NULL},
    {"-maxrregcount", "--maxrregcount", VALUE, set_registers, 0,
     "NUMBER  registers of a thread, at most, on simulated and real GPUs"},
    {"-use_fast_math", "--use_fast_math", NO_VALUE, set_flag, F_FAST,
     "use faster, less accurate floating-point arithmetic in kernels"},
    {"-fmad", "--fmad", VALUE, set_fmad, 0,
     "=true  fuse multiplications and additions also on the CPU"},
    {"-ftz", "--ftz", VALUE, ignore, 0, NULL},
    {"-prec-div", "--prec-div", VALUE, ignore, 0, NULL},
    {"-prec-sqrt", "--prec-sqrt", VALUE, ignore, 0, NULL},
    {"-ccbin", "--compiler-bindir", VALUE, set_text, S_CCBIN,
     "PROGRAM  compiler for plain C and C++ files (default: clang)"},
    {"-allow-unsupported-compiler", "--allow-unsupported-compiler", NO_VALUE, ignore, 0, NULL},
    {"-arbin", "--archiver-binary", VALUE, ignore, 0, NULL},
    {"-m64", "--m64", NO_VALUE, ignore, 0, NULL},
    {"-m32", "--m32", NO_VALUE, check_machine, 0, NULL},
    {"-m", "--machine", VALUE, check_machine, 0, NULL},
    {"-lineinfo", "--generate-line-info", NO_VALUE, ignore, 0, NULL},
    {"-opt-info", "--optimization-info", VALUE, ignore, 0, NULL},
    {"-Ofc", "--Ofast-compile", VALUE, ignore, 0, NULL},
    {"-dopt", "--dopt", VALUE, ignore, 0, NULL},
    {"-src-in-ptx", "--source-in-ptx", NO_VALUE, ignore, 0, NULL},
    {"-res-usage", "--resource-usage", NO_VALUE, ignore, 0, NULL},
    {"-restrict", "--restrict", NO_VALUE, ignore, 0, NULL},
    {"-extra-device-vectorization", "--extra-device-vectorization", NO_VALUE, ignore, 0, NULL},
    {"-keep-device-functions", "--keep-device-functions", NO_VALUE, ignore, 0, NULL},
    {"-ewp", "--extensible-whole-program", NO_VALUE, ignore, 0, NULL},
    {"-e", "--entries", VALUE, ignore, 0, NULL},
    {"-dlto", "--dlink-time-opt", NO_VALUE, ignore, 0, NULL},
    {"-lto", "--lto", NO_VALUE, ignore, 0, NULL},
    {"-gen-opt-lto", "--gen-opt-lto", NO_VALUE, ignore, 0, NULL},
    {"-nodlink", "--no-device-link", NO_VALUE, ignore, 0, NULL},
    {"-r", "--relocatable-link", NO_VALUE, ignore, 0, NULL},
    {"-cudart", "--cudart", VALUE, ignore, 0, NULL},
    {"-cudadevrt", "--cudadevrt", VALUE, ignore, 0, NULL},
    {"-ldir", "--libdevice-directory", VALUE, ignore, 0, NULL},
    {"-target-dir", "--target-directory", VALUE, ignore, 0, NULL},
    {"-use-local-env", "--use-local-env", NO_VALUE, ignore, 0, NULL},
    {"-force-cl-env-setup", "--force-cl-env-setup", NO_VALUE, ignore, 0, NULL},
    {"-t", "--threads", VALUE, ignore, 0, NULL},
    {"-split-compile", "--split-compile", VALUE, ignore, 0, NULL},
    {"-split-compile-extended", "--split-compile-extended", VALUE, ignore, 0, NULL},
    {"-jobserver", "--jobserver", NO_VALUE, ignore, 0, NULL},
    {"-objtemp", "--objdir-as-tempdir", NO_VALUE, ignore, 0, NULL},
    {"-time", "--time", VALUE, ignore, 0, NULL},
    {"-fdevice-time-trace", "--fdevice-time-trace", VALUE, ignore, 0, NULL},
    {"-default-stream", "--default-stream", VALUE, set_stream, 0,
     "per-thread|legacy  meaning of stream 0"},
    {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", NO_VALUE, ignore, 0, NULL},
    {"-expt-extended-lambda", "--expt-extended-lambda", NO_VALUE, ignore, 0, NULL},
    {"-extended-lambda", "--extended-lambda", NO_VALUE, ignore, 0, NULL},
    {"-nohdinitlist", "--no-host-device-initializer-list", NO_VALUE, ignore, 0, NULL},
    {"-nohdmoveforward", "--no-host-device-move-forward", NO_VALUE, ignore, 0, NULL},
    {"-noeh", "--no-exceptions", NO_VALUE, forward, FW_NO_EXCEPTIONS,
     "disable exceptions in host code"},
    {"-ftemplate-depth", "--ftemplate-depth", VALUE, forward, FW_TEMPLATE_DEPTH, NULL},
    {"-ftemplate-backtrace-limit", "--ftemplate-backtrace-limit", VALUE, forward, FW_TEMPLATE_LIMIT,
     NULL},
    {"-deviceemu", "--device-emulation", NO_VALUE, ignore, 0, NULL},
    {"-host-compilation", "--host-compilation", VALUE, ignore, 0, NULL},
    {"-diag-suppress", "--diag-suppress", VALUE, ignore, 0, NULL},
    {"-diag-error", "--diag-error", VALUE, ignore, 0, NULL},
    {"-diag-warn", "--diag-warn", VALUE, ignore, 0, NULL},
    {"-err-no", "--display-error-number", NO_VALUE, ignore, 0, NULL},
    {"-no-err-no", "--no-display-error-number", NO_VALUE, ignore, 0, NULL},
    {"-brief-diag", "--brief-diagnostics", VALUE, ignore, 0, NULL},
    {"-qpp-config", "--qpp-config", VALUE, ignore, 0, NULL},
    {"-astoolspatch", "--compile-as-tools-patch", NO_VALUE, ignore, 0, NULL},
    {"-no-compress", "--no-compress", NO_VALUE, ignore, 0, NULL},
    {"-compress-mode", "--compress-mode", VALUE, ignore, 0, NULL},
    {"-jtd", "--jump-table-density", VALUE, ignore, 0, NULL},
    {"-reloc-ptx", "--relocatable-ptx", VALUE, ignore, 0, NULL},
    {"-static-global-template-stub", "--static-global-template-stub", VALUE, ignore, 0, NULL},
    {"-device-entity-has-hidden-visibility", "--device-entity-has-hidden-visibility", VALUE, ignore,
     0, NULL},
    {"-device-stack-protector", "--device-stack-protector", VALUE, ignore, 0, NULL},
    {"-frandom-seed", "--frandom-seed", VALUE, ignore, 0, NULL},
    {"-sanitize", "--sanitize", VALUE, ignore, 0, NULL},
    {"-hls", "--host-linker-script", VALUE, ignore, 0, NULL},
    {"-aug-hls", "--augment-host-linker-script", NO_VALUE, ignore, 0, NULL},
    {"-noprof", "--dont-use-profile", NO_VALUE, ignore, 0, NULL},
    {"-idp", "--input-drive-prefix", VALUE, ignore, 0, NULL},
    {"-ddp", "--dependency-drive-prefix", VALUE, ignore, 0, NULL},
    {"-dp", "--drive-prefix", VALUE, ignore, 0, NULL},
    {"--no-align-double", NULL, NO_VALUE, ignore, 0, NULL},
    {"-w", "--disable-warnings", NO_VALUE, set_flag, F_QUIET, "suppress all warnings"},
    {"-Wno-deprecated-gpu-targets", NULL, NO_VALUE, ignore, 0, NULL},
    {"-Werror", "--Werror", NO_VALUE, ignore, 0, NULL},
    {"-Werror", "--Werror", VALUE, ignore, 0, NULL}, /* -Werror=all-warnings */
    {"-Wreorder", "--Wreorder", NO_VALUE, ignore, 0, NULL},
    {"-Wdefault-stream-launch", "--Wdefault-stream-launch", NO_VALUE, ignore, 0, NULL},
    {"-Wmissing-launch-bounds", "--Wmissing-launch-bounds", NO_VALUE, ignore, 0, NULL},
    {"-Wext-lambda-captures-this", "--Wext-lambda-captures-this", NO_VALUE, ignore, 0, NULL},
    {"-W", NULL, ATTACHED, forward, FW_W, NULL},
    {"-f", NULL, ATTACHED, forward, FW_F, NULL},
    {"-march", NULL, VALUE, forward, FW_MARCH, NULL},
    {"-mtune", NULL, VALUE, ignore, 0, NULL},
    {"-pthread", NULL, NO_VALUE, forward, FW_PTHREAD, NULL},
    {"-static", NULL, NO_VALUE, add_link_word, 0, NULL},
    {"-rdynamic", NULL, NO_VALUE, add_link_word, 1, NULL},
    {"-s", NULL, NO_VALUE, add_link_word, 2, NULL},
    {"-MD", "--generate-dependencies-with-compile", NO_VALUE, add_depfile, 0,
     "write make dependencies to a file beside the object file"},
    {"-MMD", "--generate-nonsystem-dependencies-with-compile", NO_VALUE, add_depfile, 1,
     "… without system headers"},
    {"-MF", "--dependency-output", VALUE, add_depfile, 2, "FILE  write dependencies to FILE"},
    {"-MT", "--dependency-target-name", VALUE, add_depfile, 3,
     "NAME  target of the dependency rule"},
    {"-MQ", NULL, VALUE, add_depfile, 4, NULL},
    {"-MP", "--generate-dependency-targets", NO_VALUE, add_depfile, 5,
     "add an empty rule for each header"},
    {"-optf", "--options-file", VALUE, ignore, 0, "FILE  read options from FILE; also @FILE"},
    {"-keep", "--keep", NO_VALUE, set_keep_here, 0,
     "keep intermediate files in the current folder or in --keep-dir"},
    {"--keep-dir", "-keep-dir", VALUE, set_keep_here, 0,
     "DIR  folder of the intermediate files that -keep keeps"},
    {"--keep-temps", "--save-temps", NO_VALUE, set_flag, F_KEEP,
     "keep intermediate files in the temporary folder and print its path"},
    {"-###", "--dryrun", NO_VALUE, set_flag, F_PRINT, "print the commands without running them"},
    {"-v", "--verbose", NO_VALUE, set_flag, F_VERBOSE, "print each command before it runs"},
    {"--no-header-cache", NULL, NO_VALUE, set_flag, F_NO_HEADER_CACHE,
     "do not use or update the user's cache of headers"},
    {"--rewrite", NULL, VALUE, add_rewrite, 0,
     "NAME[:ARGUMENT]  add to the device code what the rewrite NAME makes of its kernels: cache, "
     "counted, stream:KERNEL:MASK"},
    {"--cache", NULL, NO_VALUE, add_cache, C_ON,
     "add to each kernel a form that caches its arrays in shared memory, in lines of 16 bytes a "
     "thread; launches run that form"},
    {"--cache-line", NULL, VALUE, add_cache, C_LINE,
     "8|16|24|32  --cache, with lines of so many bytes (default: 16)"},
    {"--cache-lines", NULL, VALUE, add_cache, C_LINES,
     "1|2|4  --cache, with so many lines for each array that a thread caches (default: 1)"},
    {"--cache-layout", NULL, VALUE, add_cache, C_LAYOUT,
     "dense|padded  --cache, without gaps between lines, or with some that spread a warp's "
     "accesses over the banks of shared memory (default: dense)"},
    {"--stream", NULL, VALUE, add_stream, 0,
     "KERNEL:PARAMETER[,PARAMETER...]  add the form of KERNEL that streams what these pointer "
     "parameters, by name or number from 0, point to (streamingMap)"},
    {"--print-after", NULL, VALUE, set_text, S_PRINT_AFTER,
     "PASS|all  print the IR after PASS to stderr"},
    {"--stop-after", NULL, VALUE, set_text, S_STOP_AFTER,
     "PASS  write the IR after PASS to -o and stop"},
};

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

static bool takes_attached(const option *row) {
    return row->value == ATTACHED || row->value == DIGIT;
}

/* The row for `arg`; `*value` points into it when the value is part of it. */
static const option *find(const char *arg, const char **value) {
    size_t length = strcspn(arg, "=");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const option *row = &table[i];
        if (takes_attached(row) ||
            (!names_option(row->name, arg, length) && !names_option(row->alias, arg, length)))
            continue;
        if (row->value == NO_VALUE && arg[length]) continue;
        *value = arg[length] ? arg + length + 1 : NULL;
        return row;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const option *row = &table[i];
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
                 {".c++", WP_LANGUAGE_CXX}, {".CPP", WP_LANGUAGE_CXX}};
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
    wpi_nearest search = {.wanted = arg};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
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

static void print_row(const option *row) {
    bool has_alias = row->alias && strcmp(row->alias + 1, row->name) != 0;
    printf("  %-14s %s%s%s%s\n", row->name, row->doc, has_alias ? "  (" : "",
           has_alias ? row->alias : "", has_alias ? ")" : "");
}

void wpi_options_visit(wpi_option_visit visit, void *object) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const option *row = &table[i];
        bool has_alias = row->alias && strcmp(row->alias + 1, row->name) != 0;
        if (row->doc) visit(object, row->name, has_alias ? row->alias : NULL, row->doc);
    }
}

static void print_help(void) {
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
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
         "Cuda compilation tools, release 12.3, V12.3.0");
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
    else if (strcmp(value, "none") == 0)
        *forced = false;
    else
        return WP_FAIL(err, INVALID, "-x %s: the languages are cu, c and c++", value);
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
        const option *row = find(arg, &value);
        if (!row && o->forward_unknown) {
            wpi_strings_add(&o->compiler_args, arg);
            continue;
        }
        if (!row) return unknown(arg, err);
        bool wants_next = (row->value == VALUE || row->value == ATTACHED) && !value;
        if (row->value == DIGIT && !value)
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
    if (o->arch == 0) o->arch = ARCH_LOWEST;
    if (o->input_count == 0)
        return WP_FAIL(err, INVALID, "no input files; wpcc --help shows the usage");
    return WP_STATUS_OK;
}

void wpi_options_deinit(wpi_options *o) {
    for (uint32_t i = 0; i < o->input_count; i++)
        wpi_free(o->inputs[i].path);
    wpi_free(o->inputs);
    char *texts[] = {o->output,   o->output_dir,  o->standard,  o->host_compiler,
                     o->keep_dir, o->print_after, o->stop_after};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wpi_free(texts[i]);
    wpi_strings *lists[] = {&o->source_args,  &o->host_args, &o->compiler_args, &o->link_args,
                            &o->depfile_args, &o->run_args,  &o->rewrites,      &o->streams};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        wpi_strings_deinit(lists[i]);
    memset(o, 0, sizeof *o);
}
