/* SPDX-License-Identifier: Apache-2.0 */
/* Device variables by their host name: address, size, copies. */
#include "cudart/cudart.h"

/* Refuses textures and surfaces: these variables hold a handle of the runtime. */
static cudaError_t find(const void *symbol, wpi_variable *out) {
    wp_device *device;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_note(wpi_variable_find(device, symbol, out)));
    const bool is_data = out->kind != WP_VARIABLE_TEXTURE && out->kind != WP_VARIABLE_SURFACE;
    return wpi_note(is_data ? cudaSuccess : cudaErrorInvalidSymbol);
}

WP_API cudaError_t cudaGetSymbolAddress(void **devPtr, const void *symbol) {
    wpi_variable v;
    if (devPtr == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(symbol, &v));
    *devPtr = v.address;
    return cudaSuccess;
}

WP_API cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol) {
    wpi_variable v;
    if (size == NULL) return wpi_note(cudaErrorInvalidValue);
    WPI_TRY(find(symbol, &v));
    *size = v.size_bytes;
    return cudaSuccess;
}

/* ---- copies ---- */

/* The bytes [offset, offset + count) of a variable. */
static cudaError_t find_part(const void *symbol, size_t count, size_t offset, wpi_box *out) {
    wpi_variable v;
    WPI_TRY(find(symbol, &v));
    if (offset > v.size_bytes || count > v.size_bytes - offset)
        return wpi_note(cudaErrorInvalidValue);
    *out = (wpi_box){.first = (char *)v.address + offset};
    return cudaSuccess;
}

static cudaError_t copy_to(const void *symbol, const void *src, size_t count, size_t offset,
                           enum cudaMemcpyKind kind, cudaStream_t stream, bool is_async) {
    wpi_box dst;
    WPI_TRY(find_part(symbol, count, offset, &dst));
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
        return wpi_note(cudaErrorInvalidMemcpyDirection);
    return wpi_copy(stream, dst, wpi_row_at(src), wpi_row_of(count), kind, is_async);
}

static cudaError_t copy_from(void *dst, const void *symbol, size_t count, size_t offset,
                             enum cudaMemcpyKind kind, cudaStream_t stream, bool is_async) {
    wpi_box src;
    WPI_TRY(find_part(symbol, count, offset, &src));
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
        return wpi_note(cudaErrorInvalidMemcpyDirection);
    return wpi_copy(stream, wpi_row_at(dst), src, wpi_row_of(count), kind, is_async);
}

WP_API cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count,
                                      size_t offset, enum cudaMemcpyKind kind) {
    return copy_to(symbol, src, count, offset, kind, NULL, false);
}

WP_API cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream) {
    return copy_to(symbol, src, count, offset, kind, stream, true);
}

WP_API cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset,
                                        enum cudaMemcpyKind kind) {
    return copy_from(dst, symbol, count, offset, kind, NULL, false);
}

WP_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count,
                                             size_t offset, enum cudaMemcpyKind kind,
                                             cudaStream_t stream) {
    return copy_from(dst, symbol, count, offset, kind, stream, true);
}
