/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators: made, split and freed. */
#include "libraries/nccl/nccl_comm.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "warpage/error.h"

/* What a unique id contains. */
typedef struct id_content {
    uint64_t magic, time_ns;
    int64_t process;
    uint64_t number;
} id_content;

_Static_assert(sizeof(id_content) <= NCCL_UNIQUE_ID_BYTES, "layout");

/* The calls of ranks that join, until all have come. */
typedef struct meeting {
    struct meeting *next;
    ncclUniqueId id;
    int ranks, come;
    wpi_nccl_call *calls[WPI_NCCL_RANKS_MAX];
} meeting;

static meeting *meetings;

int wpi_nccl_device_enter(int device) {
    int before = 0;
    (void)cudaGetDevice(&before);
    (void)cudaSetDevice(device);
    return before;
}

void wpi_nccl_device_leave(int before) {
    (void)cudaSetDevice(before);
}

/* ---- making ---------------------------------------------------------------------------------- */

static void free_comm(ncclComm_t comm) {
    if (comm == NULL) return;
    const int before = wpi_nccl_device_enter(comm->device);
    if (comm->queue != NULL) (void)cudaStreamDestroy(comm->queue);
    if (comm->started != NULL) (void)cudaEventDestroy(comm->started);
    if (comm->reached != NULL) (void)cudaEventDestroy(comm->reached);
    (void)cudaFree(comm->scratch);
    for (int i = 0; i < WPI_NCCL_OWN_OPS_MAX; i++)
        (void)cudaFree(comm->own_ops[i].kept);
    wpi_nccl_device_leave(before);
    comm->magic = 0;
    wpi_free(comm);
}

static ncclResult_t make_queue(ncclComm_t comm) {
    CUDA_TRY(cudaStreamCreateWithFlags(&comm->queue, cudaStreamNonBlocking));
    CUDA_TRY(cudaEventCreateWithFlags(&comm->started, cudaEventDisableTiming));
    CUDA_TRY(cudaEventCreateWithFlags(&comm->reached, cudaEventDisableTiming));
    return ncclSuccess;
}

static ncclResult_t make_comm(wpi_nccl_clique *clique, int rank, int device) {
    ncclComm_t comm = wpi_calloc(1, sizeof *comm);
    if (comm == NULL) return wpi_nccl_fail(ncclSystemError, "no memory for a communicator");
    *comm = (struct ncclComm){
        .magic = WPI_NCCL_MAGIC, .clique = clique, .rank = rank, .device = device};
    const int before = wpi_nccl_device_enter(device);
    const ncclResult_t result = make_queue(comm);
    wpi_nccl_device_leave(before);
    if (result == ncclSuccess)
        clique->comms[rank] = comm;
    else
        free_comm(comm);
    return result;
}

/* Copies between the two take the link between them, where there is one. */
static void link_devices(int device, int peer) {
    int is_possible = 0;
    if (cudaDeviceCanAccessPeer(&is_possible, device, peer) != cudaSuccess || !is_possible) return;
    const int before = wpi_nccl_device_enter(device);
    if (cudaDeviceEnablePeerAccess(peer, 0) != cudaSuccess)
        (void)cudaGetLastError(); /* the program has enabled it */
    wpi_nccl_device_leave(before);
}

static void free_clique(wpi_nccl_clique *clique) {
    for (int r = 0; r < clique->ranks; r++)
        free_comm(clique->comms[r]);
    wpi_free(clique);
}

/* The communicators of a new clique; rank r is on devices[r]. */
static ncclResult_t make_clique(int ranks, const int *devices, wpi_nccl_clique **out) {
    wpi_nccl_clique *clique = wpi_calloc(1, sizeof *clique);
    if (clique == NULL) return wpi_nccl_fail(ncclSystemError, "no memory for communicators");
    clique->ranks = ranks;
    clique->refs = (uint32_t)ranks;
    ncclResult_t result = ncclSuccess;
    for (int r = 0; r < ranks && result == ncclSuccess; r++) {
        for (int p = 0; p < r && result == ncclSuccess; p++)
            if (devices[p] == devices[r])
                result = wpi_nccl_fail(ncclInvalidUsage, "ranks %d and %d are both on device %d", p,
                                       r, devices[r]);
        for (int p = 0; p < r && result == ncclSuccess; p++) {
            link_devices(devices[r], devices[p]);
            link_devices(devices[p], devices[r]);
        }
        if (result == ncclSuccess) result = make_comm(clique, r, devices[r]);
    }
    if (result == ncclSuccess)
        *out = clique;
    else
        free_clique(clique);
    return result;
}

/* ---- ids, and ranks that join ---------------------------------------------------------------- */

WP_API ncclResult_t ncclGetUniqueId(ncclUniqueId *uniqueId) {
    static atomic_uint_fast64_t number;
    if (uniqueId == NULL) return wpi_nccl_fail(ncclInvalidArgument, "ncclGetUniqueId: NULL");
    const id_content content = {.magic = WPI_NCCL_MAGIC,
                                .time_ns = wpi_clock_ns(),
                                .process = getpid(),
                                .number = atomic_fetch_add(&number, 1)};
    memset(uniqueId, 0, sizeof *uniqueId);
    memcpy(uniqueId, &content, sizeof content);
    return ncclSuccess;
}

static ncclResult_t check_id(const ncclUniqueId *id) {
    id_content content;
    memcpy(&content, id, sizeof content);
    if (content.magic != WPI_NCCL_MAGIC)
        return wpi_nccl_fail(ncclInvalidArgument, "the id is not one of ncclGetUniqueId");
    if (content.process != getpid())
        return wpi_nccl_fail(ncclSystemError,
                             "ranks in several processes are not supported: use a thread for each "
                             "device, or groups of calls");
    return ncclSuccess;
}

static meeting *find_meeting(const ncclUniqueId *id) {
    meeting *m = meetings;
    while (m != NULL && memcmp(&m->id, id, sizeof *id) != 0)
        m = m->next;
    return m;
}

static void end_meeting(meeting *m) {
    int devices[WPI_NCCL_RANKS_MAX];
    wpi_nccl_clique *made = NULL;
    for (int r = 0; r < m->ranks; r++)
        devices[r] = m->calls[r]->device;
    const ncclResult_t result = make_clique(m->ranks, devices, &made);
    for (int r = 0; r < m->ranks; r++) {
        m->calls[r]->joined = made;
        m->calls[r]->result = result;
        m->calls[r]->is_done = true;
    }
    meeting **at = &meetings;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    wpi_free(m);
}

void wpi_nccl_join(wpi_nccl_call *call) {
    meeting *m = find_meeting(&call->id);
    if (m == NULL) {
        m = wpi_calloc(1, sizeof *m);
        if (m == NULL) {
            call->result = wpi_nccl_fail(ncclSystemError, "no memory for a communicator");
            call->is_done = true;
            return;
        }
        *m = (meeting){.next = meetings, .id = call->id, .ranks = call->ranks};
        meetings = m;
    }
    if (m->ranks != call->ranks || m->calls[call->rank] != NULL) {
        call->result = wpi_nccl_fail(ncclInvalidArgument, "rank %d of %d is another rank's number",
                                     call->rank, call->ranks);
        call->is_done = true;
        return;
    }
    m->calls[call->rank] = call;
    if (++m->come == m->ranks) end_meeting(m);
}

void wpi_nccl_joined(wpi_nccl_call *call) {
    if (call->result == ncclSuccess) *call->out = call->joined->comms[call->rank];
}

WP_API ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int nranks, ncclUniqueId commId,
                                           int rank, ncclConfig_t *config) {
    (void)config;
    if (comm == NULL || nranks < 1 || rank < 0 || rank >= nranks)
        return wpi_nccl_fail(ncclInvalidArgument, "rank %d of %d", rank, nranks);
    *comm = NULL;
    if (nranks > WPI_NCCL_RANKS_MAX)
        return wpi_nccl_fail(ncclInvalidUsage, "%d ranks; at most %d", nranks, WPI_NCCL_RANKS_MAX);
    NCCL_TRY(check_id(&commId));
    wpi_nccl_call call = {
        .kind = WPI_NCCL_JOIN, .out = comm, .id = commId, .ranks = nranks, .rank = rank};
    CUDA_TRY(cudaGetDevice(&call.device));
    return wpi_nccl_submit(&call);
}

WP_API ncclResult_t ncclCommInitRank(ncclComm_t *comm, int nranks, ncclUniqueId commId, int rank) {
    return ncclCommInitRankConfig(comm, nranks, commId, rank, NULL);
}

WP_API ncclResult_t ncclCommInitAll(ncclComm_t *comm, int ndev, const int *devlist) {
    int devices[WPI_NCCL_RANKS_MAX], count = 0;
    wpi_nccl_clique *clique = NULL;
    if (comm == NULL || ndev < 1)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclCommInitAll: %d devices", ndev);
    CUDA_TRY(cudaGetDeviceCount(&count));
    for (int i = 0; i < ndev; i++) {
        const int device = devlist != NULL ? devlist[i] : i;
        if (device < 0 || device >= count || i == WPI_NCCL_RANKS_MAX)
            return wpi_nccl_fail(ncclInvalidArgument, "device %d of rank %d; there are %d", device,
                                 i, count);
        devices[i] = device;
    }
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    const ncclResult_t result = make_clique(ndev, devices, &clique);
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    for (int i = 0; i < ndev; i++)
        comm[i] = result == ncclSuccess ? clique->comms[i] : NULL;
    return result;
}

/* ---- splitting ------------------------------------------------------------------------------- */

/* Whether call `a` comes before `b` in its part: by key, then by rank. */
static bool comes_before(const wpi_nccl_call *a, const wpi_nccl_call *b) {
    return a->key != b->key ? a->key < b->key : a->comm->rank < b->comm->rank;
}

/* One part: those of the color of call `r`, which is its lowest rank. */
static ncclResult_t split_part(const wpi_nccl_clique *clique, wpi_nccl_call *const *calls, int r) {
    wpi_nccl_call *members[WPI_NCCL_RANKS_MAX];
    int devices[WPI_NCCL_RANKS_MAX], count = 0;
    wpi_nccl_clique *made = NULL;
    for (int p = r; p < clique->ranks; p++) {
        if (calls[p]->color != calls[r]->color) continue;
        int at = count++;
        for (; at > 0 && comes_before(calls[p], members[at - 1]); at--)
            members[at] = members[at - 1];
        members[at] = calls[p];
    }
    for (int i = 0; i < count; i++)
        devices[i] = members[i]->comm->device;
    NCCL_TRY(make_clique(count, devices, &made));
    for (int i = 0; i < count; i++)
        *members[i]->out = made->comms[i];
    return ncclSuccess;
}

ncclResult_t wpi_nccl_split(wpi_nccl_clique *clique, wpi_nccl_call *const *calls) {
    for (int r = 0; r < clique->ranks; r++) {
        bool is_lowest = calls[r]->color != NCCL_SPLIT_NOCOLOR;
        for (int p = 0; p < r && is_lowest; p++)
            is_lowest = calls[p]->color != calls[r]->color;
        if (is_lowest) NCCL_TRY(split_part(clique, calls, r));
    }
    return ncclSuccess;
}

static bool is_comm(ncclComm_t comm) {
    return comm != NULL && comm->magic == WPI_NCCL_MAGIC;
}

WP_API ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *newcomm,
                                  ncclConfig_t *config) {
    (void)config;
    if (!is_comm(comm) || newcomm == NULL || color < NCCL_SPLIT_NOCOLOR)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclCommSplit: color %d", color);
    *newcomm = NULL;
    const wpi_nccl_call call = {
        .kind = WPI_NCCL_SPLIT, .comm = comm, .color = color, .key = key, .out = newcomm};
    return wpi_nccl_submit(&call);
}

/* ---- the end --------------------------------------------------------------------------------- */

WP_API ncclResult_t ncclCommFinalize(ncclComm_t comm) {
    if (!is_comm(comm)) return wpi_nccl_fail(ncclInvalidArgument, "no communicator");
    CUDA_TRY(cudaStreamSynchronize(comm->queue));
    return ncclSuccess;
}

WP_API ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    if (comm == NULL) return ncclSuccess;
    if (!is_comm(comm)) return wpi_nccl_fail(ncclInvalidArgument, "no communicator");
    (void)cudaStreamSynchronize(comm->queue); /* the others' copies of its memory, too */
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    wpi_nccl_clique *clique = comm->clique;
    clique->comms[comm->rank] = NULL;
    free_comm(comm);
    if (--clique->refs == 0) wpi_free(clique);
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return ncclSuccess;
}

WP_API ncclResult_t ncclCommAbort(ncclComm_t comm) {
    if (comm == NULL) return ncclSuccess;
    if (!is_comm(comm)) return wpi_nccl_fail(ncclInvalidArgument, "no communicator");
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    comm->clique->is_aborted = true;
    wpi_nccl_wake();
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return ncclCommDestroy(comm);
}

/* ---- facts ----------------------------------------------------------------------------------- */

WP_API ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *asyncError) {
    if (!is_comm(comm) || asyncError == NULL)
        return wpi_nccl_fail(ncclInvalidArgument, "ncclCommGetAsyncError: NULL");
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    *asyncError = comm->clique->is_aborted ? ncclRemoteError : ncclSuccess;
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return ncclSuccess;
}

#define FACT(name, value)                                                                          \
    WP_API ncclResult_t name(const ncclComm_t comm, int *out) {                                    \
        if (!is_comm(comm) || out == NULL)                                                         \
            return wpi_nccl_fail(ncclInvalidArgument, #name ": NULL");                             \
        *out = (value);                                                                            \
        return ncclSuccess;                                                                        \
    }

FACT(ncclCommCount, comm->clique->ranks)
FACT(ncclCommCuDevice, comm->device)
FACT(ncclCommUserRank, comm->rank)
