/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a module. A body is read twice: first for its labels, as branches go forward too,
 * then for its statements.
 *
 *     @p bra L;    condbr p, then, join;  then: br L
 *     call (r), f, (a);    r's memory = f(a's memory, as values)
 *
 * The current block always ends in `anchor`, an unreachable, before which code is built; a
 * statement that ends the block replaces it. Signatures: scalars are integers, and pointers in
 * kernels where they have 64 bits, so that analyses find the arguments that accesses start from;
 * arrays are pointers to their memory, the result's first. */
#include "compiler/ptx/module.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"

/* ---- blocks ---- */

static LLVMBasicBlockRef new_block(wpi_ptx *t) {
    return LLVMAppendBasicBlockInContext(t->c->context, t->function, "");
}

static void begin_block(wpi_ptx *t, LLVMBasicBlockRef block) {
    LLVMPositionBuilderAtEnd(t->b, block);
    t->anchor = LLVMBuildUnreachable(t->b);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    t->carry = NULL;
}

/* After the block's last instruction was built. */
static void end_block(wpi_ptx *t, LLVMBasicBlockRef next) {
    LLVMInstructionEraseFromParent(t->anchor);
    begin_block(t, next ? next : new_block(t));
}

static void go_on_in(wpi_ptx *t, LLVMBasicBlockRef block) {
    LLVMBuildBr(t->b, block);
    end_block(t, block);
}

/* ---- labels ---- */

static void enter_scope(wpi_ptx_module *m) {
    if (m->scope_count == m->scope_capacity) {
        m->scope_capacity = m->scope_capacity ? 2 * m->scope_capacity : 16;
        m->parents = wpi_must_realloc(m->parents, m->scope_capacity * sizeof *m->parents);
    }
    m->parents[m->scope_count] = m->scope;
    m->scope = m->scope_count++;
}

static wpi_ptx_label *find_label(wpi_ptx_module *m, const char *name) {
    for (unsigned scope = m->scope;; scope = m->parents[scope]) {
        char *key = wpi_format("%u:%s", scope, name);
        wpi_ptx_name *entry = wpi_ptx_name_find(m->label_names, key);
        wpi_free(key);
        if (entry) return &m->labels[*wpi_ptx_name_number(entry)];
        if (scope == m->parents[scope]) return NULL;
    }
}

static void add_label(wpi_ptx_module *m) {
    char *key = wpi_format("%u:%s", m->scope, m->p.label);
    int *number = wpi_ptx_name_number(wpi_ptx_name_add(&m->label_names, key, strlen(key)));
    wpi_free(key);
    if (*number >= 0) {
        wpi_ptx_module_fail(m, "a label is defined twice");
        return;
    }
    if (m->label_count == m->label_capacity) {
        m->label_capacity = m->label_capacity ? 2 * m->label_capacity : 16;
        m->labels = wpi_must_realloc(m->labels, m->label_capacity * sizeof *m->labels);
    }
    wpi_ptx_skip_blanks(&m->p);
    const bool is_directive = *m->p.at == '.' && (strncmp(m->p.at, ".branchtargets", 14) == 0 ||
                                                  strncmp(m->p.at, ".callprototype", 14) == 0);
    *number = (int)m->label_count;
    m->labels[m->label_count++] =
        (wpi_ptx_label){is_directive ? NULL : new_block(&m->t), is_directive ? m->p.at + 14 : NULL};
}

/* A directive in a body that is not understood here, up to its end. */
static void skip_directive(wpi_ptx_module *m) {
    if (strncmp(m->p.at, ".loc", 4) == 0 && strncmp(m->p.at, ".local", 6) != 0)
        wpi_ptx_skip_line(m);
    else
        m->p.at += strcspn(m->p.at, m->p.at[1] == 'f' ? "\n" : ";");
}

static void read_labels(wpi_ptx_module *m) {
    const char *start = m->p.at;
    m->label_count = m->scope_count = m->scope = 0;
    wpi_ptx_names_deinit(&m->label_names);
    enter_scope(m);
    for (bool is_done = false; !is_done && !wpi_ptx_module_failed(m);) {
        wpi_ptx_skip_blanks(&m->p);
        m->t.line = wpi_ptx_line(&m->p);
        switch (wpi_ptx_parse(&m->p)) {
        case WP_PTX_ITEM_OPEN: enter_scope(m); break;
        case WP_PTX_ITEM_CLOSE:
            is_done = m->scope == 0;
            m->scope = m->parents[m->scope];
            break;
        case WP_PTX_ITEM_LABEL: add_label(m); break;
        case WP_PTX_ITEM_DOT: skip_directive(m); break;
        case WP_PTX_ITEM_END: wpi_ptx_module_fail(m, "the end of a function is missing"); break;
        case WP_PTX_ITEM_BAD: wpi_ptx_fail(&m->t, NULL); break;
        default: break;
        }
    }
    m->p.at = start;
    m->scope_count = m->scope = 0;
    enter_scope(m);
}

/* ---- control flow ---- */

/* Fails unless all modifiers are among `allowed`. */
static void only(wpi_ptx *t, const char *allowed) {
    if (allowed) wpi_ptx_skip(t, allowed);
    uint32_t all = (1u << t->s->part_count) - 2;
    if ((t->s->taken & all) != all) wpi_ptx_fail(t, NULL);
}

static LLVMBasicBlockRef block_of(wpi_ptx_module *m, const char *name) {
    const wpi_ptx_label *label = find_label(m, name);
    if (label && label->block) return label->block;
    wpi_ptx_fail(&m->t, "there is no such label");
    return NULL;
}

static void branch(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    only(t, "uni");
    wpi_ptx_expect(t, 1, 1);
    LLVMBasicBlockRef target = block_of(m, wpi_ptx_operand_at(t, 0)->name);
    if (wpi_ptx_module_failed(m)) return;
    LLVMBuildBr(t->b, target);
    end_block(t, NULL);
}

/* brx.idx %r, list; the labels are in the list's directive. An index that is too large is undefined
 * behaviour. */
static void branch_indexed(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    wpi_ptx_skip(t, "uni");
    only(t, "idx");
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef index = wpi_ptx_read(t, 0, wpi_ptx_type_of(WP_PTX_BITS, 32));
    const wpi_ptx_label *list = find_label(m, wpi_ptx_operand_at(t, 1)->name);
    if (!list || !list->directive) wpi_ptx_fail(t, "there is no such list of labels");
    if (wpi_ptx_module_failed(m)) return;
    LLVMBasicBlockRef otherwise = new_block(t);
    LLVMValueRef made = LLVMBuildSwitch(t->b, index, otherwise, 8);
    const char *at = m->p.at;
    m->p.at = list->directive;
    uint32_t number = 0;
    do {
        const char *name = wpi_ptx_read_name(&m->p);
        LLVMBasicBlockRef target = name ? block_of(m, name) : NULL;
        if (!target) {
            wpi_ptx_fail(t, "its list of labels is not understood");
            break;
        }
        LLVMAddCase(made, wpi_const32(t->c, number++), target);
    } while (wpi_ptx_accept(&m->p, ','));
    m->p.at = at;
    end_block(t, otherwise);
}

static void finish_function(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    LLVMTypeRef result = LLVMGetReturnType(wpi_function_type(t->function));
    if (result == t->c->none)
        LLVMBuildRetVoid(t->b);
    else
        LLVMBuildRet(t->b, LLVMBuildLoad2(t->b, result, m->result, ""));
    end_block(t, NULL);
}

static void return_(wpi_ptx_module *m) {
    only(&m->t, "uni");
    wpi_ptx_expect(&m->t, 0, 0);
    if (!wpi_ptx_module_failed(m)) finish_function(m);
}

static void exit_(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    only(t, NULL);
    wpi_ptx_expect(t, 0, 0);
    if (wpi_ptx_module_failed(m)) return;
    if (t->is_kernel) {
        finish_function(m);
        return;
    }
    wpi_ptx_call(t, "llvm.nvvm.exit", t->c->none, NULL, 0); /* after a call that does not return */
    LLVMBuildUnreachable(t->b);
    end_block(t, NULL);
}

/* ---- calls ---- */

/* Functions that the driver has; their pointers are pointers, as in the front end's code. */
static LLVMTypeRef driver_type(wpi_compile *c, const char *name) {
    LLVMTypeRef two[] = {c->ptr, c->ptr}, assertion[] = {c->ptr, c->ptr, c->i32, c->ptr, c->i64};
    if (strcmp(name, "vprintf") == 0) return LLVMFunctionType(c->i32, two, 2, 0);
    if (strcmp(name, "__assertfail") == 0) return LLVMFunctionType(c->none, assertion, 5, 0);
    if (strcmp(name, "malloc") == 0) return LLVMFunctionType(c->ptr, &c->i64, 1, 0);
    return strcmp(name, "free") == 0 ? LLVMFunctionType(c->none, two, 1, 0) : NULL;
}

static LLVMTypeRef function_type(wpi_ptx_module *m, const wpi_ptx_signature *s, bool is_kernel) {
    wpi_compile *c = m->t.c;
    LLVMTypeRef params[WP_PTX_PARAMS + 1], result = c->none;
    unsigned count = 0;
    if (s->result.name) {
        if (s->result.is_array)
            params[count++] = c->ptr;
        else
            result = wpi_ptx_declared_type(m, &s->result);
    }
    for (unsigned i = 0; i < s->count; i++) {
        const wpi_ptx_declared *d = &s->params[i];
        bool is_pointer = d->is_array || (is_kernel && d->type.bits == 64);
        params[count++] = is_pointer ? c->ptr : wpi_ptx_declared_type(m, d);
    }
    return LLVMFunctionType(result, params, count, 0);
}

static void read_signature_params(wpi_ptx_module *m) {
    m->signature.count = wpi_ptx_read_params(m, m->signature.params, WP_PTX_PARAMS);
}

static void read_signature_result(wpi_ptx_module *m) {
    wpi_ptx_declared results[1];
    m->signature.result.name = NULL;
    wpi_ptx_skip_blanks(&m->p);
    if (*m->p.at == '(' && wpi_ptx_read_params(m, results, 1) == 1)
        m->signature.result = results[0];
}

/* name: .callprototype (result) _ (parameters); */
static LLVMTypeRef prototype_type(wpi_ptx_module *m, const char *name) {
    wpi_ptx_register *r = wpi_ptx_find(&m->t, name);
    if (r && r->is_symbol && LLVMIsAFunction(r->value)) return wpi_function_type(r->value);
    const wpi_ptx_label *label = find_label(m, name);
    if (!label || !label->directive) {
        wpi_ptx_fail(&m->t, "its prototype is missing");
        return NULL;
    }
    const char *at = m->p.at;
    m->p.at = label->directive;
    read_signature_result(m);
    (void)wpi_ptx_read_name(&m->p);
    read_signature_params(m);
    m->p.at = at;
    return wpi_ptx_module_failed(m) ? NULL : function_type(m, &m->signature, false);
}

/* The memory of a parameter, or NULL: the operand is a register or a number. */
static LLVMValueRef memory_of(wpi_ptx *t, const wpi_ptx_operand *o) {
    wpi_ptx_register *r = o->kind == WP_PTX_OPERAND_NAME ? wpi_ptx_find(t, o->name) : NULL;
    return r && r->is_symbol && LLVMTypeOf(r->value) == t->c->ptr && !LLVMIsAFunction(r->value)
               ? r->value
               : NULL;
}

static LLVMValueRef argument(wpi_ptx *t, const wpi_ptx_operand *o, LLVMTypeRef type,
                             bool is_driver) {
    LLVMValueRef memory = memory_of(t, o);
    bool is_pointer = type == t->c->ptr;
    if (memory && is_pointer && !is_driver) return memory;
    if (memory) return LLVMBuildLoad2(t->b, type, memory, "");
    unsigned bits = is_pointer ? 64 : LLVMGetIntTypeWidth(type);
    LLVMValueRef value = wpi_ptx_read_operand(t, o, wpi_ptx_type_of(WP_PTX_BITS, bits));
    return is_pointer ? LLVMBuildIntToPtr(t->b, value, type, "") : value;
}

static void call(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    only(t, "uni");
    const wpi_ptx_operand *parts[4] = {NULL}; /* result, function, arguments, prototype */
    unsigned at = 0;
    for (unsigned i = 0; i < t->s->operand_count; i++) {
        const wpi_ptx_operand *o = wpi_ptx_operand_at(t, i);
        bool is_list = o->kind == WP_PTX_OPERAND_LIST;
        if (!is_list && at % 2 == 0) at++; /* no list before this name */
        if (at > 3 || is_list != (at % 2 == 0)) {
            wpi_ptx_fail(t, NULL);
            return;
        }
        parts[at++] = o;
    }
    wpi_ptx_register *r = parts[1] ? wpi_ptx_find(t, parts[1]->name) : NULL;
    if (!r) {
        wpi_ptx_fail(t, "the function is not declared");
        return;
    }
    bool is_direct = r->is_symbol && LLVMIsAFunction(r->value);
    LLVMTypeRef type = is_direct  ? wpi_function_type(r->value)
                       : parts[3] ? prototype_type(m, parts[3]->name)
                                  : NULL;
    if (!type) {
        wpi_ptx_fail(t, "its prototype is missing");
        return;
    }
    size_t length;
    bool is_driver = is_direct && LLVMIsDeclaration(r->value) &&
                     driver_type(t->c, LLVMGetValueName2(r->value, &length)) != NULL;
    LLVMValueRef function =
        is_direct
            ? r->value
            : LLVMBuildIntToPtr(t->b,
                                wpi_ptx_read_operand(t, parts[1], wpi_ptx_type_of(WP_PTX_BITS, 64)),
                                t->c->ptr, "");
    LLVMTypeRef types[WP_PTX_PARAMS + 1], result = LLVMGetReturnType(type);
    LLVMValueRef args[WP_PTX_PARAMS + 1];
    unsigned count = LLVMCountParamTypes(type), given = parts[2] ? parts[2]->count : 0, first = 0;
    const wpi_ptx_operand *to =
        parts[0] && parts[0]->count == 1 ? &t->s->pool[parts[0]->first] : NULL;
    LLVMGetParamTypes(type, types);
    if (to && result == t->c->none) { /* an array: its memory is the first argument */
        args[first++] = memory_of(t, to);
        if (!args[0]) wpi_ptx_fail(t, "the function has no result");
    }
    if (count != given + first || (!to && result != t->c->none))
        wpi_ptx_fail(t, "the function has other parameters");
    for (unsigned i = first; i < count && !wpi_ptx_module_failed(m); i++)
        args[i] = argument(t, &t->s->pool[parts[2]->first + i - first], types[i], is_driver);
    if (wpi_ptx_module_failed(m)) return;
    LLVMValueRef value = LLVMBuildCall2(t->b, type, function, args, count, "");
    if (result == t->c->none) return;
    LLVMValueRef memory = memory_of(t, to);
    if (memory) {
        LLVMBuildStore(t->b, value, memory);
    } else {
        value = wpi_ptx_as_integer(t, value);
        wpi_ptx_write_operand(
            t, to, wpi_ptx_type_of(WP_PTX_BITS, LLVMGetIntTypeWidth(LLVMTypeOf(value))), value);
    }
}

/* ---- statements ---- */

static void run(wpi_ptx_module *m) {
    static const struct {
        const char *name;
        void (*run)(wpi_ptx_module *m);
    } control[] = {{"bra", branch},
                   {"brx", branch_indexed},
                   {"ret", return_},
                   {"exit", exit_},
                   {"call", call}};
    for (size_t i = 0; i < sizeof control / sizeof *control; i++) {
        if (strcmp(m->t.s->parts[0], control[i].name) != 0) continue;
        control[i].run(m);
        return;
    }
    wpi_ptx_run(&m->t);
}

static void run_guarded(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    t->s->guard.kind = WP_PTX_OPERAND_NAME;
    LLVMValueRef condition =
        wpi_ptx_read_operand(t, &t->s->guard, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
    if (wpi_ptx_module_failed(m)) return;
    LLVMBasicBlockRef then = new_block(t), join = new_block(t);
    LLVMBuildCondBr(t->b, condition, then, join);
    end_block(t, then);
    run(m);
    go_on_in(t, join);
}

static void read_label(wpi_ptx_module *m) {
    const wpi_ptx_label *label = find_label(m, m->p.label);
    if (!label) {
        wpi_ptx_module_fail(m, "a label is not understood");
    } else if (label->block) {
        go_on_in(&m->t, label->block);
        /* Later branches lead to the label's block: code, whose block may be split, is not in it.
         */
        go_on_in(&m->t, new_block(&m->t));
    } else {
        m->p.at += strcspn(m->p.at, ";");
    }
}

static void read_directive(wpi_ptx_module *m) {
    const char *name = wpi_ptx_read_directive(m);
    if (name && wpi_ptx_module_directive(m, name, false, true)) return;
    char why[100];
    snprintf(why, sizeof why, "the directive .%.40s is not understood in a function",
             name ? name : "");
    wpi_ptx_module_fail(m, why);
}

static void read_body(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    const unsigned outer = t->depth;
    read_labels(m);
    t->s = &m->p.statement;
    while (!wpi_ptx_module_failed(m)) {
        wpi_ptx_skip_blanks(&m->p);
        t->line = wpi_ptx_line(&m->p);
        switch (wpi_ptx_parse(&m->p)) {
        case WP_PTX_ITEM_END: wpi_ptx_module_fail(m, "the end of a function is missing"); break;
        case WP_PTX_ITEM_OPEN:
            t->depth++;
            enter_scope(m);
            break;
        case WP_PTX_ITEM_CLOSE:
            if (t->depth == outer) return;
            wpi_ptx_close_scope(t);
            m->scope = m->parents[m->scope];
            break;
        case WP_PTX_ITEM_NAMES: wpi_ptx_declare_all(t, &m->p); break;
        case WP_PTX_ITEM_LABEL: read_label(m); break;
        case WP_PTX_ITEM_DOT: read_directive(m); break;
        case WP_PTX_ITEM_BAD: wpi_ptx_fail(t, NULL); break;
        case WP_PTX_ITEM_STATEMENT: t->s->has_guard ? run_guarded(m) : run(m); break;
        }
    }
}

/* ---- functions ---- */

/* Declares a parameter as the memory that holds its argument, or as a register. */
static void declare_param(wpi_ptx_module *m, const wpi_ptx_declared *d, LLVMValueRef value) {
    wpi_ptx *t = &m->t;
    if (d->is_register) {
        wpi_ptx_declare(t, d->name, d->type, NULL);
        wpi_ptx_register *r = wpi_ptx_find(t, d->name);
        if (value) wpi_ptx_set_value(t, r, value);
        return;
    }
    if (d->is_array && value) {
        wpi_ptx_declare_symbol(t, d->name, value);
        return;
    }
    LLVMValueRef place = wpi_ptx_frame(t, value ? LLVMTypeOf(value) : wpi_ptx_declared_type(m, d));
    LLVMSetAlignment(place, d->align);
    if (value) LLVMBuildStore(t->b, value, place);
    wpi_ptx_declare_symbol(t, d->name, place);
}

static void attribute_byval(wpi_ptx_module *m, unsigned index, const wpi_ptx_declared *d) {
    LLVMContextRef context = m->t.c->context;
    LLVMTypeRef type = LLVMArrayType2(m->t.c->i8, wpi_ptx_declared_bytes(d));
    LLVMAddAttributeAtIndex(
        m->t.function, index + 1,
        LLVMCreateTypeAttribute(context, LLVMGetEnumAttributeKindForName("byval", 5), type));
    LLVMAddAttributeAtIndex(
        m->t.function, index + 1,
        LLVMCreateEnumAttribute(context, LLVMGetEnumAttributeKindForName("align", 5), d->align));
}

static void annotate(wpi_compile *c, LLVMValueRef function, const char *key, uint32_t value) {
    LLVMMetadataRef parts[] = {LLVMValueAsMetadata(function),
                               LLVMMDStringInContext2(c->context, key, strlen(key)),
                               LLVMValueAsMetadata(wpi_const32(c, value))};
    LLVMAddNamedMetadataOperand(
        c->module, "nvvm.annotations",
        LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, parts, 3)));
}

/* .maxntid 128, 1, 1 and the like, up to the body. */
static void read_bounds(wpi_ptx_module *m, LLVMValueRef function, bool is_kernel) {
    static const struct {
        const char *name;
        const char *keys[3];
    } known[] = {
        {"maxntid", {"maxntidx", "maxntidy", "maxntidz"}},
        {"reqntid", {"maxntidx", "maxntidy", "maxntidz"}},
        {"minnctapersm", {"minctasm"}},
        {"maxnreg", {"maxnreg"}},
        {"noreturn", {NULL}},
        {"maxclusterrank", {NULL}},
        {"explicitcluster", {NULL}},
        {"reqnctapercluster", {"cluster_dim_x", "cluster_dim_y", "cluster_dim_z"}},
    };
    for (const char *name; !wpi_ptx_module_failed(m) && (name = wpi_ptx_read_directive(m));) {
        size_t row = 0;
        if (wpi_ptx_module_directive(m, name, false, false)) continue; /* .pragma */
        while (row < sizeof known / sizeof *known && strcmp(known[row].name, name) != 0)
            row++;
        if (row == sizeof known / sizeof *known) {
            char why[100];
            snprintf(why, sizeof why, "the directive .%.40s of a function is not understood", name);
            wpi_ptx_module_fail(m, why);
            return;
        }
        wpi_ptx_operand number = {0};
        int numbers = 0;
        wpi_ptx_skip_blanks(&m->p);
        for (int i = 0; *m->p.at >= '0' && *m->p.at <= '9' && i < 3; i++) {
            if (!wpi_ptx_read_number(&m->p, &number)) return;
            if (known[row].keys[i] && is_kernel)
                annotate(m->t.c, function, known[row].keys[i], (uint32_t)number.value);
            numbers = i + 1;
            if (!wpi_ptx_accept(&m->p, ',')) break;
            wpi_ptx_skip_blanks(&m->p);
        }
        const bool is_cluster = strcmp(name, "reqnctapercluster") == 0 && is_kernel;
        for (int i = numbers; is_cluster && i < 3; i++)
            annotate(m->t.c, function, known[row].keys[i], 1);
    }
}

static void begin_function(wpi_ptx_module *m, bool is_kernel) {
    wpi_ptx *t = &m->t;
    const wpi_ptx_signature *s = &m->signature;
    wpi_function_attribute(t->c, t->function, "nounwind");
    wpi_function_attribute(t->c, t->function, "convergent");
    if (is_kernel) annotate(t->c, t->function, "kernel", 1);
    t->is_kernel = is_kernel;
    t->depth++;
    begin_block(t, new_block(t));
    unsigned index = 0;
    m->result = NULL;
    if (s->result.name) {
        LLVMValueRef given = s->result.is_array ? LLVMGetParam(t->function, index++) : NULL;
        declare_param(m, &s->result, given);
        m->result = wpi_ptx_find(t, s->result.name)->value;
        if (s->result.is_register) wpi_ptx_module_fail(m, "a result in a register");
    }
    for (unsigned i = 0; i < s->count; i++, index++) {
        const wpi_ptx_declared *d = &s->params[i];
        LLVMValueRef param = LLVMGetParam(t->function, index);
        LLVMSetValueName2(param, d->name, strlen(d->name));
        if (d->is_array && is_kernel) attribute_byval(m, index, d);
        declare_param(m, d, param);
    }
}

static void read_function(wpi_ptx_module *m, bool is_kernel) {
    wpi_ptx *t = &m->t;
    wpi_ptx_signature *s = &m->signature;
    s->result.name = NULL;
    if (!is_kernel) read_signature_result(m);
    const char *name = wpi_ptx_read_name(&m->p);
    if (!name) wpi_ptx_module_fail(m, "the name of a function is missing");
    read_signature_params(m);
    if (wpi_ptx_module_failed(m)) return;
    LLVMTypeRef type = driver_type(t->c, name);
    if (!type) type = function_type(m, s, is_kernel);
    LLVMValueRef function = LLVMGetNamedFunction(t->c->module, name);
    if (function && wpi_function_type(function) != type) {
        wpi_ptx_module_fail(m, "a function has other parameters than before");
        return;
    }
    if (!function) {
        if (wpi_ptx_find(t, name)) {
            wpi_ptx_module_fail(m, "a function has the name of a variable");
            return;
        }
        function = LLVMAddFunction(t->c->module, name, type);
        wpi_ptx_declare_symbol(t, name, function);
    }
    if (strncmp(name, "llvm.", 5) == 0)
        wpi_ptx_module_fail(m, "the name of a function is reserved");
    read_bounds(m, function, is_kernel);
    if (wpi_ptx_module_failed(m) || wpi_ptx_accept(&m->p, ';')) return;
    if (!wpi_ptx_accept(&m->p, '{')) {
        wpi_ptx_module_fail(m, "the body of a function is missing");
        return;
    }
    if (!LLVMIsDeclaration(function) || driver_type(t->c, name)) {
        wpi_ptx_module_fail(m, "a function is defined twice");
        return;
    }
    t->function = function;
    t->matrix_words = t->group_words = NULL;
    const unsigned outer = t->register_count;
    wpi_ptx_lines_function(m, name);
    begin_function(m, is_kernel);
    if (!wpi_ptx_module_failed(m)) read_body(m);
    wpi_ptx_lines_end(m);
    t->depth = 0;
    wpi_ptx_forget(t, outer);
}

/* .alias name, function; both are declared before. */
static void read_alias(wpi_ptx_module *m) {
    wpi_ptx *t = &m->t;
    const char *name = wpi_ptx_read_name(&m->p);
    const char *target = name && wpi_ptx_accept(&m->p, ',') ? wpi_ptx_read_name(&m->p) : NULL;
    if (!target || !wpi_ptx_accept(&m->p, ';')) {
        wpi_ptx_module_fail(m, "an alias is not understood");
        return;
    }
    LLVMValueRef from = LLVMGetNamedFunction(t->c->module, name);
    LLVMValueRef to = LLVMGetNamedFunction(t->c->module, target);
    wpi_ptx_register *r = wpi_ptx_find(t, name);
    if (!from || !to || from == to || !r || !r->is_symbol || !LLVMIsDeclaration(from) ||
        wpi_function_type(from) != wpi_function_type(to)) {
        wpi_ptx_module_fail(m, "an alias needs two declared functions of the same parameters, the "
                               "first without a body");
        return;
    }
    LLVMReplaceAllUsesWith(from, to);
    LLVMDeleteFunction(from);
    r->value = to;
}

/* ---- modules ---- */

static void read_item(wpi_ptx_module *m) {
    const char *name = wpi_ptx_read_directive(m);
    bool is_extern = false;
    while (name && (strcmp(name, "visible") == 0 || strcmp(name, "extern") == 0 ||
                    strcmp(name, "weak") == 0 || strcmp(name, "common") == 0)) {
        is_extern = is_extern || strcmp(name, "extern") == 0;
        name = wpi_ptx_read_directive(m);
    }
    if (!name) {
        wpi_ptx_module_fail(m, "a directive is missing");
    } else if (strcmp(name, "entry") == 0 || strcmp(name, "func") == 0) {
        read_function(m, *name == 'e');
    } else if (strcmp(name, "alias") == 0) {
        read_alias(m);
    } else if (strcmp(name, "version") == 0 || strcmp(name, "target") == 0) {
        wpi_ptx_skip_line(m);
    } else if (strcmp(name, "address_size") == 0) {
        wpi_ptx_operand number = {0};
        if (!wpi_ptx_read_number(&m->p, &number) || number.value != 64)
            wpi_ptx_module_fail(m, "only modules with 64-bit addresses are supported");
    } else if (!wpi_ptx_module_directive(m, name, is_extern, false)) {
        char why[100];
        snprintf(why, sizeof why, "the directive .%.40s is not understood", name);
        wpi_ptx_module_fail(m, why);
    }
}

static wp_status read_module(wpi_compile *c, const char *text, size_t length, wp_error *err) {
    wpi_ptx_module *m = wpi_must_calloc(1, sizeof *m);
    wpi_map pointers = {0}, hopeless = {0};
    m->t = (wpi_ptx){.c = c,
                     .b = c->builder,
                     .is_module = true,
                     .pointers = &pointers,
                     .hopeless = &hopeless,
                     .s = &m->p.statement,
                     .err = err};
    wpi_ptx_parser_init_module(&m->p, text, length);
    wpi_ptx_lines_open(m);
    for (;;) {
        wpi_ptx_skip_blanks(&m->p);
        if (*m->p.at == '\0' || wpi_ptx_module_failed(m)) break;
        read_item(m);
    }
    if (m->t.status == WP_STATUS_OK) wpi_ptx_module_check_externs(m);
    const wp_status status = m->t.status;
    if (status == WP_STATUS_OK) wpi_ptx_module_annotate(m);
    wpi_ptx_lines_close(m);
    wpi_ptx_parser_deinit(&m->p);
    wpi_ptx_names_deinit(&m->t.names);
    wpi_ptx_names_deinit(&m->label_names);
    wpi_free(m->t.registers);
    wpi_free(m->labels);
    wpi_free(m->parents);
    wpi_free(m->managed);
    wpi_map_deinit(&pointers);
    wpi_map_deinit(&hopeless);
    wpi_free(m);
    return status;
}

wp_status wpi_ptx_module_read(const char *text, size_t length, wpi_compile **out, wp_error *err) {
    wpi_compile *c = NULL;
    wp_status status;
    *out = NULL;
    WP_TRY(wpi_compile_create_empty("ptx", &c, err));
    WP_TRY_GOTO(read_module(c, text, length, err), failed);
    WP_TRY_GOTO(wpi_compile_verify(c, "the reading of PTX", err), failed);
    WP_TRY_GOTO(wpi_ptx_module_pointers(c, err), failed);
    WP_TRY_GOTO(wpi_compile_verify(c, "the pointers of PTX", err), failed);
    *out = c;
    return WP_STATUS_OK;
failed:
    wpi_compile_destroy(c);
    return status;
}
