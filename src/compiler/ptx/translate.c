/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the statements of an asm block by the table row of each opcode. A guarded statement
 * (@p) becomes a branch around it, with a phi for every register it changed:
 *
 *     front ──!p──────────┐
 *       │p                ▼
 *       └──► then ──► join (phis, rest of the block) */
#include <stdio.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

void wpi_ptx_fail(wpi_ptx *t, const char *why) {
    if (t->status != WP_STATUS_OK) return;
    size_t length;
    const char *function = LLVMGetValueName2(t->function, &length);
    if (t->is_module) {
        t->status = WP_FAIL(t->err, UNSUPPORTED,
                            "PTX line %u: the instruction \"%s\" is not understood (in %.*s)%s%s",
                            t->line, t->s->text, length > 150 ? 150 : (int)length, function,
                            why ? ": " : "", why ? why : "");
        return;
    }
    t->status = WP_FAIL(
        t->err, UNSUPPORTED, "inline PTX: the instruction \"%s\" is not understood (in %.*s)%s%s",
        t->s->text, length > 150 ? 150 : (int)length, function, why ? ": " : "", why ? why : "");
}

bool wpi_ptx_has(wpi_ptx *t, const char *modifier) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        if (t->s->taken & 1u << i || strcmp(t->s->parts[i], modifier) != 0) continue;
        t->s->taken |= 1u << i;
        return true;
    }
    return false;
}

void wpi_ptx_skip(wpi_ptx *t, const char *modifier) {
    (void)wpi_ptx_has(t, modifier);
}

int wpi_ptx_choice(wpi_ptx *t, const char *const *names) {
    for (int i = 0; names[i]; i++)
        if (wpi_ptx_has(t, names[i])) return i;
    return -1;
}

wpi_ptx_type wpi_ptx_type_take(wpi_ptx *t) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        if (t->s->taken & 1u << i) continue;
        wpi_ptx_type type = wpi_ptx_type_parse(t->s->parts[i]);
        if (type.kind == WP_PTX_NONE) continue;
        t->s->taken |= 1u << i;
        return type;
    }
    wpi_ptx_fail(t, NULL);
    return wpi_ptx_type_of(WP_PTX_BITS, 32);
}

char wpi_ptx_rounding(wpi_ptx *t) {
    static const char *const names[] = {"rn", "rz", "rm", "rp", NULL};
    int i = wpi_ptx_choice(t, names);
    return i < 0 ? 0 : names[i][1];
}

void wpi_ptx_expect(wpi_ptx *t, unsigned least, unsigned most) {
    if (t->s->operand_count < least || t->s->operand_count > most) wpi_ptx_fail(t, NULL);
}

void wpi_ptx_take_policy(wpi_ptx *t) {
    const unsigned count = t->s->operand_count;
    if (!wpi_ptx_has(t, "L2::cache_hint")) return;
    wpi_ptx_expect(t, 2, UINT32_MAX);
    if (t->status != WP_STATUS_OK) return;
    (void)wpi_ptx_read(t, count - 1, wpi_ptx_type_of(WP_PTX_BITS, 64));
    t->s->operand_count = count - 1;
}

const wpi_ptx_operand *wpi_ptx_operand_at(const wpi_ptx *t, unsigned index) {
    /* past the end only after wpi_ptx_expect has failed: pool[0] reads as 0 */
    return &t->s->pool[index < t->s->operand_count ? t->s->operands[index] : 0];
}

unsigned wpi_ptx_length(const wpi_ptx *t, unsigned index) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    return o->kind == WP_PTX_OPERAND_LIST ? o->count : 1;
}

const wpi_ptx_operand *wpi_ptx_item_at(const wpi_ptx *t, unsigned index, unsigned i) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    return o->kind == WP_PTX_OPERAND_LIST ? &t->s->pool[o->first + i] : o;
}

const wpi_ptx_operand *wpi_ptx_second(const wpi_ptx *t, unsigned index) {
    unsigned second = wpi_ptx_operand_at(t, index)->second;
    return second ? &t->s->pool[second] : NULL;
}

static const wpi_ptx_row *find_row(const char *name) {
    static const wpi_ptx_row *const tables[] = {
        wpi_ptx_arithmetic, wpi_ptx_bits,    wpi_ptx_compare, wpi_ptx_convert, wpi_ptx_memory,
        wpi_ptx_atomic,     wpi_ptx_thread,  wpi_ptx_video,   wpi_ptx_tensor,  wpi_ptx_mbarrier,
        wpi_ptx_texture,    wpi_ptx_cluster, wpi_ptx_wgmma,
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const wpi_ptx_row *row = tables[i]; row->name; row++)
            if (strcmp(row->name, name) == 0) return row;
    return NULL;
}

void wpi_ptx_run(wpi_ptx *t) {
    const wpi_ptx_row *row = find_row(t->s->parts[0]);
    if (!row) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    row->emit(t);
    uint32_t all = (1u << t->s->part_count) - 2; /* without the opcode's first part */
    if ((t->s->taken & all) != all) wpi_ptx_fail(t, NULL);
}

static LLVMValueRef merge(wpi_ptx *t, LLVMValueRef before, LLVMBasicBlockRef front,
                          LLVMValueRef after, LLVMBasicBlockRef then, LLVMBasicBlockRef join) {
    if (!before) before = LLVMGetUndef(LLVMTypeOf(after));
    if (LLVMTypeOf(before) != LLVMTypeOf(after)) { /* a pointer and an integer */
        LLVMPositionBuilderBefore(t->b, LLVMGetBasicBlockTerminator(front));
        before = wpi_ptx_as_integer(t, before);
        LLVMPositionBuilderBefore(t->b, LLVMGetBasicBlockTerminator(then));
        after = wpi_ptx_as_integer(t, after);
    }
    LLVMPositionBuilderBefore(t->b, LLVMGetFirstInstruction(join));
    LLVMValueRef phi = LLVMBuildPhi(t->b, LLVMTypeOf(after), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){before, after}, (LLVMBasicBlockRef[]){front, then}, 2);
    return phi;
}

static void run_guarded(wpi_ptx *t) {
    t->s->guard.kind = WP_PTX_OPERAND_NAME;
    LLVMValueRef condition =
        wpi_ptx_read_operand(t, &t->s->guard, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
    if (t->status != WP_STATUS_OK) return;

    LLVMValueRef outer = t->anchor;
    LLVMBasicBlockRef join = LLVMGetInstructionParent(outer);
    LLVMBasicBlockRef front = wpi_block_split_before(outer);
    LLVMBasicBlockRef then = LLVMInsertBasicBlockInContext(t->c->context, join, "then");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    LLVMBuildCondBr(t->b, condition, then, join);
    LLVMPositionBuilderAtEnd(t->b, then);
    t->anchor = LLVMBuildBr(t->b, join);
    LLVMPositionBuilderBefore(t->b, t->anchor);

    unsigned count = t->register_count;
    LLVMValueRef *before = wpi_must_calloc(count + 1, sizeof *before);
    for (unsigned i = 0; i < count; i++)
        before[i] = t->registers[i].value;
    LLVMValueRef carry = t->carry;
    wpi_ptx_run(t);
    then = LLVMGetInstructionParent(t->anchor);
    for (unsigned i = 0; i < count; i++) {
        wpi_ptx_register *r = &t->registers[i];
        if (r->value != before[i]) r->value = merge(t, before[i], front, r->value, then, join);
    }
    if (t->carry != carry) t->carry = merge(t, carry, front, t->carry, then, join);
    wpi_free(before);
    t->anchor = outer;
    LLVMPositionBuilderBefore(t->b, outer);
}

void wpi_ptx_declare_all(wpi_ptx *t, const wpi_ptx_parser *parser) {
    for (unsigned i = 1; i < parser->statement.pool_count; i++) {
        const wpi_ptx_operand *o = &parser->statement.pool[i];
        if (o->value == 0) wpi_ptx_declare(t, o->name, parser->type, NULL);
        for (unsigned n = 0; n < o->value; n++) { /* r<3>: r0, r1, r2 */
            char *name = wpi_format("%s%u", o->name, n);
            wpi_ptx_declare(t, name, parser->type, NULL);
            wpi_free(name);
        }
    }
}

void wpi_ptx_close_scope(wpi_ptx *t) {
    while (t->register_count && t->registers[t->register_count - 1].depth == t->depth)
        wpi_ptx_forget(t, t->register_count - 1);
    t->depth--;
}

static void run_statement(wpi_ptx *t) {
    if (strcmp(t->s->parts[0], "bra") == 0)
        wpi_ptx_labels_branch(t);
    else if (t->s->has_guard)
        run_guarded(t);
    else
        wpi_ptx_run(t);
}

void wpi_ptx_translate(wpi_ptx *t, const char *text, size_t length, unsigned uid) {
    wpi_ptx_labels_read(t, text, length, uid);
    if (t->status != WP_STATUS_OK) return;
    wpi_ptx_parser *parser = wpi_must_malloc(sizeof *parser);
    wpi_ptx_parser_init(parser, text, length, uid);
    t->s = &parser->statement;
    bool is_done = false;
    while (!is_done && t->status == WP_STATUS_OK) {
        switch (wpi_ptx_parse(parser)) {
        case WP_PTX_ITEM_END: is_done = true; break;
        case WP_PTX_ITEM_OPEN: t->depth++; break;
        case WP_PTX_ITEM_CLOSE:
            if (t->depth > 0) wpi_ptx_close_scope(t);
            break;
        case WP_PTX_ITEM_NAMES: wpi_ptx_declare_all(t, parser); break;
        case WP_PTX_ITEM_LABEL: wpi_ptx_labels_place(t, parser->label); break;
        case WP_PTX_ITEM_DOT:
        case WP_PTX_ITEM_BAD: wpi_ptx_fail(t, NULL); break;
        case WP_PTX_ITEM_STATEMENT: run_statement(t); break;
        }
    }
    t->s = NULL;
    wpi_ptx_parser_deinit(parser);
    wpi_free(parser);
}
