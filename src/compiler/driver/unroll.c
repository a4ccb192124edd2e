/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/unroll.h"

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Support.h>
#include <string.h>

#include "base/file.h"
#include "base/must.h"
#include "compiler/context.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/thread_loop.h"

/* LLVM's limit for loops that are marked `MARK`, in its instructions. Measured with loops of 1 to
 * 256 products, 2 to 256 turns, with and without barriers and branches (docs/guide/accuracy.md):
 * nvcc unrolls whole up to 400 to 450, and ptxas what has no branches up to about 800. */
#define LIMIT "-pragma-unroll-threshold=600"

#define MARK "llvm.loop.unroll.enable"
#define OURS "warpage.unroll" /* the mark is not the program's */

static void set_limit(void) {
    static bool is_done;
    const char *const words[] = {"wpcc", LIMIT};
    if (!is_done) LLVMParseCommandLineOptions(2, words, NULL);
    is_done = true;
}

/* Whether a hint of a loop begins with the words. */
static bool begins(LLVMValueRef hint, const char *words) {
    LLVMValueRef name = NULL;
    unsigned length = 0;
    if (!LLVMIsAMDNode(hint) || LLVMGetMDNodeNumOperands(hint) != 1) return false;
    LLVMGetMDNodeOperands(hint, &name);
    const char *text = name ? LLVMGetMDString(name, &length) : NULL;
    return text && length >= strlen(words) && memcmp(text, words, strlen(words)) == 0;
}

/* The hints of a loop, by its latch; the first is the list itself. To be freed. */
static LLVMValueRef *hints_of(wpi_compile *c, LLVMValueRef branch, unsigned *count) {
    LLVMValueRef list =
        LLVMGetMetadata(branch, LLVMGetMDKindIDInContext(c->context, "llvm.loop", 9));
    *count = list ? (unsigned)LLVMGetMDNodeNumOperands(list) : 0;
    LLVMValueRef *hints = wpi_must_calloc(*count + 1, sizeof *hints);
    if (list) LLVMGetMDNodeOperands(list, hints);
    return hints;
}

/* Whether the program, or LLVM, has said how far the loop is to be unrolled. */
static bool is_decided(wpi_compile *c, LLVMValueRef branch) {
    unsigned count;
    bool is = false;
    LLVMValueRef *hints = hints_of(c, branch, &count);
    for (unsigned h = 1; h < count; h++)
        is = is || begins(hints[h], "llvm.loop.unroll.");
    wpi_free(hints);
    return is;
}

/* nvcc keeps a loop around a loop of a varying number of turns; LLVM would unroll both. */
static bool is_inner(const wpi_loops *loops, uint32_t loop) {
    for (uint32_t l = 0; l < loops->loop_count; l++)
        if (l != loop && loops->loops[loop].contains[loops->loops[l].header]) return false;
    return true;
}

static void mark(wpi_compile *c, LLVMValueRef function) {
    wpi_loops loops;
    wpi_loops_init(&loops, function);
    for (uint32_t l = 0; l < loops.loop_count; l++) {
        LLVMBasicBlockRef latch = loops.blocks[loops.loops[l].latch];
        if (!is_inner(&loops, l) || is_decided(c, LLVMGetBasicBlockTerminator(latch))) continue;
        wpi_loop_hint(c, latch, MARK);
        wpi_loop_hint(c, latch, OURS);
    }
    wpi_loops_deinit(&loops);
}

/* Loops that were too large. */
static void unmark(wpi_compile *c, LLVMValueRef branch) {
    unsigned count;
    LLVMValueRef *hints = hints_of(c, branch, &count);
    if (count > 2 && begins(hints[count - 1], OURS)) {
        LLVMMetadataRef *parts = wpi_must_calloc(count, sizeof(LLVMMetadataRef));
        LLVMMetadataRef self = parts[0] = LLVMTemporaryMDNode(c->context, NULL, 0);
        for (unsigned h = 1; h < count - 2; h++)
            parts[h] = LLVMValueAsMetadata(hints[h]);
        LLVMMetadataRef list = LLVMMDNodeInContext2(c->context, parts, count - 2);
        LLVMMetadataReplaceAllUsesWith(self, list);
        LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(c->context, "llvm.loop", 9),
                        count > 3 ? LLVMMetadataAsValue(c->context, list) : NULL);
        wpi_free(parts);
    }
    wpi_free(hints);
}

static wp_status unroll(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_nvptx(&machine, err));
    set_limit();
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) mark(c, f);
    WP_TRY(
        wpi_compile_run(c, "function(loop-simplify,lcssa,loop(loop-unroll-full))", machine, err));
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            unmark(c, LLVMGetBasicBlockTerminator(b));
    return wpi_compile_run(c,
                           "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,"
                           "simplifycfg,loop-unroll<O2>,instcombine<no-verify-fixpoint>,"
                           "simplifycfg)",
                           machine, err);
}

wp_status wpi_unroll_bitcode(const char *path, wp_error *err) {
    char *bitcode = NULL;
    size_t size_bytes = 0;
    wpi_compile *c = NULL;
    wp_status status;
    WP_TRY(wpi_file_read(path, &bitcode, &size_bytes, err));
    WP_TRY_GOTO(wpi_compile_create(bitcode, size_bytes, &c, err), done);
    WP_TRY_GOTO(unroll(c, err), done);
    status = wpi_compile_write(c, path, err);
done:
    wpi_compile_destroy(c);
    wpi_free(bitcode);
    return status;
}
