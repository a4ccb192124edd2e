/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores, cp.async (as a plain copy), fences, and hints that mean nothing here.
 *
 *     ld.volatile, .mmio, .cv            volatile
 *     ld.relaxed/.acquire, st.release    atomic, vectors of at most 16 bytes as a whole: GPUs do
 * not tear them, and decoupled look-back (CUB) relies on it asm volatile with ld/st.global
 * volatile: old programs poll with it the rest, shared memory too        plain */
#include <stdio.h>
#include <string.h>

#include "base/trace_abi.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/ptx/ptx.h"

typedef struct access {
    wpi_ptx_type type;
    unsigned elements; /* .v2, .v4, .v8 */
    bool is_volatile;
    LLVMAtomicOrdering ordering; /* not atomic: LLVMAtomicOrderingNotAtomic */
    int cache;                   /* the wp_trace_cache of its cache operator, or -1 */
} access;

/* In the order of `caches`, below. */
static const wp_trace_cache cache_operators[] = {WP_TRACE_CACHE_ALL,    WP_TRACE_CACHE_GLOBAL,
                                                 WP_TRACE_CACHE_STREAM, WP_TRACE_CACHE_STREAM,
                                                 WP_TRACE_CACHE_ALL,    WP_TRACE_CACHE_VOLATILE};

/* .L1::evict_last, .L2::128B and so on. */
static void take_hints(wpi_ptx *t) {
    wpi_ptx_take_policy(t);
    for (unsigned i = 1; i < t->s->part_count; i++) {
        const char *part = t->s->parts[i];
        if (strncmp(part, "L1::", 4) == 0 || strncmp(part, "L2::", 4) == 0) t->s->taken |= 1u << i;
    }
}

static access take_access(wpi_ptx *t, bool is_store) {
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    static const char *const spaces[] = {
        "shared", "shared::cta",  "local",       "const",           "global",
        "param",  "param::entry", "param::func", "shared::cluster", NULL};
    static const char *const caches[] = {"ca", "cg", "cs", "lu", "wb", "wt", NULL};
    access a = {.elements = 1, .ordering = LLVMAtomicOrderingNotAtomic, .cache = -1};
    wpi_ptx_skip(t, "weak");
    bool is_forced = wpi_ptx_has(t, "volatile") | wpi_ptx_has(t, "mmio") | wpi_ptx_has(t, "cv");
    if (wpi_ptx_has(t, "relaxed")) a.ordering = LLVMAtomicOrderingMonotonic;
    if (!is_store && wpi_ptx_has(t, "acquire")) a.ordering = LLVMAtomicOrderingAcquire;
    if (is_store && wpi_ptx_has(t, "release")) a.ordering = LLVMAtomicOrderingRelease;
    (void)wpi_ptx_choice(t, scopes);
    int space = wpi_ptx_choice(t, spaces);
    bool is_read_only = !is_store && wpi_ptx_has(t, "nc");
    bool is_constant = space == 3 || is_read_only;
    if (is_store && space == 3) wpi_ptx_fail(t, "constant memory cannot be written");
    if (!t->is_module && space >= 5 && space <= 7)
        wpi_ptx_fail(t, NULL); /* inline PTX has no parameters */
    int cache = wpi_ptx_choice(t, caches);
    if (cache >= 0) a.cache = (int)cache_operators[cache];
    if (is_read_only && a.cache <= WP_TRACE_CACHE_ALL) a.cache = WP_TRACE_CACHE_READ_ONLY;
    take_hints(t);
    a.elements = wpi_ptx_has(t, "v2") ? 2 : wpi_ptx_has(t, "v4") ? 4 : wpi_ptx_has(t, "v8") ? 8 : 1;
    a.type = wpi_ptx_type_take(t);
    bool is_private = space >= 0 && space <= 2; /* polled by no other block */
    bool is_atomic = a.ordering != LLVMAtomicOrderingNotAtomic;
    a.is_volatile = is_forced || (t->is_volatile && !is_private && !is_constant && !is_atomic);
    /* Volatile without an operator in the text has the default cache operator. */
    if (a.is_volatile && !is_forced && a.cache < 0) a.cache = WP_TRACE_CACHE_ALL;
    if (a.type.kind == WP_PTX_PREDICATE) wpi_ptx_fail(t, NULL);
    return a;
}

static void finish(wpi_ptx *t, LLVMValueRef instruction, const access *a, unsigned bytes) {
    LLVMSetAlignment(instruction, bytes);
    LLVMSetVolatile(instruction, a->is_volatile);
    if (a->cache >= 0) wpi_lower_mark_cache(t->c, instruction, (uint32_t)a->cache);
    if (a->ordering != LLVMAtomicOrderingNotAtomic) LLVMSetOrdering(instruction, a->ordering);
}

/* Whether a vector is accessed by one instruction. */
static bool is_whole(const access *a, unsigned bytes) {
    return a->elements > 1 && (a->ordering == LLVMAtomicOrderingNotAtomic || bytes <= 16);
}

/* LLVM has no atomic vectors, so up to 8 bytes are an integer. For 16 bytes it may call a library:
 * they are a volatile vector, which is one instruction, and atomic on processors with AVX; x86
 * keeps the order, the fence makes LLVM do so. */
static bool is_atomic_integer(const access *a, unsigned bytes) {
    return a->ordering != LLVMAtomicOrderingNotAtomic && bytes <= 8;
}

static bool is_atomic_vector(const access *a, unsigned bytes) {
    return a->ordering != LLVMAtomicOrderingNotAtomic && bytes > 8;
}

static void fence_vector(wpi_ptx *t, const access *a) {
    if (a->ordering != LLVMAtomicOrderingMonotonic) LLVMBuildFence(t->b, a->ordering, 1, "");
}

static LLVMValueRef load_whole(wpi_ptx *t, LLVMTypeRef type, LLVMValueRef base, const access *a,
                               unsigned bytes) {
    access whole = *a;
    if (is_atomic_integer(a, bytes)) {
        LLVMValueRef bits =
            LLVMBuildLoad2(t->b, LLVMIntTypeInContext(t->c->context, bytes * 8), base, "");
        finish(t, bits, a, bytes);
        return LLVMBuildBitCast(t->b, bits, type, "");
    }
    if (is_atomic_vector(a, bytes)) {
        whole.is_volatile = true;
        whole.ordering = LLVMAtomicOrderingNotAtomic;
    }
    LLVMValueRef vector = LLVMBuildLoad2(t->b, type, base, "");
    finish(t, vector, &whole, bytes);
    if (is_atomic_vector(a, bytes)) {
        wpi_lower_note(t->c, vector, WP_ATOMIC_METADATA);
        fence_vector(t, a);
    }
    return vector;
}

static void store_whole(wpi_ptx *t, LLVMValueRef vector, LLVMValueRef base, const access *a,
                        unsigned bytes) {
    access whole = *a;
    if (is_atomic_integer(a, bytes)) {
        LLVMTypeRef type = LLVMIntTypeInContext(t->c->context, bytes * 8);
        vector = LLVMBuildBitCast(t->b, vector, type, "");
    } else if (is_atomic_vector(a, bytes)) {
        fence_vector(t, a);
        whole.is_volatile = true;
        whole.ordering = LLVMAtomicOrderingNotAtomic;
    }
    LLVMValueRef store = LLVMBuildStore(t->b, vector, base);
    finish(t, store, &whole, bytes);
    if (is_atomic_vector(a, bytes)) wpi_lower_note(t->c, store, WP_ATOMIC_METADATA);
}

static LLVMValueRef element_address(wpi_ptx *t, LLVMValueRef base, unsigned index, unsigned bytes) {
    LLVMValueRef offset = wpi_const64(t->c, (uint64_t)index * bytes);
    return index == 0 ? base : LLVMBuildGEP2(t->b, t->c->i8, base, &offset, 1, "");
}

/* The registers of a vector access; a plain access has one. */
static const wpi_ptx_operand *element(wpi_ptx *t, unsigned index, const access *a, unsigned i) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    bool is_list = o->kind == WP_PTX_OPERAND_LIST;
    if (a->elements != (is_list ? o->count : 1)) {
        wpi_ptx_fail(t, NULL);
        return o;
    }
    return is_list ? &t->s->pool[o->first + i] : o;
}

/* The type under which memory is accessed: integers, so that bits pass unchanged. */
static wpi_ptx_type raw(wpi_ptx_type type) {
    wpi_ptx_kind kind = wpi_ptx_is_float(type) || type.lanes > 1 ? WP_PTX_BITS : type.kind;
    return wpi_ptx_type_of(kind, type.bits * type.lanes);
}

static void emit_ld(wpi_ptx *t) {
    access a = take_access(t, false);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef base = wpi_ptx_address(t, 1);
    wpi_ptx_type type = raw(a.type);
    LLVMTypeRef one = wpi_ptx_llvm(t, type);
    unsigned bytes = type.bits / 8;
    unsigned all_bytes = bytes * a.elements;
    LLVMValueRef vector = NULL;
    if (t->status != WP_STATUS_OK) return;
    if (is_whole(&a, all_bytes))
        vector = load_whole(t, LLVMVectorType(one, a.elements), base, &a, all_bytes);
    for (unsigned i = 0; i < a.elements; i++) {
        LLVMValueRef value;
        if (vector) {
            value = LLVMBuildExtractElement(t->b, vector, wpi_const32(t->c, i), "");
        } else {
            value = LLVMBuildLoad2(t->b, one, element_address(t, base, i, bytes), "");
            finish(t, value, &a, bytes);
        }
        wpi_ptx_write_operand(t, element(t, 0, &a, i), type, value);
    }
}

static void emit_st(wpi_ptx *t) {
    if (wpi_ptx_has(t, "async")) {
        wpi_ptx_store_async(t);
        return;
    }
    access a = take_access(t, true);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef base = wpi_ptx_address(t, 0);
    wpi_ptx_type type = raw(a.type);
    unsigned bytes = type.bits / 8;
    unsigned all_bytes = bytes * a.elements;
    LLVMValueRef vector = LLVMGetUndef(LLVMVectorType(wpi_ptx_llvm(t, type), a.elements));
    for (unsigned i = 0; i < a.elements && t->status == WP_STATUS_OK; i++) {
        const wpi_ptx_operand *o = element(t, 1, &a, i);
        bool is_real = o->kind == WP_PTX_OPERAND_REAL32 || o->kind == WP_PTX_OPERAND_REAL64;
        LLVMValueRef value = wpi_ptx_read_operand(t, o, is_real ? a.type : type);
        if (is_whole(&a, all_bytes)) {
            vector = LLVMBuildInsertElement(t->b, vector, value, wpi_const32(t->c, i), "");
        } else {
            finish(t, LLVMBuildStore(t->b, value, element_address(t, base, i, bytes)), &a, bytes);
        }
    }
    if (t->status == WP_STATUS_OK && is_whole(&a, all_bytes))
        store_whole(t, vector, base, &a, all_bytes);
}

/* ---- cp.async ---- */

static void copy_async(wpi_ptx *t) {
    static const char *const caches[] = {"ca", "cg", NULL};
    bool is_known = wpi_ptx_choice(t, caches) >= 0;
    is_known &= wpi_ptx_has(t, "shared") || wpi_ptx_has(t, "shared::cta");
    is_known &= wpi_ptx_has(t, "global");
    take_hints(t);
    wpi_ptx_expect(t, 3, 4);
    LLVMValueRef to = wpi_ptx_address_in(t, 0, WP_PTX_PLACE_SHARED),
                 from = wpi_ptx_address_in(t, 1, WP_PTX_PLACE_GLOBAL);
    LLVMValueRef size = wpi_ptx_read(t, 2, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
    uint64_t bytes = LLVMIsAConstantInt(size) ? LLVMConstIntGetZExtValue(size) : 0;
    if (!is_known || (bytes != 4 && bytes != 8 && bytes != 16)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    unsigned align = (unsigned)bytes;
    if (t->s->operand_count == 3) {
        LLVMTypeRef type = bytes == 4 ? t->c->i32 : LLVMVectorType(t->c->i32, align / 4);
        LLVMValueRef value = LLVMBuildLoad2(t->b, type, from, "");
        LLVMSetAlignment(value, align);
        LLVMSetAlignment(LLVMBuildStore(t->b, value, to), align);
        return;
    }
    /* only the first bytes are read, zeros follow; a predicate that is true reads none */
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, 3);
    wpi_ptx_register *r = o->kind == WP_PTX_OPERAND_NAME ? wpi_ptx_find(t, o->name) : NULL;
    LLVMValueRef present;
    if (r && r->is_predicate) {
        LLVMValueRef is_ignored = wpi_ptx_read(t, 3, wpi_ptx_type_of(WP_PTX_PREDICATE, 1));
        present = LLVMBuildSelect(t->b, is_ignored, wpi_const32(t->c, 0), size, "");
    } else {
        present = wpi_ptx_read(t, 3, wpi_ptx_type_of(WP_PTX_UNSIGNED, 32));
        present = wpi_ptx_minmax(t, false, false, present, size);
    }
    LLVMBuildMemSet(t->b, to, LLVMConstInt(t->c->i8, 0, 0), wpi_const64(t->c, bytes), align);
    LLVMBuildMemCpy(t->b, to, align, from, 1, LLVMBuildZExt(t->b, present, t->c->i64, ""));
}

/* Commits and waits do nothing: copies are complete at once. */
static void emit_cp(wpi_ptx *t) {
    static const char *const groups[] = {"commit_group", "wait_group", "wait_all", NULL};
    if (!wpi_ptx_has(t, "async"))
        wpi_ptx_fail(t, NULL);
    else if (wpi_ptx_has(t, "bulk"))
        wpi_ptx_bulk(t);
    else if (wpi_ptx_has(t, "mbarrier"))
        wpi_ptx_copy_arrives(t);
    else if (wpi_ptx_choice(t, groups) < 0)
        copy_async(t);
}

/* ---- fences and hints ---- */

static void emit_nothing(wpi_ptx *t) {
    t->s->taken = UINT32_MAX;
}

/* A policy is any number, as caches here have none. */
static void emit_createpolicy(wpi_ptx *t) {
    static const char *const forms[] = {"fractional", "range", "cvt", NULL};
    const int form = wpi_ptx_choice(t, forms);
    const unsigned count = t->s->operand_count;
    wpi_ptx_skip(t, "global");
    wpi_ptx_skip(t, "L2");
    take_hints(t);
    const wpi_ptx_type policy = wpi_ptx_type_take(t);
    if (policy.kind != WP_PTX_BITS || policy.bits != 64 ||
        (form == 0 && (count < 1 || count > 2)) || (form == 1 && count != 4) ||
        (form == 2 && count != 2) || form < 0) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    wpi_ptx_write(t, 0, policy, wpi_const64(t->c, 0));
}

static void emit_fence(wpi_ptx *t) {
    static const char *const names[] = {"cta", "gl", "gpu", "sys", "cluster", NULL};
    static const char *const kinds[] = {"sc", "acq_rel", "acquire", "release", NULL};
    (void)wpi_ptx_choice(t, kinds);
    /* fence.mbarrier_init.release.cluster, fence.proxy.async: other proxies see memory as it is */
    if (wpi_ptx_has(t, "mbarrier_init") || wpi_ptx_has(t, "proxy")) {
        emit_nothing(t);
        return;
    }
    int scope = wpi_ptx_choice(t, names);
    wpi_ptx_expect(t, 0, 0);
    if (scope < 0) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    wpi_ptx_call(t,
                 scope == 0   ? "llvm.nvvm.membar.cta"
                 : scope == 3 ? "llvm.nvvm.membar.sys"
                              : "llvm.nvvm.membar.gl",
                 t->c->none, NULL, 0);
}

static void emit_isspacep(wpi_ptx *t) {
    static const char *const spaces[] = {"global", "shared",          "shared::cta", "local",
                                         "const",  "shared::cluster", NULL};
    static const char *const names[] = {"global", "shared", "shared",
                                        "local",  "const",  "shared.cluster"};
    int space = wpi_ptx_choice(t, spaces);
    wpi_ptx_expect(t, 2, 2);
    if (space < 0) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef value = wpi_ptx_read_raw(t, wpi_ptx_operand_at(t, 1));
    LLVMValueRef pointer = value ? wpi_ptx_pointer_of(t, value) : NULL;
    if (!pointer) {
        value = wpi_ptx_read(t, 1, wpi_ptx_type_of(WP_PTX_UNSIGNED, 64));
        pointer = LLVMBuildIntToPtr(t->b, value, t->c->ptr, "");
    }
    char name[40];
    snprintf(name, sizeof name, "llvm.nvvm.isspacep.%s", names[space]);
    LLVMValueRef is_in = wpi_ptx_call(t, name, t->c->i1, &pointer, 1);
    wpi_ptx_write(t, 0, wpi_ptx_type_of(WP_PTX_PREDICATE, 1), is_in);
}

const wpi_ptx_row wpi_ptx_memory[] = {
    {"ld", emit_ld},
    {"ldu", emit_ld},
    {"st", emit_st},
    {"cp", emit_cp},
    {"membar", emit_fence},
    {"fence", emit_fence},
    {"isspacep", emit_isspacep},
    {"prefetch", emit_nothing},
    {"prefetchu", emit_nothing},
    {"applypriority", emit_nothing},
    {"createpolicy", emit_createpolicy},
    {"discard", emit_nothing},
    {"pmevent", emit_nothing},
    {"griddepcontrol", emit_nothing},
    {"setmaxnreg", emit_nothing},
    {NULL, NULL},
};
