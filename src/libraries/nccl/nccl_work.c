/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The work of calls that have met, in the ranks' queues. A reduction is divided: each rank reduces
 * its part of the arrays, of which it copies the others' into its scratch memory, and the parts are
 * then copied to where they belong.
 *
 *     all-reduce of 2 ranks      rank 0: [a0 a1]   rank 1: [b0 b1]
 *     copies                     b0 to rank 0      a1 to rank 1
 *     kernels                    a0+b0             a1+b1
 *     meeting, copies            a1+b1 to rank 0   a0+b0 to rank 1
 *     meeting                    before streams continue, as the others read this rank's memory
 */
#include <string.h>

#include "libraries/nccl/nccl_comm.h"

/* What a rank's part of the work needs. */
typedef struct work {
    wpi_nccl_clique *clique;
    wpi_nccl_call *const *calls;
    size_t item_bytes;
} work;

static const char *sent(const work *w, int rank) {
    return w->calls[rank]->send;
}

static char *received(const work *w, int rank) {
    return w->calls[rank]->recv;
}

/* To memory of `to`, in its queue. The current device is that of `to`. */
static ncclResult_t copy(ncclComm_t to, void *dst, ncclComm_t from, const void *src, size_t bytes) {
    if (bytes == 0 || dst == src) return ncclSuccess;
    CUDA_TRY(cudaMemcpyPeerAsync(dst, to->device, src, from->device, bytes, to->queue));
    return ncclSuccess;
}

/* All queues wait for what all have now. */
static ncclResult_t meet(wpi_nccl_clique *clique) {
    for (int r = 0; r < clique->ranks; r++) {
        const ncclComm_t comm = clique->comms[r];
        CUDA_TRY(cudaSetDevice(comm->device));
        CUDA_TRY(cudaEventRecord(comm->reached, comm->queue));
    }
    for (int r = 0; r < clique->ranks; r++) {
        const ncclComm_t comm = clique->comms[r];
        CUDA_TRY(cudaSetDevice(comm->device));
        for (int p = 0; p < clique->ranks; p++)
            if (p != r) CUDA_TRY(cudaStreamWaitEvent(comm->queue, clique->comms[p]->reached, 0));
        CUDA_TRY(cudaEventRecord(comm->reached, comm->queue));
    }
    return ncclSuccess;
}

/* Space for other ranks' arrays, which the rank's queue alone uses. */
static ncclResult_t need_scratch(ncclComm_t comm, size_t bytes) {
    if (bytes <= comm->scratch_bytes) return ncclSuccess;
    CUDA_TRY(cudaFree(comm->scratch)); /* waits for queued work */
    comm->scratch = NULL;
    comm->scratch_bytes = 0;
    CUDA_TRY(cudaMalloc(&comm->scratch, bytes));
    comm->scratch_bytes = bytes;
    return ncclSuccess;
}

/* The factors of all ranks, behind the arrays in scratch memory. */
static ncclResult_t gather_factors(const work *w, ncclComm_t comm, char *to,
                                   wpi_nccl_reduction *reduction) {
    for (int p = 0; p < w->clique->ranks; p++) {
        const ncclComm_t peer = w->clique->comms[p];
        const wpi_nccl_own_op *op = &peer->own_ops[w->calls[p]->op - ncclNumOps];
        reduction->factors[p] = op->factor;
        if (p == comm->rank) continue;
        reduction->factors[p] = to + (size_t)p * w->item_bytes;
        NCCL_TRY(copy(comm, to + (size_t)p * w->item_bytes, peer, op->factor, w->item_bytes));
    }
    return ncclSuccess;
}

/* Rank `r` reduces `count` elements from `first` on, to `out`. */
static ncclResult_t reduce_part(const work *w, int r, size_t first, size_t count, void *out) {
    const int ranks = w->clique->ranks, op = w->calls[r]->op;
    const ncclComm_t comm = w->clique->comms[r];
    const size_t bytes = count * w->item_bytes;
    const size_t room = (bytes + 15) / 16 * 16;
    if (count == 0) return ncclSuccess;
    CUDA_TRY(cudaSetDevice(comm->device));
    NCCL_TRY(need_scratch(comm, (size_t)ranks * room + WPI_NCCL_RANKS_MAX * sizeof(double)));
    wpi_nccl_reduction reduction = {.type = w->calls[r]->type,
                                    .op = op < ncclNumOps ? (wpi_nccl_op)op : WPI_NCCL_SCALED_SUM,
                                    .ranks = ranks,
                                    .count = count,
                                    .out = out};
    for (int p = 0; p < ranks; p++) {
        const char *source = sent(w, p) + first * w->item_bytes;
        char *slot = (char *)comm->scratch + (size_t)p * room;
        reduction.sources[p] = p == r ? source : slot;
        if (p != r) NCCL_TRY(copy(comm, slot, w->clique->comms[p], source, bytes));
    }
    if (reduction.op == WPI_NCCL_SCALED_SUM)
        NCCL_TRY(gather_factors(w, comm, (char *)comm->scratch + (size_t)ranks * room, &reduction));
    CUDA_TRY(wpi_nccl_reduce(&reduction, comm->queue));
    return ncclSuccess;
}

static ncclResult_t all_reduce(const work *w) {
    const int ranks = w->clique->ranks;
    const size_t all = w->calls[0]->count;
    const size_t part = (all + (size_t)ranks - 1) / (size_t)ranks;
    size_t first[WPI_NCCL_RANKS_MAX + 1];
    for (int r = 0; r <= ranks; r++)
        first[r] = (size_t)r * part < all ? (size_t)r * part : all;
    for (int r = 0; r < ranks; r++)
        NCCL_TRY(reduce_part(w, r, first[r], first[r + 1] - first[r],
                             received(w, r) + first[r] * w->item_bytes));
    NCCL_TRY(meet(w->clique));
    for (int r = 0; r < ranks; r++) {
        const ncclComm_t comm = w->clique->comms[r];
        CUDA_TRY(cudaSetDevice(comm->device));
        for (int p = 0; p < ranks; p++) {
            const size_t at = first[p] * w->item_bytes;
            if (p != r)
                NCCL_TRY(copy(comm, received(w, r) + at, w->clique->comms[p], received(w, p) + at,
                              first[p + 1] * w->item_bytes - at));
        }
    }
    return ncclSuccess;
}

static ncclResult_t broadcast(const work *w) {
    const int root = w->calls[0]->peer;
    for (int r = 0; r < w->clique->ranks; r++) {
        const ncclComm_t comm = w->clique->comms[r];
        CUDA_TRY(cudaSetDevice(comm->device));
        NCCL_TRY(copy(comm, received(w, r), w->clique->comms[root], sent(w, root),
                      w->calls[r]->count * w->item_bytes));
    }
    return ncclSuccess;
}

static ncclResult_t all_gather(const work *w) {
    const size_t bytes = w->calls[0]->count * w->item_bytes;
    for (int r = 0; r < w->clique->ranks; r++) {
        const ncclComm_t comm = w->clique->comms[r];
        CUDA_TRY(cudaSetDevice(comm->device));
        for (int p = 0; p < w->clique->ranks; p++)
            NCCL_TRY(copy(comm, received(w, r) + (size_t)p * bytes, w->clique->comms[p], sent(w, p),
                          bytes));
    }
    return ncclSuccess;
}

static ncclResult_t reduce_scatter(const work *w) {
    const size_t count = w->calls[0]->count;
    for (int r = 0; r < w->clique->ranks; r++)
        NCCL_TRY(reduce_part(w, r, (size_t)r * count, count, received(w, r)));
    return ncclSuccess;
}

static ncclResult_t queue_work(const work *w) {
    const int root = w->calls[0]->peer;
    NCCL_TRY(meet(w->clique));
    switch (w->calls[0]->kind) {
    case WPI_NCCL_ALL_REDUCE: NCCL_TRY(all_reduce(w)); break;
    case WPI_NCCL_REDUCE:
        NCCL_TRY(reduce_part(w, root, 0, w->calls[root]->count, received(w, root)));
        break;
    case WPI_NCCL_BROADCAST: NCCL_TRY(broadcast(w)); break;
    case WPI_NCCL_ALL_GATHER: NCCL_TRY(all_gather(w)); break;
    default: NCCL_TRY(reduce_scatter(w)); break;
    }
    return meet(w->clique);
}

ncclResult_t wpi_nccl_work(wpi_nccl_clique *clique, wpi_nccl_call *const *calls) {
    const work w = {clique, calls, wpi_nccl_type_bytes(calls[0]->type)};
    const int before = wpi_nccl_device_enter(clique->comms[0]->device);
    const ncclResult_t result = queue_work(&w);
    wpi_nccl_device_leave(before);
    return result;
}

static ncclResult_t queue_transfer(const wpi_nccl_call *send, const wpi_nccl_call *recv) {
    const ncclComm_t from = send->comm, to = recv->comm;
    CUDA_TRY(cudaSetDevice(from->device));
    CUDA_TRY(cudaEventRecord(from->reached, from->queue));
    CUDA_TRY(cudaSetDevice(to->device));
    CUDA_TRY(cudaStreamWaitEvent(to->queue, from->reached, 0));
    NCCL_TRY(copy(to, recv->recv, from, send->send, send->count * wpi_nccl_type_bytes(send->type)));
    CUDA_TRY(cudaEventRecord(to->reached, to->queue));
    CUDA_TRY(cudaSetDevice(from->device));
    CUDA_TRY(cudaStreamWaitEvent(from->queue, to->reached, 0));
    CUDA_TRY(cudaEventRecord(from->reached, from->queue));
    return ncclSuccess;
}

ncclResult_t wpi_nccl_transfer(const wpi_nccl_call *send, const wpi_nccl_call *recv) {
    if (send->count != recv->count || send->type != recv->type)
        return wpi_nccl_fail(ncclInvalidArgument,
                             "rank %d sends %zu elements, and rank %d receives %zu: counts and "
                             "types must be the same",
                             send->comm->rank, send->count, recv->comm->rank, recv->count);
    const int before = wpi_nccl_device_enter(recv->comm->device);
    const ncclResult_t result = queue_transfer(send, recv);
    wpi_nccl_device_leave(before);
    return result;
}
