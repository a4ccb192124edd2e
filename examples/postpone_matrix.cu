/* SPDX-License-Identifier: Apache-2.0 */
/* Fills a matrix in random order, half of which fits the device.    wpcc -O2 postpone_matrix.cu -o postpone_matrix && ./postpone_matrix --explain
 *
 * An element of the half that is not resident is postponed; between the passes the halves change
 * places. --explain measures the terms of the inequality that says whether this pays, against
 * stores to host memory over the link. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/postpone.h>

enum { SIDE = 512, ELEMENTS = SIDE * SIDE, HALF = ELEMENTS / 2, THREADS = 256 };

enum what { ONLY_FIND = 0, POSTPONE_ALL, STORE_LOCAL, STORE_REMOTE };

/* Where unit i goes: each element once, in random order. */
__host__ __device__ static uint32_t element_of(uint64_t unit) {
    uint32_t x = (uint32_t)unit;
    for (int round = 0; round < 3; round++) {
        x = (x * 0x9e3779b1u + 12345u) & (ELEMENTS - 1);
        x ^= x >> 9;
    }
    return x;
}
__host__ __device__ static uint32_t value_of(uint64_t unit) {
    return (uint32_t)unit * 2654435761u + 1u;
}

/* The requestee: stores into the resident half, or asks to come again. */
static __device__ wp_answer store(uint32_t *half, uint32_t resident, uint32_t element,
                                  uint32_t value) {
    if (element / HALF != resident) {
        return WP_POSTPONE;
    }
    half[element % HALF] = value;
    return WP_DONE;
}

__global__ void fill(wp_units units, uint64_t first, uint64_t outer, uint32_t *half,
                     uint32_t resident) {
    const uint64_t unit = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (unit >= outer || wp_units_is_done(&units, unit)) {
        return;
    }
    wp_attempt attempt = wp_attempt_begin(&units, unit);
    if (wp_attempt_wants(&attempt)) {
        wp_attempt_note(&attempt, store(half, resident, element_of(unit), value_of(unit)));
    }
    wp_attempt_end(&attempt);
}

/* One term at a time; `half` is in device or in host memory. */
__global__ void measure(wp_units units, uint32_t *half, enum what what, uint32_t *sink) {
    const uint64_t unit = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint32_t element = element_of(unit);
    if (what == ONLY_FIND) {
        if (element == ELEMENTS) {
            *sink = element;
        }
    } else if (what == POSTPONE_ALL) {
        if (!wp_units_is_done(&units, unit)) {
            wp_attempt attempt = wp_attempt_begin(&units, unit);
            if (wp_attempt_wants(&attempt)) {
                wp_attempt_note(&attempt, store(half, 2u, element, value_of(unit)));
            }
            wp_attempt_end(&attempt);
        }
    } else {
        half[element % HALF] = value_of(unit);
    }
}

typedef struct matrix {
    uint32_t *host, *device;
    uint32_t resident;
} matrix;

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        fprintf(stderr, "postpone_matrix: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    const matrix *m = (const matrix *)object;
    (void)err;
    fill<<<(unsigned)((outer - first + THREADS - 1) / THREADS), THREADS>>>(*units, first, outer,
                                                                          m->device, m->resident);
    check(cudaGetLastError(), "launch");
    return WP_STATUS_OK;
}

/* The requestee makes room: the resident half leaves, the other one comes. */
static wp_status change_places(void *object, const wp_postpone_facts *facts, wp_error *err) {
    matrix *m = (matrix *)object;
    (void)err;
    printf("pass %llu: %llu elements stored, %llu postponed\n", (unsigned long long)facts->pass,
           (unsigned long long)facts->served, (unsigned long long)facts->postponed_units);
    check(cudaMemcpy(m->host + m->resident * HALF, m->device, HALF * sizeof *m->host,
                     cudaMemcpyDeviceToHost),
          "copy");
    m->resident ^= 1u;
    check(cudaMemcpy(m->device, m->host + m->resident * HALF, HALF * sizeof *m->host,
                     cudaMemcpyHostToDevice),
          "copy");
    return WP_STATUS_OK;
}

static double elapsed_ns(cudaEvent_t start, cudaEvent_t stop) {
    float ms;
    check(cudaEventRecord(stop, 0), "timer");
    check(cudaEventSynchronize(stop), "timer");
    check(cudaEventElapsedTime(&ms, start, stop), "timer");
    return 1e6 * ms;
}

static void explain(const matrix *m, const wp_postpone *postpone) {
    cudaEvent_t start, stop;
    double times[4];
    char text[1024];
    wp_postpone_terms terms;
    check(cudaEventCreate(&start), "timer");
    check(cudaEventCreate(&stop), "timer");
    for (int round = 0; round < 2; round++) { /* the first one warms up */
        for (int what = ONLY_FIND; what <= STORE_REMOTE; what++) {
            check(cudaEventRecord(start, 0), "timer");
            measure<<<ELEMENTS / THREADS, THREADS>>>(wp_postpone_units(postpone),
                                                     what == STORE_REMOTE ? m->host : m->device,
                                                     (enum what)what, m->device);
            times[what] = elapsed_ns(start, stop) / ELEMENTS;
        }
    }
    check(cudaEventRecord(start, 0), "timer");
    check(cudaMemcpy(m->host, m->device, HALF * sizeof *m->host, cudaMemcpyDeviceToHost), "copy");
    check(cudaMemcpy(m->device, m->host, HALF * sizeof *m->host, cudaMemcpyHostToDevice), "copy");
    const double exchange_ns = elapsed_ns(start, stop) / HALF;
    terms.pre_ns = times[ONLY_FIND];
    terms.postpone_ns = times[POSTPONE_ALL] - times[ONLY_FIND];
    terms.postponed_service_ns = times[STORE_LOCAL] - times[ONLY_FIND] + exchange_ns;
    terms.service_ns = times[STORE_REMOTE] - times[ONLY_FIND];
    terms.post_ns = 0;
    terms.postponements = 1;
    (void)wp_postpone_explain(&terms, text, sizeof text);
    printf("for an element that is not resident:\n%s", text);
    check(cudaEventDestroy(start), "timer");
    check(cudaEventDestroy(stop), "timer");
}

int main(int argc, char **argv) {
    matrix m = {NULL, NULL, 0};
    const wp_postpone_spec spec = {ELEMENTS, ELEMENTS / 8, 1, 0};
    const wp_requester requester = {&m, process, NULL};
    const wp_requestee requestee = {&m, NULL, NULL, change_places, NULL};
    wp_postpone *postpone;
    wp_error err = WP_ERROR_INIT;
    uint32_t wrong = 0;
    check(cudaMallocHost((void **)&m.host, ELEMENTS * sizeof *m.host), "host memory");
    check(cudaMalloc((void **)&m.device, HALF * sizeof *m.device), "device memory");
    if (wp_postpone_create(wp_cudart_device(), &spec, &postpone, &err) != WP_STATUS_OK) {
        fprintf(stderr, "postpone_matrix: %s\n", err.message);
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--explain") == 0) {
        explain(&m, postpone);
    }
    memset(m.host, 0, ELEMENTS * sizeof *m.host);
    check(cudaMemset(m.device, 0, HALF * sizeof *m.device), "fill");
    if (wp_postpone_run(postpone, &requester, &requestee, NULL, &err) != WP_STATUS_OK) {
        fprintf(stderr, "postpone_matrix: %s\n", err.message);
        return 1;
    }
    for (uint64_t unit = 0; unit < ELEMENTS; unit++) {
        wrong += m.host[element_of(unit)] != value_of(unit);
    }
    printf("%d elements, %u wrong\n", ELEMENTS, wrong);
    wp_postpone_destroy(postpone);
    check(cudaFree(m.device), "free");
    check(cudaFreeHost(m.host), "free");
    return wrong != 0;
}
