/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel and actors on the host that answer it while it runs: handshakes, streamed chunks, copies
 * in order, many actors at a time, work in queues, in host functions, in host threads. */
#include <warpage/cudart.h>
#include <warpage/host.h>
#include "check.h"

#define WARPAGE_OK(call)                                                                           \
    do {                                                                                           \
        wp_error err = {WP_STATUS_OK};                                                             \
        if ((call) != WP_STATUS_OK) {                                                              \
            printf("line %d: %s\n", __LINE__, err.message);                                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

enum { ACTORS = 5, CHUNKS = 12, CHUNK = 96, THREADS = 32 };

/* Asks for chunk after chunk, and adds up what comes. */
__global__ void sum_chunks(volatile unsigned *asked, volatile unsigned *come, const int *data,
                           long long *sum)
{
    __shared__ long long part[THREADS];
    part[threadIdx.x] = 0;
    for (unsigned chunk = 1; chunk <= CHUNKS; chunk++) {
        if (threadIdx.x == 0) {
            asked[blockIdx.x] = chunk;
            __threadfence_system();
            while (come[blockIdx.x] < chunk)
                ;
            __threadfence();
        }
        __syncthreads();
        const volatile int *from = data + blockIdx.x * CHUNK;
        for (int i = threadIdx.x; i < CHUNK; i += THREADS)
            part[threadIdx.x] += from[i];
        __syncthreads();
    }
    atomicAdd((unsigned long long *)&sum[blockIdx.x], (unsigned long long)part[threadIdx.x]);
}

struct feeder {
    unsigned number, chunk;
    bool is_gathered;
    volatile unsigned *asked;
    unsigned *come, *flag;
    int *data, *staged;
    wp_queue *queue;
    int steps;
};

static int value_of(unsigned number, unsigned chunk, int i)
{
    return (int)(number * 1000003u + chunk * 9176u) + i * i;
}

static wp_actor_answer feed(wp_actor *actor, void *object)
{
    feeder *f = (feeder *)object;
    f->steps++;
    if (f->is_gathered) {
        WARPAGE_OK(wp_queue_copy(f->queue, f->data, f->staged, CHUNK * sizeof(int), &err));
        *f->flag = f->chunk;
        WARPAGE_OK(wp_queue_copy(f->queue, f->come, f->flag, sizeof *f->flag, &err));
        f->is_gathered = false;
        if (f->chunk == CHUNKS) return WP_ACTOR_ENDS;
    } else if (*f->asked > f->chunk) {
        f->chunk++;
        for (int i = 0; i < CHUNK; i++)
            f->staged[i] = value_of(f->number, f->chunk, i);
        wp_host_work work = {0, CHUNK * sizeof(int), WP_HOST_SEQUENTIAL, 0, 1};
        WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &work, &err));
        f->is_gathered = true;
        return WP_ACTOR_GOES_ON;
    }
    wp_actor_watch(actor, f->asked, f->chunk);
    return WP_ACTOR_GOES_ON;
}

static void chunks_come_while_the_kernel_runs()
{
    unsigned *asked, *flags, *come;
    int *staged, *data;
    long long *sums;
    feeder feeders[ACTORS] = {};
    wp_actor *actors[ACTORS];
    cudaStream_t kernel, copies;
    CUDA_OK(cudaHostAlloc(&asked, ACTORS * sizeof *asked, cudaHostAllocMapped));
    CUDA_OK(cudaHostAlloc(&flags, ACTORS * sizeof *flags, cudaHostAllocDefault));
    CUDA_OK(cudaHostAlloc(&staged, ACTORS * CHUNK * sizeof *staged, cudaHostAllocDefault));
    CUDA_OK(cudaMalloc(&come, ACTORS * sizeof *come));
    CUDA_OK(cudaMalloc(&data, ACTORS * CHUNK * sizeof *data));
    CUDA_OK(cudaMalloc(&sums, ACTORS * sizeof *sums));
    memset(asked, 0, ACTORS * sizeof *asked);
    CUDA_OK(cudaMemset(come, 0, ACTORS * sizeof *come));
    CUDA_OK(cudaMemset(sums, 0, ACTORS * sizeof *sums));
    CUDA_OK(cudaStreamCreateWithFlags(&kernel, cudaStreamNonBlocking));
    CUDA_OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    CUDA_OK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < ACTORS; i++) {
        feeders[i] = {i, 0, false, asked + i, come + i, flags + i, data + i * CHUNK,
                      staged + i * CHUNK, wp_cudart_queue(copies), 0};
        WARPAGE_OK(wp_actor_start(wp_cudart_device(), "feeder", feed, &feeders[i], &actors[i],
                                  &err));
    }
    sum_chunks<<<ACTORS, THREADS, 0, kernel>>>(asked, come, data, sums);
    CUDA_OK(cudaGetLastError());
    for (int i = 0; i < ACTORS; i++) {
        WARPAGE_OK(wp_actor_wait(actors[i], &err));
        WARPAGE_OK(wp_actor_wait(actors[i], &err)); /* again: it has ended */
        wp_actor_destroy(actors[i]);
    }
    CUDA_OK(cudaStreamSynchronize(kernel));
    long long got[ACTORS];
    CUDA_OK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned n = 0; n < ACTORS; n++) {
        long long expected = 0;
        for (unsigned chunk = 1; chunk <= CHUNKS; chunk++)
            for (int i = 0; i < CHUNK; i++)
                expected += value_of(n, chunk, i);
        CHECK_EQ(got[n], expected);
        CHECK(feeders[n].steps >= 2 * CHUNKS);
    }
    CUDA_OK(cudaStreamDestroy(kernel));
    CUDA_OK(cudaStreamDestroy(copies));
    CUDA_OK(cudaFree(data));
    CUDA_OK(cudaFree(come));
    CUDA_OK(cudaFree(sums));
    CUDA_OK(cudaFreeHost(asked));
    CUDA_OK(cudaFreeHost(flags));
    CUDA_OK(cudaFreeHost(staged));
}

/* ---- without kernels ------------------------------------------------------------------------- */

static wp_actor_answer count_down(wp_actor *actor, void *object)
{
    (void)actor;
    return --*(int *)object == 0 ? WP_ACTOR_ENDS : WP_ACTOR_GOES_ON;
}

static void an_actor_that_watches_nothing_is_called_again()
{
    int left = 7;
    wp_actor *actor;
    WARPAGE_OK(wp_actor_start(wp_cudart_device(), "counter", count_down, &left, &actor, &err));
    WARPAGE_OK(wp_actor_wait(actor, &err));
    CHECK_EQ(left, 0);
    wp_actor_destroy(actor);
}

static wp_actor_answer wait_for_ever(wp_actor *actor, void *object)
{
    wp_actor_watch(actor, (const volatile uint32_t *)object, 0);
    return WP_ACTOR_GOES_ON;
}

static void an_actor_that_waits_can_be_destroyed()
{
    uint32_t *word;
    wp_actor *actor;
    CUDA_OK(cudaHostAlloc(&word, sizeof *word, cudaHostAllocMapped));
    *word = 0;
    WARPAGE_OK(wp_actor_start(wp_cudart_device(), "idler", wait_for_ever, word, &actor, &err));
    wp_actor_destroy(actor);
    wp_actor_destroy(NULL);
    CUDA_OK(cudaFreeHost(word));
}

static wp_actor_answer answer(wp_actor *actor, void *object)
{
    uint32_t *words = (uint32_t *)object;
    if (words[0] == 0) {
        wp_actor_watch(actor, &words[0], 0);
        return WP_ACTOR_GOES_ON;
    }
    words[1] = words[0] + 1;
    return WP_ACTOR_ENDS;
}

static void a_copy_into_the_watched_word_wakes_the_actor()
{
    uint32_t *words, *from, value = 41;
    wp_actor *actor;
    CUDA_OK(cudaHostAlloc(&words, 2 * sizeof *words, cudaHostAllocMapped));
    CUDA_OK(cudaMalloc(&from, sizeof *from));
    CUDA_OK(cudaMemcpy(from, &value, sizeof value, cudaMemcpyHostToDevice));
    words[0] = words[1] = 0;
    WARPAGE_OK(wp_actor_start(wp_cudart_device(), "answerer", answer, words, &actor, &err));
    CUDA_OK(cudaMemcpyAsync(words, from, sizeof value, cudaMemcpyDeviceToHost, 0));
    WARPAGE_OK(wp_actor_wait(actor, &err));
    CHECK_EQ(words[1], 42u);
    wp_actor_destroy(actor);
    CUDA_OK(cudaFreeHost(words));
    CUDA_OK(cudaFree(from));
}

static void a_store_of_a_host_thread_wakes_the_actor()
{
    uint32_t *words;
    wp_actor *actor;
    CUDA_OK(cudaHostAlloc(&words, 2 * sizeof *words, cudaHostAllocMapped));
    words[0] = words[1] = 0;
    WARPAGE_OK(wp_actor_start(wp_cudart_device(), "answerer", answer, words, &actor, &err));
    *(volatile uint32_t *)&words[0] = 7;
    WARPAGE_OK(wp_actor_wait(actor, &err));
    CHECK_EQ(words[1], 8u);
    wp_actor_destroy(actor);
    CUDA_OK(cudaFreeHost(words));
}

static void declare(void *arg)
{
    wp_host_work work = {1 << 20, 0, WP_HOST_RANDOM, 8, 1};
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &work, &err));
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &work, &err));
    ++*(int *)arg;
}

static void work_may_be_declared_everywhere()
{
    wp_host_work work = {1 << 20, 1 << 20, WP_HOST_SEQUENTIAL, 0, 4}, none = {};
    int calls = 0;
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &work, &err));
    WARPAGE_OK(wp_device_host_work(wp_cudart_device(), &none, &err));
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(0), &work, &err));
    CUDA_OK(cudaLaunchHostFunc(0, declare, &calls));
    WARPAGE_OK(wp_queue_host_work(wp_cudart_queue(0), &work, &err));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(calls, 1);
    work.pattern = (wp_host_pattern)7;
    wp_error err = {WP_STATUS_OK};
    CHECK_EQ((int)wp_device_host_work(wp_cudart_device(), &work, &err), (int)WP_STATUS_INVALID);
    CHECK(strstr(err.message, "pattern 7") != NULL);
    work = {1, 0, WP_HOST_SEQUENTIAL, 0, 5000};
    CHECK_EQ((int)wp_queue_host_work(wp_cudart_queue(0), &work, &err), (int)WP_STATUS_INVALID);
    CHECK(strstr(err.message, "5000 threads") != NULL);
}

int main()
{
    chunks_come_while_the_kernel_runs();
    an_actor_that_watches_nothing_is_called_again();
    an_actor_that_waits_can_be_destroyed();
    a_copy_into_the_watched_word_wakes_the_actor();
    a_store_of_a_host_thread_wakes_the_actor();
    work_may_be_declared_everywhere();
    return check_done();
}
