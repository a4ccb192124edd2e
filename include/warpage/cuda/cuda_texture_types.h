/* SPDX-License-Identifier: Apache-2.0 */
/** texture<T, dimension, mode> and surface<T, dimension>: references declared at file scope. On
 *  the device such a variable holds the 64-bit handle of a texture object. */
#ifndef WARPAGE_CUDA_TEXTURE_TYPES_TEMPLATE_H
#define WARPAGE_CUDA_TEXTURE_TYPES_TEMPLATE_H

#include "channel_descriptor.h"
#include "texture_types.h"

#if defined(__cplusplus) && defined(__CUDA__)

template <class T, int texType = cudaTextureType1D,
          enum cudaTextureReadMode mode = cudaReadModeElementType>
struct __device_builtin_texture_type__ texture : public textureReference {
    texture(int norm = 0, enum cudaTextureFilterMode fMode = cudaFilterModePoint,
            enum cudaTextureAddressMode aMode = cudaAddressModeClamp) {
        init(norm, fMode, aMode, cudaCreateChannelDesc<T>());
    }
    texture(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode,
            struct cudaChannelFormatDesc desc) {
        init(norm, fMode, aMode, desc);
    }

  private:
    void init(int norm, enum cudaTextureFilterMode fMode, enum cudaTextureAddressMode aMode,
              struct cudaChannelFormatDesc desc) {
        memset(static_cast<textureReference *>(this), 0, sizeof(textureReference));
        normalized = norm;
        filterMode = fMode;
        addressMode[0] = aMode;
        addressMode[1] = aMode;
        addressMode[2] = aMode;
        channelDesc = desc;
    }
};

template <class T, int dim = 1>
struct __device_builtin_surface_type__ surface : public surfaceReference {
    surface() {
        channelDesc = cudaCreateChannelDesc<T>();
    }
    surface(struct cudaChannelFormatDesc desc) {
        channelDesc = desc;
    }
};
template <int dim>
struct __device_builtin_surface_type__ surface<void, dim> : public surfaceReference {
    surface() {
        channelDesc = cudaCreateChannelDesc<void>();
    }
};

#endif
#endif
