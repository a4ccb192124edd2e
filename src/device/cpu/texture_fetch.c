/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texture fetches, by the rules of the CUDA programming guide's appendix on texture fetching:
 * coordinates, addressing modes, and linear filtering with weights of 8 fractional bits. And
 * surfaces: bytes at coordinates.
 */
#include "device/texture.h"

#include <math.h>
#include <string.h>

#include "base/abi.h"
#include "base/alloc.h"
#include "base/fail.h"
#include "device/cpu/cpu.h"

#define SECTOR_BYTES 32u /* what a GPU's caches fetch */

wp_status wpi_texture_create(const wpi_texture *description, uint64_t *handle, wp_error *err) {
    *handle = 0;
    const uint8_t bits = description->channel_bits[0];
    bool is_valid = bits == 8 || bits == 16 || bits == 32;
    if (description->channel == WPI_TEX_CHANNEL_FLOAT && bits == 8) is_valid = false;
    for (int i = 1; i < 4; i++) {
        const uint8_t other = description->channel_bits[i];
        if (other != 0 && (other != bits || description->channel_bits[i - 1] == 0))
            is_valid = false;
    }
    if (!is_valid || description->width == 0) {
        return WP_FAIL(err, INVALID, "texture: no format has channels of %u, %u, %u, %u bits", bits,
                       description->channel_bits[1], description->channel_bits[2],
                       description->channel_bits[3]);
    }
    if (description->is_linear && description->channel != WPI_TEX_CHANNEL_FLOAT &&
        !description->reads_floats) {
        return WP_FAIL(err, INVALID, "texture: linear filtering needs values read as floats");
    }
    wpi_texture *texture = wpi_malloc(sizeof *texture);
    if (texture == NULL) return WP_FAIL(err, NOMEM, "texture object");
    *texture = *description;
    *handle = (uint64_t)(uintptr_t)texture;
    return WP_STATUS_OK;
}

void wpi_texture_destroy(uint64_t handle) {
    wpi_free((void *)(uintptr_t)handle);
}

const wpi_texture *wpi_texture_get(uint64_t handle) {
    return (const wpi_texture *)(uintptr_t)handle;
}

/* ---- one texel ---- */

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float bits_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static float half_to_float(uint16_t half) {
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = half >> 10 & 31u;
    const uint32_t fraction = half & 0x3ffu;
    if (exponent == 31) return bits_float(sign | 0x7f800000u | fraction << 13);
    if (exponent != 0) return bits_float(sign | (exponent + 112u) << 23 | fraction << 13);
    const float value = ldexpf((float)fraction, -24); /* zero and subnormal */
    return sign != 0 ? -value : value;
}

static float clamp_float(float value, float low, float high) {
    return value < low ? low : value > high ? high : value;
}

/* A channel at `p`: float bits, or an integer extended to 32 bits. */
static uint32_t read_channel(const wpi_texture *t, const char *p) {
    const uint8_t bits = t->channel_bits[0];
    const bool is_signed = t->channel == WPI_TEX_CHANNEL_SIGNED;
    uint32_t raw = 0;
    memcpy(&raw, p, bits / 8u);
    if (bits == 32) return raw;
    if (t->channel == WPI_TEX_CHANNEL_FLOAT) return float_bits(half_to_float((uint16_t)raw));
    int32_t value = (int32_t)raw;
    if (is_signed) value = bits == 8 ? (int8_t)raw : (int16_t)raw;
    if (!t->reads_floats) return (uint32_t)value;
    const float largest = (float)((1u << (is_signed ? bits - 1u : bits)) - 1u);
    return float_bits(clamp_float((float)value / largest, -1.0f, 1.0f));
}

static void read_border(const wpi_texture *t, uint32_t out[4]) {
    const bool is_float = t->channel == WPI_TEX_CHANNEL_FLOAT || t->reads_floats;
    for (int i = 0; i < 4; i++) {
        if (t->channel_bits[i] == 0) {
            out[i] = 0;
        } else if (is_float) {
            out[i] = float_bits(t->border[i]);
        } else if (t->channel == WPI_TEX_CHANNEL_SIGNED) {
            out[i] = (uint32_t)(int32_t)clamp_float(t->border[i], -2147483648.0f, 2147483520.0f);
        } else {
            out[i] = (uint32_t)clamp_float(t->border[i], 0.0f, 4294967040.0f);
        }
    }
}

/* The index along an axis of `size` texels by the addressing mode; -1: the border. */
static int64_t wrap_index(const wpi_texture *t, int axis, int64_t index, size_t size) {
    const int64_t n = (int64_t)size;
    wpi_tex_address mode = t->address[axis];
    if (!t->is_normalized && mode != WPI_TEX_ADDRESS_BORDER) mode = WPI_TEX_ADDRESS_CLAMP;
    if (index >= 0 && index < n) return index;
    switch (mode) {
    case WPI_TEX_ADDRESS_BORDER: return -1;
    case WPI_TEX_ADDRESS_WRAP: return (index % n + n) % n;
    case WPI_TEX_ADDRESS_MIRROR: {
        const int64_t folded = (index % (2 * n) + 2 * n) % (2 * n);
        return folded < n ? folded : 2 * n - 1 - folded;
    }
    default: return index < 0 ? 0 : n - 1;
    }
}

static size_t texel_bytes(const wpi_texture *t) {
    size_t bytes = 0;
    for (int i = 0; i < 4; i++)
        bytes += t->channel_bits[i] / 8u;
    return bytes;
}

/* The texel at integer coordinates, which may be outside; NULL: the border. */
static const char *find_texel(const wpi_texture *t, const int64_t at[3]) {
    const size_t sizes[3] = {t->width, t->height, t->depth};
    int64_t index[3] = {0, 0, 0};
    for (int axis = 0; axis < 3; axis++) {
        if (sizes[axis] == 0) continue;
        index[axis] = wrap_index(t, axis, at[axis], sizes[axis]);
        if (index[axis] < 0) return NULL;
    }
    return (const char *)t->data + (size_t)index[2] * t->slice_bytes +
           (size_t)index[1] * t->pitch_bytes + (size_t)index[0] * texel_bytes(t);
}

static void read_texel(const wpi_texture *t, const int64_t at[3], uint32_t out[4]) {
    const char *p = find_texel(t, at);
    if (p == NULL) {
        read_border(t, out);
        return;
    }
    const size_t channel_bytes = t->channel_bits[0] / 8u;
    const size_t channels = texel_bytes(t) / channel_bytes;
    for (size_t i = 0; i < 4; i++) {
        out[i] = i < channels ? read_channel(t, p + i * channel_bytes) : 0;
    }
}

/* ---- a fetch ---- */

/* Converts a coordinate to texels; clamps distant and non-finite ones to the range of integers.
 */
static float scale(const wpi_texture *t, float coordinate, size_t size) {
    const float x = t->is_normalized ? coordinate * (float)size : coordinate;
    if (!(x > -1.0e9f)) return -1.0e9f;
    return x < 1.0e9f ? x : 1.0e9f;
}

/* Coordinates in texels along `axes` axes. The layer takes the place of the next axis, as layers
 * are stored like the slices of a 3D texture. It is never outside. */
typedef struct place {
    float at[3];
    int axes;
    int64_t layer;
} place;

static int64_t clamp_layer(const wpi_texture *t, int64_t layer) {
    const int64_t last = t->depth > 0 ? (int64_t)t->depth - 1 : 0;
    return layer < 0 ? 0 : layer > last ? last : layer;
}

static void fetch_nearest(const wpi_texture *t, const place *p, uint32_t out[4]) {
    int64_t index[3] = {0, 0, p->layer};
    for (int axis = 0; axis < p->axes; axis++)
        index[axis] = (int64_t)floorf(p->at[axis]);
    read_texel(t, index, out);
}

/* Finds one of the texels around the place, and its weight: bits of `corner` are steps along the
 * axes. */
static float find_corner(const place *p, uint32_t corner, int64_t index[3]) {
    float share = 1.0f;
    index[2] = p->layer;
    index[1] = 0;
    for (int axis = 0; axis < p->axes; axis++) {
        const bool is_upper = (corner >> axis & 1) != 0;
        const float x = p->at[axis] - 0.5f;
        const float weight = floorf((x - floorf(x)) * 256.0f + 0.5f) / 256.0f;
        index[axis] = (int64_t)floorf(x) + is_upper;
        share *= is_upper ? weight : 1.0f - weight;
    }
    return share;
}

static void fetch_linear(const wpi_texture *t, const place *p, uint32_t out[4]) {
    float sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (uint32_t corner = 0; corner < 1u << p->axes; corner++) {
        int64_t index[3];
        const float share = find_corner(p, corner, index);
        if (share == 0.0f) continue; /* or an infinite texel would make the result NaN */
        uint32_t texel[4];
        read_texel(t, index, texel);
        for (int i = 0; i < 4; i++)
            sum[i] += share * bits_float(texel[i]);
    }
    for (int i = 0; i < 4; i++)
        out[i] = float_bits(sum[i]);
}

/* One component of the texels that linear filtering would mix: lower left first, then counter-
 * clockwise, where y points up. */
static void fetch_gather(const wpi_texture *t, const place *p, int32_t component, uint32_t out[4]) {
    static const int64_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    const int64_t x = (int64_t)floorf(p->at[0] - 0.5f), y = (int64_t)floorf(p->at[1] - 0.5f);
    for (int i = 0; i < 4; i++) {
        uint32_t texel[4];
        read_texel(t, (const int64_t[3]){x + corners[i][0], y + corners[i][1], 0}, texel);
        out[i] = texel[component & 3];
    }
}

/* The cube face that a direction hits, and the coordinates there, by the programming guide's table.
 * Filtering does not cross edges. */
static place cube_place(const wpi_texture *t, float x, float y, float z, int64_t layer) {
    const float ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    float major, s, u;
    int face;
    if (ax >= ay && ax >= az) {
        major = ax, face = x < 0.0f, s = x < 0.0f ? z : -z, u = -y;
    } else if (ay >= az) {
        major = ay, face = 2 + (y < 0.0f), s = x, u = y < 0.0f ? -z : z;
    } else {
        major = az, face = 4 + (z < 0.0f), s = z < 0.0f ? -x : x, u = -y;
    }
    if (!(major > 0.0f)) major = 1.0f;
    const float size = (float)t->width;
    return (place){.at = {(s / major + 1.0f) * 0.5f * size, (u / major + 1.0f) * 0.5f * size, 0.0f},
                   .axes = 2,
                   .layer = clamp_layer(t, 6 * layer + face)};
}

static place place_of(const wpi_texture *t, uint32_t kind, float x, float y, float z, int32_t ix) {
    place p = {.at = {scale(t, x, t->width), 0.0f, 0.0f}, .axes = 1};
    switch (kind) {
    case WP_TEX_CUBE: return cube_place(t, x, y, z, 0);
    case WP_TEX_CUBE_LAYERED: return cube_place(t, x, y, z, ix);
    case WP_TEX_1D_LAYERED: p.layer = clamp_layer(t, ix); break;
    case WP_TEX_2D_LAYERED:
        p.layer = clamp_layer(t, ix);
        p.at[1] = scale(t, y, t->height);
        p.axes = 2;
        break;
    case WP_TEX_3D:
        p.at[2] = scale(t, z, t->depth);
        p.at[1] = scale(t, y, t->height);
        p.axes = 3;
        break;
    case WP_TEX_2D:
    case WP_TEX_2D_GATHER:
        p.at[1] = scale(t, y, t->height);
        p.axes = 2;
        break;
    default: break;
    }
    return p;
}

/* The texture or surface of a handle. If there is none the kernel fails; NULL outside kernels. */
static const wpi_texture *find_bound(uint64_t handle, const char *what) {
    const wpi_texture *t = wpi_texture_get(handle);
    if (t == NULL && wpi_worker_current != NULL) {
        wpi_worker_fail(wpi_worker_current, WP_STATUS_KERNEL_ADDRESS, false,
                        "used a %s that is not bound", what);
    }
    return t;
}

void wp_rt_tex(uint64_t texture, uint32_t kind, float x, float y, float z, int32_t ix,
               uint32_t out[4]) {
    const wpi_texture *t = find_bound(texture, "texture");
    /* Linear memory reads as zero outside, in any addressing mode. */
    if (t == NULL || (kind == WP_TEX_1D_FETCH && (ix < 0 || (uint64_t)ix >= t->width))) {
        memset(out, 0, 4 * sizeof *out);
        return;
    }
    if (kind == WP_TEX_1D_FETCH) {
        read_texel(t, (const int64_t[3]){ix, 0, 0}, out);
        return;
    }
    const place p = place_of(t, kind, x, y, z, ix);
    if (kind == WP_TEX_2D_GATHER) {
        fetch_gather(t, &p, ix, out);
    } else if (t->is_linear) {
        fetch_linear(t, &p, out);
    } else {
        fetch_nearest(t, &p, out);
    }
}

/* The texel that a fetch reads at a corner; NULL: none. */
static const char *find_fetched(const wpi_texture *t, uint32_t kind, const place *p,
                                uint32_t corner) {
    int64_t index[3] = {0, 0, p->layer};
    if (corner >= 1u << p->axes) return NULL;
    if (kind != WP_TEX_2D_GATHER && !t->is_linear) {
        for (int axis = 0; axis < p->axes; axis++)
            index[axis] = (int64_t)floorf(p->at[axis]);
        return corner == 0 ? find_texel(t, index) : NULL;
    }
    const float share = find_corner(p, corner, index);
    return kind == WP_TEX_2D_GATHER || share != 0.0f ? find_texel(t, index) : NULL;
}

static uint64_t sector_of(const char *texel) {
    return (uint64_t)(uintptr_t)texel / SECTOR_BYTES;
}

uint64_t wp_rt_tex_place(uint64_t texture, uint32_t kind, float x, float y, float z, int32_t ix,
                         uint32_t corner) {
    const wpi_texture *t = wpi_texture_get(texture);
    if (t == NULL) return 0;
    if (kind == WP_TEX_1D_FETCH) {
        if (ix < 0 || (uint64_t)ix >= t->width) return 0;
        return (uint64_t)(uintptr_t)find_texel(t, (const int64_t[3]){ix, 0, 0});
    }
    const place p = place_of(t, kind, x, y, z, ix);
    const char *texel = find_fetched(t, kind, &p, corner);
    const char *before = (corner & 1) != 0 ? find_fetched(t, kind, &p, corner - 1) : NULL;
    if (texel != NULL && before != NULL && sector_of(texel) == sector_of(before)) return 0;
    return (uint64_t)(uintptr_t)texel;
}

/* ---- surfaces ---- */

/* The address of an access of `bytes` bytes; NULL: outside, no access. `is_asked`: only a query,
 * which never fails the kernel. */
static char *surface_place(uint64_t surface, uint32_t bytes, int32_t x, int32_t y, int32_t z,
                           uint32_t mode, bool is_asked) {
    mode = WP_SURF_MODE(mode);
    const wpi_texture *t = is_asked ? wpi_texture_get(surface) : find_bound(surface, "surface");
    if (t == NULL) return NULL;
    const int64_t row_bytes = (int64_t)(t->width * texel_bytes(t));
    const int64_t outer[3] = {row_bytes - (int64_t)bytes + 1,
                              t->height > 0 ? (int64_t)t->height : 1,
                              t->depth > 0 ? (int64_t)t->depth : 1};
    int64_t at[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++) {
        if (at[axis] >= 0 && at[axis] < outer[axis]) continue;
        if (mode == WP_SURF_CLAMP && outer[axis] > 0) {
            at[axis] = at[axis] < 0 ? 0 : outer[axis] - 1;
            continue;
        }
        if (mode != WP_SURF_ZERO && wpi_worker_current != NULL && !is_asked) {
            wpi_worker_fail(wpi_worker_current, WP_STATUS_KERNEL_TRAP, false,
                            "accessed byte %d of row %d, layer %d of a surface that has %lld bytes "
                            "a row, %lld rows, %lld layers",
                            x, y, z, (long long)row_bytes, (long long)outer[1],
                            (long long)outer[2]);
        }
        return NULL;
    }
    return (char *)(uintptr_t)t->data + (size_t)at[2] * t->slice_bytes +
           (size_t)at[1] * t->pitch_bytes + (size_t)at[0];
}

void wp_rt_surf_read(uint64_t surface, void *data, uint32_t bytes, int32_t x_bytes, int32_t y,
                     int32_t z, uint32_t mode) {
    const char *p = surface_place(surface, bytes, x_bytes, y, z, mode, false);
    if (p != NULL) {
        memcpy(data, p, bytes);
    } else {
        memset(data, 0, bytes);
    }
}

void wp_rt_surf_write(uint64_t surface, const void *data, uint32_t bytes, int32_t x_bytes,
                      int32_t y, int32_t z, uint32_t mode) {
    char *p = surface_place(surface, bytes, x_bytes, y, z, mode, false);
    if (p != NULL) memcpy(p, data, bytes);
}

uint64_t wp_rt_surf_place(uint64_t surface, uint32_t bytes, int32_t x_bytes, int32_t y, int32_t z,
                          uint32_t mode, uint32_t is_write) {
    (void)is_write;
    return (uint64_t)(uintptr_t)surface_place(surface, bytes, x_bytes, y, z, mode, true);
}
