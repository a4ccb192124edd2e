/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: the calling thread does part 0, the others sleep until there is work. */
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

#define COUNT_MAX 256u

const bench_data *threads_data;

static unsigned count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static void (*current)(unsigned index);
static unsigned long generation;
static unsigned busy;

static void *helper(void *arg) {
    const unsigned index = (unsigned)(uintptr_t)arg;
    for (unsigned long seen = 0;;) {
        pthread_mutex_lock(&lock);
        while (generation == seen) {
            pthread_cond_wait(&work, &lock);
        }
        seen = generation;
        pthread_mutex_unlock(&lock);
        current(index);
        pthread_mutex_lock(&lock);
        if (--busy == 0) pthread_cond_signal(&done);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

unsigned threads_count(void) {
    return count;
}

void threads_run(void (*part)(unsigned index)) {
    pthread_mutex_lock(&lock);
    current = part;
    busy = count - 1;
    generation++;
    pthread_cond_broadcast(&work);
    pthread_mutex_unlock(&lock);
    part(0);
    pthread_mutex_lock(&lock);
    while (busy != 0) {
        pthread_cond_wait(&done, &lock);
    }
    pthread_mutex_unlock(&lock);
}

void threads_share(size_t n, unsigned index, size_t *first, size_t *outer) {
    *first = n * index / count;
    *outer = n * (index + 1) / count;
}

void engine_open(const bench_data *data) {
    threads_data = data;
    const char *text = getenv("BENCH_WORKERS");
    const unsigned long asked = text == NULL ? 1 : strtoul(text, NULL, 10);
    if (asked == 0 || asked > COUNT_MAX) bench_fail("BENCH_WORKERS: 1 to %u", COUNT_MAX);
    count = (unsigned)asked;
    for (unsigned i = 1; i < count; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, helper, (void *)(uintptr_t)i) != 0) {
            bench_fail("no thread to be had");
        }
    }
}

void engine_fetch(const bench_data *data) {
    (void)data; /* the cases write there */
}

const bench_case *engine_cases[] = {
    &empty_case,     &vecadd_case,  &sigmoid_case,          &gather_case,
    &reduction_case, &softmax_case, &histogram_shared_case, &histogram_global_case,
    &sgemm_case,     &bfs_case,     &bfs_queue_case,        NULL};
