/* SPDX-License-Identifier: Apache-2.0 */
/* Where addresses start: parameters, variables, memory of the thread or of its block. Noted on each
 * access, as later steps keep addresses in memory of the thread. */
#include <stddef.h>

#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/rewrite/stream.h"

static void add_root(LLVMValueRef pointer, wpi_stream_root *root) {
    if (LLVMIsAArgument(pointer) && wpi_argument_number(pointer) < WPI_STREAM_PARAMETERS)
        root->params |= UINT64_C(1) << wpi_argument_number(pointer);
    else if (LLVMIsAAllocaInst(pointer))
        root->is_local = true;
    else if (LLVMIsAGlobalVariable(pointer) &&
             LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == WP_SPACE_SHARED)
        root->is_shared = true;
    else if (LLVMIsAGlobalVariable(pointer))
        root->is_variable = true;
    else if (!LLVMIsUndef(pointer) && !LLVMIsAConstantPointerNull(pointer))
        root->is_loaded = true;
}

wpi_stream_root wpi_stream_root_of(LLVMValueRef pointer) {
    wpi_stream_root root = {0};
    const wpi_pointer_roots_of from = wpi_pointer_roots_of(pointer);
    for (uint32_t r = 0; r < from.count; r++)
        add_root(from.items[r], &root);
    if (from.is_incomplete) root.is_loaded = true;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == WP_SPACE_SHARED) root.is_shared = true;
    return root;
}

bool wpi_stream_is_own(const wpi_stream_root *root) {
    return root->is_local && root->params == 0 && !root->is_shared && !root->is_variable &&
           !root->is_loaded;
}

/* ---- notes of roots ---- */

enum { NOTE_LOCAL = 1, NOTE_SHARED = 2, NOTE_VARIABLE = 4, NOTE_LOADED = 8 };
#define NOTE "wp.stream.root"

static unsigned note_kind(LLVMValueRef instruction) {
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(instruction));
    return LLVMGetMDKindIDInContext(context, NOTE, sizeof NOTE - 1);
}

static void note_root(const wpi_stream *s, LLVMValueRef i, const wpi_stream_root *root) {
    const uint32_t flags = (root->is_local ? NOTE_LOCAL : 0) | (root->is_shared ? NOTE_SHARED : 0) |
                           (root->is_variable ? NOTE_VARIABLE : 0) |
                           (root->is_loaded ? NOTE_LOADED : 0);
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(wpi_const64(s->c, root->params)),
                               LLVMValueAsMetadata(wpi_const32(s->c, flags))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(s->c->context, parts, 2);
    LLVMSetMetadata(i, note_kind(i), LLVMMetadataAsValue(s->c->context, node));
}

wpi_stream_root wpi_stream_noted_root(LLVMValueRef instruction) {
    LLVMValueRef note = LLVMGetMetadata(instruction, note_kind(instruction)), parts[2];
    if (note == NULL) return (wpi_stream_root){.is_local = true};
    LLVMGetMDNodeOperands(note, parts);
    const uint64_t flags = LLVMConstIntGetZExtValue(parts[1]);
    return (wpi_stream_root){.params = LLVMConstIntGetZExtValue(parts[0]),
                             .is_local = (flags & NOTE_LOCAL) != 0,
                             .is_shared = (flags & NOTE_SHARED) != 0,
                             .is_variable = (flags & NOTE_VARIABLE) != 0,
                             .is_loaded = (flags & NOTE_LOADED) != 0};
}

/* Of all accesses that are left: not to mapped data. */
void wpi_stream_note_roots(wpi_stream *s) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (a.pointer == NULL) continue;
            const wpi_stream_root root = wpi_stream_root_of(a.pointer);
            note_root(s, i, &root);
            if (!wpi_access_writes(&a) || wpi_stream_is_own(&root)) continue;
            s->written.params |= root.params;
            s->written.is_shared |= root.is_shared;
            s->written.is_variable |= root.is_variable;
            s->written.is_loaded |= root.is_loaded;
        }
    }
}
