/* SPDX-License-Identifier: Apache-2.0 */
#include "parser.h"

#include <ctype.h>
#include <stdarg.h>

void pm_parse_fail(pm_parser *p, unsigned line, const char *format, ...) {
    char message[400];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (p->log != NULL && p->log_bytes != 0)
        (void)snprintf(p->log, p->log_bytes, "ptxas application ptx input, line %u; error   : %s\n",
                       line, message);
    longjmp(p->failed, 1);
}

/* ---- tokens ---- */

bool pm_accept(pm_parser *p, const char *text) {
    if (!pm_token_is(&p->lexer.token, text)) return false;
    pm_lexer_next(&p->lexer);
    return true;
}

void pm_expect(pm_parser *p, const char *text) {
    const pm_token *t = &p->lexer.token;
    if (!pm_accept(p, text))
        pm_parse_fail(p, t->line, "'%s' expected before '%.*s'", text,
                      t->length < 40 ? (int)t->length : 40, t->text);
}

pm_token pm_take_word(pm_parser *p, const char *what) {
    const pm_token t = p->lexer.token;
    if (t.kind != PM_TOKEN_WORD)
        pm_parse_fail(p, t.line, "%s expected before '%.*s'", what, (int)t.length, t.text);
    pm_lexer_next(&p->lexer);
    return t;
}

pm_type pm_type_of(const char *name, size_t length) {
    static const struct {
        const char *name;
        pm_type type;
    } types[] = {{"b8", {PM_BITS, 1}},      {"b16", {PM_BITS, 2}},     {"b32", {PM_BITS, 4}},
                 {"b64", {PM_BITS, 8}},     {"u8", {PM_UNSIGNED, 1}},  {"u16", {PM_UNSIGNED, 2}},
                 {"u32", {PM_UNSIGNED, 4}}, {"u64", {PM_UNSIGNED, 8}}, {"s8", {PM_SIGNED, 1}},
                 {"s16", {PM_SIGNED, 2}},   {"s32", {PM_SIGNED, 4}},   {"s64", {PM_SIGNED, 8}},
                 {"f16", {PM_FLOAT, 2}},    {"f32", {PM_FLOAT, 4}},    {"f64", {PM_FLOAT, 8}},
                 {"bf16", {PM_BFLOAT, 2}},  {"pred", {PM_PRED, 1}},    {"f16x2", {PM_BITS, 4}},
                 {"bf16x2", {PM_BITS, 4}}};
    if (length != 0 && *name == '.') {
        name++;
        length--;
    }
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && memcmp(types[i].name, name, length) == 0)
            return types[i].type;
    return (pm_type){PM_BITS, 0};
}

/* ---- functions ---- */

static pm_symbol *find_or_add_function(pm_parser *p, const pm_token *name, bool is_kernel) {
    pm_module *m = p->module;
    pm_symbol *s = pm_symbol_find(&p->symbols, name->text, name->length);
    if (s != NULL) {
        if (s->kind != PM_SYMBOL_FUNCTION)
            pm_parse_fail(p, name->line, "%s is no function", s->name);
        return s;
    }
    s = pm_symbol_add(&p->symbols, m, name->text, name->length, PM_SYMBOL_FUNCTION);
    s->function = pm_module_alloc(m, sizeof *s->function);
    s->function->name = s->name;
    s->function->is_kernel = is_kernel;
    s->function->native = pm_native_find(s->name);
    m->functions =
        pm_grow(m->functions, m->function_count, &m->function_capacity, sizeof *m->functions);
    s->function->number = m->function_count;
    m->functions[m->function_count++] = s->function;
    return s;
}

/* `(.param .b32 a, …)`. A kernel's lie in the launch's buffer, a function's in its local frame. */
static void parse_params(pm_parser *p, pm_function *f, bool is_result) {
    uint64_t offset = 0;
    if (!pm_accept(p, "(")) return;
    while (!pm_accept(p, ")")) {
        pm_expect(p, ".param");
        const pm_declaration d = pm_parse_declaration(p);
        pm_symbol *s = pm_add_variable(p, &d, f->is_kernel ? PM_PARAM : PM_LOCAL);
        if (f->is_kernel) {
            s->address = pm_round_up(offset, d.align);
            offset = s->address + d.bytes;
        } else {
            s->address = pm_local_place(p, d.bytes, d.align);
        }
        if (is_result) {
            f->result_offset = (uint32_t)s->address;
            f->result_bytes = (uint32_t)d.bytes;
        } else {
            if (f->param_count == 64) pm_parse_fail(p, d.name.line, "too many parameters");
            f->param_offsets[f->param_count] = (uint32_t)s->address;
            f->param_sizes[f->param_count++] = (uint32_t)d.bytes;
        }
        if (!pm_token_is(&p->lexer.token, ")")) pm_expect(p, ",");
    }
}

static void parse_bounds(pm_parser *p, pm_function *f) {
    for (;;) {
        if (pm_accept(p, ".maxntid") || pm_accept(p, ".reqntid")) {
            uint64_t threads = pm_parse_number(p);
            while (pm_accept(p, ","))
                threads *= pm_parse_number(p);
            f->threads_max = (uint32_t)threads;
        } else if (pm_accept(p, ".minnctapersm") || pm_accept(p, ".maxnreg")) {
            (void)pm_parse_number(p);
        } else if (!pm_accept(p, ".noreturn")) {
            return;
        }
    }
}

static void add_kernel(pm_parser *p, pm_function *f) {
    pm_module *m = p->module;
    m->kernels = pm_grow(m->kernels, m->kernel_count, &m->kernel_capacity, sizeof *m->kernels);
    pm_param *params = pm_module_alloc(m, (f->param_count + 1) * sizeof *params);
    size_t outer = 0;
    for (uint32_t i = 0; i < f->param_count; i++) {
        params[i] = (pm_param){f->param_offsets[i], f->param_sizes[i]};
        outer = params[i].offset + params[i].bytes;
    }
    m->kernels[m->kernel_count++] = (pm_kernel){.name = f->name,
                                                .params = params,
                                                .param_count = f->param_count,
                                                .param_bytes = outer,
                                                .shared_static_bytes = f->shared_end,
                                                .local_bytes = f->local_bytes,
                                                .register_count = f->row_count,
                                                .threads_max = f->threads_max,
                                                .function = f};
}

static void parse_body(pm_parser *p, pm_function *f) {
    if (f->is_defined) pm_parse_fail(p, p->lexer.token.line, "%s is defined twice", f->name);
    f->is_defined = true;
    f->entry = p->module->code_count;
    p->sink_row = -1;
    pm_parse_block(p);
    const pm_statement end = {.name = "ret", .text = "ret", .line = p->lexer.token.line};
    pm_decode(p, &end);
    if (f->shared_end < p->module->shared_common_bytes)
        f->shared_end = p->module->shared_common_bytes;
    if (f->is_kernel) add_kernel(p, f);
}

static void parse_function(pm_parser *p, bool is_kernel) {
    pm_function result = {.is_kernel = false}; /* stands in until the name is known */
    pm_scope_open(&p->symbols);
    p->local_top = 0;
    p->function = &result;
    parse_params(p, &result, true);
    const pm_token name = pm_take_word(p, "a name");
    p->symbols.depth = PM_MODULE_DEPTH; /* the function is its module's */
    pm_function *f = find_or_add_function(p, &name, is_kernel)->function;
    p->symbols.depth = PM_PARAMS_DEPTH;
    p->function = f;
    f->result_offset = result.result_offset;
    f->result_bytes = result.result_bytes;
    f->local_bytes = result.local_bytes;
    f->param_count = 0;
    parse_params(p, f, false);
    parse_bounds(p, f);
    if (!pm_accept(p, ";")) {
        pm_expect(p, "{");
        parse_body(p, f);
    }
    p->function = NULL;
    pm_scope_close(&p->symbols);
}

/* ---- the module ---- */

static void parse_section(pm_parser *p) {
    pm_skip_line(p);
    if (!pm_accept(p, "{")) return;
    while (p->lexer.token.kind != PM_TOKEN_END && !pm_accept(p, "}"))
        pm_lexer_next(&p->lexer);
}

static void parse_head(pm_parser *p) {
    pm_expect(p, ".version");
    pm_lexer_next(&p->lexer); /* 6.3 */
    pm_expect(p, ".target");
    (void)pm_take_word(p, "a target");
    while (pm_accept(p, ","))
        (void)pm_take_word(p, "an option of the target");
    pm_expect(p, ".address_size");
    if (pm_parse_number(p) != 64)
        pm_parse_fail(p, p->lexer.token.line, "addresses are not of 64 bits");
}

static bool is_linkage(pm_parser *p, bool *is_extern) {
    if (pm_accept(p, ".extern")) return *is_extern = true;
    return pm_accept(p, ".visible") || pm_accept(p, ".weak") || pm_accept(p, ".common");
}

/* Only the driver's functions may be missing. */
static void check_functions(pm_parser *p) {
    for (uint32_t i = 0; i < p->module->function_count; i++) {
        const pm_function *f = p->module->functions[i];
        if (!f->is_defined && f->native == NULL)
            pm_parse_fail(p, p->lexer.token.line, "unresolved function %s", f->name);
    }
}

void pm_parse(pm_parser *p) {
    (void)pm_constant_row(p, 0);
    memset(p->constant_heads, 0, sizeof p->constant_heads); /* PM_NONE is never found */
    parse_head(p);
    p->symbols.depth = PM_MODULE_DEPTH;
    while (p->lexer.token.kind != PM_TOKEN_END) {
        bool is_extern = false;
        while (is_linkage(p, &is_extern)) {
        }
        const pm_token t = p->lexer.token;
        if (pm_accept(p, ".func")) {
            (void)pm_accept(p, ".noreturn");
            parse_function(p, false);
        } else if (pm_accept(p, ".entry")) {
            parse_function(p, true);
        } else if (pm_is_space(&t)) {
            pm_lexer_next(&p->lexer);
            pm_parse_variable(p, &t, is_extern);
        } else if (pm_token_is(&t, ".file")) {
            pm_skip_line(p);
        } else if (pm_accept(p, ".section")) {
            parse_section(p);
        } else if (pm_accept(p, ".pragma")) {
            pm_skip_statement(p);
        } else {
            pm_parse_fail(p, t.line, "'%.*s' is not known", (int)t.length, t.text);
        }
    }
    check_functions(p);
}
