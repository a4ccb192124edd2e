/* SPDX-License-Identifier: Apache-2.0 */
/* limits: rejects features that CUDA lacks, by name and place, before any pass relies on their
 * absence. clang's front end accepts more than CUDA does. */
#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/text.h"
#include "compiler/ir/source_variable.h"
#include "compiler/passes.h"

#define CONSTANT_BYTES_MAX UINT64_C(65536) /* of a program, as in ptxas */
#define LOCAL_BYTES_MAX UINT64_C(524288)   /* of a thread, as in CUDA */

/* "file.cu:12: "; of a function, where it begins; "" if the code has no places. */
static void print_place(wpi_source_place_of place, char *out, size_t out_bytes) {
    out[0] = '\0';
    if (place.file != NULL)
        snprintf(out, out_bytes, "%.*s:%u: ", (int)place.file_length, place.file, place.line);
}

static wpi_source_place_of place_of_function(LLVMValueRef function) {
    LLVMMetadataRef program = LLVMGetSubprogram(function);
    LLVMMetadataRef file = program != NULL ? LLVMDIScopeGetFile(program) : NULL;
    unsigned length = 0;
    if (file == NULL) return (wpi_source_place_of){NULL, 0, 0};
    const char *name = LLVMDIFileGetFilename(file, &length);
    return (wpi_source_place_of){name, length, LLVMDISubprogramGetLine(program)};
}

/* The place of a local variable: that of an instruction that uses it. */
static wpi_source_place_of place_of_local(LLVMValueRef function, LLVMValueRef local) {
    for (LLVMUseRef use = LLVMGetFirstUse(local); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (!LLVMIsAInstruction(user)) continue;
        const wpi_source_place_of place = wpi_source_place_of(user);
        if (place.file != NULL) return place;
    }
    return place_of_function(function);
}

/* The place of a computed goto. All of a function's are one jump, which has no place if there are
 * several: then that of a predecessor, or of the function. */
static wpi_source_place_of place_of_jump(LLVMValueRef function, LLVMValueRef jump) {
    wpi_source_place_of place = wpi_source_place_of(jump);
    LLVMValueRef block = LLVMBasicBlockAsValue(LLVMGetInstructionParent(jump));
    for (LLVMUseRef use = LLVMGetFirstUse(block); use != NULL && place.file == NULL;
         use = LLVMGetNextUse(use))
        if (LLVMIsAInstruction(LLVMGetUser(use))) place = wpi_source_place_of(LLVMGetUser(use));
    for (LLVMValueRef i = LLVMGetPreviousInstruction(jump); i != NULL && place.file == NULL;
         i = LLVMGetPreviousInstruction(i))
        place = wpi_source_place_of(i);
    return place.file != NULL ? place : place_of_function(function);
}

static uint64_t local_bytes(const wpi_compile *c, LLVMValueRef alloca) {
    LLVMValueRef count = LLVMGetOperand(alloca, 0);
    if (!LLVMIsAConstantInt(count)) return 0; /* rejected later */
    return LLVMABISizeOfType(LLVMGetModuleDataLayout(c->module), LLVMGetAllocatedType(alloca)) *
           LLVMConstIntGetZExtValue(count);
}

static wp_status check_function(const wpi_compile *c, LLVMValueRef function, wp_error *err) {
    const char *name = LLVMGetValueName(function);
    LLVMValueRef largest = NULL;
    uint64_t sum_bytes = 0, largest_bytes = 0;
    char at[512];
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (LLVMIsAIndirectBrInst(i)) {
                print_place(place_of_jump(function, i), at, sizeof at);
                return WP_FAIL(err, UNSUPPORTED,
                               "%scomputed goto in %s: device code cannot jump to an address; use "
                               "switch",
                               at, name);
            }
            if (!LLVMIsAAllocaInst(i)) continue;
            const uint64_t bytes = local_bytes(c, i);
            sum_bytes += bytes;
            if (bytes > largest_bytes) {
                largest_bytes = bytes;
                largest = i;
            }
        }
    }
    if (sum_bytes <= LOCAL_BYTES_MAX) return WP_STATUS_OK;
    print_place(place_of_local(function, largest), at, sizeof at);
    return WP_FAIL(err, UNSUPPORTED,
                   "%slocal variables of %s take %" PRIu64 " bytes of a thread's local memory, of "
                   "which CUDA allows %" PRIu64 " (512 KiB); allocate global memory instead",
                   at, name, sum_bytes, LOCAL_BYTES_MAX);
}

static wp_status check_constants(const wpi_compile *c, wp_error *err) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    wpi_text names = {0};
    uint64_t sum_bytes = 0;
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g)) {
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) != WP_SPACE_CONSTANT || LLVMIsDeclaration(g))
            continue;
        const uint64_t bytes = LLVMABISizeOfType(layout, LLVMGlobalGetValueType(g));
        sum_bytes += bytes;
        if (names.length < 300)
            wpi_text_appendf(&names, "%s%s (%" PRIu64 ")", names.length != 0 ? ", " : "",
                             LLVMGetValueName(g), bytes);
    }
    wp_status status = WP_STATUS_OK;
    if (sum_bytes > CONSTANT_BYTES_MAX)
        status = WP_FAIL(err, UNSUPPORTED,
                         "too much __constant__ memory: %" PRIu64 " bytes of at most %" PRIu64
                         "; the variables and their bytes: %s",
                         sum_bytes, CONSTANT_BYTES_MAX, wpi_text_string(&names));
    wpi_text_deinit(&names);
    return status;
}

static bool is_ascii(const char *name) {
    while (*name != '\0' && (unsigned char)*name < 0x80)
        name++;
    return *name == '\0';
}

static wp_status refuse_name(wpi_source_place_of place, const char *name, wp_error *err) {
    char at[512];
    print_place(place, at, sizeof at);
    return WP_FAIL(err, UNSUPPORTED,
                   "%sdevice code cannot have the name %s: PTX has ASCII identifiers only", at,
                   name);
}

wp_status wpi_pass_limits(wpi_compile *c, wp_error *err) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(c->module); g; g = LLVMGetNextGlobal(g))
        if (!is_ascii(LLVMGetValueName(g)))
            return refuse_name((wpi_source_place_of){NULL, 0, 0}, LLVMGetValueName(g), err);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (!is_ascii(LLVMGetValueName(f)))
            return refuse_name(place_of_function(f), LLVMGetValueName(f), err);
        if (!LLVMIsDeclaration(f)) WP_TRY(check_function(c, f, err));
    }
    return check_constants(c, err);
}
