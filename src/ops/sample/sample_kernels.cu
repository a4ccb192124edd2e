/* SPDX-License-Identifier: Apache-2.0 */
/* Values at random positions, all of them or those of a scope (sections 2.1 and 5.2). Written as C.
 */
#include <cuda_runtime.h>

#include "ops/sample/sample_kernels.h"
#include "ops/word_bits.h"

static __device__ bool is_valid(const wpi_sample_task *task, uint64_t row) {
    const uint64_t bit = task->valid_offset + row;
    return task->valid == NULL || (task->valid[bit / 8] >> (bit % 8) & 1) != 0;
}

static __device__ double number_of(wp_type type, uint64_t word) {
    if (wpi_type_is_float(type)) return wpi_double_of(word);
    return wpi_type_is_signed(type) ? (double)(int64_t)word : (double)word;
}

/* A thread's own. */
typedef struct note {
    double sum, squares;
    uint64_t value_count, hit_count, least, most;
} note;

static __device__ void note_value(const wpi_sample_task *task, uint64_t row, note *to) {
    const wp_type type = (wp_type)task->type;
    if (!is_valid(task, row)) return;
    const uint64_t word = wpi_load_word(type, task->values, row);
    const double number = number_of(type, word);
    to->sum += number;
    if (task->is_sum_only != 0) return;
    const uint64_t ordered =
        wpi_type_is_float(type) ? wpi_ordered_float(word) : wpi_ordered_integer(type, word);
    to->squares += number * number;
    to->value_count++;
    to->hit_count += number >= task->low && number <= task->high;
    to->least = to->least > ~ordered ? to->least : ~ordered;
    to->most = to->most > ordered ? to->most : ordered;
}

/* Passes add to what those before found. */
static __device__ void keep(const wpi_sample_notes *notes, uint64_t thread, const note *found,
                            bool is_sum_only) {
    notes->sums[thread] += found->sum;
    if (is_sum_only) return;
    notes->squares[thread] += found->squares;
    notes->value_counts[thread] += found->value_count;
    notes->hit_counts[thread] += found->hit_count;
    if (notes->least[thread] < found->least) notes->least[thread] = found->least;
    if (notes->most[thread] < found->most) notes->most[thread] = found->most;
}

/* The generator's numbers are fractions of the rows: of 32 bits where that tells all rows apart. */
extern "C" __global__ void wpi_sample_read(wpi_sample_task task, wpi_sample_notes notes) {
    const uint64_t stride = (uint64_t)gridDim.x * blockDim.x, span = task.outer - task.first;
    const bool is_small = task.row_count <= UINT64_C(1) << 32;
    for (uint64_t t = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; t < task.thread_count;
         t += stride) {
        uint64_t state = wpi_hash_word(task.seed * UINT64_C(0x9e3779b97f4a7c15) + t + 1);
        note found = {0, 0, 0, 0, 0, 0};
        if (is_small) {
            uint32_t small = (uint32_t)state;
            for (uint32_t i = 0; i < task.reads_per_thread; i++) {
                small = small * 1664525u + 1013904223u;
                const uint64_t row = small * task.row_count >> 32;
                if (row - task.first < span) note_value(&task, row, &found);
            }
        } else {
            for (uint32_t i = 0; i < task.reads_per_thread; i++) {
                state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
                const uint64_t row = __umul64hi(state, task.row_count);
                if (row - task.first < span) note_value(&task, row, &found);
            }
        }
        keep(&notes, t, &found, task.is_sum_only != 0);
    }
}

const void *wpi_sample_kernel_of(uint32_t kernel) {
    (void)kernel;
    return (const void *)wpi_sample_read;
}
