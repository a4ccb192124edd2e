/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvJitLink by its public interface: links PTX at run time, for programs that include nvJitLink.h
 * or look the calls up by name, as NVIDIA's Python packages do. The "cubin" is an image for
 * cuModuleLoadData.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/text.h"
#include "cudart/link_input.h"
#include "warpage/cuda/nvJitLink.h"

struct nvJitLink {
    wpi_link_input link;
    char *log; /* NULL: empty */
    bool is_complete;
};

/* Other options are about machine code. */
WP_API nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle *handle, uint32_t numOptions,
                                       const char **options) {
    bool has_arch = false;
    if (handle == NULL || (numOptions > 0 && options == NULL)) return NVJITLINK_ERROR_INVALID_INPUT;
    for (uint32_t i = 0; i < numOptions; i++)
        has_arch = has_arch || strncmp(options[i], "-arch=", 6) == 0;
    if (!has_arch) return NVJITLINK_ERROR_MISSING_ARCH;
    *handle = wpi_calloc(1, sizeof **handle);
    return *handle != NULL ? NVJITLINK_SUCCESS : NVJITLINK_ERROR_INTERNAL;
}

WP_API nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle *handle) {
    if (handle == NULL || *handle == NULL) return NVJITLINK_ERROR_INVALID_INPUT;
    wpi_link_input_deinit(&(*handle)->link);
    wpi_free((*handle)->log);
    wpi_free(*handle);
    *handle = NULL;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult fail(nvJitLinkHandle h, nvJitLinkResult result, const char *message) {
    wpi_free(h->log);
    h->log = wpi_strdup(message);
    return result;
}

WP_API nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                        const void *data, size_t size, const char *name) {
    wp_error err = {0};
    (void)name;
    if (handle == NULL || data == NULL || size == 0) return NVJITLINK_ERROR_INVALID_INPUT;
    if (inputType == NVJITLINK_INPUT_LTOIR || inputType == NVJITLINK_INPUT_INDEX)
        return fail(handle, NVJITLINK_ERROR_UNRECOGNIZED_INPUT,
                    "Warpage cannot link LTO code of other compilers: link PTX");
    const wp_status status = wpi_link_input_add(&handle->link, data, size, &err);
    return status == WP_STATUS_OK ? NVJITLINK_SUCCESS
                                  : fail(handle, NVJITLINK_ERROR_UNRECOGNIZED_INPUT, err.message);
}

WP_API nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType inputType,
                                        const char *fileName) {
    wp_error err = {0};
    char *data;
    size_t size_bytes;
    if (handle == NULL || fileName == NULL) return NVJITLINK_ERROR_INVALID_INPUT;
    /* The functions of NVIDIA's device library are there in any case. */
    if (inputType == NVJITLINK_INPUT_LIBRARY && strstr(fileName, "cudadevrt") != NULL)
        return NVJITLINK_SUCCESS;
    if (wpi_file_read(fileName, &data, &size_bytes, &err) != WP_STATUS_OK)
        return fail(handle, NVJITLINK_ERROR_INVALID_INPUT, err.message);
    const nvJitLinkResult result = nvJitLinkAddData(handle, inputType, data, size_bytes, fileName);
    wpi_free(data);
    return result;
}

WP_API nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
    wp_error err = {0};
    if (handle == NULL) return NVJITLINK_ERROR_INVALID_INPUT;
    if (wpi_link_input_complete(&handle->link, &err) != WP_STATUS_OK)
        return fail(handle, NVJITLINK_ERROR_PTX_COMPILE, err.message);
    handle->is_complete = true;
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult give(nvJitLinkHandle h, bool is_there, const void *data, size_t size_bytes,
                            void *to, size_t *size) {
    if (h == NULL || (to == NULL && size == NULL)) return NVJITLINK_ERROR_INVALID_INPUT;
    if (!is_there) return NVJITLINK_ERROR_INVALID_INPUT;
    if (size != NULL) *size = size_bytes;
    if (to != NULL) memcpy(to, data, size_bytes);
    return NVJITLINK_SUCCESS;
}

static nvJitLinkResult give_image(nvJitLinkHandle h, void *to, size_t *size) {
    const bool is_there = h != NULL && h->is_complete;
    return give(h, is_there, is_there ? h->link.image : NULL,
                is_there ? (size_t)h->link.image->size_bytes : 0, to, size);
}

static nvJitLinkResult give_text(nvJitLinkHandle h, bool is_there, const char *text, void *to,
                                 size_t *size) {
    return give(h, is_there, text, strlen(text) + 1, to, size);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t *size) {
    return give_image(handle, NULL, size);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void *cubin) {
    return give_image(handle, cubin, NULL);
}

static nvJitLinkResult give_ptx(nvJitLinkHandle h, char *to, size_t *size) {
    const bool is_there = h != NULL && h->is_complete && h->link.ptx.data != NULL;
    return give_text(h, is_there, is_there ? h->link.ptx.data : "", to, size);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t *size) {
    return give_ptx(handle, NULL, size);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char *ptx) {
    return give_ptx(handle, ptx, NULL);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t *size) {
    return give(handle, false, NULL, 0, NULL, size);
}

WP_API nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void *ltoir) {
    return give(handle, false, NULL, 0, ltoir, NULL);
}

static const char *log_of(const struct nvJitLink *h) {
    return h != NULL && h->log != NULL ? h->log : "";
}

WP_API nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t *size) {
    return give_text(handle, true, log_of(handle), NULL, size);
}

WP_API nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char *log) {
    return give_text(handle, true, log_of(handle), log, NULL);
}

WP_API nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t *size) {
    return give_text(handle, true, "", NULL, size);
}

WP_API nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char *log) {
    return give_text(handle, true, "", log, NULL);
}

/* The last version that Numba does not take for one with LTO, whose code has NVIDIA's own format.
 */
WP_API nvJitLinkResult nvJitLinkVersion(unsigned int *major, unsigned int *minor) {
    if (major == NULL || minor == NULL) return NVJITLINK_ERROR_INVALID_INPUT;
    *major = 12;
    *minor = 2;
    return NVJITLINK_SUCCESS;
}
