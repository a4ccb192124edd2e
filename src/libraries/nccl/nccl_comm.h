/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Communicators, and the calls on their way.
 *
 *     call of a rank ──► its communicator's list ──► all ranks' calls ──► copies and kernels
 *                            (nccl_group.c)            are there            (nccl_work.c)
 *
 * A clique is what the communicators of one set of ranks share. A rank's call waits on the host
 * until the other ranks have called, too; the thread that calls last queues the work of all. This
 * work is in queues of the communicators' own (`queue`): these wait for the stream of the call, and
 * the stream waits for them.
 *
 * Thread rule: everything is guarded by wpi_nccl_lock.
 */
#ifndef WP_LIBRARIES_NCCL_COMM_H
#define WP_LIBRARIES_NCCL_COMM_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "libraries/nccl/nccl_shared.h"

#define WPI_NCCL_MAGIC UINT64_C(0x776172702d6e6363)
#define WPI_NCCL_OWN_OPS_MAX 64

typedef enum wpi_nccl_kind {
    WPI_NCCL_ALL_REDUCE = 0,
    WPI_NCCL_REDUCE,
    WPI_NCCL_BROADCAST,
    WPI_NCCL_ALL_GATHER,
    WPI_NCCL_REDUCE_SCATTER,
    WPI_NCCL_SPLIT,
    WPI_NCCL_SEND,
    WPI_NCCL_RECV,
    WPI_NCCL_JOIN /* ncclCommInitRank; has no communicator yet */
} wpi_nccl_kind;

/* One rank's part. The thread that made it owns it. */
typedef struct wpi_nccl_call {
    struct wpi_nccl_call *next;  /* of the thread's group */
    struct wpi_nccl_call *later; /* of the communicator's list */
    wpi_nccl_kind kind;
    ncclComm_t comm;
    cudaStream_t stream;
    const void *send;
    void *recv;
    size_t count;
    ncclDataType_t type;
    int op;                         /* ncclRedOp_t, or an own one */
    int peer;                       /* root, or the other rank */
    int color, key;                 /* SPLIT */
    struct wpi_nccl_clique *joined; /* JOIN */
    ncclComm_t *out;                /* JOIN, SPLIT */
    ncclUniqueId id;                /* JOIN … */
    int ranks, rank, device;
    bool is_done;
    ncclResult_t result;
} wpi_nccl_call;

/* A sum of products with a scalar. */
typedef struct wpi_nccl_own_op {
    bool is_used;
    ncclDataType_t type;
    const void *factor; /* in device memory: the program's, or `kept` */
    void *kept;
} wpi_nccl_own_op;

struct ncclComm {
    uint64_t magic;
    struct wpi_nccl_clique *clique;
    int rank, device;
    cudaStream_t queue;
    cudaEvent_t started, reached; /* of the stream; of the queue */
    void *scratch;
    size_t scratch_bytes;
    wpi_nccl_call *collectives, *transfers; /* on their way; the first is the oldest */
    wpi_nccl_own_op own_ops[WPI_NCCL_OWN_OPS_MAX];
};

typedef struct wpi_nccl_clique {
    int ranks;
    uint32_t refs; /* communicators that are left */
    bool is_aborted;
    ncclComm_t comms[WPI_NCCL_RANKS_MAX];
} wpi_nccl_clique;

extern pthread_mutex_t wpi_nccl_lock;

#define NCCL_TRY(expression)                                                                       \
    do {                                                                                           \
        const ncclResult_t nccl_try = (expression);                                                \
        if (nccl_try != ncclSuccess) return nccl_try;                                              \
    } while (0)

/** Keeps the text for ncclGetLastError, and logs it; returns `result`. */
ncclResult_t wpi_nccl_fail(ncclResult_t result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** … of a CUDA call. */
ncclResult_t wpi_nccl_cuda(cudaError_t error, const char *what);
#define CUDA_TRY(call) NCCL_TRY(wpi_nccl_cuda((call), #call))

/** Bytes of an element. */
size_t wpi_nccl_type_bytes(ncclDataType_t type);

/** Runs the call, or adds it to the thread's group. Takes `call`'s contents. */
ncclResult_t wpi_nccl_submit(const wpi_nccl_call *call);
/** A communicator was aborted: waiting calls look. */
void wpi_nccl_wake(void);

/** Queues the work of a collective: `calls`, one a rank. */
ncclResult_t wpi_nccl_work(wpi_nccl_clique *clique, wpi_nccl_call *const *calls);
ncclResult_t wpi_nccl_transfer(const wpi_nccl_call *send, const wpi_nccl_call *recv);

/** Joins a clique; the last rank makes the communicators. */
void wpi_nccl_join(wpi_nccl_call *call);
/** A JOIN is over: gives the communicator to its caller. */
void wpi_nccl_joined(wpi_nccl_call *call);
/** Makes the communicators of new cliques, for all ranks of one. */
ncclResult_t wpi_nccl_split(wpi_nccl_clique *clique, wpi_nccl_call *const *calls);

/** The current device, until restored. */
int wpi_nccl_device_enter(int device);
void wpi_nccl_device_leave(int before);

#endif
