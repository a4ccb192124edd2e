/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks ask for values through mapped memory, and host threads, one for each block, answer by copies. How a thread
 * waits for its block is the first argument: it asks the stream, asks an event, sleeps in between, or only spins. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "../check.h"

#define BLOCKS 3
#define ROUNDS_MAX 12u

__global__ void ask(volatile unsigned *asked, volatile unsigned *answered, const unsigned *values, unsigned *sums,
                    unsigned rounds)
{
    unsigned sum = 0;
    for (unsigned round = 1; round <= rounds; round++) {
        asked[blockIdx.x] = round;
        __threadfence_system();
        while (answered[blockIdx.x] < round)
            ;
        __threadfence();
        sum += ((const volatile unsigned *)values)[blockIdx.x];
    }
    sums[blockIdx.x] = sum;
}

static const char *how;
static unsigned rounds = ROUNDS_MAX;
static volatile unsigned *asked;
static unsigned *staged; /* for each block and round a value and a flag */
static unsigned *values, *answered;
static cudaStream_t kernels;
static cudaEvent_t ended;

static void wait_a_moment(void)
{
    if (strcmp(how, "stream") == 0) {
        cudaStreamQuery(kernels);
    } else if (strcmp(how, "event") == 0) {
        cudaEventQuery(ended);
    } else if (strcmp(how, "sleep") == 0) {
        usleep(2000);
        cudaStreamQuery(kernels);
    }
}

static void *serve(void *number)
{
    const size_t block = (size_t)number;
    cudaStream_t copies;
    CUDA_OK(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    for (unsigned round = 1; round <= rounds; round++) {
        unsigned *to_send = staged + (block * ROUNDS_MAX + round - 1) * 2;
        while (asked[block] < round) wait_a_moment();
        to_send[0] = round * (unsigned)(block + 1);
        to_send[1] = round;
        CUDA_OK(cudaMemcpyAsync(values + block, &to_send[0], sizeof *values, cudaMemcpyHostToDevice, copies));
        CUDA_OK(cudaMemcpyAsync(answered + block, &to_send[1], sizeof *answered, cudaMemcpyHostToDevice, copies));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t servers[BLOCKS];
    cudaEvent_t begun;
    unsigned *sums, got[BLOCKS];
    float ms;
    how = argc > 1 ? argv[1] : "stream";
    if (argc > 2) rounds = (unsigned)atoi(argv[2]);
    CUDA_OK(cudaHostAlloc((void **)&asked, BLOCKS * sizeof *asked, cudaHostAllocMapped));
    CUDA_OK(cudaHostAlloc((void **)&staged, BLOCKS * ROUNDS_MAX * 2 * sizeof *staged, 0));
    for (int i = 0; i < BLOCKS; i++) asked[i] = 0;
    CUDA_OK(cudaMalloc(&values, BLOCKS * sizeof *values));
    CUDA_OK(cudaMalloc(&answered, BLOCKS * sizeof *answered));
    CUDA_OK(cudaMalloc(&sums, BLOCKS * sizeof *sums));
    CUDA_OK(cudaMemset(answered, 0, BLOCKS * sizeof *answered));
    CUDA_OK(cudaStreamCreateWithFlags(&kernels, cudaStreamNonBlocking));
    CUDA_OK(cudaEventCreate(&begun));
    CUDA_OK(cudaEventCreate(&ended));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaEventRecord(begun, kernels));
    ask<<<BLOCKS, 1, 0, kernels>>>(asked, answered, values, sums, rounds);
    CUDA_OK(cudaEventRecord(ended, kernels));
    for (size_t i = 0; i < BLOCKS; i++) pthread_create(&servers[i], NULL, serve, (void *)i);
    for (size_t i = 0; i < BLOCKS; i++) pthread_join(servers[i], NULL);
    CUDA_OK(cudaEventSynchronize(ended));
    CUDA_OK(cudaEventElapsedTime(&ms, begun, ended));
    CUDA_OK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < BLOCKS; i++) CHECK(got[i] == (i + 1) * rounds * (rounds + 1) / 2);
    printf("%.0f\n", 1e6 * (double)ms);
    return check_done();
}
