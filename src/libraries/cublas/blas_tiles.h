/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The product of matrices, made once a type: a block computes TILE x TILE elements of the result,
 * each of its 256 threads 4 x 4 of them, from slices of the operands in shared memory. T is the
 * type of sums; STORED and LOAD are of the operands, RESULT, LOAD_RESULT and STORE of the result.
 */
static __device__ void NAME(slice)(T slice[SLICE][TILE], const wpi_matrix *m, const STORED *data,
                                   int first, int outer, int k0, int k, bool is_left) {
    /* Neighbouring threads read neighbouring elements of a column as it is stored. */
    const bool is_turned = m->op == WPI_OP_T || m->op == WPI_OP_C;
    const bool along_k = is_left == is_turned;
    for (int at = (int)threadIdx.x; at < SLICE * TILE; at += BLOCK) {
        const int l = along_k ? at % SLICE : at / TILE, i = along_k ? at / SLICE : at % TILE;
        const int line = first + i, depth = k0 + l;
        T value = NAME(make)(0, 0);
        if (line < outer && depth < k)
            value =
                is_left ? NAME(element)(m, data, line, depth) : NAME(element)(m, data, depth, line);
        slice[l][i] = value;
    }
}

static __device__ void NAME(put)(const wpi_product *p, RESULT *c, int i, int j, T sum, T alpha,
                                 T beta) {
    if (i >= p->m || j >= p->n) return;
    if (p->c.triangle == WPI_TRIANGLE_LOWER && i < j) return;
    if (p->c.triangle == WPI_TRIANGLE_UPPER && i > j) return;
    RESULT *at = &c[i + (long long)j * p->c.ld];
    T value = NAME(mul)(alpha, sum);
    if (!NAME(is_zero)(beta)) value = NAME(add)(value, NAME(mul)(beta, LOAD_RESULT(*at)));
    if (p->is_real_diagonal && i == j) value = NAME(real_part)(value);
    *at = STORE(value);
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_gemm)(wpi_product p) {
    __shared__ T a_slice[SLICE][TILE], b_slice[SLICE][TILE];
    const int rows = (p.m + TILE - 1) / TILE;
    const int i0 = (int)(blockIdx.x % (unsigned)rows) * TILE,
              j0 = (int)(blockIdx.x / (unsigned)rows) * TILE;
    const int x = (int)threadIdx.x % 16, y = (int)threadIdx.x / 16;
    const T alpha = NAME(scalar)(p.alpha), beta = NAME(scalar)(p.beta);
    const int k = NAME(is_zero)(alpha) ? 0 : p.k;
    for (long long batch = blockIdx.z; batch < p.batch; batch += gridDim.z) {
        T sum[4][4];
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 4; s++)
                sum[r][s] = NAME(make)(0, 0);
        const STORED *a = k != 0 ? NAME(data)(&p.a, batch) : NULL;
        const STORED *b = k != 0 ? NAME(data)(&p.b, batch) : NULL;
        for (int k0 = 0; k0 < k; k0 += SLICE) {
            NAME(slice)(a_slice, &p.a, a, i0, p.m, k0, k, true);
            NAME(slice)(b_slice, &p.b, b, j0, p.n, k0, k, false);
            __syncthreads();
            /* A copy that only this loop uses stays in registers, on the CPU device too. */
            T part[4][4];
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++)
                    part[r][s] = sum[r][s];
            for (int l = 0; l < SLICE; l++)
                for (int r = 0; r < 4; r++)
                    for (int s = 0; s < 4; s++)
                        part[r][s] = NAME(add)(
                            part[r][s], NAME(mul)(a_slice[l][x + 16 * r], b_slice[l][4 * y + s]));
            for (int r = 0; r < 4; r++)
                for (int s = 0; s < 4; s++)
                    sum[r][s] = part[r][s];
            __syncthreads();
        }
        RESULT *c = p.c.array != NULL ? (RESULT *)p.c.array[batch]
                                      : (RESULT *)p.c.data + batch * p.c.stride;
        c += p.c.offset;
        for (int r = 0; r < 4; r++)
            for (int s = 0; s < 4; s++)
                NAME(put)(&p, c, i0 + x + 16 * r, j0 + 4 * y + s, sum[r][s], alpha, beta);
    }
}

extern "C" cudaError_t NAME(wpi_product)(cudaStream_t stream, const wpi_product *p) {
    const long long tiles = (long long)((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
    if (tiles == 0 || p->batch == 0) return cudaSuccess;
    const dim3 grid((unsigned)tiles, 1, (unsigned)(p->batch < 65535 ? p->batch : 65535));
    return LAUNCH(NAME(wpk_gemm), grid, (void *)p);
}
