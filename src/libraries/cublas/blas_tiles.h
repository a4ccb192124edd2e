/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The product of matrices, made once a type: a block computes TILE x TILE elements of the result,
 * each of its threads EACH x EACH of them, from slices of the operands in shared memory. T is the
 * type of sums; STORED and LOAD are of the operands, RESULT, LOAD_RESULT and STORE of the result.
 */

/* Whole slices of a matrix without a shape, whose first element is *from: four elements at a time,
 * which are neighbours in memory. */
static __device__ void NAME(whole_slice)(T slice[SLICE][TILE], const STORED *from, long long ld,
                                         bool along_k) {
    for (int at = 4 * (int)threadIdx.x; at < SLICE * TILE; at += 4 * BLOCK) {
        if (along_k) {
            const int l = at % SLICE, i = at / SLICE;
            for (int e = 0; e < 4; e++)
                slice[l + e][i] = LOAD(from[l + e + i * ld]);
        } else {
            const int l = at / TILE, i = at % TILE;
            for (int e = 0; e < 4; e++)
                slice[l][i + e] = LOAD(from[i + e + l * ld]);
        }
    }
}

static __device__ void NAME(slice)(T slice[SLICE][TILE], const wpi_matrix *m, const STORED *data,
                                   int first, int outer, int k0, int k, bool is_left) {
    /* Neighbouring threads read neighbouring elements of a column as it is stored. */
    const bool is_turned = m->op == WPI_OP_T || m->op == WPI_OP_C;
    const bool along_k = is_left == is_turned;
    if (m->shape == WPI_SHAPE_GENERAL && (m->op == WPI_OP_N || m->op == WPI_OP_T) &&
        first + TILE <= outer && k0 + SLICE <= k) {
        const long long x = along_k ? k0 : first, y = along_k ? first : k0;
        NAME(whole_slice)(slice, data + x + y * m->ld, m->ld, along_k);
        return;
    }
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
    const int x = (int)threadIdx.x % (TILE / EACH), y = (int)threadIdx.x / (TILE / EACH);
    const T alpha = NAME(scalar)(p.alpha), beta = NAME(scalar)(p.beta);
    const int k = NAME(is_zero)(alpha) ? 0 : p.k;
    for (long long batch = blockIdx.z; batch < p.batch; batch += gridDim.z) {
        T sum[EACH]
             [EACH]; /* a column of four rows each: the CPU device computes a column at a time */
        for (int s = 0; s < EACH; s++)
            for (int r = 0; r < EACH; r++)
                sum[s][r] = NAME(make)(0, 0);
        const STORED *a = k != 0 ? NAME(data)(&p.a, batch) : NULL;
        const STORED *b = k != 0 ? NAME(data)(&p.b, batch) : NULL;
        for (int k0 = 0; k0 < k; k0 += SLICE) {
            NAME(slice)(a_slice, &p.a, a, i0, p.m, k0, k, true);
            NAME(slice)(b_slice, &p.b, b, j0, p.n, k0, k, false);
            __syncthreads();
            /* A copy that only this loop uses stays in registers, on the CPU device too. */
            T part[EACH][EACH];
            for (int s = 0; s < EACH; s++)
                for (int r = 0; r < EACH; r++)
                    part[s][r] = sum[s][r];
            for (int l = 0; l < SLICE; l++)
                for (int s = 0; s < EACH; s++)
                    for (int r = 0; r < EACH; r++)
                        part[s][r] = NAME(add)(part[s][r], NAME(mul)(a_slice[l][EACH * x + r],
                                                                     b_slice[l][EACH * y + s]));
            for (int s = 0; s < EACH; s++)
                for (int r = 0; r < EACH; r++)
                    sum[s][r] = part[s][r];
            __syncthreads();
        }
        RESULT *c = p.c.array != NULL ? (RESULT *)p.c.array[batch]
                                      : (RESULT *)p.c.data + batch * p.c.stride;
        c += p.c.offset;
        for (int s = 0; s < EACH; s++)
            for (int r = 0; r < EACH; r++)
                NAME(put)(&p, c, i0 + EACH * x + r, j0 + EACH * y + s, sum[s][r], alpha, beta);
    }
}

extern "C" cudaError_t NAME(wpi_product)(cudaStream_t stream, const wpi_product *p) {
    const long long tiles = (long long)((p->m + TILE - 1) / TILE) * ((p->n + TILE - 1) / TILE);
    if (tiles == 0 || p->batch == 0) return cudaSuccess;
    const dim3 grid((unsigned)tiles, 1, (unsigned)(p->batch < 65535 ? p->batch : 65535));
    return LAUNCH(NAME(wpk_gemm), grid, (void *)p);
}
