/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of a module: variables with their initial values, parameters.
 *
 *     variable  = space { ".align" n | ".attribute" "(" ".managed" … ")" | ".v2" | ".v4" } type
 *                 name { "[" [ n ] "]" } [ "=" initial ] { "," name … } ";"
 *     initial   = element | "{" initial, … "}"
 *     element   = number | name [ "+" n ] | "generic" "(" name ")" [ "+" n ] */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ptx/module.h"

/* No variable of a real module is larger, and texts must not ask for more memory than they pay. */
#define BYTES_MAX (UINT64_C(1) << 32)
#define ELEMENTS_MAX (UINT64_C(1) << 26)
enum { NESTING_MAX = 16 };

void wpi_ptx_module_fail(wpi_ptx_module *m, const char *why) {
    if (m->t.status != WP_STATUS_OK) return;
    m->t.status = WP_FAIL(m->t.err, UNSUPPORTED, "PTX line %u: %s", wpi_ptx_line(&m->p), why);
}

bool wpi_ptx_module_failed(const wpi_ptx_module *m) {
    return m->t.status != WP_STATUS_OK;
}

const char *wpi_ptx_read_directive(wpi_ptx_module *m) {
    wpi_ptx_skip_blanks(&m->p);
    if (*m->p.at != '.') return NULL;
    m->p.at++;
    return wpi_ptx_read_name(&m->p);
}

void wpi_ptx_skip_line(wpi_ptx_module *m) {
    m->p.at += strcspn(m->p.at, "\n");
}

static bool expect(wpi_ptx_module *m, char c) {
    if (wpi_ptx_accept(&m->p, c)) return true;
    char why[32] = "a 'x' is missing";
    why[3] = c;
    wpi_ptx_module_fail(m, why);
    return false;
}

static uint64_t read_count(wpi_ptx_module *m) {
    wpi_ptx_operand number = {0};
    if (wpi_ptx_read_number(&m->p, &number) && number.kind == WP_PTX_OPERAND_INTEGER)
        return number.value;
    wpi_ptx_module_fail(m, "a number is missing");
    return 1;
}

/* ---- declarations ---- */

uint64_t wpi_ptx_declared_bytes(const wpi_ptx_declared *d) {
    return d->count * (d->type.bits * d->type.lanes / 8);
}

static void read_brackets(wpi_ptx_module *m, wpi_ptx_declared *d) {
    while (!wpi_ptx_module_failed(m) && wpi_ptx_accept(&m->p, '[')) {
        d->is_array = true;
        if (wpi_ptx_accept(&m->p, ']')) {
            d->is_open = true;
            continue;
        }
        uint64_t count = read_count(m);
        if (count > BYTES_MAX / 16 || d->count > BYTES_MAX / 16 / (count ? count : 1))
            wpi_ptx_module_fail(m, "the array is larger than 4 GiB");
        else
            d->count *= count;
        expect(m, ']');
    }
}

/* What precedes the name: alignment, vectors, attributes, the type. */
static void read_kind(wpi_ptx_module *m, wpi_ptx_declared *d) {
    *d = (wpi_ptx_declared){.count = 1, .name = ""};
    while (!wpi_ptx_module_failed(m)) {
        const char *word = wpi_ptx_read_directive(m);
        if (!word) {
            wpi_ptx_module_fail(m, "the type of a declaration is missing");
        } else if (strcmp(word, "align") == 0) {
            uint64_t align = read_count(m);
            if (align == 0 || (align & (align - 1)) != 0 || align > 4096)
                wpi_ptx_module_fail(m, "the alignment is no power of two up to 4096");
            else
                d->align = (unsigned)align;
        } else if (strcmp(word, "v2") == 0 || strcmp(word, "v4") == 0) {
            d->count = word[1] == '2' ? 2 : 4;
            d->is_array = true;
        } else if (strcmp(word, "attribute") == 0) {
            expect(m, '(');
            for (; *m->p.at != '\0' && *m->p.at != ')'; m->p.at++)
                d->is_managed |= strncmp(m->p.at, ".managed", strlen(".managed")) == 0;
            expect(m, ')');
        } else {
            d->type = wpi_ptx_type_parse(word);
            if (d->type.kind == WP_PTX_NONE || d->type.kind == WP_PTX_PREDICATE)
                wpi_ptx_module_fail(m, "the type of a variable is not understood");
            return;
        }
    }
}

static void read_declarator(wpi_ptx_module *m, wpi_ptx_declared *d) {
    d->name = wpi_ptx_read_name(&m->p);
    if (!d->name) {
        wpi_ptx_module_fail(m, "the name of a declaration is missing");
        d->name = "";
        return;
    }
    read_brackets(m, d);
    unsigned natural = d->type.bits * d->type.lanes / 8;
    if (d->align == 0) d->align = natural ? natural : 1;
}

unsigned wpi_ptx_read_params(wpi_ptx_module *m, wpi_ptx_declared *out, unsigned most) {
    static const char *const spaces[] = {"global", "shared", "local", "const", NULL};
    unsigned count = 0;
    if (!wpi_ptx_accept(&m->p, '(') || wpi_ptx_accept(&m->p, ')')) return 0;
    do {
        const char *space = wpi_ptx_read_directive(m);
        bool is_register = space && strcmp(space, "reg") == 0;
        if (!space || (!is_register && strcmp(space, "param") != 0)) {
            wpi_ptx_module_fail(m, "a parameter begins with .param");
            return 0;
        }
        if (count == most) {
            wpi_ptx_module_fail(m, "a function has more parameters than are supported");
            return 0;
        }
        wpi_ptx_declared *d = &out[count++];
        read_kind(m, d);
        /* .u64 .ptr .global .align 16 name: what the pointer points to, which is a hint */
        while (!wpi_ptx_module_failed(m)) {
            wpi_ptx_skip_blanks(&m->p);
            if (*m->p.at != '.') break;
            const char *word = wpi_ptx_read_directive(m);
            bool is_known = word && strcmp(word, "ptr") == 0;
            for (size_t i = 0; word && spaces[i]; i++)
                is_known = is_known || strcmp(word, spaces[i]) == 0;
            if (word && strcmp(word, "align") == 0)
                (void)read_count(m);
            else if (!is_known)
                wpi_ptx_module_fail(m, "a parameter is not understood");
        }
        if (wpi_ptx_module_failed(m)) return 0;
        read_declarator(m, d);
        d->is_register = is_register;
        if (d->is_open) wpi_ptx_module_fail(m, "a parameter without a size");
        if (wpi_ptx_module_failed(m)) return 0;
    } while (wpi_ptx_accept(&m->p, ','));
    expect(m, ')');
    return count;
}

LLVMTypeRef wpi_ptx_declared_type(wpi_ptx_module *m, const wpi_ptx_declared *d) {
    LLVMTypeRef one =
        LLVMIntTypeInContext(m->t.c->context, d->type.bits ? d->type.bits * d->type.lanes : 8);
    return d->is_array ? LLVMArrayType2(one, d->count) : one;
}

/* ---- initial values ---- */

typedef struct initial {
    LLVMValueRef *items; /* integers, or pointers where there is any */
    size_t count, capacity;
    bool has_pointers;
} initial;

static uint64_t literal_bits(const wpi_ptx_operand *number, wpi_ptx_type type) {
    bool is_real = number->kind != WP_PTX_OPERAND_INTEGER;
    double value;
    if (number->kind == WP_PTX_OPERAND_REAL64 && type.bits == 32) {
        memcpy(&value, &number->value, sizeof value);
        float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        return bits;
    }
    if (!is_real && wpi_ptx_is_float(type) && type.bits >= 32) { /* .f32 x = 1 */
        value = (double)(int64_t)number->value;
        float narrow = (float)value;
        uint32_t single;
        uint64_t bits;
        memcpy(&single, &narrow, sizeof single);
        memcpy(&bits, &value, sizeof bits);
        return type.bits == 32 ? single : bits;
    }
    return number->value;
}

/* name, generic(name), with "+n" after either: a pointer. */
static LLVMValueRef read_symbol(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    const char *name = wpi_ptx_read_name(&m->p);
    bool is_generic = name && strcmp(name, "generic") == 0 && wpi_ptx_accept(&m->p, '(');
    if (is_generic) name = wpi_ptx_read_name(&m->p);
    wpi_ptx_register *r = name ? wpi_ptx_find(t, name) : NULL;
    wpi_ptx_operand number = {0};
    bool has_offset = wpi_ptx_accept(&m->p, '+') && wpi_ptx_read_number(&m->p, &number);
    if (is_generic) expect(m, ')');
    if (is_generic && wpi_ptx_accept(&m->p, '+')) has_offset = wpi_ptx_read_number(&m->p, &number);
    if (!r || !r->is_symbol) {
        wpi_ptx_module_fail(m, "an initial value is neither a number nor an address");
        return NULL;
    }
    LLVMValueRef pointer = r->value;
    if (LLVMTypeOf(pointer) != t->c->ptr) pointer = LLVMConstAddrSpaceCast(pointer, t->c->ptr);
    LLVMValueRef offset = wpi_const64(t->c, number.value);
    return has_offset ? LLVMConstGEP2(t->c->i8, pointer, &offset, 1) : pointer;
}

static void read_initial(wpi_ptx_module *m, const wpi_ptx_declared *d, initial *out,
                         unsigned nesting) {
    if (nesting > NESTING_MAX) wpi_ptx_module_fail(m, "an initial value is nested too deeply");
    if (wpi_ptx_module_failed(m)) return;
    if (wpi_ptx_accept(&m->p, '{')) {
        do
            read_initial(m, d, out, nesting + 1);
        while (!wpi_ptx_module_failed(m) && wpi_ptx_accept(&m->p, ','));
        expect(m, '}');
        return;
    }
    unsigned bits = d->type.bits * d->type.lanes;
    wpi_ptx_operand number = {0};
    LLVMValueRef value;
    wpi_ptx_skip_blanks(&m->p);
    if (isdigit((unsigned char)*m->p.at) || *m->p.at == '-') {
        if (!wpi_ptx_read_number(&m->p, &number)) {
            wpi_ptx_module_fail(m, "an initial value is not understood");
            return;
        }
        value = LLVMConstInt(LLVMIntTypeInContext(m->t.c->context, bits),
                             literal_bits(&number, d->type), 0);
    } else {
        value = read_symbol(m);
        if (value && bits != 64) {
            wpi_ptx_module_fail(m, "an address is the initial value of a variable that is not 64 "
                                   "bits wide");
            return;
        }
        out->has_pointers = true;
    }
    if (!value) return;
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? 2 * out->capacity : 16;
        out->items = wpi_must_realloc(out->items, out->capacity * sizeof *out->items);
    }
    out->items[out->count++] = value;
}

/* The initial value; the type may become one of pointers. */
static LLVMValueRef make_initial(wpi_ptx_module *m, wpi_ptx_declared *d) {
    wpi_compile *c = m->t.c;
    initial in = {0};
    LLVMValueRef made = NULL;
    read_initial(m, d, &in, 0);
    if (d->is_open) d->count = in.count;
    if (in.count > d->count) wpi_ptx_module_fail(m, "a variable has more initial values than room");
    if (d->count > ELEMENTS_MAX)
        wpi_ptx_module_fail(m, "a variable with an initial value is larger than 64 Mi elements");
    if (!wpi_ptx_module_failed(m)) {
        LLVMTypeRef one = in.has_pointers
                              ? c->ptr
                              : LLVMIntTypeInContext(c->context, d->type.bits * d->type.lanes);
        LLVMValueRef *items = wpi_must_calloc(d->count + 1, sizeof *items);
        for (size_t i = 0; i < d->count; i++) {
            LLVMValueRef value = i < in.count ? in.items[i] : LLVMConstNull(one);
            if (LLVMTypeOf(value) != one) value = LLVMConstIntToPtr(value, one);
            items[i] = value;
        }
        made = d->is_array ? LLVMConstArray2(one, items, d->count) : items[0];
        wpi_free(items);
    }
    wpi_free(in.items);
    return made;
}

/* ---- variables ---- */

/* The mark of a managed variable, as clang's front end leaves it (context.c): an annotation. */
static void mark_managed(wpi_ptx_module *m, LLVMValueRef global) {
    wpi_compile *c = m->t.c;
    static const char mark[] = "warpage.managed";
    LLVMValueRef bytes = LLVMConstStringInContext2(c->context, mark, sizeof mark - 1, 0);
    LLVMValueRef text = LLVMAddGlobal(c->module, LLVMTypeOf(bytes), "wp.managed");
    LLVMSetInitializer(text, bytes);
    LLVMSetLinkage(text, LLVMPrivateLinkage);
    LLVMSetSection(text, "llvm.metadata");
    LLVMValueRef null = LLVMConstNull(c->ptr);
    LLVMValueRef fields[] = {LLVMConstAddrSpaceCast(global, c->ptr), text, null, wpi_const32(c, 0),
                             null};
    if (m->managed_count == m->managed_capacity) {
        m->managed_capacity = m->managed_capacity ? 2 * m->managed_capacity : 16;
        m->managed = wpi_must_realloc(m->managed, m->managed_capacity * sizeof *m->managed);
    }
    m->managed[m->managed_count++] = LLVMConstStructInContext(c->context, fields, 5, 0);
}

void wpi_ptx_module_annotate(wpi_ptx_module *m) {
    if (m->managed_count == 0) return;
    LLVMTypeRef type = LLVMTypeOf(m->managed[0]);
    LLVMValueRef all = LLVMConstArray2(type, m->managed, m->managed_count);
    LLVMValueRef list = LLVMAddGlobal(m->t.c->module, LLVMTypeOf(all), "llvm.global.annotations");
    LLVMSetInitializer(list, all);
    LLVMSetLinkage(list, LLVMAppendingLinkage);
    LLVMSetSection(list, "llvm.metadata");
}

/* ---- variables of other texts: the section says that a definition is to come ---- */

#define TO_COME "warpage.extern"

static bool is_to_come(LLVMValueRef global) {
    const char *section = global ? LLVMGetSection(global) : NULL;
    return section && strcmp(section, TO_COME) == 0;
}

static void declare_extern(wpi_ptx_module *m, unsigned space, const wpi_ptx_declared *d) {
    LLVMValueRef global = LLVMGetNamedGlobal(m->t.c->module, d->name);
    if (!global) {
        global = LLVMAddGlobalInAddressSpace(m->t.c->module, m->t.c->i8, d->name, space);
        LLVMSetSection(global, TO_COME);
    }
    wpi_ptx_declare_symbol(&m->t, d->name, global);
}

/* The definition takes the place of what was declared. */
static void replace_extern(LLVMValueRef declared, LLVMValueRef global, const char *name) {
    LLVMReplaceAllUsesWith(declared, global);
    LLVMDeleteGlobal(declared);
    LLVMSetValueName2(global, name, strlen(name));
}

void wpi_ptx_module_check_externs(wpi_ptx_module *m) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->t.c->module); g; g = LLVMGetNextGlobal(g)) {
        char why[160];
        size_t length;
        if (!is_to_come(g)) continue;
        snprintf(why, sizeof why, "the variable %.80s is in another module, which is not linked",
                 LLVMGetValueName2(g, &length));
        wpi_ptx_module_fail(m, why);
        return;
    }
}

static void declare_variable(wpi_ptx_module *m, unsigned space, bool is_extern,
                             wpi_ptx_declared *d) {
    wpi_ptx *t = &m->t;
    bool is_shared = space == WP_SPACE_SHARED;
    LLVMValueRef value = NULL;
    if (wpi_ptx_accept(&m->p, '=')) {
        if (is_shared) wpi_ptx_module_fail(m, "a shared variable has an initial value");
        value = make_initial(m, d);
    }
    if (wpi_ptx_module_failed(m)) return;
    /* An external array with a size is memory of its own, as ptxas takes it without a linker. */
    bool is_dynamic = is_shared && (d->is_open || (is_extern && d->count == 0));
    if (is_extern && !is_shared) {
        declare_extern(m, space, d);
        return;
    }
    if (d->is_open && !value && !is_dynamic) {
        wpi_ptx_module_fail(m, "an array has neither a size nor initial values");
        return;
    }
    if (is_dynamic) d->count = 0;
    LLVMTypeRef type = value ? LLVMTypeOf(value) : wpi_ptx_declared_type(m, d);
    LLVMValueRef declared = LLVMGetNamedGlobal(t->c->module, d->name);
    LLVMValueRef global = LLVMAddGlobalInAddressSpace(t->c->module, type, d->name, space);
    if (is_to_come(declared)) replace_extern(declared, global, d->name);
    LLVMSetAlignment(global, d->align);
    if (is_shared) {
        if (!is_dynamic) {
            LLVMSetInitializer(global, LLVMGetUndef(type));
            LLVMSetLinkage(global, LLVMInternalLinkage);
        }
    } else {
        LLVMSetInitializer(global, value ? value : LLVMConstNull(type));
        LLVMSetExternallyInitialized(global, 1);
        if (d->is_managed) mark_managed(m, global);
    }
    wpi_ptx_declare_symbol(t, d->name, global);
}

static void read_variables(wpi_ptx_module *m, unsigned space, bool is_extern) {
    wpi_ptx_declared kind;
    read_kind(m, &kind);
    do {
        wpi_ptx_declared d = kind;
        if (wpi_ptx_module_failed(m)) return;
        read_declarator(m, &d);
        if (!wpi_ptx_module_failed(m)) declare_variable(m, space, is_extern, &d);
    } while (!wpi_ptx_module_failed(m) && wpi_ptx_accept(&m->p, ','));
    expect(m, ';');
}

/* .local and .param variables of functions. */
static void read_frame_variables(wpi_ptx_module *m) {
    wpi_ptx_declared kind;
    read_kind(m, &kind);
    do {
        wpi_ptx_declared d = kind;
        if (wpi_ptx_module_failed(m)) return;
        read_declarator(m, &d);
        if (d.is_open) wpi_ptx_module_fail(m, "a local variable without a size");
        if (wpi_ptx_module_failed(m)) return;
        LLVMValueRef place = wpi_ptx_frame(&m->t, wpi_ptx_declared_type(m, &d));
        LLVMSetAlignment(place, d.align);
        wpi_ptx_declare_symbol(&m->t, d.name, place);
    } while (!wpi_ptx_module_failed(m) && wpi_ptx_accept(&m->p, ','));
    expect(m, ';');
}

static void skip_section(wpi_ptx_module *m) {
    m->p.at += strcspn(m->p.at, "{");
    m->p.at += strcspn(m->p.at, "}");
    expect(m, '}');
}

static void skip_statement(wpi_ptx_module *m) {
    m->p.at += strcspn(m->p.at, ";");
    expect(m, ';');
}

static void skip_source_line(wpi_ptx_module *m, bool is_place) {
    if (is_place) wpi_ptx_lines_read(m);
    wpi_ptx_skip_line(m);
}

bool wpi_ptx_module_directive(wpi_ptx_module *m, const char *name, bool is_extern,
                              bool is_in_function) {
    if (strcmp(name, "global") == 0)
        read_variables(m, WP_SPACE_GLOBAL, is_extern);
    else if (strcmp(name, "const") == 0)
        read_variables(m, WP_SPACE_CONSTANT, is_extern);
    else if (strcmp(name, "shared") == 0)
        read_variables(m, WP_SPACE_SHARED, is_extern);
    else if (is_in_function && (strcmp(name, "local") == 0 || strcmp(name, "param") == 0))
        read_frame_variables(m);
    else if (strcmp(name, "loc") == 0 || strcmp(name, "file") == 0)
        skip_source_line(m, is_in_function && *name == 'l');
    else if (strcmp(name, "section") == 0)
        skip_section(m);
    else if (strcmp(name, "pragma") == 0)
        skip_statement(m);
    else
        return false;
    return true;
}
