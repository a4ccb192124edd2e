/* SPDX-License-Identifier: Apache-2.0 */
/* Textures and surfaces by their 64-bit handles, as the calls that CUDA C's functions make of them
 * (docs/rooms/dialect.md). Texture references (.texref) and queries are not supported. */
#include "base/abi.h"
#include "compiler/ptx/ptx.h"

enum { COMPONENTS = 4, TEXEL_BYTES = 16 };

/* [handle, {coordinates}] */
typedef struct place {
    LLVMValueRef handle;
    const wpi_ptx_operand *coordinates; /* a list, or one register */
} place;

static place read_place(wpi_ptx *t, unsigned index) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    place p = {.coordinates = &t->s->pool[0]};
    if (o->kind != WP_PTX_OPERAND_ADDRESS || o->count == 0 || o->name[0] == '\0') {
        wpi_ptx_fail(t, "it is not [handle, {coordinates}]");
        p.handle = wpi_const64(t->c, 0);
        return p;
    }
    const wpi_ptx_operand handle = {
        .kind = WP_PTX_OPERAND_NAME, .name = o->name, .offset_name = ""};
    p.handle =
        wpi_ptx_as_integer(t, wpi_ptx_read_operand(t, &handle, wpi_ptx_type_of(WP_PTX_BITS, 64)));
    p.coordinates = &t->s->pool[o->first];
    return p;
}

static LLVMValueRef coordinate(wpi_ptx *t, const place *p, unsigned i, wpi_ptx_type type) {
    const wpi_ptx_operand *c = p->coordinates;
    const bool is_list = c->kind == WP_PTX_OPERAND_LIST;
    if (i >= (is_list ? c->count : 1)) {
        wpi_ptx_fail(t, "a coordinate is missing");
        return LLVMConstNull(wpi_ptx_llvm(t, type));
    }
    return wpi_ptx_read_operand(t, is_list ? &t->s->pool[c->first + i] : c, type);
}

/* Component `i` of `count` in operand `index`. */
static const wpi_ptx_operand *component(wpi_ptx *t, unsigned index, unsigned i, unsigned count) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    const bool is_list = o->kind == WP_PTX_OPERAND_LIST;
    if ((is_list ? o->count : 1) != count) {
        wpi_ptx_fail(t, "the number of registers is not that of its components");
        return &t->s->pool[0];
    }
    return is_list ? &t->s->pool[o->first + i] : o;
}

static LLVMValueRef element(wpi_ptx *t, LLVMValueRef memory, uint64_t offset_bytes) {
    LLVMValueRef offset = wpi_const64(t->c, offset_bytes);
    return LLVMBuildGEP2(t->b, t->c->i8, memory, &offset, 1, "");
}

static LLVMValueRef texel_memory(wpi_ptx *t) {
    LLVMValueRef memory = wpi_ptx_frame(t, LLVMArrayType2(t->c->i32, COMPONENTS));
    LLVMSetAlignment(memory, TEXEL_BYTES);
    return memory;
}

/* ---- textures ---- */

/* Calls __wp_tex and writes the components to operand 0. */
static void fetch(wpi_ptx *t, const place *p, uint32_t kind, LLVMValueRef xyz[3], LLVMValueRef ix,
                  wpi_ptx_type type, unsigned count) {
    wpi_compile *c = t->c;
    LLVMValueRef out = texel_memory(t);
    LLVMValueRef zero = LLVMConstNull(c->f32);
    LLVMValueRef args[] = {p->handle,
                           wpi_const32(c, kind),
                           xyz[0] ? xyz[0] : zero,
                           xyz[1] ? xyz[1] : zero,
                           xyz[2] ? xyz[2] : zero,
                           ix ? ix : wpi_const32(c, 0),
                           out};
    if (type.bits * type.lanes != 32) wpi_ptx_fail(t, "its components are not 32 bits wide");
    if (t->status != WP_STATUS_OK) return;
    wpi_ptx_call(t, "__wp_tex", c->none, args, 7);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef value = LLVMBuildLoad2(t->b, c->i32, element(t, out, 4 * i), "");
        if (wpi_ptx_is_float(type)) value = LLVMBuildBitCast(t->b, value, c->f32, "");
        wpi_ptx_write_operand(t, component(t, 0, i, count), type, value);
    }
}

/* tex{.level|.grad}.geometry.v4.type.coordinates {…}, [handle, {…}]: there are no mipmaps. */
static void emit_tex(wpi_ptx *t) {
    static const char *const shapes[] = {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube", NULL};
    static const struct {
        uint32_t kind;
        unsigned coordinates;
        bool has_layer;
    } rows[] = {{WP_TEX_1D, 1, false},         {WP_TEX_2D, 2, false},
                {WP_TEX_3D, 3, false},         {WP_TEX_1D_LAYERED, 1, true},
                {WP_TEX_2D_LAYERED, 2, true},  {WP_TEX_CUBE, 3, false},
                {WP_TEX_CUBE_LAYERED, 3, true}};
    wpi_ptx_skip(t, "base");
    wpi_ptx_skip(t, "level");
    wpi_ptx_skip(t, "grad");
    const int shape = wpi_ptx_choice(t, shapes);
    const unsigned count = wpi_ptx_has(t, "v4") ? 4 : wpi_ptx_has(t, "v2") ? 2 : 1;
    const wpi_ptx_type type = wpi_ptx_type_take(t), place_type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 4);
    if (shape < 0) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    const place p = read_place(t, 1);
    const wpi_ptx_type f32 = wpi_ptx_type_of(WP_PTX_FLOAT, 32);
    const wpi_ptx_type s32 = wpi_ptx_type_of(WP_PTX_SIGNED, 32);
    LLVMValueRef xyz[3] = {NULL}, ix = NULL;
    uint32_t kind = rows[shape].kind;
    if (!wpi_ptx_is_float(place_type)) {
        if (kind != WP_TEX_1D) wpi_ptx_fail(t, "only one-dimensional texels have whole numbers");
        kind = WP_TEX_1D_FETCH;
        ix = coordinate(t, &p, 0, s32);
    } else {
        const unsigned first = rows[shape].has_layer;
        if (first != 0) ix = coordinate(t, &p, 0, s32);
        for (unsigned i = 0; i < rows[shape].coordinates; i++)
            xyz[i] = coordinate(t, &p, first + i, f32);
    }
    fetch(t, &p, kind, xyz, ix, type, count);
}

/* tld4.r.2d.v4.type.f32 {…}, [handle, {x, y}] */
static void emit_tld4(wpi_ptx *t) {
    static const char *const components[] = {"r", "g", "b", "a", NULL};
    const int which = wpi_ptx_choice(t, components);
    const bool is_good = wpi_ptx_has(t, "2d") & wpi_ptx_has(t, "v4");
    const wpi_ptx_type type = wpi_ptx_type_take(t), place_type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    if (which < 0 || !is_good || !wpi_ptx_is_float(place_type)) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    const place p = read_place(t, 1);
    const wpi_ptx_type f32 = wpi_ptx_type_of(WP_PTX_FLOAT, 32);
    LLVMValueRef xyz[3] = {coordinate(t, &p, 0, f32), coordinate(t, &p, 1, f32), NULL};
    fetch(t, &p, WP_TEX_2D_GATHER, xyz, wpi_const32(t->c, (uint32_t)which), type, COMPONENTS);
}

/* ---- surfaces ---- */

typedef struct surface {
    place place;
    LLVMValueRef x, y, z;
    uint32_t mode;
    unsigned count, bytes; /* of components */
    wpi_ptx_type type;
} surface;

/* .b.geometry{.v2|.v4}.type.mode; `index` is the operand [handle, {…}]. */
static surface read_surface(wpi_ptx *t, unsigned index) {
    static const char *const shapes[] = {"1d", "2d", "3d", "a1d", "a2d", NULL};
    static const uint32_t numbers[] = {WP_SURF_1D, WP_SURF_2D, WP_SURF_3D, WP_SURF_1D_LAYERED,
                                       WP_SURF_2D_LAYERED};
    static const unsigned coordinates[] = {1, 2, 3, 1, 2};
    static const char *const modes[] = {"zero", "clamp", "trap", NULL};
    static const char *const caches[] = {"ca", "cg", "cs", "cv", "wb", "wt", NULL};
    wpi_compile *c = t->c;
    const wpi_ptx_type s32 = wpi_ptx_type_of(WP_PTX_SIGNED, 32);
    if (!wpi_ptx_has(t, "b")) wpi_ptx_fail(t, "only unformatted accesses (.b) are supported");
    const int shape = wpi_ptx_choice(t, shapes);
    (void)wpi_ptx_choice(t, caches);
    surface s = {.count = wpi_ptx_has(t, "v4") ? 4 : wpi_ptx_has(t, "v2") ? 2 : 1};
    s.type = wpi_ptx_type_take(t);
    s.bytes = s.type.bits / 8;
    const int mode = wpi_ptx_choice(t, modes);
    wpi_ptx_expect(t, 2, 2);
    s.x = s.y = s.z = wpi_const32(c, 0);
    s.place.handle = wpi_const64(c, 0);
    if (shape < 0 || s.bytes * s.count > TEXEL_BYTES) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return s;
    s.mode = (mode < 0 ? WP_SURF_TRAP : (uint32_t)mode) | numbers[shape] << 8;
    s.place = read_place(t, index);
    const unsigned first = shape >= 3;
    if (first != 0) s.z = coordinate(t, &s.place, 0, s32);
    s.x = coordinate(t, &s.place, first, s32);
    if (coordinates[shape] > 1) s.y = coordinate(t, &s.place, first + 1, s32);
    if (coordinates[shape] > 2) s.z = coordinate(t, &s.place, 2, s32);
    return s;
}

static void access(wpi_ptx *t, const surface *s, const char *name, LLVMValueRef memory) {
    wpi_compile *c = t->c;
    LLVMValueRef args[] = {
        s->place.handle,        memory, wpi_const32(c, s->count * s->bytes), s->x, s->y, s->z,
        wpi_const32(c, s->mode)};
    wpi_ptx_call(t, name, c->none, args, 7);
}

static void emit_suld(wpi_ptx *t) {
    const surface s = read_surface(t, 1);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef memory = texel_memory(t);
    access(t, &s, "__wp_surf_read", memory);
    for (unsigned i = 0; i < s.count; i++) {
        LLVMValueRef from = element(t, memory, (uint64_t)i * s.bytes);
        LLVMValueRef value = LLVMBuildLoad2(t->b, wpi_ptx_llvm(t, s.type), from, "");
        wpi_ptx_write_operand(t, component(t, 0, i, s.count), s.type, value);
    }
}

static void emit_sust(wpi_ptx *t) {
    const surface s = read_surface(t, 0);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef memory = texel_memory(t);
    for (unsigned i = 0; i < s.count; i++) {
        LLVMValueRef value = wpi_ptx_read_operand(t, component(t, 1, i, s.count), s.type);
        LLVMBuildStore(t->b, value, element(t, memory, (uint64_t)i * s.bytes));
    }
    access(t, &s, "__wp_surf_write", memory);
}

const wpi_ptx_row wpi_ptx_texture[] = {
    {"tex", emit_tex}, {"tld4", emit_tld4}, {"suld", emit_suld}, {"sust", emit_sust}, {NULL, NULL},
};
