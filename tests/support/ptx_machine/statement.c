/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: labels, operands, instructions, and the blocks that they stand in. */
#include "parser.h"

/* ---- labels ---- */

void pm_add_fixup(pm_parser *p, const pm_operand *label, uint32_t *target, uint32_t line) {
    pm_fixup *f = pm_module_alloc(p->module, sizeof *f);
    *f = (pm_fixup){.insn = p->module->code_count - 1,
                    .target = target,
                    .name = label->name,
                    .name_length = label->name_length,
                    .line = line,
                    .depth = p->symbols.depth,
                    .next = p->fixups};
    p->fixups = f;
}

/* What the scope does not know, the one around it may. */
static void resolve_labels(pm_parser *p, bool is_last) {
    for (pm_fixup **link = &p->fixups; *link != NULL;) {
        pm_fixup *f = *link;
        const pm_symbol *s = NULL;
        if (f->depth == p->symbols.depth) {
            s = pm_symbol_find_here(&p->symbols, f->name, f->name_length);
            f->depth--;
        }
        if (s != NULL && s->kind == PM_SYMBOL_LABEL) {
            if (f->target != NULL)
                *f->target = (uint32_t)s->address;
            else
                p->module->code[f->insn].offset = (int64_t)s->address;
            *link = f->next;
        } else {
            if (is_last) pm_parse_fail(p, f->line, "no label %.*s", (int)f->name_length, f->name);
            link = &f->next;
        }
    }
}

static void add_label(pm_parser *p, const pm_token *name) {
    if (pm_symbol_find_here(&p->symbols, name->text, name->length) != NULL)
        pm_parse_fail(p, name->line, "%.*s is there twice", (int)name->length, name->text);
    pm_symbol *s = pm_symbol_add(&p->symbols, p->module, name->text, name->length, PM_SYMBOL_LABEL);
    s->address = p->module->code_count;
}

/* ---- operands ---- */

static pm_operand parse_operand(pm_parser *p);

static pm_operand parse_items(pm_parser *p, pm_operand_kind kind, const char *end) {
    pm_operand items[64], o = {.kind = kind};
    while (!pm_accept(p, end)) {
        if (o.item_count == 64) pm_parse_fail(p, p->lexer.token.line, "a list without an end");
        items[o.item_count++] = parse_operand(p);
        if (!pm_token_is(&p->lexer.token, end)) pm_expect(p, ",");
    }
    o.items = pm_module_alloc(p->module, (o.item_count + 1) * sizeof items[0]);
    memcpy(o.items, items, o.item_count * sizeof items[0]);
    return o;
}

static pm_operand parse_address(pm_parser *p) {
    pm_operand o = {.kind = PM_OPERAND_ADDRESS, .item_count = 1};
    o.items = pm_module_alloc(p->module, 2 * sizeof *o.items);
    o.items[0] = parse_operand(p);
    if (pm_accept(p, "+")) o.value = pm_parse_number(p);
    if (pm_accept(p, ",")) {
        o.items[1] = parse_operand(p);
        o.item_count = 2;
    }
    pm_expect(p, "]");
    return o;
}

static pm_operand parse_name(pm_parser *p) {
    const pm_token t = pm_take_word(p, "an operand");
    pm_operand o = {.name = t.text, .name_length = t.length};
    if (pm_token_is(&t, "_")) {
        o.kind = PM_OPERAND_SINK;
        return o;
    }
    if (pm_token_is(&t, "WARP_SZ")) {
        o.kind = PM_OPERAND_INTEGER;
        o.value = PM_LANES;
        return o;
    }
    o.symbol = pm_symbol_find(&p->symbols, t.text, t.length);
    if (o.symbol == NULL) {
        const int special = pm_special_find(t.text, t.length);
        if (special < 0 && t.text[0] == '%')
            pm_parse_fail(p, t.line, "register %.*s is not known", (int)t.length, t.text);
        o.kind = special >= 0 ? PM_OPERAND_SPECIAL : PM_OPERAND_NAME;
        o.value = (uint64_t)special;
    } else if (o.symbol->kind == PM_SYMBOL_REGISTER) {
        o.kind = PM_OPERAND_REGISTER;
    } else if (o.symbol->kind == PM_SYMBOL_LABEL) {
        o.kind = PM_OPERAND_NAME;
    } else {
        o.kind = PM_OPERAND_SYMBOL;
    }
    return o;
}

static pm_operand parse_operand(pm_parser *p) {
    const pm_token t = p->lexer.token;
    pm_operand o = {0};
    if (pm_accept(p, "{")) return parse_items(p, PM_OPERAND_VECTOR, "}");
    if (pm_accept(p, "(")) return parse_items(p, PM_OPERAND_LIST, ")");
    if (pm_accept(p, "[")) return parse_address(p);
    if (pm_accept(p, "!")) {
        o = parse_operand(p);
        o.is_negated = true;
        return o;
    }
    if (t.kind == PM_TOKEN_FLOAT || t.kind == PM_TOKEN_DOUBLE) {
        o.kind = t.kind == PM_TOKEN_FLOAT ? PM_OPERAND_FLOAT : PM_OPERAND_DOUBLE;
        o.value = t.value;
        pm_lexer_next(&p->lexer);
        return o;
    }
    if (t.kind == PM_TOKEN_INTEGER || t.kind == PM_TOKEN_SIGN) {
        o.kind = PM_OPERAND_INTEGER;
        o.value = pm_parse_number(p);
        return o;
    }
    o = parse_name(p);
    if (o.kind == PM_OPERAND_SYMBOL && pm_token_is(&p->lexer.token, "+")) {
        pm_lexer_next(&p->lexer);
        o.value = pm_parse_number(p);
    }
    if (pm_accept(p, "|")) {
        pm_operand *items = pm_module_alloc(p->module, 2 * sizeof *items);
        items[0] = o;
        items[1] = parse_operand(p);
        o = (pm_operand){.kind = PM_OPERAND_PAIR, .items = items, .item_count = 2};
    }
    return o;
}

/* ---- statements ---- */

/* `.branchtargets L1, L2;` behind its label. */
static void parse_targets(pm_parser *p, const pm_token *name) {
    uint32_t *targets = pm_module_alloc(p->module, 4096 * sizeof *targets), count = 0;
    do {
        const pm_operand label = parse_name(p);
        if (count == 4096) pm_parse_fail(p, name->line, "too many branch targets");
        pm_add_fixup(p, &label, &targets[count++], name->line);
    } while (pm_accept(p, ","));
    pm_expect(p, ";");
    pm_symbol *s =
        pm_symbol_add(&p->symbols, p->module, name->text, name->length, PM_SYMBOL_TARGETS);
    s->targets = targets;
    s->target_count = count;
}

void pm_skip_statement(pm_parser *p) {
    while (p->lexer.token.kind != PM_TOKEN_END && !pm_accept(p, ";"))
        pm_lexer_next(&p->lexer);
}

static void parse_labelled(pm_parser *p, const pm_token *name) {
    if (pm_accept(p, ".callprototype")) {
        pm_symbol_add(&p->symbols, p->module, name->text, name->length, PM_SYMBOL_PROTOTYPE);
        pm_skip_statement(p);
    } else if (pm_accept(p, ".branchtargets")) {
        parse_targets(p, name);
    } else {
        add_label(p, name);
    }
}

static void parse_guard(pm_parser *p, pm_statement *s) {
    s->is_guard_negated = pm_accept(p, "!");
    const pm_operand o = parse_name(p);
    if (o.kind != PM_OPERAND_REGISTER || o.symbol->type.kind != PM_PRED)
        pm_parse_fail(p, p->lexer.token.line, "a guard that is no predicate");
    s->guard = o.symbol;
}

static void parse_instruction(pm_parser *p) {
    pm_statement s = {.line = p->lexer.token.line};
    const char *text = p->lexer.token.text;
    if (pm_accept(p, "@")) parse_guard(p, &s);
    const pm_token name = pm_take_word(p, "an instruction");
    if (s.guard == NULL && pm_accept(p, ":")) {
        parse_labelled(p, &name);
        return;
    }
    (void)snprintf(s.name, sizeof s.name, "%.*s", (int)name.length, name.text);
    if (!pm_token_is(&p->lexer.token, ";")) {
        do {
            if (s.operand_count == PM_OPERANDS_MAX)
                pm_parse_fail(p, s.line, "%s with too many operands", s.name);
            s.operands[s.operand_count++] = parse_operand(p);
        } while (pm_accept(p, ","));
    }
    const char *end = p->lexer.token.text;
    pm_expect(p, ";");
    s.text = pm_module_text(p->module, text, (size_t)(end - text));
    pm_decode(p, &s);
}

/* `.loc 1 5 3, function_name $L0, inlined_at 1 2 3`, to the end of the line. */
void pm_skip_line(pm_parser *p) {
    const unsigned line = p->lexer.token.line;
    while (p->lexer.token.kind != PM_TOKEN_END && p->lexer.token.line == line)
        pm_lexer_next(&p->lexer);
}

void pm_parse_block(pm_parser *p) {
    const uint32_t local_top = p->local_top;
    pm_scope_open(&p->symbols);
    while (!pm_token_is(&p->lexer.token, "}")) {
        const pm_token t = p->lexer.token;
        if (t.kind == PM_TOKEN_END) pm_parse_fail(p, t.line, "a function without an end");
        if (pm_accept(p, "{")) {
            pm_parse_block(p);
        } else if (pm_accept(p, ".reg")) {
            pm_parse_registers(p);
        } else if (pm_is_space(&t)) {
            pm_lexer_next(&p->lexer);
            pm_parse_variable(p, &t, false);
        } else if (pm_accept(p, ".pragma")) {
            pm_skip_statement(p);
        } else if (pm_token_is(&t, ".loc")) {
            pm_skip_line(p);
        } else {
            parse_instruction(p);
        }
    }
    resolve_labels(p, p->symbols.depth == PM_FUNCTION_DEPTH);
    pm_scope_close(&p->symbols);
    p->local_top = local_top;
    pm_expect(p, "}");
}
