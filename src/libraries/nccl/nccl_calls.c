/* SPDX-License-Identifier: Apache-2.0 */
/* Operations: their arguments; and what belongs to no communicator. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "libraries/nccl/nccl_comm.h"
#include "warpage/error.h"

/* ---- errors ---------------------------------------------------------------------------------- */

static pthread_mutex_t text_lock = PTHREAD_MUTEX_INITIALIZER;
static char last_error[512];
static _Thread_local char last_error_shown[sizeof last_error];

ncclResult_t wpi_nccl_fail(ncclResult_t result, const char *format, ...) {
    char text[sizeof last_error];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wpi_log(WP_LOG_WARN, "nccl", "%s", text);
    (void)pthread_mutex_lock(&text_lock);
    memcpy(last_error, text, sizeof text);
    (void)pthread_mutex_unlock(&text_lock);
    return result;
}

ncclResult_t wpi_nccl_cuda(cudaError_t error, const char *what) {
    if (error == cudaSuccess) return ncclSuccess;
    return wpi_nccl_fail(ncclUnhandledCudaError, "%s: %s", cudaGetErrorString(error), what);
}

WP_API const char *ncclGetErrorString(ncclResult_t result) {
    static const char *const texts[ncclNumResults] = {"no error",
                                                      "unhandled cuda error",
                                                      "unhandled system error",
                                                      "internal error",
                                                      "invalid argument",
                                                      "invalid usage",
                                                      "remote rank failed or was aborted",
                                                      "NCCL operation in progress"};
    return (unsigned)result < ncclNumResults ? texts[result] : "unknown result code";
}

WP_API const char *ncclGetLastError(ncclComm_t comm) {
    (void)comm;
    (void)pthread_mutex_lock(&text_lock);
    memcpy(last_error_shown, last_error, sizeof last_error);
    (void)pthread_mutex_unlock(&text_lock);
    return last_error_shown;
}

/* ---- version, memory ------------------------------------------------------------------------- */

WP_API ncclResult_t ncclGetVersion(int *version) {
    if (version == NULL) return wpi_nccl_fail(ncclInvalidArgument, "ncclGetVersion: NULL");
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

WP_API ncclResult_t ncclMemAlloc(void **ptr, size_t size) {
    if (ptr == NULL || size == 0) return wpi_nccl_fail(ncclInvalidArgument, "ncclMemAlloc");
    CUDA_TRY(cudaMalloc(ptr, size));
    return ncclSuccess;
}

WP_API ncclResult_t ncclMemFree(void *ptr) {
    CUDA_TRY(cudaFree(ptr));
    return ncclSuccess;
}

/* Registered memory is memory like any other. */
WP_API ncclResult_t ncclCommRegister(const ncclComm_t comm, void *buff, size_t size,
                                     void **handle) {
    if (comm == NULL || buff == NULL || size == 0 || handle == NULL)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclCommRegister");
    *handle = buff;
    return ncclSuccess;
}

WP_API ncclResult_t ncclCommDeregister(const ncclComm_t comm, void *handle) {
    if (comm == NULL || handle == NULL)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclCommDeregister");
    return ncclSuccess;
}

/* ---- sums with factors ----------------------------------------------------------------------- */

size_t wpi_nccl_type_bytes(ncclDataType_t type) {
    static const unsigned char bytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return bytes[type];
}

static bool is_type(ncclDataType_t type) {
    return (unsigned)type < ncclNumTypes;
}

static bool is_comm(ncclComm_t comm) {
    return comm != NULL && comm->magic == WPI_NCCL_MAGIC;
}

static ncclResult_t keep_factor(wpi_nccl_own_op *own, const void *scalar, ncclDataType_t type) {
    if (own->kept == NULL) CUDA_TRY(cudaMalloc(&own->kept, sizeof(double)));
    CUDA_TRY(cudaMemcpy(own->kept, scalar, wpi_nccl_type_bytes(type), cudaMemcpyHostToDevice));
    return ncclSuccess;
}

static ncclResult_t create_op(ncclRedOp_t *op, const void *scalar, ncclDataType_t type,
                              ncclScalarResidence_t residence, ncclComm_t comm) {
    for (int i = 0; i < WPI_NCCL_OWN_OPS_MAX; i++) {
        wpi_nccl_own_op *own = &comm->own_ops[i];
        if (own->is_used) continue;
        if (residence == ncclScalarHostImmediate) {
            const int before = wpi_nccl_device_enter(comm->device);
            const ncclResult_t result = keep_factor(own, scalar, type);
            wpi_nccl_device_leave(before);
            NCCL_TRY(result);
        }
        own->is_used = true;
        own->type = type;
        own->factor = residence == ncclScalarHostImmediate ? own->kept : scalar;
        *op = (ncclRedOp_t)(ncclNumOps + i);
        return ncclSuccess;
    }
    return wpi_nccl_fail(ncclInvalidUsage, "%d own operations; no more are possible",
                         WPI_NCCL_OWN_OPS_MAX);
}

WP_API ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t datatype,
                                             ncclScalarResidence_t residence, ncclComm_t comm) {
    if (op == NULL || scalar == NULL || !is_type(datatype) || (unsigned)residence > 1 ||
        !is_comm(comm))
        return wpi_nccl_fail(ncclInvalidArgument, "ncclRedOpCreatePreMulSum");
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    const ncclResult_t result = create_op(op, scalar, datatype, residence, comm);
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return result;
}

static wpi_nccl_own_op *own_op(ncclComm_t comm, int op) {
    const int i = op - ncclNumOps;
    if (i < 0 || i >= WPI_NCCL_OWN_OPS_MAX || !comm->own_ops[i].is_used) return NULL;
    return &comm->own_ops[i];
}

/* Work that is queued reads the factor: it is overwritten after that work. */
WP_API ncclResult_t ncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm) {
    if (!is_comm(comm) || own_op(comm, (int)op) == NULL)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclRedOpDestroy: %d is no own operation",
                             (int)op);
    CUDA_TRY(cudaStreamSynchronize(comm->queue));
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    own_op(comm, (int)op)->is_used = false;
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return ncclSuccess;
}

/* ---- operations ------------------------------------------------------------------------------ */

static bool is_op(ncclComm_t comm, int op, ncclDataType_t type) {
    if (op >= 0 && op < ncclNumOps) return true;
    const wpi_nccl_own_op *own = own_op(comm, op);
    return own != NULL && own->type == type;
}

/* `name`: of the call, for messages. */
static ncclResult_t submit(const char *name, const wpi_nccl_call *call) {
    const ncclComm_t comm = call->comm;
    if (!is_comm(comm)) return wpi_nccl_fail(ncclInvalidArgument, "%s: no communicator", name);
    if (!is_type(call->type))
        return wpi_nccl_fail(ncclInvalidArgument, "%s: type %d", name, (int)call->type);
    if (call->peer < 0 || call->peer >= comm->clique->ranks)
        return wpi_nccl_fail(ncclInvalidArgument, "%s: rank %d of %d", name, call->peer,
                             comm->clique->ranks);
    if (!is_op(comm, call->op, call->type))
        return wpi_nccl_fail(ncclInvalidArgument, "%s: operation %d", name, call->op);
    const bool is_root = call->peer == comm->rank;
    const bool sends = call->kind != WPI_NCCL_RECV && (call->kind != WPI_NCCL_BROADCAST || is_root);
    const bool receives = call->kind != WPI_NCCL_SEND && (call->kind != WPI_NCCL_REDUCE || is_root);
    if (call->count != 0 && ((sends && call->send == NULL) || (receives && call->recv == NULL)))
        return wpi_nccl_fail(ncclInvalidArgument, "%s: a buffer is NULL", name);
    return wpi_nccl_submit(call);
}

WP_API ncclResult_t ncclReduce(const void *sendbuff, void *recvbuff, size_t count,
                               ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
                               cudaStream_t stream) {
    return submit("ncclReduce", &(wpi_nccl_call){.kind = WPI_NCCL_REDUCE,
                                                 .comm = comm,
                                                 .stream = stream,
                                                 .send = sendbuff,
                                                 .recv = recvbuff,
                                                 .count = count,
                                                 .type = datatype,
                                                 .op = (int)op,
                                                 .peer = root});
}

WP_API ncclResult_t ncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
                                  ncclDataType_t datatype, int root, ncclComm_t comm,
                                  cudaStream_t stream) {
    return submit("ncclBroadcast", &(wpi_nccl_call){.kind = WPI_NCCL_BROADCAST,
                                                    .comm = comm,
                                                    .stream = stream,
                                                    .send = sendbuff,
                                                    .recv = recvbuff,
                                                    .count = count,
                                                    .type = datatype,
                                                    .peer = root});
}

WP_API ncclResult_t ncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root,
                              ncclComm_t comm, cudaStream_t stream) {
    return ncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

WP_API ncclResult_t ncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
                                  ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                  cudaStream_t stream) {
    return submit("ncclAllReduce", &(wpi_nccl_call){.kind = WPI_NCCL_ALL_REDUCE,
                                                    .comm = comm,
                                                    .stream = stream,
                                                    .send = sendbuff,
                                                    .recv = recvbuff,
                                                    .count = count,
                                                    .type = datatype,
                                                    .op = (int)op});
}

WP_API ncclResult_t ncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
                                      ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                      cudaStream_t stream) {
    return submit("ncclReduceScatter", &(wpi_nccl_call){.kind = WPI_NCCL_REDUCE_SCATTER,
                                                        .comm = comm,
                                                        .stream = stream,
                                                        .send = sendbuff,
                                                        .recv = recvbuff,
                                                        .count = recvcount,
                                                        .type = datatype,
                                                        .op = (int)op});
}

WP_API ncclResult_t ncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
                                  ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
    return submit("ncclAllGather", &(wpi_nccl_call){.kind = WPI_NCCL_ALL_GATHER,
                                                    .comm = comm,
                                                    .stream = stream,
                                                    .send = sendbuff,
                                                    .recv = recvbuff,
                                                    .count = sendcount,
                                                    .type = datatype});
}

WP_API ncclResult_t ncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype, int peer,
                             ncclComm_t comm, cudaStream_t stream) {
    return submit("ncclSend", &(wpi_nccl_call){.kind = WPI_NCCL_SEND,
                                               .comm = comm,
                                               .stream = stream,
                                               .send = sendbuff,
                                               .count = count,
                                               .type = datatype,
                                               .peer = peer});
}

WP_API ncclResult_t ncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
                             ncclComm_t comm, cudaStream_t stream) {
    return submit("ncclRecv", &(wpi_nccl_call){.kind = WPI_NCCL_RECV,
                                               .comm = comm,
                                               .stream = stream,
                                               .recv = recvbuff,
                                               .count = count,
                                               .type = datatype,
                                               .peer = peer});
}
