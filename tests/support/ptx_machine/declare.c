/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations: registers, and variables of every state space. */
#include "parser.h"

static void parse_attributes(pm_parser *p, pm_declaration *d) {
    d->vector = 1;
    while (p->lexer.token.kind == PM_TOKEN_WORD && p->lexer.token.text[0] == '.') {
        const pm_token t = pm_take_word(p, "a type");
        if (pm_token_is(&t, ".align"))
            d->align = pm_parse_number(p);
        else if (pm_token_is(&t, ".v2") || pm_token_is(&t, ".v4"))
            d->vector = (unsigned)(t.text[2] - '0');
        else if (pm_token_is(&t, ".attribute")) { /* (.managed): all memory here is the host's */
            pm_expect(p, "(");
            (void)pm_take_word(p, "an attribute");
            pm_expect(p, ")");
        } else if (pm_token_is(&t, ".ptr") || pm_token_is(&t, ".global") ||
                   pm_token_is(&t, ".const") || pm_token_is(&t, ".shared") ||
                   pm_token_is(&t, ".local"))
            continue; /* what a parameter points to */
        else if (d->type = pm_type_of(t.text, t.length), d->type.bytes == 0)
            pm_parse_fail(p, t.line, "%.*s is no type", (int)t.length, t.text);
    }
}

pm_declaration pm_parse_declaration(pm_parser *p) {
    pm_declaration d = {0};
    parse_attributes(p, &d);
    d.name = pm_take_word(p, "a name");
    d.bytes = (uint64_t)d.type.bytes * d.vector;
    if (d.align < d.bytes) d.align = d.align != 0 ? d.align : d.bytes;
    while (pm_accept(p, "[")) {
        d.is_array = true;
        if (pm_accept(p, "]")) {
            d.is_open = true;
            d.bytes = 0;
            continue;
        }
        d.bytes *= pm_parse_number(p);
        pm_expect(p, "]");
    }
    if (d.type.bytes == 0) pm_parse_fail(p, d.name.line, "a declaration without a type");
    return d;
}

/* `.reg .b32 %r<10>, x;` */
static void add_register(pm_parser *p, const char *name, size_t length, pm_type type) {
    if (pm_symbol_find_here(&p->symbols, name, length) != NULL)
        pm_parse_fail(p, p->lexer.token.line, "%.*s is there twice", (int)length, name);
    pm_symbol *s = pm_symbol_add(&p->symbols, p->module, name, length, PM_SYMBOL_REGISTER);
    s->type = type;
    s->row = pm_new_row(p);
}

void pm_parse_registers(pm_parser *p) {
    pm_declaration d = {0};
    parse_attributes(p, &d);
    do {
        const pm_token name = pm_take_word(p, "a register");
        if (pm_accept(p, "<")) {
            const uint64_t count = pm_parse_number(p);
            pm_expect(p, ">");
            for (uint64_t i = 0; i < count; i++) {
                char numbered[128];
                const int length = snprintf(numbered, sizeof numbered, "%.*s%u", (int)name.length,
                                            name.text, (unsigned)i);
                add_register(p, numbered, (size_t)length, d.type);
            }
        } else {
            add_register(p, name.text, name.length, d.type);
        }
    } while (pm_accept(p, ","));
    pm_expect(p, ";");
}

pm_symbol *pm_add_variable(pm_parser *p, const pm_declaration *d, pm_space space) {
    if (pm_symbol_find_here(&p->symbols, d->name.text, d->name.length) != NULL)
        pm_parse_fail(p, d->name.line, "%.*s is there twice", (int)d->name.length, d->name.text);
    pm_symbol *s =
        pm_symbol_add(&p->symbols, p->module, d->name.text, d->name.length, PM_SYMBOL_VARIABLE);
    s->space = space;
    s->bytes = d->bytes;
    return s;
}

/* Static variables of kernels begin behind those that all functions see. */
static void place_shared(pm_parser *p, pm_symbol *s, const pm_declaration *d) {
    pm_function *f = p->function;
    const bool is_own = f != NULL && f->is_kernel;
    uint32_t *top = is_own ? &f->shared_end : &p->module->shared_common_bytes;
    if (is_own && *top < p->module->shared_common_bytes) *top = p->module->shared_common_bytes;
    s->address = pm_round_up(*top, d->align);
    *top = (uint32_t)(s->address + d->bytes);
}

static void parse_memory_variable(pm_parser *p, const pm_declaration *d, bool is_constant) {
    pm_module *m = p->module;
    pm_symbol *s = pm_add_variable(p, d, is_constant ? PM_CONST : PM_GLOBAL);
    const size_t align = d->align > 256 ? (size_t)d->align : 256;
    uint8_t *memory = NULL;
    if (d->is_open) pm_parse_fail(p, d->name.line, "a variable without a size");
    memory = aligned_alloc(align, (size_t)pm_round_up(d->bytes + 1, align));
    if (memory == NULL) pm_parse_fail(p, d->name.line, "no memory");
    memset(memory, 0, (size_t)d->bytes);
    m->variables =
        pm_grow(m->variables, m->variable_count, &m->variable_capacity, sizeof *m->variables);
    m->variables[m->variable_count++] = (pm_variable){
        .name = s->name, .memory = memory, .bytes = (size_t)d->bytes, .is_constant = is_constant};
    s->address = (uint64_t)(uintptr_t)memory;
    if (pm_accept(p, "=")) pm_parse_initial(p, d->type, memory, d->bytes);
}

void pm_parse_variable(pm_parser *p, const pm_token *space, bool is_extern) {
    do {
        const pm_declaration d = pm_parse_declaration(p);
        if (pm_token_is(space, ".shared")) {
            pm_symbol *s = pm_add_variable(p, &d, PM_SHARED);
            /* with a size: memory of its own, as ptxas takes it */
            s->is_dynamic = is_extern && (d.is_open || d.bytes == 0);
            if (!s->is_dynamic) place_shared(p, s, &d);
            if (s->is_dynamic && d.align > p->module->shared_dynamic_align)
                p->module->shared_dynamic_align = (uint32_t)d.align;
        } else if (pm_token_is(space, ".local")) {
            if (p->function == NULL) pm_parse_fail(p, d.name.line, ".local outside of a function");
            pm_symbol *s = pm_add_variable(p, &d, PM_LOCAL);
            s->address = pm_local_place(p, d.bytes, d.align);
        } else if (pm_token_is(space, ".param")) {
            pm_symbol *s = pm_add_variable(p, &d, PM_LOCAL); /* of a call */
            s->address = pm_local_place(p, d.bytes, d.align);
        } else if (is_extern) {
            pm_parse_fail(p, d.name.line, "variable %.*s is in no module", (int)d.name.length,
                          d.name.text);
        } else {
            parse_memory_variable(p, &d, pm_token_is(space, ".const"));
        }
    } while (pm_accept(p, ","));
    pm_expect(p, ";");
}

bool pm_is_space(const pm_token *t) {
    return pm_token_is(t, ".global") || pm_token_is(t, ".const") || pm_token_is(t, ".shared") ||
           pm_token_is(t, ".local") || pm_token_is(t, ".param");
}
