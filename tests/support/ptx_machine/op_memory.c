/* SPDX-License-Identifier: Apache-2.0 */
/* Loads, stores, addresses. */
#include "ops.h"

static uint64_t load(const uint8_t *from, pm_type type) {
    uint8_t v8;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;
    switch (type.bytes) {
    case 1:
        memcpy(&v8, from, 1);
        return type.kind == PM_SIGNED ? (uint64_t)(int64_t)(int8_t)v8 : v8;
    case 2:
        memcpy(&v16, from, 2);
        return type.kind == PM_SIGNED ? (uint64_t)(int64_t)(int16_t)v16 : v16;
    case 4:
        memcpy(&v32, from, 4);
        return type.kind == PM_SIGNED ? (uint64_t)(int64_t)(int32_t)v32 : v32;
    default: memcpy(&v64, from, 8); return v64;
    }
}

static void store(uint8_t *to, uint64_t value, unsigned bytes) {
    switch (bytes) {
    case 1: memcpy(to, &value, 1); break;
    case 2: memcpy(to, &value, 2); break;
    case 4: memcpy(to, &value, 4); break;
    default: memcpy(to, &value, 8); break;
    }
}

static uint8_t *place(pm_warp *w, const pm_insn *in, unsigned lane) {
    uint64_t address = pm_row(w, in->a)[lane] + (uint64_t)in->offset;
    if (in->is_frame) address += w->local_frames[lane];
    return pm_memory(w, in, lane, (pm_space)in->space, address, (size_t)in->type.bytes * in->count);
}

static void ld(pm_warp *w, const pm_insn *in) {
    if (in->is_volatile) w->budget -= PM_SPIN_COST;
    PM_EACH_LANE(w, l) {
        const uint8_t *from = place(w, in, l);
        if (from == NULL) return;
        for (unsigned i = 0; i < in->count; i++)
            pm_row(w, in->vector[i])[l] = load(from + (size_t)i * in->type.bytes, in->type);
    }
}

static void st(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        uint8_t *to = place(w, in, l);
        if (to == NULL) return;
        for (unsigned i = 0; i < in->count; i++)
            store(to + (size_t)i * in->type.bytes, pm_row(w, in->vector[i])[l], in->type.bytes);
    }
}

/* Constant memory and parameters of kernels cannot be written. */
static void decode_st(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const uint8_t count = in->count;
    if (s->operand_count != 2) pm_bad_operand(p, s);
    pm_take_address(p, s, &s->operands[0], in);
    if (in->space == PM_CONST || in->space == PM_PARAM) pm_bad_operand(p, s);
    pm_take_vector(p, s, &s->operands[1], in, true);
    if (in->count != count) pm_bad_operand(p, s);
}

/* ---- addresses: generic ones have windows for shared and local memory ---- */

static uint64_t window_of(const pm_warp *w, unsigned space) {
    switch (space) {
    case PM_SHARED: return PM_SHARED_WINDOW;
    case PM_LOCAL: return PM_LOCAL_WINDOW;
    case PM_PARAM: return (uint64_t)(uintptr_t)w->grid->params;
    default: return 0;
    }
}

static void cvta(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    const uint64_t window = window_of(w, in->space);
    const bool is_to = in->aux != 0;
    PM_FOR_LANES(w, { d[l] = is_to ? a[l] - window : a[l] + window; });
}

static bool is_constant(const pm_module *m, uint64_t address) {
    for (unsigned i = 0; i < m->variable_count; i++)
        if (m->variables[i].is_constant &&
            address - (uintptr_t)m->variables[i].memory < m->variables[i].bytes)
            return true;
    return false;
}

static bool is_in_space(const pm_warp *w, uint64_t address, unsigned space) {
    const bool is_shared = PM_WINDOW_OF(address) == PM_WINDOW_OF(PM_SHARED_WINDOW);
    const bool is_local = PM_WINDOW_OF(address) == PM_WINDOW_OF(PM_LOCAL_WINDOW);
    switch (space) {
    case PM_SHARED: return is_shared;
    case PM_LOCAL: return is_local;
    case PM_CONST: return is_constant(w->grid->module, address);
    case PM_PARAM:
        return address - (uintptr_t)w->grid->params < w->grid->launch->kernel->param_bytes;
    default: return !is_shared && !is_local && !is_constant(w->grid->module, address);
    }
}

static void isspacep(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    uint32_t bits = 0;
    PM_FOR_LANES(w, { bits |= (uint32_t)is_in_space(w, a[l], in->space) << l; });
    *d = (*d & ~(uint64_t)w->mask) | bits;
}

/* ---- hints, fences, asynchronous copies ---- */

static void nothing(pm_warp *w, const pm_insn *in) {
    (void)w;
    (void)in;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* cp.async.*.shared.global [to], [from], bytes{, bytes that are read}: done at once, which every
 * program that waits as it must will find done. */
static void cp_async(pm_warp *w, const pm_insn *in) {
    const size_t bytes = (size_t)in->aux;
    PM_EACH_LANE(w, l) {
        uint8_t *to =
            pm_memory(w, in, l, PM_SHARED, pm_row(w, in->a)[l] + (uint64_t)in->offset, bytes);
        const uint64_t read = in->c != PM_NONE ? (uint32_t)pm_row(w, in->c)[l] : bytes;
        const uint8_t *from = NULL;
        if (to == NULL) return;
        if (read != 0) {
            from = pm_memory(w, in, l, PM_GLOBAL, pm_row(w, in->b)[l] + (uint64_t)in->vector[0],
                             bytes);
            if (from == NULL) return;
        }
        for (size_t i = 0; i < bytes; i++)
            to[i] = i < read ? from[i] : 0;
    }
}

static void decode_cp_async(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count < 3 || s->operand_count > 4 || s->operands[2].kind != PM_OPERAND_INTEGER)
        pm_bad_operand(p, s);
    const uint64_t bytes = s->operands[2].value;
    if (bytes != 16 && ((bytes != 4 && bytes != 8) || strstr(s->name, ".cg.") != NULL))
        pm_bad_operand(p, s);
    pm_insn from = {.space = PM_GLOBAL};
    in->space = PM_SHARED;
    in->aux = (int32_t)bytes;
    pm_take_address(p, s, &s->operands[0], in);
    pm_take_address(p, s, &s->operands[1], &from);
    in->b = from.a;
    in->vector[0] = (int32_t)from.offset;
    if (s->operand_count == 4) in->c = pm_source(p, s, &s->operands[3], (pm_type){PM_UNSIGNED, 4});
}

static void decode_prefetch(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count != 1) pm_bad_operand(p, s);
    pm_take_address(p, s, &s->operands[0], in);
}

#define TYPES "b8 b16 b32 b64 u8 u16 u32 u64 s8 s16 s32 s64 f32 f64"
#define FENCE(name) {name, NULL, "", 0, nothing, 0, NULL}

const pm_op pm_memory_ops[] = {
    {"ld.*", TYPES, "Vm", PM_MAY_ACCESS | PM_MAY_VECTOR, ld, 0, NULL},
    {"ldu.*", TYPES, "Vm", PM_MAY_ACCESS | PM_MAY_VECTOR, ld, 0, NULL},
    {"st.*", TYPES, NULL, PM_MAY_ACCESS | PM_MAY_VECTOR, st, 0, decode_st},
    {"cvta.u64", NULL, "ds", PM_MAY_ACCESS, cvta, 0, NULL},
    {"cvta.to.u64", NULL, "ds", PM_MAY_ACCESS, cvta, 1, NULL},
    {"isspacep", NULL, "ps", PM_MAY_ACCESS, isspacep, 0, NULL},
    {"prefetch.L1", NULL, NULL, PM_MAY_ACCESS, nothing, 0, decode_prefetch},
    {"prefetch.L2", NULL, NULL, PM_MAY_ACCESS, nothing, 0, decode_prefetch},
    {"prefetchu.L1", NULL, NULL, 0, nothing, 0, decode_prefetch},
    FENCE("membar.cta"),
    FENCE("membar.gl"),
    FENCE("membar.sys"),
    {"fence.sc", NULL, "", PM_MAY_ACCESS, nothing, 0, NULL},
    {"fence", NULL, "", PM_MAY_ACCESS, nothing, 0, NULL},
    {"cp.async.ca.shared.global", NULL, NULL, PM_MAY_ACCESS, cp_async, 0, decode_cp_async},
    {"cp.async.cg.shared.global", NULL, NULL, PM_MAY_ACCESS, cp_async, 0, decode_cp_async},
    FENCE("cp.async.commit_group"),
    {"cp.async.wait_group", NULL, "s", 0, nothing, 0, NULL},
    FENCE("cp.async.wait_all"),
    {0},
};
