/* SPDX-License-Identifier: Apache-2.0 */
/* The score matrix of a global alignment of two sequences (Needleman and Wunsch), tile by tile along
 * the anti-diagonals; a launch for each diagonal of tiles. Argument: length, a multiple of 16. */
#include "program.h"

#define TILE 16
#define GAP 10

static __host__ __device__ inline int best(int diagonal, int above, int left, int match) {
    int score = diagonal + match;
    if (above - GAP > score) score = above - GAP;
    if (left - GAP > score) score = left - GAP;
    return score;
}

/* scores: (length + 1)^2, its first row and column known. */
__global__ void align(int *scores, const int *matches, int length, int diagonal, int first_row) {
    __shared__ int tile[TILE + 1][TILE + 1];
    __shared__ int match[TILE][TILE];
    const int row = first_row + (int)blockIdx.x, column = diagonal - row;
    const int t = (int)threadIdx.x, stride = length + 1;
    int *corner = scores + (size_t)row * TILE * (size_t)stride + (size_t)column * TILE;
    for (int i = 0; i < TILE; i++)
        match[i][t] = matches[((size_t)row * TILE + (size_t)i) * (size_t)length +
                              (size_t)column * TILE + (size_t)t];
    if (t == 0) tile[0][0] = corner[0];
    tile[0][t + 1] = corner[t + 1];
    tile[t + 1][0] = corner[(size_t)(t + 1) * (size_t)stride];
    __syncthreads();
    for (int step = 0; step < 2 * TILE - 1; step++) {
        const int x = t, y = step - t;
        if (y >= 0 && y < TILE)
            tile[y + 1][x + 1] = best(tile[y][x], tile[y][x + 1], tile[y + 1][x], match[y][x]);
        __syncthreads();
    }
    for (int i = 0; i < TILE; i++)
        corner[(size_t)(i + 1) * (size_t)stride + (size_t)t + 1] = tile[i + 1][t + 1];
}

int main(int argc, char **argv) {
    const int length = program_size(argc, argv, 1, 128);
    if (length % TILE != 0) {
        fprintf(stderr, "the length must be a multiple of %d\n", TILE);
        return 2;
    }
    const size_t stride = (size_t)length + 1, count = stride * stride;
    int *scores = (int *)calloc(count, sizeof *scores), *ours = (int *)malloc(count * sizeof *ours);
    int *matches = (int *)malloc((size_t)length * (size_t)length * sizeof *matches);
    if (scores == NULL || matches == NULL || ours == NULL) return 1;
    for (int i = 0; i < length * length; i++)
        matches[i] = (int)(program_noise((uint32_t)i) * 20.0f) - 8;
    for (int i = 1; i <= length; i++)
        scores[i] = scores[(size_t)i * stride] = -GAP * i;
    int *dscores, *dmatches;
    CUDA_OK(cudaMalloc((void **)&dscores, count * sizeof *scores));
    CUDA_OK(cudaMalloc((void **)&dmatches, (size_t)length * (size_t)length * sizeof *matches));
    CUDA_OK(cudaMemcpy(dscores, scores, count * sizeof *scores, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(dmatches, matches, (size_t)length * (size_t)length * sizeof *matches,
                       cudaMemcpyHostToDevice));
    const int tiles = length / TILE;
    for (int diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        const int first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        const int last = diagonal < tiles ? diagonal : tiles - 1;
        align<<<(unsigned)(last - first + 1), TILE>>>(dscores, dmatches, length, diagonal, first);
    }
    CUDA_OK(cudaMemcpy(ours, dscores, count * sizeof *ours, cudaMemcpyDeviceToHost));
    size_t wrong = 0;
    for (size_t y = 1; y <= (size_t)length; y++) {
        for (size_t x = 1; x <= (size_t)length; x++) {
            int *at = &scores[y * stride + x];
            *at = best(at[-(ptrdiff_t)stride - 1], at[-(ptrdiff_t)stride], at[-1],
                       matches[(y - 1) * (size_t)length + x - 1]);
            wrong += ours[y * stride + x] != *at;
        }
    }
    printf("%s\n", wrong == 0 ? "correct" : "WRONG");
    return wrong != 0;
}
