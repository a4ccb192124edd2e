/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the streamed form of an image's kernel as a shared library, which libwarpage opens
 * (base/abi.h):
 *
 *     wpcc --stream-library=KERNEL:MASK [--cpu-isa=...] IMAGE -o LIBRARY
 *
 * Rewrites the bitcode of the image, removes all kernels but the new one, and makes a separate
 * image with its CPU code. That image cannot access the program's variables, so kernels that use
 * any are rejected. */
#include <llvm-c/BitWriter.h>
#include <stdio.h>
#include <string.h>

#include "base/abi.h"
#include "base/cache_abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/stream_abi.h"
#include "base/text.h"
#include "compiler/context.h"
#include "compiler/driver/library_build.h"
#include "compiler/emit/host_object.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/rewrite/stream_argument.h"
#include "compiler/source/kernel_name.h"

#define OPTION "--stream-library="

enum { ARCH_LOWEST = 70 }; /* of an image without PTX */

typedef struct request {
    const char *argument;
    wpi_library_words words;
} request;

bool wpi_is_stream_command(int argc, char **argv) {
    return argc > 1 && strncmp(argv[1], OPTION, strlen(OPTION)) == 0;
}

static wp_status parse(int argc, char **argv, request *r, wp_error *err) {
    *r = (request){.argument = argv[1] + strlen(OPTION)};
    WP_TRY(wpi_library_words_parse(argc, argv, "--stream-library", &r->words, err));
    char *kernel;
    uint64_t mask;
    wp_status status = wpi_stream_argument_parse(r->argument, &kernel, &mask, err);
    wpi_free(kernel);
    return status;
}

/* ---- the bitcode ---- */

static void make_internal(LLVMValueRef global) {
    if (LLVMIsDeclaration(global)) return;
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetVisibility(global, LLVMDefaultVisibility);
}

/* Whether the global is a rewrite's description of the kernel, or its counts: variables of this
 * image. */
static bool is_facts(LLVMValueRef global) {
    size_t length;
    const char *name = LLVMGetValueName2(global, &length);
    static const char *const tails[] = {WPI_STREAM_FACTS, WPI_CACHE_COUNTS};
    for (size_t t = 0; t < sizeof tails / sizeof *tails; t++) {
        const size_t tail = strlen(tails[t]);
        if (length > tail && strcmp(name + length - tail, tails[t]) == 0) return true;
    }
    return false;
}

/* Removes everything that neither `kernel` nor its cached form, if there is one, uses. Invalidates
 * the kernels and variables of `c`. */
static wp_status keep_only(wpi_compile *c, LLVMValueRef kernel, wp_error *err) {
    size_t length;
    char *name = wpi_format("%s$" WPI_CACHE_SUFFIX, LLVMGetValueName2(kernel, &length));
    LLVMValueRef cached = LLVMGetNamedFunction(c->module, name);
    wpi_free(name);
    wpi_rewrite_drop_lists(c);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (f != kernel && f != cached) make_internal(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        if (!is_facts(g)) make_internal(g);
    return wpi_compile_run(c, "globaldce", NULL, err);
}

/* Finds a variable with a separate value in each image: neither constant nor shared memory. */
static LLVMValueRef find_variable(const wpi_compile *c) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsGlobalConstant(g) && !is_facts(g) &&
            LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != WP_SPACE_SHARED)
            return g;
    return NULL;
}

static wp_status refuse_variable(LLVMValueRef variable, const char *kernel, const char *parameters,
                                 wp_error *err) {
    size_t length;
    char *name = wpi_kernel_signature(LLVMGetValueName2(variable, &length));
    char *called = wpi_kernel_source_name(kernel);
    wp_status status = WP_FAIL(err, UNSUPPORTED,
                               "%s uses the variable %s: compile the program with --stream=%s:%s",
                               called, name, called, parameters);
    wpi_free(called);
    wpi_free(name);
    return status;
}

/* Lists the mask's parameters: "points,1"; a parameter without a name has its number. */
static char *list_parameters(const wpi_kernel_ir *kernel, uint64_t mask) {
    wpi_text text = {0};
    for (unsigned i = 0; i < WPI_STREAM_PARAMETERS; i++) {
        if ((mask >> i & 1) == 0) continue;
        size_t length;
        const char *name = LLVMGetValueName2(LLVMGetParam(kernel->function, i), &length);
        if (text.length) wpi_text_append(&text, ",");
        if (name[0])
            wpi_text_append(&text, name);
        else
            wpi_text_appendf(&text, "%u", i);
    }
    return wpi_text_take(&text);
}

static wp_status rewrite(wpi_compile *c, const char *argument, const char *bitcode, wp_error *err) {
    const wpi_kernel_ir *kernel;
    uint64_t mask;
    WP_TRY(wpi_stream_argument_find(c, argument, &kernel, &mask, err));
    WP_TRY(wpi_rewrite_stream(c, argument, err));
    WP_TRY(wpi_compile_verify(c, "stream", err));
    char *suffix = wpi_stream_suffix(mask);
    char *name = wpi_format("%s$%s", kernel->name, suffix);
    char *parameters = list_parameters(kernel, mask);
    LLVMValueRef streamed = LLVMGetNamedFunction(c->module, name);
    wp_status status = streamed
                           ? keep_only(c, streamed, err)
                           : WP_FAIL(err, TOOLCHAIN, "the rewrite stream made no kernel %s", name);
    LLVMValueRef variable = status == WP_STATUS_OK ? find_variable(c) : NULL;
    if (variable)
        status = refuse_variable(variable, kernel->name, parameters, err);
    else if (status == WP_STATUS_OK && LLVMWriteBitcodeToFile(c->module, bitcode))
        status = WP_FAIL(err, IO, "cannot write %s", bitcode);
    wpi_free(parameters);
    wpi_free(name);
    wpi_free(suffix);
    return status;
}

/* ---- the library ---- */

static wp_status write_image_object(const char *image_path, const char *object, wp_error *err) {
    char *image = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(image_path, &image, &size_bytes, err));
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("image", context);
    LLVMValueRef bytes = wpi_host_object_bytes(module, WP_STREAM_IMAGE_SYMBOL, image, size_bytes);
    LLVMSetLinkage(bytes, LLVMExternalLinkage);
    wp_status status = wpi_host_object_write(module, object, err);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    wpi_free(image);
    return status;
}

/* Links image and CPU code of the bitcode. The image's id is a hash of its contents. */
static wp_status build_library(wpi_compile_job *job, const char *bitcode, const char *output,
                               wp_error *err) {
    char *image = wpi_job_temp(job, "stream", ".image");
    char *object = wpi_job_temp(job, "stream", ".image.o");
    char *data = NULL;
    size_t size_bytes = 0;
    wpi_strings objects = {0};
    wpi_device_build *build = NULL;
    wp_status status;
    wpi_strings_add_take(&objects, object);
    WP_TRY_GOTO(wpi_file_read(bitcode, &data, &size_bytes, err), done);
    const uint64_t id = wpi_hash64(data, size_bytes, 0);
    WP_TRY_GOTO(wpi_device_build_start(job, bitcode, id, "stream", &objects, &build, err), done);
    WP_TRY_GOTO(wpi_device_build_finish(build, image, err), done);
    WP_TRY_GOTO(write_image_object(image, object, err), done);
    status = wpi_library_link(job, &objects, output, err);
done:
    wpi_strings_deinit(&objects);
    wpi_free(data);
    wpi_free(image);
    return status;
}

static wp_status build(wpi_compile_job *job, const void *arg, wp_error *err) {
    const request *r = arg;
    wpi_image_bitcode image;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(wpi_image_bitcode_read(r->words.image, &image, err));
    const wpi_options options = {.arch = image.arch ? image.arch : ARCH_LOWEST,
                                 .cpu_isas = r->words.isas};
    char *bitcode = wpi_job_temp(job, "stream", ".bc");
    job->options = &options;
    WP_TRY_GOTO(wpi_compile_create(image.data, image.size_bytes, &c, err), done);
    WP_TRY_GOTO(rewrite(c, r->argument, bitcode, err), done);
    status = build_library(job, bitcode, r->words.library, err);
done:
    wpi_compile_destroy(c);
    wpi_free(bitcode);
    wpi_free(image.data);
    return status;
}

wp_status wpi_stream_run(int argc, char **argv, int *exit_code, wp_error *err) {
    request r;
    WP_TRY(parse(argc, argv, &r, err));
    return wpi_library_run(build, &r, exit_code, err);
}
