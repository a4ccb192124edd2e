/* SPDX-License-Identifier: Apache-2.0 */
/* Relocatable device code. Each object has its bitcode in a separate section, framed so that `ld
 * -r` may concatenate several; linking gathers all of them, links the bitcode, and makes one image.
 *
 *   .wpi_rdc:  | "WPRDC\0\0\0" | id | size | bitcode … padding to 16 | next frame …
 *
 * The host side of such an object calls __cudaRegisterLinkedBinary<id>, which the device link
 * defines: it passes the linked image to libwarpage. */
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Object.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/context.h"
#include "compiler/driver/job.h"
#include "compiler/driver/stream_option.h"
#include "compiler/emit/host_object.h"
#include "compiler/pipeline.h"
#include "compiler/rewrite/rewrite.h"

#define SECTION ".wpi_rdc"
#define MAGIC "WPRDC\0\0"

typedef struct frame_header {
    char magic[8];
    uint64_t id;
    uint64_t size_bytes;
    uint64_t reserved;
} frame_header;

wp_status wpi_rdc_wrap(const char *bitcode_path, uint64_t id, const char *object_path,
                       wp_error *err) {
    char *bitcode = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(bitcode_path, &bitcode, &size_bytes, err));
    frame_header header = {.id = id, .size_bytes = size_bytes};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    static const char zeros[16];
    wpi_text frame = {0};
    wpi_text_append_n(&frame, &header, sizeof header);
    wpi_text_append_n(&frame, bitcode, size_bytes);
    wpi_text_append_n(&frame, zeros, (16 - size_bytes % 16) % 16);
    wpi_free(bitcode);

    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("rdc", context);
    LLVMValueRef global = wpi_host_object_bytes(module, "wp.rdc", frame.data, frame.length);
    LLVMSetSection(global, SECTION);
    /* An excluded section: linkers keep it with -r and drop it from programs. */
    LLVMGlobalSetMetadata(global, LLVMGetMDKindIDInContext(context, "exclude", 7),
                          LLVMMDNodeInContext2(context, NULL, 0));
    LLVMTypeRef pointer = LLVMPointerTypeInContext(context, 0);
    LLVMValueRef used = LLVMAddGlobal(module, LLVMArrayType2(pointer, 1), "llvm.used");
    LLVMSetInitializer(used, LLVMConstArray2(pointer, &global, 1));
    LLVMSetLinkage(used, LLVMAppendingLinkage);
    LLVMSetSection(used, "llvm.metadata");
    wp_status status = wpi_host_object_write(module, object_path, err);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    wpi_text_deinit(&frame);
    return status;
}

/* ---- gathering ---- */

typedef struct gathered {
    LLVMContextRef context;
    LLVMModuleRef module;
    uint64_t id;
    wpi_strings registrations; /* names of undefined __cudaRegisterLinkedBinary… */
    bool is_linked;            /* an input defines one: the device code was linked before */
    wpi_strings seen;
    wpi_text complaint; /* message of LLVM's linker */
} gathered;

/* Records a diagnostic. Without a handler LLVM would end the process. */
static void note_complaint(LLVMDiagnosticInfoRef info, void *arg) {
    wpi_text *complaint = arg;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || complaint->length) return;
    char *text = LLVMGetDiagInfoDescription(info);
    wpi_text_append(complaint, text);
    LLVMDisposeMessage(text);
}

/* clang may see a static variable in a kernel before the host code that makes it visible to the
 * host, and then names it "v" in the kernel and "v__static__<file>" in its definition. */
static void join_static_names(LLVMModuleRef module) {
    for (LLVMValueRef v = LLVMGetFirstGlobal(module), next; v; v = next) {
        next = LLVMGetNextGlobal(v);
        size_t length = 0;
        const char *name = LLVMGetValueName2(v, &length);
        const char *suffix = strstr(name, "__static__");
        if (!suffix || LLVMIsDeclaration(v)) continue;
        char *plain = wpi_must_strndup(name, (size_t)(suffix - name));
        LLVMValueRef other = LLVMGetNamedGlobal(module, plain);
        wpi_free(plain);
        if (!other || !LLVMIsDeclaration(other)) continue;
        if (next == other) next = LLVMGetNextGlobal(other);
        LLVMReplaceAllUsesWith(other, v);
        LLVMDeleteGlobal(other);
    }
}

static wp_status add_frames(gathered *g, const char *path, const char *data, size_t size_bytes,
                            wp_error *err) {
    for (size_t at = 0; at + sizeof(frame_header) <= size_bytes;) {
        frame_header header;
        memcpy(&header, data + at, sizeof header);
        if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0 ||
            header.size_bytes > size_bytes - at - sizeof header)
            return WP_FAIL(err, PARSE,
                           "%s: damaged relocatable device code at offset %zu of " SECTION, path,
                           at);
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            data + at + sizeof header, (size_t)header.size_bytes, path);
        LLVMModuleRef module = NULL;
        LLVMBool failed = LLVMParseBitcodeInContext2(g->context, buffer, &module);
        LLVMDisposeMemoryBuffer(buffer);
        if (failed)
            return WP_FAIL(err, PARSE, "%s: relocatable device code that LLVM 19 cannot read",
                           path);
        join_static_names(module);
        if (!g->module)
            g->module = module;
        else if (LLVMLinkModules2(g->module, module))
            return WP_FAIL(err, TOOLCHAIN, "%s: its device code clashes with another file's: %s",
                           path, wpi_text_string(&g->complaint));
        g->id = wpi_hash64(&header.id, sizeof header.id, g->id);
        at += sizeof header + ((size_t)header.size_bytes + 15) / 16 * 16;
    }
    return WP_STATUS_OK;
}

static wp_status gather_object(gathered *g, const char *path, const char *data, size_t size_bytes,
                               wp_error *err) {
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size_bytes, path);
    char *message = NULL;
    LLVMBinaryRef binary = LLVMCreateBinary(buffer, NULL, &message);
    wp_status status = WP_STATUS_OK;
    if (!binary) {
        LLVMDisposeMessage(message); /* not an object: left to the linker */
        LLVMDisposeMemoryBuffer(buffer);
        return WP_STATUS_OK;
    }
    bool has_device_code = false;
    LLVMSectionIteratorRef section = LLVMObjectFileCopySectionIterator(binary);
    for (; section && status == WP_STATUS_OK &&
           !LLVMObjectFileIsSectionIteratorAtEnd(binary, section);
         LLVMMoveToNextSection(section)) {
        const char *name = LLVMGetSectionName(section);
        if (!name || strcmp(name, SECTION) != 0) continue;
        has_device_code = true;
        status = add_frames(g, path, LLVMGetSectionContents(section),
                            (size_t)LLVMGetSectionSize(section), err);
    }
    bool has_sections = section != NULL;
    if (has_sections) LLVMDisposeSectionIterator(section);
    LLVMSymbolIteratorRef symbol = has_sections ? LLVMObjectFileCopySymbolIterator(binary) : NULL;
    for (; symbol && !LLVMObjectFileIsSymbolIteratorAtEnd(binary, symbol);
         LLVMMoveToNextSymbol(symbol)) {
        const char *name = LLVMGetSymbolName(symbol);
        static const char prefix[] = "__cudaRegisterLinkedBinary";
        if (!name || strncmp(name, prefix, sizeof prefix - 1) != 0) continue;
        if (LLVMGetSymbolSize(symbol) > 0)
            g->is_linked = true;
        else if (has_device_code && !wpi_strings_contains(&g->registrations, name))
            wpi_strings_add(&g->registrations, name);
    }
    if (symbol) LLVMDisposeSymbolIterator(symbol);
    LLVMDisposeBinary(binary);
    LLVMDisposeMemoryBuffer(buffer);
    return status;
}

/* The members of an ar archive, in the common format: a 60-byte header, then the member, padded to
 * even. */
static wp_status gather_archive(gathered *g, const char *path, const char *data, size_t size_bytes,
                                wp_error *err) {
    for (size_t at = 8; at + 60 <= size_bytes;) {
        char digits[11] = {0};
        memcpy(digits, data + at + 48, 10);
        unsigned long long member = 0;
        if (sscanf(digits, "%llu", &member) != 1 || member > size_bytes - at - 60)
            return WP_FAIL(err, PARSE, "%s: damaged archive at offset %zu", path, at);
        bool is_index = data[at] == '/' &&
                        (data[at + 1] < '0' || data[at + 1] > '9'); /* "/", "//", "/SYM64/" */
        if (!is_index) WP_TRY(gather_object(g, path, data + at + 60, (size_t)member, err));
        at += 60 + (size_t)member + (member & 1);
    }
    return WP_STATUS_OK;
}

static wp_status gather(gathered *g, const char *path, wp_error *err) {
    char *data = NULL;
    size_t size_bytes = 0;
    if (path[0] == '-' || wpi_strings_contains(&g->seen, path) || !wpi_file_exists(path))
        return WP_STATUS_OK;
    wpi_strings_add(&g->seen, path);
    WP_TRY(wpi_file_read(path, &data, &size_bytes, err));
    bool is_archive = size_bytes >= 8 && memcmp(data, "!<arch>\n", 8) == 0;
    wp_status status = is_archive ? gather_archive(g, path, data, size_bytes, err)
                                  : gather_object(g, path, data, size_bytes, err);
    wpi_free(data);
    return status;
}

/* A text of ours in place of an archive, which the linker reads too: INPUT(a.a b.so). Its archives
 * are beside it. */
static wp_status gather_text(gathered *g, const char *path, const char *folder, wp_error *err) {
    char *text = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &text, &size_bytes, err));
    wp_status status = WP_STATUS_OK;
    char *rest = strncmp(text, "INPUT(", 6) == 0 ? text + 6 : NULL, *word;
    while (status == WP_STATUS_OK && rest != NULL &&
           (word = strtok_r(rest, " )\n", &rest)) != NULL) {
        const size_t length = strlen(word);
        if (length < 2 || strcmp(word + length - 2, ".a") != 0) continue;
        char *archive = wpi_path_join(folder, word);
        status = gather(g, archive, err);
        wpi_free(archive);
    }
    wpi_free(text);
    return status;
}

/* A library of ours that has device code, for programs that have some to link it with. */
static wp_status gather_own(gathered *g, const char *folder, const char *name, wp_error *err) {
    char *file = wpi_format("lib%s.a", name), *path = wpi_path_join(folder, file);
    wp_status status = WP_STATUS_OK;
    if (g->registrations.count != 0 && wpi_file_exists(path))
        status = gather_text(g, path, folder, err);
    wpi_free(file);
    wpi_free(path);
    return status;
}

/* Finds -lname or -l:file in the first of the user's folders that has it, as the linker does. A
 * shared library ends the search: it has no device code. Neither do system folders. */
static char *find_library(const wpi_strings *folders, const char *name) {
    char *archive = name[0] == ':' ? wpi_must_strdup(name + 1) : wpi_format("lib%s.a", name);
    char *shared = wpi_format("lib%s.so", name), *found = NULL;
    for (size_t i = 0; i < folders->count && !found; i++) {
        char *candidate = wpi_path_join(folders->items[i], archive);
        char *library = wpi_path_join(folders->items[i], shared);
        bool is_shared = wpi_file_exists(library);
        if (!is_shared && wpi_file_exists(candidate)) found = wpi_must_strdup(candidate);
        wpi_free(candidate);
        wpi_free(library);
        if (is_shared) break;
    }
    wpi_free(archive);
    wpi_free(shared);
    return found;
}

static void list_folders(const wpi_strings *words, wpi_strings *folders) {
    for (size_t i = 0; i < words->count; i++)
        if (strncmp(words->items[i], "-L", 2) == 0) wpi_strings_add(folders, words->items[i] + 2);
    char *path = wpi_must_strdup(getenv("LIBRARY_PATH") ? getenv("LIBRARY_PATH") : ""),
         *rest = path, *folder;
    while ((folder = strtok_r(rest, ":", &rest)))
        wpi_strings_add(folders, folder);
    wpi_free(path);
}

/* Gathers from the files of a link line: objects, archives and -l libraries; other words are for
 * the linker.
 */
static wp_status gather_all(gathered *g, const wpi_strings *words, const char *own_folder,
                            wp_error *err) {
    wpi_strings folders = {0};
    wp_status status = WP_STATUS_OK;
    list_folders(words, &folders);
    for (size_t i = 0; i < words->count && status == WP_STATUS_OK; i++) {
        const char *word = words->items[i];
        if (strcmp(word, "-Xlinker") == 0) {
            i++;
        } else if (strncmp(word, "-l", 2) == 0) {
            char *library = find_library(&folders, word + 2);
            status = library ? gather(g, library, err) : gather_own(g, own_folder, word + 2, err);
            wpi_free(library);
        } else {
            status = gather(g, word, err);
        }
    }
    wpi_strings_deinit(&folders);
    return status;
}

/* Defines each registration function: it calls wp_register_linked(image, callback). */
static wp_status write_registrations(const gathered *g, const char *image_path,
                                     const char *object_path, wp_error *err) {
    char *image = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(image_path, &image, &size_bytes, err));
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("dlink", context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMTypeRef none = LLVMVoidTypeInContext(context),
                pointer = LLVMPointerTypeInContext(context, 0);
    LLVMValueRef global = wpi_host_object_bytes(module, "wp.image", image, size_bytes);
    LLVMTypeRef two[] = {pointer, pointer}, four[] = {pointer, pointer, pointer, pointer};
    LLVMTypeRef enter_type = LLVMFunctionType(none, two, 2, 0);
    LLVMValueRef enter = LLVMAddFunction(module, "wp_register_linked", enter_type);
    for (size_t i = 0; i < g->registrations.count; i++) {
        LLVMValueRef function =
            LLVMAddFunction(module, g->registrations.items[i], LLVMFunctionType(none, four, 4, 0));
        LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
        LLVMValueRef args[] = {global, LLVMGetParam(function, 0)};
        LLVMBuildCall2(builder, enter_type, enter, args, 2, "");
        LLVMBuildRetVoid(builder);
    }
    wp_status status = wpi_host_object_write(module, object_path, err);
    LLVMDisposeBuilder(builder);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    wpi_free(image);
    return status;
}

wp_status wpi_empty_object(const char *path, wp_error *err) {
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("empty", context);
    wp_status status = wpi_host_object_write(module, path, err);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status;
}

/* Builds the object of the linked image: registrations, and kernels for each instruction set. */
static wp_status build_linked(wpi_compile_job *job, const gathered *g, const char *object,
                              wp_error *err) {
    char *bitcode = wpi_job_temp(job, "dlink", ".bc"),
         *image = wpi_job_temp(job, "dlink", ".image");
    char *registrations = wpi_job_temp(job, "dlink", ".reg.o");
    wpi_strings objects = {0}, command = {0}, rewrites = {0};
    wpi_device_build *build = NULL;
    wp_status status = WP_STATUS_OK;
    if (LLVMWriteBitcodeToFile(g->module, bitcode)) {
        status = WP_FAIL(err, IO, "cannot write %s", bitcode);
        goto done;
    }
    WP_TRY_GOTO(wpi_stream_rewrites(job, bitcode, &rewrites, err), done);
    job->has_linked_code = true;
    WP_TRY_GOTO(wpi_rewrite_file(bitcode, &rewrites, err), done);
    const uint64_t id = wpi_rewrite_id(&rewrites, g->id);
    WP_TRY_GOTO(wpi_device_build_start(job, bitcode, id, "linked program", &objects, &build, err),
                done);
    wpi_device_build *finished = build;
    build = NULL;
    WP_TRY_GOTO(wpi_device_build_finish(finished, image, err), done);
    if (job->options->stop_after) goto done;
    WP_TRY_GOTO(write_registrations(g, image, registrations, err), done);
    const char *const words[] = {"ld", "-r", "-o", object, registrations};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        wpi_strings_add(&command, words[i]);
    wpi_strings_add_all(&command, &objects);
    status = wpi_job_run(job, &command, err);
done:
    wpi_device_build_cancel(build);
    wpi_strings_deinit(&rewrites);
    wpi_strings_deinit(&objects);
    wpi_strings_deinit(&command);
    wpi_free(bitcode);
    wpi_free(image);
    wpi_free(registrations);
    return status;
}

wp_status wpi_device_link(wpi_compile_job *job, const wpi_strings *inputs, char **object,
                          wp_error *err) {
    *object = NULL;
    if (job->options->print_only) return WP_STATUS_OK;
    gathered g = {.context = LLVMContextCreate()};
    LLVMContextSetDiagnosticHandler(g.context, note_complaint, &g.complaint);
    wp_status status = gather_all(&g, inputs, job->tools->cuda_lib_dir, err);
    if (status == WP_STATUS_OK && g.module && !g.is_linked) {
        *object = wpi_job_temp(job, "dlink", ".o");
        status = build_linked(job, &g, *object, err);
    }
    if (g.module) LLVMDisposeModule(g.module);
    LLVMContextDispose(g.context);
    wpi_strings_deinit(&g.registrations);
    wpi_strings_deinit(&g.seen);
    wpi_text_deinit(&g.complaint);
    return status;
}
