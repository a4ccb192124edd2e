/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and branches of an asm block. The text is read once before for its labels, as branches go
 * forward, too. A label has a block of its own, which leads to what follows it:
 *
 *     front ──► label ──► join (rest of the block)        @p bra label:  front ──p──► label
 *                                                                          └──!p──► join
 *
 * Registers that the text writes have places in the function's frame, since control flow joins
 * them; inputs keep their values. The names of labels are of the whole text, also within { }. */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static LLVMBasicBlockRef find(const wpi_ptx *t, const char *name) {
    wpi_ptx_name *entry = wpi_ptx_name_find(t->labels.names, name);
    return entry ? t->labels.blocks[*wpi_ptx_name_number(entry)] : NULL;
}

static void add(wpi_ptx *t, const char *name) {
    int *number = wpi_ptx_name_number(wpi_ptx_name_add(&t->labels.names, name, strlen(name)));
    if (*number >= 0) {
        wpi_ptx_fail(t, "a label is defined twice");
        return;
    }
    *number = (int)t->labels.count++;
    t->labels.blocks =
        wpi_must_realloc(t->labels.blocks, t->labels.count * sizeof(LLVMBasicBlockRef));
    t->labels.blocks[*number] = LLVMAppendBasicBlockInContext(t->c->context, t->function, "label");
}

void wpi_ptx_labels_read(wpi_ptx *t, const char *text, size_t length, unsigned uid) {
    wpi_ptx_parser *parser = wpi_must_malloc(sizeof *parser);
    wpi_ptx_parser_init(parser, text, length, uid);
    t->s = &parser->statement;
    for (wpi_ptx_item item = WP_PTX_ITEM_OPEN;
         item != WP_PTX_ITEM_END && item != WP_PTX_ITEM_BAD && t->status == WP_STATUS_OK;) {
        item = wpi_ptx_parse(parser);
        if (item == WP_PTX_ITEM_LABEL) add(t, parser->label);
    }
    t->s = NULL;
    wpi_ptx_parser_deinit(parser);
    wpi_free(parser);
    for (unsigned i = 0; t->labels.count > 0 && i < t->register_count; i++) {
        wpi_ptx_register *r = &t->registers[i];
        if (!r->is_output) continue;
        r->has_slot = true;
        if (r->value) wpi_ptx_set_value(t, r, r->value);
    }
}

void wpi_ptx_labels_forget(wpi_ptx *t) {
    wpi_ptx_names_deinit(&t->labels.names);
    wpi_free(t->labels.blocks);
    memset(&t->labels, 0, sizeof t->labels);
}

void wpi_ptx_labels_place(wpi_ptx *t, const char *name) {
    LLVMBasicBlockRef label = find(t, name), join = LLVMGetInstructionParent(t->anchor);
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(front), 0, label);
    LLVMPositionBuilderAtEnd(t->b, label);
    LLVMBuildBr(t->b, join);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    t->carry = NULL;
}

void wpi_ptx_labels_branch(wpi_ptx *t) {
    wpi_ptx_skip(t, "uni");
    wpi_ptx_expect(t, 1, 1);
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, 0);
    LLVMBasicBlockRef label = o->kind == WP_PTX_OPERAND_NAME ? find(t, o->name) : NULL;
    LLVMValueRef condition = NULL;
    if (t->s->has_guard) {
        t->s->guard.kind = WP_PTX_OPERAND_NAME;
        condition = wpi_ptx_read_operand(t, &t->s->guard, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
    }
    if (!label) wpi_ptx_fail(t, "there is no such label");
    if (t->status != WP_STATUS_OK) return;
    LLVMBasicBlockRef join = LLVMGetInstructionParent(t->anchor);
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    if (condition)
        LLVMBuildCondBr(t->b, condition, label, join);
    else
        LLVMBuildBr(t->b, label);
    LLVMPositionBuilderBefore(t->b, t->anchor);
}
