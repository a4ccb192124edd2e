/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Texture fetches and surface accesses in kernels.
 *
 * Every fetch is one call of `__wp_tex`, which returns four 32-bit components: float bits, or
 * integers widened from the texel's own size. Which of the two the texture's format and read mode
 * say, and the type asked for in the program says the same. Coordinates that a kind does not use
 * are 0. A surface access moves raw bytes; its x coordinate counts bytes.
 */
#ifndef WARPAGE_CUDA_WP_TEXTURE_H
#define WARPAGE_CUDA_WP_TEXTURE_H

/* wp_tex_kind in src/base/abi.h */
#define WP_TEX_KIND_1D_FETCH 0u
#define WP_TEX_KIND_1D 1u
#define WP_TEX_KIND_2D 2u
#define WP_TEX_KIND_3D 3u
#define WP_TEX_KIND_1D_LAYERED 4u
#define WP_TEX_KIND_2D_LAYERED 5u
#define WP_TEX_KIND_CUBE 6u
#define WP_TEX_KIND_CUBE_LAYERED 7u
#define WP_TEX_KIND_2D_GATHER 8u

/** How four components become a value of type T. */
template <class T> struct wp_texel;

#define WP_TEXEL(type, count, as_scalar, assign)                                                   \
    template <> struct wp_texel<type> {                                                            \
        static __device__ __inline__ type from(const unsigned int *c) {                            \
            type v;                                                                                \
            assign return v;                                                                       \
        }                                                                                          \
    };
#define WP_TEXEL_ALL(prefix, scalar, as_scalar)                                                    \
    WP_TEXEL(scalar, 1, as_scalar, v = (scalar)as_scalar(c[0]);)                                   \
    WP_TEXEL(prefix##1, 1, as_scalar, v.x = (scalar)as_scalar(c[0]);)                              \
    WP_TEXEL(prefix##2, 2, as_scalar, v.x = (scalar)as_scalar(c[0]);                               \
             v.y = (scalar)as_scalar(c[1]);)                                                       \
    WP_TEXEL(prefix##4, 4, as_scalar, v.x = (scalar)as_scalar(c[0]);                               \
             v.y = (scalar)as_scalar(c[1]); v.z = (scalar)as_scalar(c[2]);                         \
             v.w = (scalar)as_scalar(c[3]);)
WP_TEXEL_ALL(char, signed char, (int))
WP_TEXEL(char, 1, (int), v = (char)(int)c[0];)
WP_TEXEL_ALL(uchar, unsigned char, (unsigned int))
WP_TEXEL_ALL(short, short, (int))
WP_TEXEL_ALL(ushort, unsigned short, (unsigned int))
WP_TEXEL_ALL(int, int, (int))
WP_TEXEL_ALL(uint, unsigned int, (unsigned int))
WP_TEXEL_ALL(float, float, __uint_as_float)
#undef WP_TEXEL
#undef WP_TEXEL_ALL

/** What a fetch returns: the texel itself, or as many floats as it has components. */
template <class T> struct wp_texel_float { typedef float type; };
#define WP_TEXEL_FLOAT(prefix)                                                                     \
    template <> struct wp_texel_float<prefix##1> { typedef float1 type; };                         \
    template <> struct wp_texel_float<prefix##2> { typedef float2 type; };                         \
    template <> struct wp_texel_float<prefix##4> { typedef float4 type; };
WP_TEXEL_FLOAT(char)
WP_TEXEL_FLOAT(uchar)
WP_TEXEL_FLOAT(short)
WP_TEXEL_FLOAT(ushort)
#undef WP_TEXEL_FLOAT
template <class T, enum cudaTextureReadMode mode> struct wp_texel_result { typedef T type; };
template <class T> struct wp_texel_result<T, cudaReadModeNormalizedFloat> {
    typedef typename wp_texel_float<T>::type type;
};

template <class T>
static __device__ __inline__ T wp_tex(unsigned long long texture, unsigned int kind, float x,
                                      float y, float z, int ix) {
    unsigned int c[4];
    __wp_tex(texture, kind, x, y, z, ix, c);
    return wp_texel<T>::from(c);
}

/* A reference is passed by value as its handle, whatever its template arguments. */
template <class Reference>
static __device__ __inline__ unsigned long long wp_tex_handle(Reference reference) {
    unsigned long long handle;
    __builtin_memcpy(&handle, &reference, sizeof(handle));
    return handle;
}

/* Each function in three forms: of a reference, of an object, and of an object with the result
 * through a pointer. */
#define WP_FETCH(name, dim, params, kind, x, y, z, ix)                                             \
    template <class T, enum cudaTextureReadMode mode>                                              \
    static __device__ __inline__ typename wp_texel_result<T, mode>::type name(                     \
        texture<T, dim, mode> reference, WP_PARAMS params) {                                       \
        return wp_tex<typename wp_texel_result<T, mode>::type>(wp_tex_handle(reference), kind, x,  \
                                                               y, z, ix);                          \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ T name(cudaTextureObject_t object, WP_PARAMS params) {            \
        return wp_tex<T>(object, kind, x, y, z, ix);                                               \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ void name(T *result, cudaTextureObject_t object,                  \
                                           WP_PARAMS params) {                                     \
        *result = wp_tex<T>(object, kind, x, y, z, ix);                                            \
    }
#define WP_PARAMS(...) __VA_ARGS__
WP_FETCH(tex1Dfetch, cudaTextureType1D, (int x), WP_TEX_KIND_1D_FETCH, 0.0f, 0.0f, 0.0f, x)
WP_FETCH(tex1D, cudaTextureType1D, (float x), WP_TEX_KIND_1D, x, 0.0f, 0.0f, 0)
WP_FETCH(tex2D, cudaTextureType2D, (float x, float y), WP_TEX_KIND_2D, x, y, 0.0f, 0)
WP_FETCH(tex3D, cudaTextureType3D, (float x, float y, float z), WP_TEX_KIND_3D, x, y, z, 0)
WP_FETCH(tex1DLayered, cudaTextureType1DLayered, (float x, int layer), WP_TEX_KIND_1D_LAYERED, x,
         0.0f, 0.0f, layer)
WP_FETCH(tex2DLayered, cudaTextureType2DLayered, (float x, float y, int layer),
         WP_TEX_KIND_2D_LAYERED, x, y, 0.0f, layer)
WP_FETCH(texCubemap, cudaTextureTypeCubemap, (float x, float y, float z), WP_TEX_KIND_CUBE, x, y, z,
         0)
WP_FETCH(texCubemapLayered, cudaTextureTypeCubemapLayered, (float x, float y, float z, int layer),
         WP_TEX_KIND_CUBE_LAYERED, x, y, z, layer)
/* Without mipmaps every level is level 0. */
WP_FETCH(tex1DLod, cudaTextureType1D, (float x, float), WP_TEX_KIND_1D, x, 0.0f, 0.0f, 0)
WP_FETCH(tex2DLod, cudaTextureType2D, (float x, float y, float), WP_TEX_KIND_2D, x, y, 0.0f, 0)
WP_FETCH(tex3DLod, cudaTextureType3D, (float x, float y, float z, float), WP_TEX_KIND_3D, x, y, z,
         0)
WP_FETCH(tex1DLayeredLod, cudaTextureType1DLayered, (float x, int layer, float),
         WP_TEX_KIND_1D_LAYERED, x, 0.0f, 0.0f, layer)
WP_FETCH(tex2DLayeredLod, cudaTextureType2DLayered, (float x, float y, int layer, float),
         WP_TEX_KIND_2D_LAYERED, x, y, 0.0f, layer)
WP_FETCH(texCubemapLod, cudaTextureTypeCubemap, (float x, float y, float z, float),
         WP_TEX_KIND_CUBE, x, y, z, 0)
WP_FETCH(tex1DGrad, cudaTextureType1D, (float x, float, float), WP_TEX_KIND_1D, x, 0.0f, 0.0f, 0)
WP_FETCH(tex2DGrad, cudaTextureType2D, (float x, float y, float2, float2), WP_TEX_KIND_2D, x, y,
         0.0f, 0)
WP_FETCH(tex3DGrad, cudaTextureType3D, (float x, float y, float z, float4, float4), WP_TEX_KIND_3D,
         x, y, z, 0)
#undef WP_FETCH

/* One component of four texels: T has four members. */
template <class T>
static __device__ __inline__ T tex2Dgather(cudaTextureObject_t object, float x, float y,
                                           int component = 0) {
    return wp_tex<T>(object, WP_TEX_KIND_2D_GATHER, x, y, 0.0f, component);
}
template <class T>
static __device__ __inline__ void tex2Dgather(T *result, cudaTextureObject_t object, float x,
                                              float y, int component = 0) {
    *result = wp_tex<T>(object, WP_TEX_KIND_2D_GATHER, x, y, 0.0f, component);
}

/* wp_surf_shape in src/base/abi.h, in the bits above the mode */
#define WP_SURF_SHAPE_1D (0u << 8)
#define WP_SURF_SHAPE_2D (1u << 8)
#define WP_SURF_SHAPE_3D (2u << 8)
#define WP_SURF_SHAPE_1D_LAYERED (3u << 8)
#define WP_SURF_SHAPE_2D_LAYERED (4u << 8)

/* Surfaces: of a reference and of an object, with the result returned or through a pointer. */
#define WP_SURFACE(suffix, dim, params, shape, x, y, z)                                            \
    template <class T>                                                                             \
    static __device__ __inline__ T surf##suffix##read(                                             \
        cudaSurfaceObject_t object, WP_PARAMS params,                                              \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        T value;                                                                                   \
        __wp_surf_read(object, &value, (unsigned int)sizeof(T), x, y, z,                           \
                       (unsigned int)mode | WP_SURF_SHAPE_##shape);                                \
        return value;                                                                              \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ void surf##suffix##read(                                          \
        T *result, cudaSurfaceObject_t object, WP_PARAMS params,                                   \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        __wp_surf_read(object, result, (unsigned int)sizeof(T), x, y, z,                           \
                       (unsigned int)mode | WP_SURF_SHAPE_##shape);                                \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ void surf##suffix##write(                                         \
        T value, cudaSurfaceObject_t object, WP_PARAMS params,                                     \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        __wp_surf_write(object, &value, (unsigned int)sizeof(T), x, y, z,                          \
                        (unsigned int)mode | WP_SURF_SHAPE_##shape);                               \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ T surf##suffix##read(                                             \
        surface<void, dim> reference, WP_PARAMS params,                                            \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        T value;                                                                                   \
        __wp_surf_read(wp_tex_handle(reference), &value, (unsigned int)sizeof(T), x, y, z,         \
                       (unsigned int)mode | WP_SURF_SHAPE_##shape);                                \
        return value;                                                                              \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ void surf##suffix##read(                                          \
        T *result, surface<void, dim> reference, WP_PARAMS params,                                 \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        __wp_surf_read(wp_tex_handle(reference), result, (unsigned int)sizeof(T), x, y, z,         \
                       (unsigned int)mode | WP_SURF_SHAPE_##shape);                                \
    }                                                                                              \
    template <class T>                                                                             \
    static __device__ __inline__ void surf##suffix##write(                                         \
        T value, surface<void, dim> reference, WP_PARAMS params,                                   \
        cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {                                     \
        __wp_surf_write(wp_tex_handle(reference), &value, (unsigned int)sizeof(T), x, y, z,        \
                        (unsigned int)mode | WP_SURF_SHAPE_##shape);                               \
    }
WP_SURFACE(1D, cudaSurfaceType1D, (int x), 1D, x, 0, 0)
WP_SURFACE(2D, cudaSurfaceType2D, (int x, int y), 2D, x, y, 0)
WP_SURFACE(3D, cudaSurfaceType3D, (int x, int y, int z), 3D, x, y, z)
WP_SURFACE(1DLayered, cudaSurfaceType1DLayered, (int x, int layer), 1D_LAYERED, x, 0, layer)
WP_SURFACE(2DLayered, cudaSurfaceType2DLayered, (int x, int y, int layer), 2D_LAYERED, x, y, layer)
WP_SURFACE(Cubemap, cudaSurfaceTypeCubemap, (int x, int y, int face), 2D_LAYERED, x, y, face)
WP_SURFACE(CubemapLayered, cudaSurfaceTypeCubemapLayered, (int x, int y, int layer_face),
           2D_LAYERED, x, y, layer_face)
#undef WP_SURFACE
#undef WP_PARAMS

#endif
