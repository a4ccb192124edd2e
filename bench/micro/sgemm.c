/* SPDX-License-Identifier: Apache-2.0 */
/* c = a * b, square and row by row: a share of the rows a thread; blocks of b stay in the cache, the
 * inner loop runs along rows of b and c. */
#include "threads.h"

#include <string.h>

#define BLOCK_K 64
#define BLOCK_J 512

static void add_block(size_t n, size_t i, size_t k0, size_t k1, size_t j0, size_t j1, const float *a,
                      const float *restrict b, float *restrict c) {
    for (size_t k = k0; k < k1; k++) {
        const float a_ik = a[i * n + k];
        for (size_t j = j0; j < j1; j++) {
            c[i * n + j] += a_ik * b[k * n + j];
        }
    }
}

static size_t lesser(size_t a, size_t b) {
    return a < b ? a : b;
}

static void part(unsigned index) {
    const size_t n = threads_data->n;
    const float *a = threads_data->input[0], *b = threads_data->input[1];
    float *c = threads_data->output;
    size_t first, outer;
    threads_share(n, index, &first, &outer);
    memset(c + first * n, 0, (outer - first) * n * sizeof *c);
    for (size_t k = 0; k < n; k += BLOCK_K) {
        for (size_t j = 0; j < n; j += BLOCK_J) {
            for (size_t i = first; i < outer; i++) {
                add_block(n, i, k, lesser(k + BLOCK_K, n), j, lesser(j + BLOCK_J, n), a, b, c);
            }
        }
    }
}

static void run(void) {
    threads_run(part);
}

const bench_case sgemm_case = {"sgemm", NULL, run};
