/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles one source file: the device side with clang and our passes, the host side with clang and
 * the image embedded, both merged into one object. */
#include <llvm-c/Core.h>
#include <llvm-c/Object.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/driver/finish.h"
#include "compiler/driver/host_question.h"
#include "compiler/driver/job.h"
#include "compiler/driver/stream_option.h"
#include "compiler/driver/unroll.h"
#include "compiler/rewrite/rewrite.h"
#include "compiler/source/corrections.h"
#include "compiler/source/header_cache.h"
#include "compiler/source/known_names.h"
#include "compiler/source/long_double.h"
#include "compiler/source/source_overlay.h"

#define SDK_VERSION                                                                                \
    "12.4" /* the launch protocol and features of that toolkit: CUDART_VERSION 12040 */
#define PER_THREAD_STREAM "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1"

static void add(wpi_strings *command, const char *const *words) {
    for (; *words; words++)
        wpi_strings_add(command, *words);
}
#define ADD(command, ...) add(command, (const char *const[]){__VA_ARGS__, NULL})

/* clang is stricter than nvcc's host compilers about old code; these make it accept what they
 * accept. CCCL does not use pack indexing with clang 19.0, which ends where an index is too large
 * instead of trying another overload; later versions of clang 19 are the same.
 */
static const char *const lenient[] = {"-Wno-unknown-cuda-version",
                                      "-Wno-unused-command-line-argument",
                                      "-Wno-unknown-warning-option",
                                      "-Wno-narrowing",
                                      "-Wno-c++11-narrowing",
                                      "-Wno-register",
                                      "-Wno-deprecated-register",
                                      "-Wno-writable-strings",
                                      "-Wno-dynamic-exception-spec",
                                      "-Wno-return-type",
                                      "-Wno-vla-cxx-extension",
                                      "-Wno-reserved-user-defined-literal",
                                      "-Wno-enum-constexpr-conversion",
                                      "-Wno-invalid-constexpr",
                                      "-Wno-missing-template-arg-list-after-template-kw",
                                      "-Wno-elaborated-enum-base",
                                      "-Wno-ignored-attributes",
                                      "-fno-strict-return",
                                      "-U__cpp_pack_indexing",
                                      "-Wno-builtin-macro-redefined",
                                      NULL};

/* The same for plain C: gcc 12 warns. */
static const char *const lenient_c[] = {"-Wno-unused-command-line-argument",
                                        "-Wno-unknown-warning-option",
                                        "-Wno-error=implicit-function-declaration",
                                        "-Wno-error=implicit-int",
                                        "-Wno-error=int-conversion",
                                        "-Wno-error=incompatible-function-pointer-types",
                                        "-Wno-error=return-type",
                                        "-Wno-error=return-mismatch",
                                        NULL};

/* Their overlay comes before the one that hides them where they are. */
static void add_libraries(const wpi_compile_job *job, wpi_strings *command) {
    if (job->libraries_overlay) ADD(command, "-ivfsoverlay", job->libraries_overlay);
    if (job->libraries_first) wpi_strings_addf(command, "-isystem%s", job->libraries_first);
    if (job->libraries) wpi_strings_addf(command, "-isystem%s", job->libraries);
}

static void add_language(wpi_compile_job *job, wpi_strings *command, const wpi_input *input) {
    const wpi_options *o = job->options;
    /* nvcc accepts variadic functions in device code as long as no kernel calls them; and calls for
     * which only functions of the other side are found, in code that this side does not run. */
    ADD(command, "-x", "cuda", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-Xclang",
        "-fcuda-allow-variadic-functions", "-fgpu-defer-diag", "-Xclang",
        "-target-sdk-version=" SDK_VERSION, "-isystem", job->tools->include_dir);
    wpi_strings_addf(command, "-idirafter%s/include", job->tools->prefix); /* <warpage/…> */
    if (o->per_thread_stream)
        ADD(command, "-Xclang", "-fgpu-default-stream=per-thread", PER_THREAD_STREAM, "-include",
            "wp/per_thread_stream.h");
    ADD(command, "-include", "cuda_runtime.h");
    if (o->standard) wpi_strings_addf(command, "-std=%s", o->standard);
    /* The architectures that the kernels are compiled for; on the host side, too. */
    wpi_strings_addf(command, "-D__CUDA_ARCH_LIST__=%u0", o->arch);
    wpi_host_args_add(job, command, &o->source_args);
    wpi_strings_add(command, "-Wno-error"); /* clang has warnings that others lack */
    if (o->quiet_warnings) wpi_strings_add(command, "-w");
    if (o->fast_math) wpi_strings_add(command, "-D__USE_FAST_MATH__=1");
    if (job->leaves_templates)
        ADD(command, "-fdelayed-template-parsing", "-Wno-delayed-template-parsing-in-cxx20");
    /* CUB launches kernels from kernels in relocatable code, unless this is defined. */
    if (o->is_relocatable) ADD(command, "-fgpu-rdc", "-D__CUDACC_RDC__=1", "-DCUB_DISABLE_CDP=");
    add_libraries(job, command);
    if (job->hidden) ADD(command, "-ivfsoverlay", job->hidden);
    if (job->overlay) ADD(command, "-ivfsoverlay", job->overlay);
    wpi_strings_add(command, input->path);
}

/* A value common to both sides of a file and different between files; reproducible. */
static uint64_t unit_id(const wpi_compile_job *job, const wpi_input *input, const char *output) {
    uint64_t id = wpi_hash64(input->path, strlen(input->path), 0x9e3779b97f4a7c15u);
    id = wpi_hash64(output, strlen(output), id);
    for (size_t i = 0; i < job->options->source_args.count; i++)
        id = wpi_hash64(job->options->source_args.items[i],
                        strlen(job->options->source_args.items[i]), id);
    return id;
}

/* nvcc has the host's compiler preprocess the device side, too: of -fopenmp that has the macro, in
 * gcc's value, as of later ones omp.h has functions twice without the option. */
static void add_preprocessor_words(const wpi_compile_job *job, wpi_strings *command) {
    static const char *const with_value[] = {"-include", "-isystem", "-iquote", "-idirafter", NULL};
    const wpi_strings *words = &job->compiler_args;
    wpi_strings found = {0};
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];
        if (strcmp(word, "-fopenmp") == 0) wpi_strings_add(&found, "-D_OPENMP=201511");
        bool has_value = strlen(word) == 2 && strchr("DUI", word[1]) != NULL;
        for (size_t n = 0; with_value[n]; n++)
            has_value = has_value || strcmp(word, with_value[n]) == 0;
        if (word[0] != '-' || !word[1] || (!has_value && !strchr("DUI", word[1]))) continue;
        wpi_strings_add(&found, word);
        if (has_value && i + 1 < words->count) wpi_strings_add(&found, words->items[++i]);
    }
    wpi_host_args_add(job, command, &found);
    wpi_strings_deinit(&found);
}

static void add_device_side(wpi_compile_job *job, wpi_strings *command, const wpi_input *input) {
    const wpi_options *o = job->options;
    ADD(command, job->tools->clang, "--driver-mode=g++", "--cuda-device-only");
    wpi_strings_addf(command, "--cuda-gpu-arch=sm_%u", o->arch);
    wpi_strings_addf(command, "--cuda-feature=+ptx%s",
                     o->arch >= 89   ? "78"
                     : o->arch >= 86 ? "71"
                     : o->arch >= 80 ? "70"
                                     : "63");
    if (o->arch_is_specific) wpi_strings_addf(command, "-D__CUDA_ARCH_FEAT_SM%u_ALL=1", o->arch);
    add(command, lenient);
    add_preprocessor_words(job, command);
    add_language(job, command, input);
    /* Warnings come from the host side. Like nvcc, no conclusions from types about which accesses
     * meet: many kernels write halves and read words of them. */
    ADD(command, "-w", "-fno-strict-aliasing");
}

/* clang does not diagnose long double in device code; see long_double.h. */
static wp_status check_long_double(wpi_compile_job *job, const wpi_input *input, wp_error *err) {
    if (job->options->print_only || !wpi_long_double_is_mentioned(input->path)) return WP_STATUS_OK;
    char *ir_path = wpi_job_temp(job, input->path, ".debug.ll"), *ir = NULL;
    size_t size_bytes = 0;
    wpi_strings command = {0};
    add_device_side(job, &command, input);
    ADD(&command, "-O0", "-g", "-emit-llvm", "-S", "-o", ir_path);
    wp_status status;
    WP_TRY_GOTO(wpi_job_run(job, &command, err), done);
    WP_TRY_GOTO(wpi_file_read(ir_path, &ir, &size_bytes, err), done);
    status = wpi_long_double_check(ir, input->path, err);
done:
    wpi_strings_deinit(&command);
    wpi_free(ir);
    wpi_free(ir_path);
    return status;
}

/* clang's messages in colour, as it would print them itself. */
static void add_colour(wpi_strings *command) {
    const char *terminal = getenv("TERM");
    if (isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0)
        wpi_strings_add(command, "-fcolor-diagnostics");
}

/* The messages without colours. */
static char *without_colours(const wpi_text *talk) {
    wpi_text plain = {0};
    const char *p = wpi_text_string(talk);
    while (*p) {
        size_t length = strcspn(p, "\033");
        wpi_text_append_n(&plain, p, length);
        p += length;
        p += *p ? strcspn(p, "mK") : 0;
        p += *p != '\0';
    }
    return wpi_text_take(&plain);
}

/* Prints the messages of a compilation, and what a missing header of NVIDIA's belongs to. */
static void print_talk(const wpi_compile_job *job, wpi_text *talk) {
    wpi_text notes = {0};
    char *plain = without_colours(talk);
    wpi_known_headers_explain(plain, job->libraries != NULL, &notes);
    wpi_free(plain);
    fputs(wpi_text_string(talk), stderr);
    fputs(wpi_text_string(&notes), stderr);
    wpi_text_deinit(&notes);
    wpi_text_deinit(talk);
}

static wp_status rewrite(wpi_compile_job *job, const char *bitcode, wp_error *err) {
    wpi_strings rewrites = {0};
    if (job->options->through_ptx) WP_TRY(wpi_ptx_there_and_back(job, bitcode, err));
    wp_status status = wpi_stream_rewrites(job, bitcode, &rewrites, err);
    if (status == WP_STATUS_OK) status = wpi_rewrite_file(bitcode, &rewrites, err);
    wpi_strings_deinit(&rewrites);
    return status;
}

/* `talk` receives clang's messages. */
static wp_status run_device_front_end(wpi_compile_job *job, const wpi_input *input, uint64_t unit,
                                      const char *bitcode, wpi_text *talk, wp_error *err) {
    const wpi_options *o = job->options;
    wpi_strings command = {0};
    add_device_side(job, &command, input);
    /* Kernels keep their loads and stores as written: no vectors, no memset or memcpy from
     * loops. */
    ADD(&command, "-O2", "-fno-vectorize", "-fno-slp-vectorize", "-mllvm",
        "-disable-loop-idiom-all", "-mllvm", "-unroll-allow-partial=false", "-mllvm",
        "-unroll-runtime=false");
    wpi_strings_addf(&command, "-cuid=%016llx", (unsigned long long)unit);
    /* As in nvcc, functions, quotients and fused products are approximate. The order of sums,
     * infinities, NaNs and signed zeros are preserved, unlike with -ffast-math. */
    if (o->fast_math)
        ADD(&command, "-fapprox-func", "-freciprocal-math", "-fcuda-approx-transcendentals");
    if (o->no_contract) wpi_strings_add(&command, "-ffp-contract=off");
    /* Line tables are for findings of the checked variant; they do not change the code. */
    ADD(&command, o->debug_device ? "-g" : "-gline-tables-only", "-fdebug-compilation-dir=.",
        "-fno-discard-value-names", "-emit-llvm", "-c", "-o", bitcode);
    wpi_header_cache_use(job, &command, input);
    add_colour(&command);
    wp_status status = wpi_job_run_quietly(job, &command, &command, talk, err);
    wpi_strings_deinit(&command);
    return status;
}

/* nvcc finds out about names that are not declared in a function of a template, or that are no
 * members of its own class, only if that is used; clang everywhere, except if it is to read such
 * functions at their use. A program whose names are all declared is not compiled so, as some could
 * then mean later declarations. */
static bool leave_templates(wpi_compile_job *job, const char *talk) {
    if (job->leaves_templates || (!strstr(talk, ": error: use of undeclared identifier '") &&
                                  !strstr(talk, ": error: no member named '")))
        return false;
    return job->leaves_templates = true;
}

/* Whether the front end is to run again on what it refused, with the text changed. */
static bool is_corrected(wpi_compile_job *job, const wpi_text *talk, wp_error *err) {
    bool is_again = false;
    char *plain = without_colours(talk);
    if (wpi_corrections_apply(job, plain, &is_again, err) != WP_STATUS_OK) is_again = false;
    is_again = is_again || leave_templates(job, plain);
    wpi_free(plain);
    return is_again;
}

static wp_status device_front_end(wpi_compile_job *job, const wpi_input *input, uint64_t unit,
                                  const char *bitcode, wp_error *err) {
    const wpi_options *o = job->options;
    WP_TRY(check_long_double(job, input, err));
    wpi_text talk = {0};
    wp_status status;
    do {
        wpi_text_clear(&talk);
        status = run_device_front_end(job, input, unit, bitcode, &talk, err);
    } while (status != WP_STATUS_OK && is_corrected(job, &talk, err));
    print_talk(job, &talk);
    if (status == WP_STATUS_OK && !o->print_only) status = wpi_unroll_bitcode(bitcode, err);
    if (status == WP_STATUS_OK && !o->print_only) status = wpi_finish_bitcode(bitcode, o, err);
    if (status == WP_STATUS_OK && !o->print_only && !o->is_relocatable)
        status = rewrite(job, bitcode, err);
    return status;
}

/* clang would name the depfile after our temporary object. */
static void add_depfile(wpi_compile_job *job, wpi_strings *command, const wpi_input *input,
                        const char *output) {
    const wpi_options *o = job->options;
    if (!o->depfile_args.count) return;
    wpi_strings_add_all(command, &o->depfile_args);
    if (o->goal == WP_GOAL_DEPENDENCIES || o->goal == WP_GOAL_PREPROCESS) return;
    bool is_named =
        o->goal == WP_GOAL_OBJECT; /* otherwise the object is temporary, or there is none */
    char *stem = wpi_path_stem(is_named ? output : input->path);
    char *dir =
        is_named ? wpi_path_dir(output) : wpi_must_strdup(o->output_dir ? o->output_dir : ".");
    char *file = wpi_format("%s.d", stem),
         *path = strcmp(dir, ".") == 0 ? wpi_must_strdup(file) : wpi_path_join(dir, file);
    if (!wpi_strings_contains(&o->depfile_args, "-MF")) ADD(command, "-MF", path);
    if (!wpi_strings_contains(&o->depfile_args, "-MT") &&
        !wpi_strings_contains(&o->depfile_args, "-MQ")) {
        wpi_strings_add(command, "-MT");
        wpi_strings_addf(command, is_named ? "%s" : "%s.o", is_named ? output : stem);
    }
    wpi_free(path);
    wpi_free(file);
    wpi_free(stem);
    wpi_free(dir);
}

static const char *dependency_option(const wpi_options *o) {
    return o->user_headers_only ? "-MM" : "-M";
}

static wp_status run_host_side(wpi_compile_job *job, const wpi_input *input, uint64_t unit,
                               const char *image, const char *action, const char *output,
                               const char *temp, wpi_text *talk, wp_error *err) {
    const wpi_options *o = job->options;
    wpi_strings command = {0};
    ADD(&command, job->tools->clang, "--driver-mode=g++", "--cuda-host-only");
    wpi_strings_addf(&command, "--cuda-gpu-arch=sm_%u", o->arch);
    wpi_strings_addf(&command, "-O%c", o->optimization);
    ADD(&command, "-fPIC",
        "-fwrapv"); /* old programs rely on signed overflow, which mostly wraps with gcc */
    /* Loops must not become memcpy, which takes simulated time. */
    ADD(&command, "-mllvm", "-disable-loop-idiom-memcpy");
    if (image) ADD(&command, "-Xclang", "-fcuda-include-gpubinary", "-Xclang", image);
    wpi_strings_add(&command, "-Xclang");
    wpi_strings_addf(&command, "-cuid=%016llx", (unsigned long long)unit);
    add(&command, lenient);
    wpi_strings_add_all(&command, &o->host_args);
    wpi_host_args_add(job, &command, &job->compiler_args);
    add_language(job, &command, input);
    add_depfile(job, &command, input, output);
    ADD(&command, action, "-o", temp);
    wpi_header_cache_use(job, &command, input);
    add_colour(&command);
    wp_status status = wpi_job_run_quietly(job, &command, &command, talk, err);
    wpi_strings_deinit(&command);
    return status;
}

static wp_status host_side(wpi_compile_job *job, const wpi_input *input, uint64_t unit,
                           const char *image, const char *action, const char *output,
                           const char *temp, wp_error *err) {
    wpi_text talk = {0};
    wp_status status;
    job->is_host_side = true;
    do {
        wpi_text_clear(&talk);
        status = run_host_side(job, input, unit, image, action, output, temp, &talk, err);
    } while (status != WP_STATUS_OK && is_corrected(job, &talk, err));
    print_talk(job, &talk);
    return status;
}

/* Managed variables get whole pages of their own, and no space in the file, because their initial
 * values are stored with the kernels. */
static const char sections[] = "SECTIONS { " WP_MANAGED_SECTION " (NOLOAD) : ALIGN(4096) {"
                               " *(" WP_MANAGED_SECTION ") . = ALIGN(4096); } }\n";

static wp_status merge(wpi_compile_job *job, const wpi_strings *objects, const char *output,
                       wp_error *err) {
    wpi_strings command = {0};
    char *script = wpi_job_temp(job, output, ".ld");
    wp_status status = WP_STATUS_OK;
    if (!job->options->print_only) status = wpi_file_write(script, sections, strlen(sections), err);
    ADD(&command, "ld", "-r", "-T", script, "-o", output);
    wpi_strings_add_all(&command, objects);
    if (status == WP_STATUS_OK) status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    wpi_free(script);
    return status;
}

static uint64_t content_id(const char *path, uint64_t seed) {
    char *data = NULL;
    size_t size_bytes = 0;
    if (wpi_file_read(path, &data, &size_bytes, NULL) != WP_STATUS_OK) return seed;
    uint64_t id = wpi_hash64(data, size_bytes, seed);
    wpi_free(data);
    return id;
}

#define IMAGE_SECTION ".nv_fatbin"

static bool has_image_section(const char *object) {
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(object, &buffer, &message)) {
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMBinaryRef binary = LLVMCreateBinary(buffer, NULL, &message);
    bool found = false;
    LLVMSectionIteratorRef section = binary ? LLVMObjectFileCopySectionIterator(binary) : NULL;
    for (; section && !found && !LLVMObjectFileIsSectionIteratorAtEnd(binary, section);
         LLVMMoveToNextSection(section)) {
        const char *name = LLVMGetSectionName(section);
        found = name && strcmp(name, IMAGE_SECTION) == 0;
    }
    if (section) LLVMDisposeSectionIterator(section);
    if (binary)
        LLVMDisposeBinary(binary);
    else
        LLVMDisposeMessage(message);
    LLVMDisposeMemoryBuffer(buffer);
    return found;
}

/* Replaces the image in the section of the host side that clang made for it. Without kernels and
 * variables there is no section. */
static wp_status embed_image(wpi_compile_job *job, const char *image, const char *host,
                             wp_error *err) {
    if (!has_image_section(host)) return WP_STATUS_OK;
    wpi_strings command = {0};
    ADD(&command, "objcopy", "--update-section");
    wpi_strings_addf(&command, IMAGE_SECTION "=%s", image);
    wpi_strings_add(&command, host);
    wp_status status = wpi_job_run(job, &command, err);
    wpi_strings_deinit(&command);
    return status;
}

/* Builds the object from the device front end's bitcode. The host side, with an empty image, and
 * the code of the kernels are independent and compiled in parallel. */
static wp_status build_object(wpi_compile_job *job, const wpi_input *input, uint64_t unit,
                              const char *bitcode, const char *output, const char *temp,
                              wp_error *err) {
    const wpi_options *o = job->options;
    char *image = wpi_job_temp(job, input->path, ".image");
    char *host = wpi_job_temp(job, input->path, ".host.o");
    wpi_strings objects = {0};
    wpi_device_build *build = NULL;
    wp_status status = WP_STATUS_OK;
    wpi_strings_add(&objects, host);
    if (!o->print_only) {
        uint64_t id = content_id(bitcode, unit);
        if (o->is_relocatable) {
            char *carrier = wpi_job_temp(job, input->path, ".rdc.o");
            wpi_strings_add_take(&objects, carrier);
            WP_TRY_GOTO(wpi_rdc_wrap(bitcode, id, carrier, err), done);
        } else {
            WP_TRY_GOTO(
                wpi_device_build_start(job, bitcode, id, input->path, &objects, &build, err), done);
        }
        WP_TRY_GOTO(wpi_file_write(image, "", 0, err), done);
    }
    if (o->stop_after) goto done;
    WP_TRY_GOTO(host_side(job, input, unit, image, "-c", output, host, err), done);
    if (build) {
        wpi_device_build *finished = build;
        build = NULL;
        WP_TRY_GOTO(wpi_device_build_finish(finished, image, err), done);
        WP_TRY_GOTO(embed_image(job, image, host, err), done);
    }
    status = merge(job, &objects, temp, err);
done:
    wpi_device_build_cancel(build);
    wpi_strings_deinit(&objects);
    wpi_free(image);
    wpi_free(host);
    return status;
}

static wp_status compile_cuda_joined(wpi_compile_job *job, const wpi_input *input,
                                     const char *output, const char *temp, wp_error *err) {
    const wpi_options *o = job->options;
    uint64_t unit = unit_id(job, input, output);
    switch (o->goal) {
    case WP_GOAL_PREPROCESS:
    case WP_GOAL_HOST_SOURCE: return host_side(job, input, unit, NULL, "-E", output, temp, err);
    case WP_GOAL_DEPENDENCIES:
        return host_side(job, input, unit, NULL, dependency_option(o), output, temp, err);
    case WP_GOAL_BITCODE: return device_front_end(job, input, unit, temp, err);
    default: break;
    }
    char *bitcode = wpi_job_temp(job, input->path, ".bc");
    wp_status status = device_front_end(job, input, unit, bitcode, err);
    if (status == WP_STATUS_OK) {
        bool is_image = o->goal == WP_GOAL_CUBIN || o->goal == WP_GOAL_FATBIN;
        if (!is_image && o->goal != WP_GOAL_PTX)
            status = build_object(job, input, unit, bitcode, output, temp, err);
        else if (is_image && !o->print_only)
            status = wpi_device_image(job, bitcode, content_id(bitcode, unit), temp, err);
        else if (!o->print_only)
            status = wpi_device_ptx(job, bitcode, content_id(bitcode, unit), temp, err);
    }
    wpi_free(bitcode);
    return status;
}

static wp_status compile_cuda(wpi_compile_job *job, const wpi_input *input, const char *output,
                              const char *temp, wp_error *err) {
    WP_TRY(wpi_source_overlay(job, input->path, &job->overlay, err));
    wp_status status = compile_cuda_joined(job, input, output, temp, err);
    wpi_free(job->overlay);
    job->overlay = NULL;
    job->leaves_templates = false;
    job->is_host_side = false;
    return status;
}

static bool is_standard_for(const char *standard, bool is_c) {
    return (strstr(standard, "++") == NULL) == is_c;
}

/* `talk` receives clang's messages. */
static wp_status run_plain(wpi_compile_job *job, const wpi_input *input, const char *output,
                           const char *temp, wpi_text *talk, wp_error *err) {
    const wpi_options *o = job->options;
    bool is_c = input->language == WP_LANGUAGE_C;
    wpi_strings command = {0};
    wpi_host_compiler_add(o, job->tools, is_c, &command);
    ADD(&command, "-x", is_c ? "c" : "c++", "-fPIC", "-fwrapv");
    wpi_strings_addf(&command, "-O%c", o->optimization);
    if (o->goal == WP_GOAL_POLICY)
        wpi_policy_flags(job, &command);
    else if (!o->host_compiler)
        add(&command, is_c ? lenient_c : lenient);
    if (o->standard && is_standard_for(o->standard, is_c))
        wpi_strings_addf(&command, "-std=%s", o->standard);
    wpi_host_args_add(job, &command, &o->source_args);
    if (!o->host_compiler) add_libraries(job, &command);
    if (!o->host_compiler && job->hidden) ADD(&command, "-ivfsoverlay", job->hidden);
    if (job->overlay) /* corrected text, which may call what this header has */
        ADD(&command, "-ivfsoverlay", job->overlay, "-include", "wp/variable_arrays.h");
    ADD(&command, "-isystem", job->tools->include_dir);
    wpi_strings_addf(&command, "-idirafter%s/include", job->tools->prefix);
    if (o->per_thread_stream)
        ADD(&command, PER_THREAD_STREAM, "-include", "wp/per_thread_stream.h");
    wpi_strings_add_all(&command, &o->host_args);
    wpi_host_args_add(job, &command, o->host_compiler ? &o->compiler_args : &job->compiler_args);
    add_depfile(job, &command, input, output);
    if (o->quiet_warnings) wpi_strings_add(&command, "-w");
    const char *action = o->goal == WP_GOAL_PREPROCESS || o->goal == WP_GOAL_HOST_SOURCE ? "-E"
                         : o->goal == WP_GOAL_DEPENDENCIES ? dependency_option(o)
                                                           : "-c";
    ADD(&command, action, input->path, "-o", temp);
    wpi_strings shown = {0};
    wpi_strings_add_all(&shown, &command);
    if (!o->host_compiler) add_colour(&command);
    wp_status status = wpi_job_run_quietly(job, &command, &shown, talk, err);
    wpi_strings_deinit(&shown);
    wpi_strings_deinit(&command);
    return status;
}

static wp_status compile_plain(wpi_compile_job *job, const wpi_input *input, const char *output,
                               const char *temp, wp_error *err) {
    wpi_text talk = {0};
    const bool is_ours = input->language != WP_LANGUAGE_C && !job->options->host_compiler;
    wp_status status = run_plain(job, input, output, temp, &talk, err);
    for (bool is_again = is_ours; status != WP_STATUS_OK && is_again;) {
        char *plain = without_colours(&talk);
        if (wpi_corrections_apply(job, plain, &is_again, err) != WP_STATUS_OK) is_again = false;
        wpi_free(plain);
        if (!is_again) break;
        wpi_text_clear(&talk);
        status = run_plain(job, input, output, temp, &talk, err);
    }
    wpi_free(job->overlay);
    job->overlay = NULL;
    print_talk(job, &talk);
    return status;
}

wp_status wpi_compile_file(wpi_compile_job *job, const wpi_input *input, const char *output,
                           const char *temp, wp_error *err) {
    if (input->language == WP_LANGUAGE_PTX) return wpi_compile_ptx(job, input, temp, err);
    return input->language == WP_LANGUAGE_CUDA ? compile_cuda(job, input, output, temp, err)
                                               : compile_plain(job, input, output, temp, err);
}
