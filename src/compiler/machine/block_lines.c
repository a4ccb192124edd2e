/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/machine/block_lines.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/alloc.h"
#include "base/must.h"
#include "compiler/ir/loop.h"

#define NOTE "wp.block_number"

/* DICompileUnit's DebugDirectivesOnly, which LLVM-C has no name for: lines in the text, and nothing
 * that would make ptxas compile for a debugger. */
#define DIRECTIVES_ONLY ((LLVMDWARFEmissionKind)3)

static unsigned note_kind(LLVMContextRef context) {
    return LLVMGetMDKindIDInContext(context, NOTE, sizeof NOTE - 1);
}

static void number_block(wpi_compile *c, LLVMBasicBlockRef block, uint32_t number) {
    LLVMMetadataRef value = LLVMValueAsMetadata(wpi_const32(c, number));
    LLVMMetadataRef node = LLVMMDNodeInContext2(c->context, &value, 1);
    LLVMValueRef note = LLVMMetadataAsValue(c->context, node);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        LLVMSetMetadata(i, note_kind(c->context), note);
}

static uint32_t size_of(const wpi_loops *loops, const wpi_loop *loop) {
    uint32_t size = 0;
    for (uint32_t b = 0; b < loops->block_count; b++)
        size += loop->contains[b];
    return size;
}

/* The first block of the smallest loop around a block. */
static LLVMBasicBlockRef innermost(const wpi_loops *loops, uint32_t index) {
    uint32_t least = UINT32_MAX, header = 0;
    for (uint32_t l = 0; l < loops->loop_count; l++) {
        const wpi_loop *loop = &loops->loops[l];
        const uint32_t size = loop->contains[index] ? size_of(loops, loop) : UINT32_MAX;
        if (size < least) least = size, header = loop->header;
    }
    return least != UINT32_MAX ? loops->blocks[header] : NULL;
}

static uint32_t number_of_block(LLVMBasicBlockRef block) {
    return wpi_block_number_of(LLVMGetBasicBlockTerminator(block));
}

static void note_places(LLVMValueRef function, wpi_block_places *out) {
    wpi_loops loops;
    wpi_loops_init(&loops, function);
    for (uint32_t b = 0; b < loops.block_count; b++) {
        const uint32_t number = number_of_block(loops.blocks[b]);
        LLVMBasicBlockRef header = innermost(&loops, b);
        out->loop_of[number] = header ? number_of_block(header) : 0;
        out->dominator_of[number] =
            loops.idom[b] != b ? number_of_block(loops.blocks[loops.idom[b]]) : 0;
    }
    wpi_loops_deinit(&loops);
}

void wpi_blocks_number(wpi_compile *c, wpi_block_places *out) {
    uint32_t count = 0;
    LLVMValueRef f;
    for (f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            number_block(c, b, ++count);
    *out = (wpi_block_places){.count = count};
    out->loop_of = wpi_must_calloc(count + 1, sizeof *out->loop_of);
    out->dominator_of = wpi_must_calloc(count + 1, sizeof *out->dominator_of);
    for (f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) note_places(f, out);
}

void wpi_block_places_deinit(wpi_block_places *places) {
    wpi_free(places->loop_of);
    wpi_free(places->dominator_of);
    *places = (wpi_block_places){0};
}

uint32_t wpi_block_number_of(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetModuleContext(
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(instruction))));
    LLVMValueRef note = LLVMGetMetadata(instruction, note_kind(context)), number;
    if (!note) return 0;
    LLVMGetMDNodeOperands(note, &number);
    return (uint32_t)LLVMConstIntGetZExtValue(number);
}

/* Its own line is that of its first block: what ptxas puts before it begins with that line. */
static LLVMMetadataRef describe(LLVMDIBuilderRef builder, LLVMMetadataRef file, LLVMValueRef f) {
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    const uint32_t line =
        wpi_block_number_of(LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(f)));
    LLVMMetadataRef none =
        LLVMDIBuilderCreateSubroutineType(builder, file, NULL, 0, LLVMDIFlagZero);
    LLVMMetadataRef program = LLVMDIBuilderCreateFunction(
        builder, file, name, length, name, length, file, line, none, 0, 1, line, LLVMDIFlagZero, 1);
    LLVMSetSubprogram(f, program);
    return program;
}

void wpi_blocks_to_lines(wpi_compile *c) {
    static const char producer[] = "wpcc", file_name[] = "blocks";
    LLVMDIBuilderRef builder = LLVMCreateDIBuilder(c->module);
    LLVMMetadataRef file =
        LLVMDIBuilderCreateFile(builder, file_name, sizeof file_name - 1, ".", 1);
    LLVMDIBuilderCreateCompileUnit(builder, LLVMDWARFSourceLanguageC, file, producer,
                                   sizeof producer - 1, 1, "", 0, 0, "", 0, DIRECTIVES_ONLY, 0, 0,
                                   0, "", 0, "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        LLVMMetadataRef scope = describe(builder, file, f);
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                if (LLVMIsAPHINode(i)) continue;
                LLVMInstructionSetDebugLoc(
                    i, LLVMDIBuilderCreateDebugLocation(c->context, wpi_block_number_of(i), 0,
                                                        scope, NULL));
            }
    }
    LLVMMetadataRef version = LLVMValueAsMetadata(wpi_const32(c, LLVMDebugMetadataVersion()));
    static const char flag[] = "Debug Info Version";
    if (!LLVMGetModuleFlag(c->module, flag, sizeof flag - 1))
        LLVMAddModuleFlag(c->module, LLVMModuleFlagBehaviorWarning, flag, sizeof flag - 1, version);
    LLVMDIBuilderFinalize(builder);
    LLVMDisposeDIBuilder(builder);
}
