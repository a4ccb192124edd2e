/* SPDX-License-Identifier: Apache-2.0 */
/** cudaCreateChannelDesc<T>(): the texel format of a C++ type. */
#ifndef WARPAGE_CUDA_CHANNEL_DESCRIPTOR_H
#define WARPAGE_CUDA_CHANNEL_DESCRIPTOR_H

#define __CHANNEL_DESCRIPTOR_H__

#include "cuda_runtime_api.h"

#if defined(__cplusplus)

template <class T> static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc(void) {
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}

#define WP_CHANNEL(type, scalar, count, kind)                                                      \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<type>(void) {      \
        const int bits = (int)sizeof(scalar) * 8;                                                  \
        return cudaCreateChannelDesc(bits, (count) > 1 ? bits : 0, (count) > 2 ? bits : 0,         \
                                     (count) > 3 ? bits : 0, cudaChannelFormatKind##kind);         \
    }
#define WP_CHANNEL_ALL(prefix, scalar, kind)                                                       \
    WP_CHANNEL(scalar, scalar, 1, kind)                                                            \
    WP_CHANNEL(prefix##1, scalar, 1, kind)                                                         \
    WP_CHANNEL(prefix##2, scalar, 2, kind)                                                         \
    WP_CHANNEL(prefix##3, scalar, 3, kind)                                                         \
    WP_CHANNEL(prefix##4, scalar, 4, kind)
WP_CHANNEL(char, char, 1, Signed)
WP_CHANNEL_ALL(char, signed char, Signed)
WP_CHANNEL_ALL(uchar, unsigned char, Unsigned)
WP_CHANNEL_ALL(short, short, Signed)
WP_CHANNEL_ALL(ushort, unsigned short, Unsigned)
WP_CHANNEL_ALL(int, int, Signed)
WP_CHANNEL_ALL(uint, unsigned int, Unsigned)
WP_CHANNEL_ALL(long, long, Signed)
WP_CHANNEL_ALL(ulong, unsigned long, Unsigned)
WP_CHANNEL_ALL(float, float, Float)
#undef WP_CHANNEL
#undef WP_CHANNEL_ALL

static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf(void) {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf1(void) {
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf2(void) {
    return cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat);
}
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf4(void) {
    return cudaCreateChannelDesc(16, 16, 16, 16, cudaChannelFormatKindFloat);
}

#endif
#endif
