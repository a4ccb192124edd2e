/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVRTC: runs wpcc -ptx in a temporary folder that has the program and its headers.
 *
 *     source, a variable for each name expression ──► wpcc -ptx --lowered-names ──► PTX, names, log
 *
 * The folder is the current one and names in it are relative, so that equal programs give equal
 * images: the code that devices make of those is cached. One thread at a time for a program.
 */
#include "warpage/cuda/nvrtc.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/strings.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "cudart/nvrtc/missing_header.h"
#include "cudart/nvrtc/standard_headers.h"
#include "device/made_library.h"
#include "device/ptx_module.h"

#define DEFAULT_NAME "default_program"
#define PRELUDE_NAME "warpage_nvrtc_prelude.h"

static const int archs[] = {70, 72, 75, 80, 86, 87, 89, 90};
#define ARCH_COUNT ((int)(sizeof archs / sizeof *archs))

struct _nvrtcProgram {
    char *source, *name, *folder; /* folder: of the name */
    wpi_strings headers, header_names;
    wpi_strings expressions, lowered; /* lowered: "" where the expression has no symbol */
    char *log, *ptx;
    wp_image_header *image; /* NULL: relocatable code, whose CUBIN is the text, for a link */
    bool is_compiled;       /* or failed to */
};

WP_API const char *nvrtcGetErrorString(nvrtcResult result) {
    static const char *const names[] = {"NVRTC_SUCCESS",
                                        "NVRTC_ERROR_OUT_OF_MEMORY",
                                        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT",
                                        "NVRTC_ERROR_INVALID_PROGRAM",
                                        "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION",
                                        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                        "NVRTC_ERROR_INTERNAL_ERROR",
                                        "NVRTC_ERROR_TIME_FILE_WRITE_FAILED"};
    return (size_t)result < sizeof names / sizeof *names ? names[result] : "NVRTC_ERROR unknown";
}

WP_API nvrtcResult nvrtcVersion(int *major, int *minor) {
    if (major == NULL || minor == NULL) return NVRTC_ERROR_INVALID_INPUT;
    *major = 12;
    *minor = 3;
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcGetNumSupportedArchs(int *numArchs) {
    if (numArchs == NULL) return NVRTC_ERROR_INVALID_INPUT;
    *numArchs = ARCH_COUNT;
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcGetSupportedArchs(int *supportedArchs) {
    if (supportedArchs == NULL) return NVRTC_ERROR_INVALID_INPUT;
    memcpy(supportedArchs, archs, sizeof archs);
    return NVRTC_SUCCESS;
}

/* ---- programs ---- */

/* A name below the folder: no "..", not absolute. */
static bool is_inside(const char *name) {
    return name != NULL && *name != '\0' && *name != '/' && strstr(name, "..") == NULL;
}

WP_API nvrtcResult nvrtcCreateProgram(nvrtcProgram *prog, const char *src, const char *name,
                                      int numHeaders, const char *const *headers,
                                      const char *const *includeNames) {
    if (prog == NULL || src == NULL || numHeaders < 0 ||
        (numHeaders > 0 && (headers == NULL || includeNames == NULL)))
        return NVRTC_ERROR_INVALID_INPUT;
    for (int i = 0; i < numHeaders; i++)
        if (headers[i] == NULL || !is_inside(includeNames[i])) return NVRTC_ERROR_INVALID_INPUT;
    nvrtcProgram p = wpi_calloc(1, sizeof *p);
    if (p == NULL) return NVRTC_ERROR_OUT_OF_MEMORY;
    p->source = wpi_strdup(src);
    p->name = wpi_path_base(name != NULL && *name != '\0' ? name : DEFAULT_NAME);
    p->folder = wpi_path_dir(name != NULL && *name != '\0' ? name : DEFAULT_NAME);
    if (p->source == NULL) {
        wpi_free(p->folder);
        wpi_free(p->name);
        wpi_free(p);
        return NVRTC_ERROR_OUT_OF_MEMORY;
    }
    for (int i = 0; i < numHeaders; i++) {
        wpi_strings_add(&p->headers, headers[i]);
        wpi_strings_add(&p->header_names, includeNames[i]);
    }
    *prog = p;
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcDestroyProgram(nvrtcProgram *prog) {
    if (prog == NULL || *prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    nvrtcProgram p = *prog;
    char *const texts[] = {p->source, p->name, p->folder, p->log, p->ptx};
    wpi_strings *const lists[] = {&p->headers, &p->header_names, &p->expressions, &p->lowered};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        wpi_free(texts[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        wpi_strings_deinit(lists[i]);
    wpi_free(p->image);
    wpi_free(p);
    *prog = NULL;
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcAddNameExpression(nvrtcProgram prog, const char *const name_expression) {
    if (prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL || *name_expression == '\0') return NVRTC_ERROR_INVALID_INPUT;
    if (prog->is_compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
    if (!wpi_strings_contains(&prog->expressions, name_expression))
        wpi_strings_add(&prog->expressions, name_expression);
    return NVRTC_SUCCESS;
}

/* ---- compilation ---- */

/* Options of NVRTC's that nvcc does not have, without effect here. */
static bool is_ignored(const char *option) {
    static const char *const names[] = {"builtin-",
                                        "dopt",
                                        "minimal",
                                        "device-int128",
                                        "no-source-include",
                                        "pch",
                                        "create-pch",
                                        "use-pch",
                                        "version-ident",
                                        "extra-device-vectorization",
                                        "no-cache",
                                        "fast-compile",
                                        "jump-table-density",
                                        "device-syntax-only",
                                        "arch-specific",
                                        "default-device",
                                        "device-as-default-execution-space"};
    const char *name = option + strspn(option, "-");
    for (size_t i = 0; name != option && i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static bool is_default_device(const char *option) {
    const char *name = option + strspn(option, "-");
    return strcmp(name, "default-device") == 0 ||
           strcmp(name, "device-as-default-execution-space") == 0;
}

static bool is_relocatable(const char *option) {
    static const char *const forms[] = {"rdc=true", "relocatable-device-code=true", "dc",
                                        "device-c"};
    const char *name = option + strspn(option, "-");
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(name, forms[i]) == 0) return true;
    return false;
}

static bool has_static(const struct _nvrtcProgram *p) {
    return strstr(p->source, "static") != NULL;
}

/* What is read before the source, in a file of its own: lines of the source keep their numbers. */
static const char *make_prelude(const struct _nvrtcProgram *p, bool is_default, wpi_text *text) {
    /* NVRTC defines std::initializer_list; with wpcc's headers, std::move and std::forward are
     * there. */
    wpi_text_append(text, "#if __cplusplus >= 201103L\n#include <initializer_list>\n#endif\n");
    /* Headers of the C++ library that declare again, in other words, what wpcc's own headers have:
     * for the device, too, they would be other functions. */
    if (is_default)
        wpi_text_append(text, "#if __cplusplus >= 201703L\n#include <iterator>\n"
                              "#include <optional>\n#include <ostream>\n#include <stdexcept>\n"
                              "#include <system_error>\n#include <tuple>\n#endif\n"
                              "#pragma clang force_cuda_host_device begin\n");
    /* The program finds static variables, too, by name; clang takes them for its own. */
    if (has_static(p))
        wpi_text_append(text, "#pragma clang attribute push(__attribute__((annotate("
                              "\"warpage.kept\"))), apply_to = variable(is_global))\n");
    return wpi_text_string(text);
}

static char *make_source(const struct _nvrtcProgram *p, bool is_default) {
    wpi_text text = {0};
    wpi_text_append(&text, p->source);
    wpi_text_append(&text, "\n");
    if (has_static(p)) wpi_text_append(&text, "#pragma clang attribute pop\n");
    if (is_default) wpi_text_append(&text, "#pragma clang force_cuda_host_device end\n");
    for (size_t i = 0; i < p->expressions.count; i++)
        wpi_text_appendf(
            &text,
            "#line 1 \"name expression %zu\"\nextern \"C\" __device__ "
            "__attribute__((used)) const void *wpi_nvrtc_name_%zu = (const void *)(%s);"
            "\n",
            i, i, p->expressions.items[i]);
    return wpi_text_take(&text);
}

static wp_status write_below(const char *dir, const char *name, const char *data, wp_error *err) {
    char *path = wpi_path_join(dir, name), *folder = wpi_path_dir(path);
    wp_status status = wpi_dir_create(folder, err);
    if (status == WP_STATUS_OK) status = wpi_file_write(path, data, strlen(data), err);
    wpi_free(folder);
    wpi_free(path);
    return status;
}

/* Programs bring headers of the standard libraries, as NVRTC has none. They would stand in for the
 * real ones in wpcc's own headers, and define again what those have declared: left out. */
static wp_status write_files(const struct _nvrtcProgram *p, const char *dir, bool is_default,
                             wp_error *err) {
    for (size_t i = 0; i < p->headers.count; i++)
        if (!wpi_is_standard_header(p->header_names.items[i]))
            WP_TRY(write_below(dir, p->header_names.items[i], p->headers.items[i], err));
    wpi_text prelude = {0};
    char *source = make_source(p, is_default);
    wp_status status = write_below(dir, PRELUDE_NAME, make_prelude(p, is_default, &prelude), err);
    if (status == WP_STATUS_OK) status = write_below(dir, p->name, source, err);
    wpi_text_deinit(&prelude);
    wpi_free(source);
    return status;
}

static void read_names(struct _nvrtcProgram *p, const char *lines) {
    for (size_t i = 0; i < p->expressions.count; i++) {
        char *number = wpi_format("%zu ", i), *name = NULL;
        for (const char *at = lines; at != NULL && *at != '\0' && name == NULL;) {
            const size_t length = strcspn(at, "\n");
            if (strncmp(at, number, strlen(number)) == 0)
                name = wpi_strndup(at + strlen(number), length - strlen(number));
            at += length + (at[length] == '\n');
        }
        wpi_strings_add(&p->lowered, name != NULL ? name : "");
        wpi_free(name);
        wpi_free(number);
    }
}

static wp_status read_results(struct _nvrtcProgram *p, const char *dir, wp_error *err) {
    char *path = wpi_path_join(dir, "names.out"), *lines = NULL;
    size_t size_bytes;
    wp_status status = wpi_file_read(path, &lines, &size_bytes, err);
    wpi_free(path);
    WP_TRY(status);
    read_names(p, lines);
    wpi_free(lines);
    path = wpi_path_join(dir, "program.out");
    status = wpi_file_read(path, &p->ptx, &size_bytes, err);
    wpi_free(path);
    return status;
}

/* wpcc runs in another folder: folders of headers that are relative are so to the program's. */
static void add_option(wpi_strings *command, const char *here, const char *before,
                       const char *option) {
    static const char *const forms[] = {"--include-path=", "-include-path=", "-I=", "-I"};
    size_t at = strlen(option);
    if (before != NULL && (strcmp(before, "-I") == 0 || strcmp(before, "--include-path") == 0))
        at = 0;
    for (size_t i = 0; at > 0 && i < sizeof forms / sizeof *forms; i++) {
        if (strncmp(option, forms[i], strlen(forms[i])) != 0) continue;
        at = strlen(forms[i]);
        break;
    }
    if (option[at] == '\0') {
        wpi_strings_add(command, option);
        return;
    }
    char *folder = wpi_path_join(here, option + at);
    char *absolute = wpi_format("%.*s%s", (int)at, option, folder);
    wpi_strings_add(command, absolute);
    wpi_free(absolute);
    wpi_free(folder);
}

/* The program's options; then the folder of its source, where the name that it was given says. */
static void add_options(const struct _nvrtcProgram *p, wpi_strings *command, int count,
                        const char *const *options) {
    char here[PATH_MAX];
    bool has_source_folder = true;
    if (getcwd(here, sizeof here) == NULL) here[0] = '\0';
    for (int i = 0; i < count; i++) {
        const char *name = options[i] + strspn(options[i], "-");
        if (strcmp(name, "no-source-include") == 0) has_source_folder = false;
        if (!is_ignored(options[i]))
            add_option(command, here, i > 0 ? options[i - 1] : NULL, options[i]);
    }
    if (!has_source_folder || here[0] == '\0') return;
    char *folder = wpi_path_join(here, p->folder);
    wpi_strings_add(command, "-I");
    wpi_strings_add(command, folder);
    wpi_free(folder);
}

static wp_status run_wpcc(struct _nvrtcProgram *p, const char *dir, int count,
                          const char *const *options, wpi_text *log, int *exit_code,
                          wp_error *err) {
    char *wpcc;
    WP_TRY(wpi_wpcc_find("programs that use NVRTC", NULL, &wpcc, err));
    wpi_strings command = {0};
    const char *const first[] = {wpcc, "-ptx", "-D__CUDACC_RTC__=1", "-I."};
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        wpi_strings_add(&command, first[i]);
    add_options(p, &command, count, options);
    const char *const last[] = {"-include", PRELUDE_NAME, "--lowered-names", "names.out", "-x",
                                "cu",       "-o",         "program.out",     p->name};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++)
        wpi_strings_add(&command, last[i]);
    const wpi_subprocess_options run = {.stdout_text = log, .stderr_text = log, .directory = dir};
    const wp_status status = wpi_subprocess_run(wpi_strings_argv(&command), &run, exit_code, err);
    wpi_strings_deinit(&command);
    wpi_free(wpcc);
    return status;
}

static wp_status compile(struct _nvrtcProgram *p, int count, const char *const *options,
                         wpi_text *log, int *exit_code, wp_error *err) {
    char *dir = NULL;
    bool is_default = false;
    for (int i = 0; i < count; i++)
        is_default = is_default || is_default_device(options[i]);
    wp_status status;
    WP_TRY_GOTO(wpi_temp_dir_create(&dir, err), done);
    WP_TRY_GOTO(write_files(p, dir, is_default, err), done);
    WP_TRY_GOTO(run_wpcc(p, dir, count, options, log, exit_code, err), done);
    if (*exit_code == 0) status = read_results(p, dir, err);
done:
    wpi_temp_dir_remove(dir);
    wpi_free(dir);
    return status;
}

WP_API nvrtcResult nvrtcCompileProgram(nvrtcProgram prog, int numOptions,
                                       const char *const *options) {
    if (prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (numOptions < 0 || (numOptions > 0 && options == NULL)) return NVRTC_ERROR_INVALID_INPUT;
    for (int i = 0; i < numOptions; i++)
        if (options[i] == NULL) return NVRTC_ERROR_INVALID_INPUT;
    wpi_text log = {0};
    wp_error err = {0};
    int exit_code = 0;
    bool makes_image = true;
    for (int i = 0; i < numOptions; i++)
        makes_image = makes_image && !is_relocatable(options[i]);
    wpi_free(prog->ptx);
    wpi_free(prog->log);
    wpi_free(prog->image);
    prog->ptx = prog->log = NULL;
    prog->image = NULL;
    wpi_strings_deinit(&prog->lowered);
    wp_status status = compile(prog, numOptions, options, &log, &exit_code, &err);
    if (exit_code != 0) wpi_missing_header_say(&log);
    if (status == WP_STATUS_OK && exit_code == 0 && makes_image)
        status = wpi_module_image_copy(prog->ptx, 0, &prog->image, &err);
    if (status != WP_STATUS_OK) wpi_text_appendf(&log, "%s\n", err.message);
    prog->log = wpi_text_take(&log);
    prog->is_compiled = true;
    if (status == WP_STATUS_NOMEM) return NVRTC_ERROR_OUT_OF_MEMORY;
    if (status != WP_STATUS_OK) return NVRTC_ERROR_INTERNAL_ERROR;
    return exit_code == 0   ? NVRTC_SUCCESS
           : exit_code == 2 ? NVRTC_ERROR_INVALID_OPTION
                            : NVRTC_ERROR_COMPILATION;
}

/* ---- results ---- */

static nvrtcResult check(const struct _nvrtcProgram *p, const void *out) {
    if (p == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (out == NULL) return NVRTC_ERROR_INVALID_INPUT;
    return p->ptx != NULL ? NVRTC_SUCCESS : NVRTC_ERROR_INVALID_PROGRAM;
}

WP_API nvrtcResult nvrtcGetPTXSize(nvrtcProgram prog, size_t *ptxSizeRet) {
    const nvrtcResult result = check(prog, ptxSizeRet);
    if (result == NVRTC_SUCCESS) *ptxSizeRet = strlen(prog->ptx) + 1;
    return result;
}

WP_API nvrtcResult nvrtcGetPTX(nvrtcProgram prog, char *ptx) {
    const nvrtcResult result = check(prog, ptx);
    if (result == NVRTC_SUCCESS) memcpy(ptx, prog->ptx, strlen(prog->ptx) + 1);
    return result;
}

WP_API nvrtcResult nvrtcGetCUBINSize(nvrtcProgram prog, size_t *cubinSizeRet) {
    const nvrtcResult result = check(prog, cubinSizeRet);
    if (result == NVRTC_SUCCESS && prog->image == NULL) return nvrtcGetPTXSize(prog, cubinSizeRet);
    if (result == NVRTC_SUCCESS) *cubinSizeRet = (size_t)prog->image->size_bytes;
    return result;
}

WP_API nvrtcResult nvrtcGetCUBIN(nvrtcProgram prog, char *cubin) {
    const nvrtcResult result = check(prog, cubin);
    if (result == NVRTC_SUCCESS && prog->image == NULL) return nvrtcGetPTX(prog, cubin);
    if (result == NVRTC_SUCCESS) memcpy(cubin, prog->image, (size_t)prog->image->size_bytes);
    return result;
}

/* Intermediate code for linking, which no option here makes: its size is 0, as without -dlto. */
#define NO_CODE(name)                                                                              \
    WP_API nvrtcResult nvrtcGet##name##Size(nvrtcProgram prog, size_t *sizeRet) {                  \
        const nvrtcResult result = check(prog, sizeRet);                                           \
        if (result == NVRTC_SUCCESS) *sizeRet = 0;                                                 \
        return result;                                                                             \
    }                                                                                              \
    WP_API nvrtcResult nvrtcGet##name(nvrtcProgram prog, char *code) {                             \
        return check(prog, code);                                                                  \
    }

NO_CODE(LTOIR)
NO_CODE(NVVM)
NO_CODE(OptiXIR)

WP_API nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram prog, size_t *logSizeRet) {
    if (prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (logSizeRet == NULL) return NVRTC_ERROR_INVALID_INPUT;
    *logSizeRet = (prog->log != NULL ? strlen(prog->log) : 0) + 1;
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcGetProgramLog(nvrtcProgram prog, char *log) {
    if (prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (log == NULL) return NVRTC_ERROR_INVALID_INPUT;
    strcpy(log, prog->log != NULL ? prog->log : "");
    return NVRTC_SUCCESS;
}

WP_API nvrtcResult nvrtcGetLoweredName(nvrtcProgram prog, const char *const name_expression,
                                       const char **lowered_name) {
    if (prog == NULL) return NVRTC_ERROR_INVALID_PROGRAM;
    if (name_expression == NULL || lowered_name == NULL) return NVRTC_ERROR_INVALID_INPUT;
    if (prog->ptx == NULL) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
    for (size_t i = 0; i < prog->expressions.count; i++) {
        if (strcmp(prog->expressions.items[i], name_expression) != 0) continue;
        *lowered_name = prog->lowered.items[i];
        return **lowered_name != '\0' ? NVRTC_SUCCESS : NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
    }
    return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
