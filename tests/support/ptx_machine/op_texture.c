/* SPDX-License-Identifier: Apache-2.0 */
/* tex, tld4, suld.b, sust.b: operands here, memory and filters by the driver. */
#include "floats.h"
#include "ops.h"

/* ---- textures ---- */

typedef struct form {
    const char *name;
    int number;
    unsigned coordinates; /* of a place, without the layer */
    bool has_layer;
    unsigned operands; /* in the list; those left over are not looked at */
} form;

static const form tex_shapes[] = {
    {"1d", PM_TEX_1D, 1, false, 1},     {"2d", PM_TEX_2D, 2, false, 2},
    {"3d", PM_TEX_3D, 3, false, 4},     {"a1d", PM_TEX_A1D, 1, true, 2},
    {"a2d", PM_TEX_A2D, 2, true, 4},    {"cube", PM_TEX_CUBE, 3, false, 4},
    {"acube", PM_TEX_ACUBE, 3, true, 4}};
static const form surf_shapes[] = {{"1d", PM_SURF_1D, 1, false, 1},
                                   {"2d", PM_SURF_2D, 2, false, 2},
                                   {"3d", PM_SURF_3D, 3, false, 4},
                                   {"a1d", PM_SURF_A1D, 1, true, 2},
                                   {"a2d", PM_SURF_A2D, 2, true, 4}};

/* The handle in `a`, the coordinates in vector[4…]. */
static void take_place(pm_parser *p, const pm_statement *s, const pm_operand *o, pm_insn *in,
                       unsigned operands) {
    if (o->kind != PM_OPERAND_ADDRESS || o->item_count != 2 || o->value != 0) pm_bad_operand(p, s);
    const pm_operand *list = &o->items[1];
    const bool is_list = list->kind == PM_OPERAND_VECTOR;
    if ((is_list ? list->item_count : 1) != operands) pm_bad_operand(p, s);
    in->a = pm_source(p, s, &o->items[0], (pm_type){PM_UNSIGNED, 8});
    for (unsigned i = 0; i < operands; i++)
        in->vector[4 + i] =
            pm_source(p, s, is_list ? &list->items[i] : list, (pm_type){PM_BITS, 4});
}

static void decode_tex(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const form *f = &tex_shapes[in->aux & 0xff];
    if (s->operand_count != 2 || in->count != 4) pm_bad_operand(p, s);
    pm_take_vector(p, s, &s->operands[0], in, false);
    if (in->count != 4) pm_bad_operand(p, s);
    take_place(p, s, &s->operands[1], in, f->operands);
}

static void tex(pm_warp *w, const pm_insn *in) {
    const form *f = &tex_shapes[in->aux & 0xff];
    const pm_launch *launch = w->grid->launch;
    PM_EACH_LANE(w, l) {
        pm_texture_read read = {.shape = (unsigned)f->number,
                                .is_integer = in->from.kind == PM_SIGNED,
                                .gather = (in->aux >> 8) - 1};
        unsigned next = 4;
        uint32_t out[4] = {0};
        if (f->has_layer) read.layer = (uint32_t)pm_row(w, in->vector[next++])[l];
        for (unsigned i = 0; i < f->coordinates; i++) {
            const uint64_t bits = pm_row(w, in->vector[next++])[l];
            read.x[i] = pm_float(bits);
            read.i[i] = (int32_t)bits;
        }
        const uint64_t handle = pm_row(w, in->a)[l];
        if (!launch->services->texture(launch->context, handle, &read, out)) {
            pm_fault(w, in, l, PM_ILLEGAL_INSTRUCTION, "%#llx is no texture for this read",
                     (unsigned long long)handle);
            return;
        }
        for (unsigned i = 0; i < 4; i++)
            pm_row(w, in->vector[i])[l] = out[i];
    }
}

/* ---- surfaces ---- */

enum { CLAMP_SHIFT = 8 };

static void *surface_place(pm_warp *w, const pm_insn *in, unsigned lane, bool *is_there) {
    const form *f = &surf_shapes[in->aux & 0xff];
    const pm_launch *launch = w->grid->launch;
    unsigned next = 4;
    void *memory = NULL;
    pm_surface_place place = {.shape = (unsigned)f->number,
                              .outside = (unsigned)(in->aux >> CLAMP_SHIFT),
                              .bytes = in->type.bytes * in->count};
    if (f->has_layer) place.layer = (uint32_t)pm_row(w, in->vector[next++])[lane];
    place.x_bytes = (int32_t)pm_row(w, in->vector[next++])[lane];
    if (f->coordinates > 1) place.y = (int32_t)pm_row(w, in->vector[next++])[lane];
    if (f->coordinates > 2) place.z = (int32_t)pm_row(w, in->vector[next++])[lane];
    const uint64_t handle = pm_row(w, in->a)[lane];
    *is_there = launch->services->surface(launch->context, handle, &place, &memory);
    if (!*is_there)
        pm_fault(w, in, lane, PM_TRAP, "surface %#llx has no %d, %d, %d, layer %u",
                 (unsigned long long)handle, place.x_bytes, place.y, place.z, place.layer);
    return memory;
}

/* Outside of a surface .zero reads zeroes and writes nothing. */
static void suld(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        bool is_there;
        const uint8_t *from = surface_place(w, in, l, &is_there);
        if (!is_there) return;
        for (unsigned i = 0; i < in->count; i++) {
            uint64_t value = 0;
            if (from != NULL) memcpy(&value, from + (size_t)i * in->type.bytes, in->type.bytes);
            pm_row(w, in->vector[i])[l] = value;
        }
    }
}

static void sust(pm_warp *w, const pm_insn *in) {
    PM_EACH_LANE(w, l) {
        bool is_there;
        uint8_t *to = surface_place(w, in, l, &is_there);
        if (!is_there) return;
        for (unsigned i = 0; to != NULL && i < in->count; i++)
            memcpy(to + (size_t)i * in->type.bytes, &pm_row(w, in->vector[i])[l], in->type.bytes);
    }
}

static void decode_surface(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const bool is_load = in->run == suld;
    const uint8_t count = in->count;
    if (s->operand_count != 2 || count > 4) pm_bad_operand(p, s);
    pm_take_vector(p, s, &s->operands[is_load ? 0 : 1], in, !is_load);
    if (in->count != count) pm_bad_operand(p, s);
    take_place(p, s, &s->operands[is_load ? 1 : 0], in, surf_shapes[in->aux & 0xff].operands);
}

#define TEX(number, name)                                                                          \
    {"tex." name ".*.*", "u32 s32 f32", NULL, PM_MAY_VECTOR, tex, number, decode_tex}
#define GATHER(name, component)                                                                    \
    {"tld4." name ".2d.*.f32", "u32 s32 f32", NULL, PM_MAY_VECTOR, tex,                            \
     1 | (component + 1) << 8, decode_tex}
#define SURFACES(number, name)                                                                     \
    SURFACE(number, name, "trap", PM_SURF_TRAP), SURFACE(number, name, "clamp", PM_SURF_CLAMP),    \
        SURFACE(number, name, "zero", PM_SURF_ZERO)
#define SURFACE(number, name, outside, mode)                                                       \
    {"suld.b." name ".*." outside, "b8 b16 b32 b64", NULL, PM_MAY_VECTOR, suld,                    \
     number | mode << CLAMP_SHIFT, decode_surface},                                                \
    {                                                                                              \
        "sust.b." name ".*." outside, "b8 b16 b32 b64", NULL, PM_MAY_VECTOR, sust,                 \
            number | mode << CLAMP_SHIFT, decode_surface                                           \
    }

const pm_op pm_texture_ops[] = {
    TEX(0, "1d"),
    TEX(1, "2d"),
    TEX(2, "3d"),
    TEX(3, "a1d"),
    TEX(4, "a2d"),
    TEX(5, "cube"),
    TEX(6, "acube"),
    GATHER("r", 0),
    GATHER("g", 1),
    GATHER("b", 2),
    GATHER("a", 3),
    SURFACES(0, "1d"),
    SURFACES(1, "2d"),
    SURFACES(2, "3d"),
    SURFACES(3, "a1d"),
    SURFACES(4, "a2d"),
    {0},
};
