/* SPDX-License-Identifier: Apache-2.0 */
/* Groups, and how the ranks' calls meet. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/log.h"
#include "libraries/nccl/nccl_comm.h"
#include "warpage/error.h"

#define PATIENCE_S 10 /* then the log says what is missing */

pthread_mutex_t wpi_nccl_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;

static _Thread_local struct {
    int depth;
    wpi_nccl_call *first, **last;
} group;

static const char *const kind_names[] = {"AllReduce", "Reduce",        "Broadcast",
                                         "AllGather", "ReduceScatter", "Split",
                                         "Send",      "Recv",          "CommInitRank"};

static void append(wpi_nccl_call **list, wpi_nccl_call *call) {
    while (*list != NULL)
        list = &(*list)->later;
    call->later = NULL;
    *list = call;
}

static void finish(wpi_nccl_call *call, ncclResult_t result) {
    call->result = result;
    call->is_done = true;
}

/* ---- how calls meet -------------------------------------------------------------------------- */

static bool is_same_call(const wpi_nccl_call *a, const wpi_nccl_call *b) {
    if (a->kind != b->kind) return false;
    if (a->kind == WPI_NCCL_SPLIT) return true;
    if (a->count != b->count || a->type != b->type) return false;
    if (a->kind != WPI_NCCL_BROADCAST && a->kind != WPI_NCCL_REDUCE) return true;
    return a->peer == b->peer;
}

/* All ranks have called: queues the work of their oldest calls. */
static void run_collective(wpi_nccl_clique *clique) {
    wpi_nccl_call *calls[WPI_NCCL_RANKS_MAX];
    ncclResult_t result = ncclSuccess;
    for (int r = 0; r < clique->ranks; r++) {
        calls[r] = clique->comms[r]->collectives;
        clique->comms[r]->collectives = calls[r]->later;
        if (result == ncclSuccess && !is_same_call(calls[0], calls[r]))
            result = wpi_nccl_fail(ncclInvalidArgument,
                                   "rank 0 calls %s of %zu elements, and rank %d calls %s of %zu: "
                                   "kinds, counts, types and roots must be the same",
                                   kind_names[calls[0]->kind], calls[0]->count, r,
                                   kind_names[calls[r]->kind], calls[r]->count);
    }
    if (result == ncclSuccess)
        result = calls[0]->kind == WPI_NCCL_SPLIT ? wpi_nccl_split(clique, calls)
                                                  : wpi_nccl_work(clique, calls);
    for (int r = 0; r < clique->ranks; r++)
        finish(calls[r], result);
}

static void post_collective(wpi_nccl_call *call) {
    wpi_nccl_clique *clique = call->comm->clique;
    append(&call->comm->collectives, call);
    for (int r = 0; r < clique->ranks; r++)
        if (clique->comms[r] == NULL || clique->comms[r]->collectives == NULL) return;
    run_collective(clique);
    (void)pthread_cond_broadcast(&done);
}

static void post_transfer(wpi_nccl_call *call) {
    const wpi_nccl_kind other = call->kind == WPI_NCCL_SEND ? WPI_NCCL_RECV : WPI_NCCL_SEND;
    ncclComm_t peer = call->comm->clique->comms[call->peer];
    if (peer == NULL) {
        finish(call, wpi_nccl_fail(ncclInvalidUsage, "rank %d is destroyed", call->peer));
        return;
    }
    for (wpi_nccl_call **at = &peer->transfers; *at != NULL; at = &(*at)->later) {
        wpi_nccl_call *found = *at;
        if (found->kind != other || found->peer != call->comm->rank) continue;
        *at = found->later;
        const ncclResult_t result = call->kind == WPI_NCCL_SEND ? wpi_nccl_transfer(call, found)
                                                                : wpi_nccl_transfer(found, call);
        finish(call, result);
        finish(found, result);
        (void)pthread_cond_broadcast(&done);
        return;
    }
    append(&call->comm->transfers, call);
}

/* The queue waits for what the stream has now. */
static ncclResult_t follow_stream(const wpi_nccl_call *call) {
    enum cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    CUDA_TRY(cudaStreamIsCapturing(call->stream, &capture));
    if (capture != cudaStreamCaptureStatusNone)
        return wpi_nccl_fail(ncclInvalidUsage, "calls in a captured stream are not supported");
    CUDA_TRY(cudaEventRecord(call->comm->started, call->stream));
    CUDA_TRY(cudaStreamWaitEvent(call->comm->queue, call->comm->started, 0));
    return ncclSuccess;
}

static void post(wpi_nccl_call *call) {
    if (call->kind == WPI_NCCL_JOIN) {
        wpi_nccl_join(call);
        (void)pthread_cond_broadcast(&done);
        return;
    }
    if (call->comm->clique->is_aborted) {
        finish(call, wpi_nccl_fail(ncclRemoteError, "the communicator is aborted"));
        return;
    }
    if (call->kind != WPI_NCCL_SPLIT) {
        const int before = wpi_nccl_device_enter(call->comm->device);
        const ncclResult_t result = follow_stream(call);
        wpi_nccl_device_leave(before);
        if (result != ncclSuccess) {
            finish(call, result);
            return;
        }
    }
    if (call->kind == WPI_NCCL_SEND || call->kind == WPI_NCCL_RECV)
        post_transfer(call);
    else
        post_collective(call);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static bool is_aborted(const wpi_nccl_call *call) {
    return call->comm != NULL && call->comm->clique->is_aborted;
}

static void remove_call(wpi_nccl_call *call) {
    wpi_nccl_call **lists[] = {&call->comm->collectives, &call->comm->transfers};
    for (size_t i = 0; i < 2; i++)
        for (wpi_nccl_call **at = lists[i]; *at != NULL; at = &(*at)->later)
            if (*at == call) {
                *at = call->later;
                return;
            }
}

static void say_patience_ended(const wpi_nccl_call *call) {
    if (call->kind == WPI_NCCL_JOIN)
        wpi_log(WP_LOG_WARN, "nccl", "rank %d of %d waits for others to call ncclCommInitRank",
                call->rank, call->ranks);
    else
        wpi_log(WP_LOG_WARN, "nccl",
                "rank %d of %d waits in nccl%s for others to call it; one thread that calls for "
                "several ranks needs ncclGroupStart",
                call->comm->rank, call->comm->clique->ranks, kind_names[call->kind]);
}

static void wait_for(wpi_nccl_call *call) {
    bool is_said = false;
    struct timespec until;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    while (!call->is_done) {
        if (is_aborted(call)) {
            remove_call(call);
            finish(call, ncclRemoteError);
        } else if (is_said) {
            (void)pthread_cond_wait(&done, &wpi_nccl_lock);
        } else if (pthread_cond_timedwait(&done, &wpi_nccl_lock, &until) == ETIMEDOUT) {
            say_patience_ended(call);
            is_said = true;
        }
    }
}

/* The stream waits for the rank's queue, whose last record covers all calls of the group. */
static ncclResult_t lead_stream(const wpi_nccl_call *call) {
    CUDA_TRY(cudaStreamWaitEvent(call->stream, call->comm->reached, 0));
    return ncclSuccess;
}

static void after(wpi_nccl_call *call) {
    if (call->kind == WPI_NCCL_JOIN) {
        wpi_nccl_joined(call);
    } else if (call->kind != WPI_NCCL_SPLIT && call->result == ncclSuccess) {
        const int before = wpi_nccl_device_enter(call->comm->device);
        call->result = lead_stream(call);
        wpi_nccl_device_leave(before);
    }
}

static ncclResult_t run_all(wpi_nccl_call *first) {
    ncclResult_t result = ncclSuccess;
    (void)pthread_mutex_lock(&wpi_nccl_lock);
    for (wpi_nccl_call *c = first; c != NULL; c = c->next)
        post(c);
    for (wpi_nccl_call *c = first; c != NULL; c = c->next) {
        wait_for(c);
        after(c);
        if (result == ncclSuccess) result = c->result;
    }
    (void)pthread_mutex_unlock(&wpi_nccl_lock);
    return result;
}

/* ---- groups ---------------------------------------------------------------------------------- */

ncclResult_t wpi_nccl_submit(const wpi_nccl_call *call) {
    wpi_nccl_call own = *call;
    if (group.depth == 0) return run_all(&own);
    wpi_nccl_call *kept = wpi_malloc(sizeof *kept);
    if (kept == NULL) return wpi_nccl_fail(ncclSystemError, "no memory for a call");
    *kept = own;
    kept->next = NULL;
    *group.last = kept;
    group.last = &kept->next;
    return ncclSuccess;
}

WP_API ncclResult_t ncclGroupStart(void) {
    if (group.depth++ == 0) group.last = &group.first;
    return ncclSuccess;
}

WP_API ncclResult_t ncclGroupEnd(void) {
    if (group.depth == 0)
        return wpi_nccl_fail(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
    if (--group.depth != 0) return ncclSuccess;
    wpi_nccl_call *first = group.first;
    group.first = NULL;
    const ncclResult_t result = run_all(first);
    while (first != NULL) {
        wpi_nccl_call *call = first;
        first = call->next;
        wpi_free(call);
    }
    return result;
}

void wpi_nccl_wake(void) {
    (void)pthread_cond_broadcast(&done);
}
