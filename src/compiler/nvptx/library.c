/* SPDX-License-Identifier: Apache-2.0 */
/* Links the GPU's device library: only functions that the module uses are read from the file. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/strings.h"
#include "compiler/ir/edit.h"
#include "compiler/nvptx/nvptx.h"

/* Functions defined by the driver. */
static const char *const driver_functions[] = {"vprintf", "__assertfail", "malloc", "free"};

static bool is_driver_function(const char *name) {
    for (size_t i = 0; i < sizeof driver_functions / sizeof *driver_functions; i++)
        if (strcmp(driver_functions[i], name) == 0) return true;
    return false;
}

static wp_status open_library(wpi_compile *c, const char *path, LLVMModuleRef *out, wp_error *err) {
    char *data = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &data, &size_bytes, err));
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(data, size_bytes, "nvptxlib");
    wpi_free(data);
    /* Bodies are read when they are linked; the module owns the buffer. */
    if (LLVMGetBitcodeModuleInContext2(c->context, buffer, out))
        return WP_FAIL(err, TOOLCHAIN, "%s is not bitcode of LLVM 19; reinstall warpage", path);
    return WP_STATUS_OK;
}

/* clang calls some functions by their C names (__builtin_tanf); the library has them as
 * __nv_tanf. */
static void rename_c_functions(wpi_compile *c, LLVMModuleRef library) {
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = next) {
        next = LLVMGetNextFunction(f);
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        char renamed[64];
        if (!LLVMIsDeclaration(f) || LLVMGetIntrinsicID(f) || length > 32) continue;
        snprintf(renamed, sizeof renamed, "__nv_%s", name);
        LLVMValueRef match = LLVMGetNamedFunction(library, renamed);
        if (!match || wpi_function_type(match) != wpi_function_type(f)) continue;
        LLVMValueRef own = LLVMGetNamedFunction(c->module, renamed);
        if (!own)
            LLVMSetValueName2(f, renamed, strlen(renamed));
        else
            LLVMReplaceAllUsesWith(f, own);
    }
}

static wp_status check_undefined(wpi_compile *c, wp_error *err) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (LLVMIsDeclaration(f) && !LLVMGetIntrinsicID(f) && LLVMGetFirstUse(f) &&
            !is_driver_function(name))
            return WP_FAIL(err, NOT_FOUND,
                           "undefined device function %s; define it in this file, or compile all "
                           "files with -rdc=true and link them with wpcc",
                           name);
    }
    return WP_STATUS_OK;
}

/* Makes functions discardable, so that the linker omits unused ones. */
static void make_discardable(LLVMModuleRef library, wpi_strings *names) {
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        wpi_ptx_drop_target(f);
        if (LLVMGetLinkage(f) != LLVMExternalLinkage || LLVMIsDeclaration(f)) continue;
        LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
        wpi_strings_add(names, LLVMGetValueName2(f, &length));
    }
}

wp_status wpi_ptx_link_library(wpi_compile *c, const wpi_ptx_options *options, wp_error *err) {
    LLVMModuleRef library = NULL;
    WP_TRY(open_library(c, options->library_path, &library, err));
    rename_c_functions(c, library);
    wpi_strings names = {0};
    make_discardable(library, &names);
    LLVMSetTarget(library, LLVMGetTarget(c->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
    wp_status status = WP_STATUS_OK;
    if (LLVMLinkModules2(c->module, library))
        status = WP_FAIL(err, TOOLCHAIN, "the device library %s does not fit the program",
                         options->library_path);
    for (size_t i = 0; i < names.count && status == WP_STATUS_OK; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(c->module, names.items[i]);
        if (function && !LLVMIsDeclaration(function)) LLVMSetLinkage(function, LLVMInternalLinkage);
    }
    wpi_strings_deinit(&names);
    if (status == WP_STATUS_OK && !options->is_relocatable) status = check_undefined(c, err);
    return status;
}
