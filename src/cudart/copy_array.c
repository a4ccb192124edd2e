/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies from and to arrays, and 3D copies, whose sides may be arrays. Linear forms (without 2D in
 * the name) run over the ends of rows, which follow each other without gaps.
 */
#include "cudart/cudart.h"

/* A place in an array, by byte in the row and by row; false when it is not inside. */
static bool array_place(cudaArray_const_t array, size_t x_bytes, size_t y, wpi_box *out) {
    if (array == NULL || !wpi_handle_is_live(WPI_HANDLE_ARRAY, array)) return false;
    const wpi_extent e = wpi_array_extent(array);
    if (x_bytes > e.width_bytes || y >= e.height) return false;
    *out = (wpi_box){.first = array->base + y * e.width_bytes + x_bytes,
                     .pitch_bytes = e.width_bytes,
                     .slice_bytes = e.width_bytes * e.height};
    return true;
}

static bool fits_array(cudaArray_const_t array, size_t x_bytes, size_t y, size_t width,
                       size_t height) {
    const wpi_extent e = wpi_array_extent(array);
    return width <= e.width_bytes - x_bytes && height <= e.height - y;
}

static cudaError_t to_array(cudaArray_t dst, size_t x_bytes, size_t y, wpi_box src,
                            wpi_extent extent, enum cudaMemcpyKind kind, cudaStream_t stream,
                            bool is_async) {
    wpi_box place;
    if (!array_place(dst, x_bytes, y, &place)) return wpi_note(cudaErrorInvalidValue);
    if (extent.height > 1 && !fits_array(dst, x_bytes, y, extent.width_bytes, extent.height))
        return wpi_note(cudaErrorInvalidValue);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return wpi_note(cudaErrorInvalidMemcpyDirection);
    return wpi_copy(stream, place, src, extent, kind, is_async);
}

static cudaError_t from_array(cudaArray_const_t src, size_t x_bytes, size_t y, wpi_box dst,
                              wpi_extent extent, enum cudaMemcpyKind kind, cudaStream_t stream,
                              bool is_async) {
    wpi_box place;
    if (!array_place(src, x_bytes, y, &place)) return wpi_note(cudaErrorInvalidValue);
    if (extent.height > 1 && !fits_array(src, x_bytes, y, extent.width_bytes, extent.height))
        return wpi_note(cudaErrorInvalidValue);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return wpi_note(cudaErrorInvalidMemcpyDirection);
    return wpi_copy(stream, dst, place, extent, kind, is_async);
}

WP_API cudaError_t cudaMemcpyToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                     const void *src, size_t count, enum cudaMemcpyKind kind) {
    return to_array(dst, wOffset, hOffset, wpi_row_at(src), wpi_row_of(count), kind, NULL, false);
}

WP_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                          const void *src, size_t count, enum cudaMemcpyKind kind,
                                          cudaStream_t stream) {
    return to_array(dst, wOffset, hOffset, wpi_row_at(src), wpi_row_of(count), kind, stream, true);
}

WP_API cudaError_t cudaMemcpyFromArray(void *dst, cudaArray_const_t src, size_t wOffset,
                                       size_t hOffset, size_t count, enum cudaMemcpyKind kind) {
    return from_array(src, wOffset, hOffset, wpi_row_at(dst), wpi_row_of(count), kind, NULL, false);
}

WP_API cudaError_t cudaMemcpyFromArrayAsync(void *dst, cudaArray_const_t src, size_t wOffset,
                                            size_t hOffset, size_t count, enum cudaMemcpyKind kind,
                                            cudaStream_t stream) {
    return from_array(src, wOffset, hOffset, wpi_row_at(dst), wpi_row_of(count), kind, stream,
                      true);
}

WP_API cudaError_t cudaMemcpy2DToArray(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                       const void *src, size_t spitch, size_t width, size_t height,
                                       enum cudaMemcpyKind kind) {
    return to_array(dst, wOffset, hOffset, wpi_rows_at(src, spitch), wpi_rows_of(width, height),
                    kind, NULL, false);
}

WP_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t dst, size_t wOffset, size_t hOffset,
                                            const void *src, size_t spitch, size_t width,
                                            size_t height, enum cudaMemcpyKind kind,
                                            cudaStream_t stream) {
    return to_array(dst, wOffset, hOffset, wpi_rows_at(src, spitch), wpi_rows_of(width, height),
                    kind, stream, true);
}

WP_API cudaError_t cudaMemcpy2DFromArray(void *dst, size_t dpitch, cudaArray_const_t src,
                                         size_t wOffset, size_t hOffset, size_t width,
                                         size_t height, enum cudaMemcpyKind kind) {
    return from_array(src, wOffset, hOffset, wpi_rows_at(dst, dpitch), wpi_rows_of(width, height),
                      kind, NULL, false);
}

WP_API cudaError_t cudaMemcpy2DFromArrayAsync(void *dst, size_t dpitch, cudaArray_const_t src,
                                              size_t wOffset, size_t hOffset, size_t width,
                                              size_t height, enum cudaMemcpyKind kind,
                                              cudaStream_t stream) {
    return from_array(src, wOffset, hOffset, wpi_rows_at(dst, dpitch), wpi_rows_of(width, height),
                      kind, stream, true);
}

WP_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                            cudaArray_const_t src, size_t wOffsetSrc,
                                            size_t hOffsetSrc, size_t width, size_t height,
                                            enum cudaMemcpyKind kind) {
    wpi_box from;
    if (!array_place(src, wOffsetSrc, hOffsetSrc, &from) ||
        !fits_array(src, wOffsetSrc, hOffsetSrc, width, height))
        return wpi_note(cudaErrorInvalidValue);
    return to_array(dst, wOffsetDst, hOffsetDst, from, wpi_rows_of(width, height), kind, NULL,
                    false);
}

WP_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t dst, size_t wOffsetDst, size_t hOffsetDst,
                                          cudaArray_const_t src, size_t wOffsetSrc,
                                          size_t hOffsetSrc, size_t count,
                                          enum cudaMemcpyKind kind) {
    wpi_box from;
    if (!array_place(src, wOffsetSrc, hOffsetSrc, &from)) return wpi_note(cudaErrorInvalidValue);
    return to_array(dst, wOffsetDst, hOffsetDst, from, wpi_row_of(count), kind, NULL, false);
}

/* ---- 3D ---- */

/* One side of a 3D copy. Positions in arrays count elements, in pointers bytes. */
static bool place_3d(cudaArray_const_t array, const struct cudaPitchedPtr *pointer,
                     const struct cudaPos *pos, const wpi_extent *extent, wpi_box *out) {
    if ((array != NULL) == (pointer->ptr != NULL)) return false; /* exactly one must be given */
    if (array != NULL) {
        if (!array_place(array, pos->x * array->element_bytes, pos->y, out)) return false;
        const wpi_extent whole = wpi_array_extent(array);
        out->first += pos->z * out->slice_bytes;
        return fits_array(array, pos->x * array->element_bytes, pos->y, extent->width_bytes,
                          extent->height) &&
               pos->z < whole.depth && extent->depth <= whole.depth - pos->z;
    }
    const size_t slice_rows = pointer->ysize != 0 ? pointer->ysize : extent->height;
    *out = (wpi_box){.pitch_bytes = pointer->pitch, .slice_bytes = pointer->pitch * slice_rows};
    out->first =
        (char *)pointer->ptr + pos->x + pos->y * pointer->pitch + pos->z * out->slice_bytes;
    return true;
}

cudaError_t wpi_copy_boxes(const struct cudaMemcpy3DParms *p, wpi_box *dst, wpi_box *src,
                           wpi_extent *extent) {
    if (p == NULL) return wpi_note(cudaErrorInvalidValue);
    cudaArray_const_t array = p->srcArray != NULL ? p->srcArray : p->dstArray;
    if (array != NULL && !wpi_handle_is_live(WPI_HANDLE_ARRAY, array))
        return wpi_note(cudaErrorInvalidValue);
    if (p->srcArray != NULL && p->dstArray != NULL &&
        (!wpi_handle_is_live(WPI_HANDLE_ARRAY, p->dstArray) ||
         p->srcArray->element_bytes != p->dstArray->element_bytes))
        return wpi_note(cudaErrorInvalidValue);
    *dst = *src = (wpi_box){0};
    *extent = (wpi_extent){p->extent.width * (array != NULL ? array->element_bytes : 1),
                           p->extent.height, p->extent.depth};
    if (extent->width_bytes == 0 || extent->height == 0 || extent->depth == 0) return cudaSuccess;
    if (!place_3d(p->dstArray, &p->dstPtr, &p->dstPos, extent, dst) ||
        !place_3d(p->srcArray, &p->srcPtr, &p->srcPos, extent, src))
        return wpi_note(cudaErrorInvalidValue);
    return cudaSuccess;
}

static cudaError_t copy_3d(const struct cudaMemcpy3DParms *p, cudaStream_t stream, bool is_async) {
    wp_device *device;
    wpi_box dst, src;
    wpi_extent extent;
    if (p == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_copy_boxes(p, &dst, &src, &extent));
    if (dst.first == NULL) return cudaSuccess; /* nothing to copy */
    if (extent.width_bytes > dst.pitch_bytes || extent.width_bytes > src.pitch_bytes)
        return wpi_note(cudaErrorInvalidPitchValue);
    return wpi_copy(stream, dst, src, extent, p->kind, is_async);
}

WP_API cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p) {
    return copy_3d(p, NULL, false);
}

WP_API cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream) {
    return copy_3d(p, stream, true);
}

static cudaError_t copy_3d_peer(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream,
                                bool is_async) {
    if (p == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(wpi_check_peers(p->dstDevice, p->srcDevice));
    const struct cudaMemcpy3DParms local = {.srcArray = p->srcArray,
                                            .srcPos = p->srcPos,
                                            .srcPtr = p->srcPtr,
                                            .dstArray = p->dstArray,
                                            .dstPos = p->dstPos,
                                            .dstPtr = p->dstPtr,
                                            .extent = p->extent,
                                            .kind = cudaMemcpyDeviceToDevice};
    return copy_3d(&local, stream, is_async);
}

WP_API cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p) {
    return copy_3d_peer(p, NULL, false);
}

WP_API cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p,
                                         cudaStream_t stream) {
    return copy_3d_peer(p, stream, true);
}
