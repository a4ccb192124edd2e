/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texture objects: described by the CUDA runtime, fetched from by kernels.
 *
 * Memory is addressed as `data + z * slice_bytes + y * pitch_bytes + x * texel`, where a texel is
 * its channels side by side. A dimension that the texture does not have is 0.
 */
#ifndef WP_DEVICE_TEXTURE_H
#define WP_DEVICE_TEXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

/** How coordinates outside the texture are read. Numbered as CUDA's cudaTextureAddressMode. */
typedef enum wpi_tex_address {
    WPI_TEX_ADDRESS_WRAP = 0, /* normalised coordinates only; otherwise as CLAMP */
    WPI_TEX_ADDRESS_CLAMP = 1,
    WPI_TEX_ADDRESS_MIRROR = 2, /* as WRAP */
    WPI_TEX_ADDRESS_BORDER = 3
} wpi_tex_address;

typedef enum wpi_tex_channel {
    WPI_TEX_CHANNEL_SIGNED = 0,
    WPI_TEX_CHANNEL_UNSIGNED = 1,
    WPI_TEX_CHANNEL_FLOAT = 2 /* 16 or 32 bits */
} wpi_tex_channel;

typedef struct wpi_texture {
    const void *data;
    size_t width, height, depth; /* texels */
    size_t pitch_bytes;          /* from row to row */
    size_t slice_bytes;          /* from layer to layer */
    uint8_t channel_bits[4];     /* 8, 16, 32, or 0: absent; all that are present are equal */
    wpi_tex_channel channel;
    wpi_tex_address address[3];
    bool is_linear;     /* filtering: linear, else the nearest texel */
    bool is_normalized; /* coordinates run from 0 to 1 */
    bool reads_floats;  /* 8- and 16-bit integers are read as fractions of their largest value */
    float border[4];
} wpi_texture;

/** Elements with a format, for textures and surfaces. A dimension that the array has not got is 0;
 *  of layered arrays the depth counts the layers, of cube maps the faces. */
typedef struct wpi_array {
    size_t width, height, depth; /* elements */
    size_t element_bytes;
    uint8_t channel_bits[4];
    wpi_tex_channel channel;
    uint32_t flags; /* cudaArray… */
} wpi_array;

/** For devices whose kernels share the process's memory. Copies the description; kernels use
 * `handle`. INVALID: no such format. */
WP_NODISCARD wp_status wpi_texture_create(const wpi_texture *description, uint64_t *handle,
                                          wp_error *err);
void wpi_texture_destroy(uint64_t handle); /* 0 allowed */
/** The description behind a handle; NULL for 0. */
const wpi_texture *wpi_texture_get(uint64_t handle);

#endif
