/* SPDX-License-Identifier: Apache-2.0 */
/* For host_actors.sh: handshakes of a kernel and an actor, with the time they take; actors that
 * nothing wakes, alone and beside a kernel. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <warpage/cudart.h>
#include <warpage/host.h>

enum { ROUNDS = 40, BLOCKS = 4 };

__global__ void ask(volatile unsigned *asked, volatile unsigned *answered)
{
    for (unsigned i = 1; i <= ROUNDS; i++) {
        asked[blockIdx.x] = i;
        while (answered[blockIdx.x] < i)
            ;
    }
}

__global__ void wait_for(volatile unsigned *word)
{
    while (*word == 0)
        ;
}

struct partner {
    volatile unsigned *asked;
    unsigned *answered, *flag, done;
    wp_queue *queue;
};

static wp_actor_answer answer(wp_actor *actor, void *object)
{
    partner *p = (partner *)object;
    wp_error err = {WP_STATUS_OK};
    if (*p->asked > p->done) {
        *p->flag = ++p->done;
        if (wp_queue_copy(p->queue, p->answered, p->flag, sizeof *p->flag, &err) != WP_STATUS_OK)
            printf("%s\n", err.message);
        if (p->done == ROUNDS) return WP_ACTOR_ENDS;
    }
    wp_actor_watch(actor, p->asked, p->done);
    return WP_ACTOR_GOES_ON;
}

static int handshakes(unsigned *words)
{
    unsigned *answered;
    cudaStream_t copies;
    cudaEvent_t first, last;
    partner partners[BLOCKS];
    wp_actor *actors[BLOCKS];
    wp_error err = {WP_STATUS_OK};
    float ms;
    cudaMalloc(&answered, BLOCKS * sizeof *answered);
    cudaMemset(answered, 0, BLOCKS * sizeof *answered);
    cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking);
    cudaEventCreate(&first);
    cudaEventCreate(&last);
    cudaDeviceSynchronize();
    for (int i = 0; i < BLOCKS; i++) {
        partners[i] = {words + i, answered + i, words + BLOCKS + i, 0, wp_cudart_queue(copies)};
        if (wp_actor_start(wp_cudart_device(), "partner", answer, &partners[i], &actors[i], &err))
            return 1;
    }
    cudaEventRecord(first);
    ask<<<BLOCKS, 1>>>(words, answered);
    cudaEventRecord(last);
    for (int i = 0; i < BLOCKS; i++) {
        if (wp_actor_wait(actors[i], &err)) return 1;
        wp_actor_destroy(actors[i]);
    }
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    cudaEventElapsedTime(&ms, first, last);
    printf("%.6f ms\n", ms);
    return 0;
}

static wp_actor_answer idle(wp_actor *actor, void *object)
{
    wp_actor_watch(actor, (unsigned *)object, 0);
    return WP_ACTOR_GOES_ON;
}

int main(int argc, char **argv)
{
    unsigned *words;
    wp_actor *actor;
    wp_error err = {WP_STATUS_OK};
    cudaHostAlloc(&words, 4096, cudaHostAllocMapped);
    memset(words, 0, 4096);
    if (argc != 2) return 2;
    if (strcmp(argv[1], "handshakes") == 0) return handshakes(words);
    if (wp_actor_start(wp_cudart_device(), "idler", idle, words, &actor, &err)) return 3;
    if (strcmp(argv[1], "kernel") == 0) wait_for<<<1, 32>>>(words + 1);
    const wp_status status = wp_actor_wait(actor, &err);
    wp_actor_destroy(actor);
    return status == WP_STATUS_OK ? 0 : 1;
}
