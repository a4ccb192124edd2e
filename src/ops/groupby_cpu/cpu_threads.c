/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* _SC_NPROCESSORS_ONLN */
#include "ops/groupby_cpu/cpu_threads.h"

#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

typedef struct task {
    wpi_cpu_work work;
    void *object;
    uint32_t thread;
} task;

static void *run(void *argument) {
    const task *t = argument;
    t->work(t->object, t->thread);
    return NULL;
}

uint32_t wpi_cpu_thread_count(void) {
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1) return 1;
    return count < (long)WPI_CPU_THREADS_MAX ? (uint32_t)count : WPI_CPU_THREADS_MAX;
}

void wpi_cpu_parallel(uint32_t thread_count, wpi_cpu_work work, void *object) {
    pthread_t threads[WPI_CPU_THREADS_MAX];
    bool is_started[WPI_CPU_THREADS_MAX];
    task tasks[WPI_CPU_THREADS_MAX];
    for (uint32_t i = 1; i < thread_count; i++) {
        tasks[i] = (task){work, object, i};
        is_started[i] = pthread_create(&threads[i], NULL, run, &tasks[i]) == 0;
    }
    if (thread_count != 0) work(object, 0);
    for (uint32_t i = 1; i < thread_count; i++) {
        if (is_started[i])
            (void)pthread_join(threads[i], NULL);
        else
            work(object, i); /* no thread: runs here */
    }
}
