/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What texture units do, as the CUDA programming guide's chapter on texture fetching says:
 * addresses, filters with weights of 8 fractional bits, formats. And where the elements of surfaces
 * lie.
 */
#include <math.h>

#include "fake.h"

enum { WRAP, CLAMP, MIRROR, BORDER };

/* The texels of one resource. */
typedef struct image {
    const char *base;
    size_t width, height, depth; /* height and depth 1: not there */
    size_t row_bytes, slice_bytes;
    int format;
    unsigned channels;
} image;

static bool describe(const fake_object *t, image *out) {
    const wpi_cu_resource *r = &t->resource;
    if (r->kind == WPI_CU_RESOURCE_ARRAY) {
        const fake_object *a = (const fake_object *)(void *)r->u.array.array;
        if (!a->is_live) return false;
        *out =
            (image){a->base,      a->array.width,         a->rows,         a->slices,
                    a->row_bytes, a->row_bytes * a->rows, a->array.format, a->array.channel_count};
    } else if (r->kind == WPI_CU_RESOURCE_LINEAR) {
        const wpi_cu_array_desc d = {.format = r->u.linear.format,
                                     .channel_count = r->u.linear.channel_count};
        *out = (image){(const char *)(uintptr_t)r->u.linear.data,
                       r->u.linear.size_bytes / fake_element_bytes(&d),
                       1,
                       1,
                       0,
                       0,
                       d.format,
                       d.channel_count};
    } else {
        *out = (image){(const char *)(uintptr_t)r->u.pitch_2d.data,
                       r->u.pitch_2d.width,
                       r->u.pitch_2d.height,
                       1,
                       r->u.pitch_2d.pitch_bytes,
                       0,
                       r->u.pitch_2d.format,
                       r->u.pitch_2d.channel_count};
    }
    return true;
}

/* ---- one texel ---- */

typedef struct color {
    float f[4];
    uint32_t bits[4];
} color;

static float half_value(uint16_t h) {
    const int exponent = h >> 10 & 0x1f, fraction = h & 0x3ff;
    const float magnitude = exponent == 0x1f ? (fraction != 0 ? NAN : INFINITY)
                            : exponent == 0  ? ldexpf((float)fraction, -24)
                                             : ldexpf((float)(fraction + 0x400), exponent - 25);
    return (h & 0x8000) != 0 ? -magnitude : magnitude;
}

/* A component as bits, and as a number: whole ones in [0, 1] or [-1, 1]. */
static void take_component(const char *at, int format, uint32_t *bits, float *value) {
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    switch (format) {
    case WPI_CU_FORMAT_U8:
        memcpy(&u8, at, 1);
        *bits = u8;
        *value = (float)u8 / 255.0f;
        break;
    case WPI_CU_FORMAT_S8:
        memcpy(&u8, at, 1);
        *bits = (uint32_t)(int8_t)u8;
        *value = fmaxf((float)(int8_t)u8 / 127.0f, -1);
        break;
    case WPI_CU_FORMAT_U16:
        memcpy(&u16, at, 2);
        *bits = u16;
        *value = (float)u16 / 65535.0f;
        break;
    case WPI_CU_FORMAT_S16:
        memcpy(&u16, at, 2);
        *bits = (uint32_t)(int16_t)u16;
        *value = fmaxf((float)(int16_t)u16 / 32767.0f, -1);
        break;
    case WPI_CU_FORMAT_HALF:
        memcpy(&u16, at, 2);
        *value = half_value(u16);
        memcpy(bits, value, 4);
        break;
    default:
        memcpy(&u32, at, 4);
        *bits = u32;
        memcpy(value, &u32, 4);
        break;
    }
}

static color texel_at(const image *t, int64_t x, int64_t y, int64_t z) {
    const wpi_cu_array_desc d = {.format = t->format, .channel_count = t->channels};
    const size_t bytes = fake_element_bytes(&d);
    const char *at =
        t->base + (size_t)z * t->slice_bytes + (size_t)y * t->row_bytes + (size_t)x * bytes;
    color c = {{0, 0, 0, 1}, {0, 0, 0, 1}};
    if (t->format == WPI_CU_FORMAT_FLOAT || t->format == WPI_CU_FORMAT_HALF)
        memcpy(&c.bits[3], &c.f[3], 4);
    for (unsigned i = 0; i < t->channels; i++)
        take_component(at + i * (bytes / t->channels), t->format, &c.bits[i], &c.f[i]);
    return c;
}

/* ---- addresses ---- */

static bool is_normalized(const fake_object *t) {
    return (t->texture.flags & WPI_CU_TEXTURE_NORMALIZED) != 0;
}

/* Only normalized coordinates can wrap or be mirrored. */
static int mode_of(const fake_object *t, unsigned axis) {
    const int mode = t->texture.address[axis];
    return is_normalized(t) || mode == BORDER ? mode : CLAMP;
}

static float scale(const fake_object *t, float x, size_t size, int mode) {
    if (!is_normalized(t)) return x;
    if (mode == WRAP) x -= floorf(x);
    if (mode == MIRROR) {
        const float whole = floorf(x), part = x - whole;
        x = fmodf(whole, 2) != 0 ? 1 - part : part;
    }
    return x * (float)size;
}

/* A texel's number within [0, size); false: the border. */
static bool place(int64_t *i, size_t size, int mode) {
    const int64_t n = (int64_t)size;
    if (*i >= 0 && *i < n) return true;
    if (mode == BORDER) return false;
    if (mode == WRAP)
        *i = (*i % n + n) % n;
    else if (*i < 0)
        *i = 0;
    else
        *i = n - 1;
    return true;
}

static color fetch(const fake_object *t, const image *m, int64_t x, int64_t y, int64_t z,
                   unsigned axes) {
    color border = {{0}, {0}};
    memcpy(border.f, t->texture.border, sizeof border.f);
    memcpy(border.bits, t->texture.border, sizeof border.bits);
    if (!place(&x, m->width, mode_of(t, 0))) return border;
    if (axes > 1 && !place(&y, m->height, mode_of(t, 1))) return border;
    if (axes > 2 && !place(&z, m->depth, mode_of(t, 2))) return border;
    return texel_at(m, x, axes > 1 ? y : 0, z);
}

/* ---- filters ---- */

static void split(float x, int64_t *whole, float *weight) {
    const float below = floorf(x - 0.5f);
    *whole = (int64_t)below;
    *weight = floorf((x - 0.5f - below) * 256 + 0.5f) / 256;
}

static color filter(const fake_object *t, const image *m, const float x[3], unsigned axes,
                    int64_t layer) {
    int64_t i[3] = {0, 0, layer};
    float weight[3] = {0};
    color sum = {{0}, {0}};
    for (unsigned a = 0; a < axes; a++)
        split(x[a], &i[a], &weight[a]);
    for (unsigned corner = 0; corner < 1u << axes; corner++) {
        float share = 1;
        int64_t at[3] = {i[0], i[1], i[2]};
        for (unsigned a = 0; a < axes; a++) {
            const bool is_far = (corner >> a & 1) != 0;
            share *= is_far ? weight[a] : 1 - weight[a];
            at[a] += is_far;
        }
        if (share == 0) continue;
        const color c = fetch(t, m, at[0], at[1], at[2], axes);
        for (unsigned k = 0; k < 4; k++)
            sum.f[k] += share * c.f[k];
    }
    return sum;
}

/* The four texels of the footprint, counter-clockwise from the lower left. */
static void gather(const fake_object *t, const image *m, const float x[3], int component,
                   bool as_bits, uint32_t out[4]) {
    static const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t i[2];
    float weight;
    split(x[0], &i[0], &weight);
    split(x[1], &i[1], &weight);
    for (unsigned k = 0; k < 4; k++) {
        const color c = fetch(t, m, i[0] + corners[k][0], i[1] + corners[k][1], 0, 2);
        memcpy(&out[k], as_bits ? (const void *)&c.bits[component] : (const void *)&c.f[component],
               4);
    }
}

/* ---- cubes: the face that a direction meets, and where ---- */

static unsigned face_of(const float v[3], float *s, float *t) {
    const float ax = fabsf(v[0]), ay = fabsf(v[1]), az = fabsf(v[2]);
    float m, u, w;
    unsigned face;
    if (ax >= ay && ax >= az) {
        face = v[0] >= 0 ? 0 : 1;
        m = ax, u = v[0] >= 0 ? -v[2] : v[2], w = -v[1];
    } else if (ay >= az) {
        face = v[1] >= 0 ? 2 : 3;
        m = ay, u = v[0], w = v[1] >= 0 ? v[2] : -v[2];
    } else {
        face = v[2] >= 0 ? 4 : 5;
        m = az, u = v[2] >= 0 ? v[0] : -v[0], w = -v[1];
    }
    *s = (u / m + 1) / 2;
    *t = (w / m + 1) / 2;
    return face;
}

/* ---- a read ---- */

static bool is_real(const fake_object *t, const image *m) {
    switch (m->format) {
    case WPI_CU_FORMAT_FLOAT:
    case WPI_CU_FORMAT_HALF: return true;
    case WPI_CU_FORMAT_U32:
    case WPI_CU_FORMAT_S32: return false;
    default: return (t->texture.flags & WPI_CU_TEXTURE_AS_INTEGER) == 0;
    }
}

static unsigned axes_of(const pm_texture_read *read) {
    static const unsigned axes[] = {1, 2, 3, 1, 2, 2, 2};
    return axes[read->shape];
}

static bool fits(const fake_object *t, const pm_texture_read *read) {
    const bool is_linear = t->resource.kind == WPI_CU_RESOURCE_LINEAR;
    return read->is_integer ? read->shape == PM_TEX_1D : !is_linear;
}

static bool read_texels(const fake_object *t, const pm_texture_read *read, uint32_t out[4]) {
    image m;
    color c = {{0}, {0}};
    if (!describe(t, &m) || !fits(t, read)) return false;
    const bool is_bits = !is_real(t, &m);
    if (read->is_integer) { /* a texel by its number; there is no border */
        if (read->i[0] >= 0 && (size_t)read->i[0] < m.width) c = texel_at(&m, read->i[0], 0, 0);
        memcpy(out, is_bits ? (const void *)c.bits : (const void *)c.f, 16);
        return true;
    }
    const unsigned axes = axes_of(read);
    const bool is_cube = read->shape == PM_TEX_CUBE || read->shape == PM_TEX_ACUBE;
    const bool is_layered = read->shape == PM_TEX_A1D || read->shape == PM_TEX_A2D || is_cube;
    float x[3] = {read->x[0], read->x[1], read->x[2]};
    size_t layer = read->layer;
    if (is_cube) layer = 6 * layer + face_of(read->x, &x[0], &x[1]);
    if (!is_layered) layer = 0;
    const size_t layers = read->shape == PM_TEX_A1D && m.depth == 1 ? m.height : m.depth;
    if (is_layered && layer >= layers) layer = layers - 1;
    if (read->shape == PM_TEX_A1D) m.slice_bytes = m.row_bytes;
    const size_t sizes[] = {m.width, m.height, m.depth};
    for (unsigned a = 0; a < axes; a++)
        x[a] = is_cube ? x[a] * (float)sizes[a] : scale(t, x[a], sizes[a], mode_of(t, a));
    if (read->gather >= 0) {
        gather(t, &m, x, read->gather, is_bits, out);
        return true;
    }
    if (t->texture.filter != 0 && !is_bits) {
        c = filter(t, &m, x, axes, (int64_t)layer);
    } else {
        const int64_t z = axes > 2 ? (int64_t)floorf(x[2]) : (int64_t)layer;
        c = fetch(t, &m, (int64_t)floorf(x[0]), (int64_t)floorf(x[1]), z, axes);
    }
    memcpy(out, is_bits ? (const void *)c.bits : (const void *)c.f, 16);
    return true;
}

static const fake_object *find(uint64_t handle, fake_cuda_kind kind) {
    pthread_mutex_lock(&fake.lock);
    const fake_object *o = fake.live;
    while (o != NULL && ((uint64_t)(uintptr_t)o != handle || o->kind != kind))
        o = o->next;
    pthread_mutex_unlock(&fake.lock);
    return o;
}

bool fake_texture_read(void *context, uint64_t handle, const pm_texture_read *read,
                       uint32_t out[4]) {
    (void)context;
    const fake_object *t = find(handle, FAKE_TEXTURE);
    return t != NULL && read_texels(t, read, out);
}

/* ---- surfaces ---- */

/* A coordinate that is clamped, or outside. */
static bool settle(int64_t *i, int64_t size, const pm_surface_place *place) {
    if (*i >= 0 && *i < size) return true;
    if (place->outside != PM_SURF_CLAMP) return false;
    *i = *i < 0 ? 0 : size - 1;
    return true;
}

bool fake_surface_place(void *context, uint64_t handle, const pm_surface_place *place, void **out) {
    (void)context;
    const fake_object *s = find(handle, FAKE_SURFACE);
    if (s == NULL) return false;
    const fake_object *a = (const fake_object *)(void *)s->resource.u.array.array;
    if (place->x_bytes % (int)place->bytes != 0) return false;
    const bool is_layered = place->shape == PM_SURF_A1D || place->shape == PM_SURF_A2D;
    const bool in_rows = place->shape == PM_SURF_A1D && a->slices == 1;
    int64_t x = place->x_bytes / (int)place->bytes, y = place->y, z = place->z;
    if (is_layered) z = place->layer;
    if (in_rows) y = place->layer, z = 0;
    *out = NULL;
    if (settle(&x, (int64_t)(a->row_bytes / place->bytes), place) &&
        settle(&y, (int64_t)a->rows, place) && settle(&z, (int64_t)a->slices, place)) {
        *out =
            a->base + ((size_t)z * a->rows + (size_t)y) * a->row_bytes + (size_t)x * place->bytes;
        return true;
    }
    return place->outside != PM_SURF_TRAP;
}
