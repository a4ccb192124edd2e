/* SPDX-License-Identifier: Apache-2.0 */
/* Streams that wait for words of memory, and write them. */
#include "cudart/driver/driver.h"
#include "cudart/graph/graph.h"

static cudaError_t queue_word(CUstream stream, bool is_wait, CUdeviceptr address, uint64_t value,
                              uint32_t bytes, unsigned int flags) {
    wp_device *device;
    wp_queue *queue;
    wp_error err = {0};
    cudaError_t captured;
    WPI_TRY(wpi_enter(&device));
    WPI_TRY(wpi_stream_queue(device, stream, &queue));
    if (wpi_capture_is_on(stream, &captured)) return wpi_capture_refuse(stream);
    WPI_TRY(captured);
    if (is_wait && (flags & CU_STREAM_WAIT_VALUE_FLUSH) != 0) return cudaErrorNotSupported;
    if (flags >= (is_wait ? (unsigned)WPI_WORD_TEST_COUNT
                          : 2u * CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) ||
        address == 0 || address % bytes != 0)
        return cudaErrorInvalidValue;
    const wpi_word word = {.address = wpi_at(address),
                           .value = value,
                           .bytes = bytes,
                           .test = is_wait ? (wpi_word_test)flags : WPI_WORD_REACHES};
    return wpi_result(is_wait ? wpi_queue_wait_word(queue, &word, &err)
                              : wpi_queue_write_word(queue, &word, &err),
                      &err);
}

WP_API CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                    unsigned int flags) {
    WPI_DRIVER_IN(stream == NULL, queue_word(stream, true, addr, value, 4, flags));
}

WP_API CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                    unsigned int flags) {
    WPI_DRIVER_IN(stream == NULL, queue_word(stream, true, addr, value, 8, flags));
}

WP_API CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr addr, cuuint32_t value,
                                     unsigned int flags) {
    WPI_DRIVER_IN(stream == NULL, queue_word(stream, false, addr, value, 4, flags));
}

WP_API CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr addr, cuuint64_t value,
                                     unsigned int flags) {
    WPI_DRIVER_IN(stream == NULL, queue_word(stream, false, addr, value, 8, flags));
}

/* Barriers and flushes: a word is stored after all that was queued before. */
static cudaError_t queue_operation(CUstream stream, const CUstreamBatchMemOpParams *p) {
    switch (p->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        return queue_word(stream, true, p->waitValue.address, p->waitValue.value, 4,
                          p->waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        return queue_word(stream, true, p->waitValue.address, p->waitValue.value64, 8,
                          p->waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        return queue_word(stream, false, p->writeValue.address, p->writeValue.value, 4,
                          p->writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        return queue_word(stream, false, p->writeValue.address, p->writeValue.value64, 8,
                          p->writeValue.flags);
    case CU_STREAM_MEM_OP_BARRIER: return cudaSuccess;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES: return cudaErrorNotSupported;
    default: return cudaErrorInvalidValue;
    }
}

static cudaError_t queue_all(CUstream stream, unsigned int count, const CUstreamBatchMemOpParams *p,
                             unsigned int flags) {
    if (count > 256 || (count != 0 && p == NULL) || flags != 0) return cudaErrorInvalidValue;
    for (unsigned int i = 0; i < count; i++)
        WPI_TRY(queue_operation(stream, &p[i]));
    return cudaSuccess;
}

WP_API CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count,
                                   CUstreamBatchMemOpParams *paramArray, unsigned int flags) {
    WPI_DRIVER_IN(stream == NULL, queue_all(stream, count, paramArray, flags));
}
