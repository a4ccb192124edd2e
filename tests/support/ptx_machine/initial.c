/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the text, and the initial values of variables. */
#include "parser.h"

/* ---- numbers ---- */

static uint64_t parse_term(pm_parser *p) {
    const pm_token t = p->lexer.token;
    if (pm_accept(p, "-")) return 0 - parse_term(p);
    if (pm_accept(p, "+")) return parse_term(p);
    if (pm_accept(p, "~")) return ~parse_term(p);
    if (pm_accept(p, "(")) {
        const uint64_t value = pm_parse_number(p);
        pm_expect(p, ")");
        return value;
    }
    if (t.kind != PM_TOKEN_INTEGER)
        pm_parse_fail(p, t.line, "a number expected before '%.*s'", (int)t.length, t.text);
    pm_lexer_next(&p->lexer);
    return t.value;
}

uint64_t pm_parse_number(pm_parser *p) {
    uint64_t value = parse_term(p);
    for (;;) {
        if (pm_accept(p, "+"))
            value += parse_term(p);
        else if (pm_accept(p, "-"))
            value -= parse_term(p);
        else
            return value;
    }
}

/* ---- initial values ---- */

static uint64_t address_of(pm_parser *p, const pm_token *name) {
    const pm_symbol *s = pm_symbol_find(&p->symbols, name->text, name->length);
    if (s != NULL && s->kind == PM_SYMBOL_FUNCTION) return PM_CODE_WINDOW + s->function->number;
    if (s != NULL && s->kind == PM_SYMBOL_VARIABLE &&
        (s->space == PM_GLOBAL || s->space == PM_CONST))
        return s->address;
    pm_parse_fail(p, name->line, "the address of %.*s is not known here", (int)name->length,
                  name->text);
}

/* `name`, `generic(name)`, and a number after it. Global addresses are generic addresses here. */
static uint64_t parse_symbol(pm_parser *p) {
    const bool is_generic = pm_accept(p, "generic");
    if (is_generic) pm_expect(p, "(");
    const pm_token name = p->lexer.token;
    pm_lexer_next(&p->lexer);
    uint64_t value = address_of(p, &name);
    if (is_generic) pm_expect(p, ")");
    if (pm_accept(p, "+")) value += pm_parse_number(p);
    if (pm_accept(p, "-")) value -= pm_parse_number(p);
    return value;
}

/* `0xFF00(name)`: the byte that the mask selects. */
static uint64_t parse_masked(pm_parser *p, uint64_t mask) {
    const uint64_t value = parse_symbol(p);
    pm_expect(p, ")");
    return mask != 0 ? (value & mask) >> __builtin_ctzll(mask) : 0;
}

static uint64_t float_bits(uint64_t value, pm_token_kind kind, pm_type type) {
    double wide;
    float narrow;
    if (type.bytes == 4 && kind == PM_TOKEN_DOUBLE) {
        memcpy(&wide, &value, sizeof wide);
        narrow = (float)wide;
        value = 0;
        memcpy(&value, &narrow, sizeof narrow);
    }
    return value;
}

static uint64_t parse_value(pm_parser *p, pm_type type) {
    const pm_token t = p->lexer.token;
    if (t.kind == PM_TOKEN_WORD) return parse_symbol(p);
    if (t.kind == PM_TOKEN_FLOAT || t.kind == PM_TOKEN_DOUBLE) {
        pm_lexer_next(&p->lexer);
        return float_bits(t.value, t.kind, type);
    }
    const uint64_t value = pm_parse_number(p);
    return pm_accept(p, "(") ? parse_masked(p, value) : value;
}

static uint8_t *parse_values(pm_parser *p, pm_type type, uint8_t *at, const uint8_t *end) {
    if (!pm_accept(p, "{")) {
        const unsigned line = p->lexer.token.line;
        const uint64_t value = parse_value(p, type);
        if ((size_t)(end - at) < type.bytes) pm_parse_fail(p, line, "too many initial values");
        memcpy(at, &value, type.bytes);
        return at + type.bytes;
    }
    while (!pm_accept(p, "}")) {
        at = parse_values(p, type, at, end);
        if (!pm_token_is(&p->lexer.token, "}")) pm_expect(p, ",");
    }
    return at;
}

void pm_parse_initial(pm_parser *p, pm_type type, uint8_t *memory, uint64_t bytes) {
    (void)parse_values(p, type, memory, memory + bytes);
}
