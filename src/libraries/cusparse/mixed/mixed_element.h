/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of one mix: NAME(x); A_TYPE, B_TYPE, C_TYPE, SUM; FROM_A(x), FROM_B(x), FROM_C(x) to
 * SUM, and TO_C(x) back. Included once a mix. */
static __device__ SUM NAME(factor)(wpi_scalar s) {
    return s.pointer != NULL ? *(const SUM *)s.pointer : (SUM)s.re;
}

static __device__ SUM NAME(b_cell)(const wpi_sparse_dense &d, long long i, long long j) {
    return FROM_B(((const B_TYPE *)d.data)[i * d.row + j * d.column]);
}

static __device__ void NAME(put)(C_TYPE *c, SUM sum, SUM beta) {
    if (beta != 0) sum += beta * FROM_C(*c);
    *c = TO_C(sum);
}

static __device__ void NAME(to_batch)(wpi_sparse_product *p, long long batch) {
    const long long lines = batch * p->a.offsets_stride * (p->a.offsets.is_long ? 8 : 4);
    const long long entry = batch * p->a.stride * (p->a.at.is_long ? 8 : 4);
    p->a.offsets.data = (char *)p->a.offsets.data + lines;
    p->a.at.data = (char *)p->a.at.data + entry;
    p->a.line.data = (char *)p->a.line.data + entry;
    p->a.values = (A_TYPE *)p->a.values + batch * p->a.stride;
    p->b.data = (B_TYPE *)p->b.data + batch * p->b.stride;
    p->c.data = (C_TYPE *)p->c.data + batch * p->c.stride;
}

/* A thread an element of C. */
extern "C" __global__ void NAME(wpk_sparse_mixed_lines)(wpi_sparse_product p) {
    const SUM alpha = NAME(factor)(p.alpha), beta = NAME(factor)(p.beta);
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.rows * p.columns) {
        const long long i = item % p.rows, j = item / p.rows;
        SUM sum = 0;
        for (long long k = index_of(p.a.offsets, i), end = index_of(p.a.offsets, i + 1); k < end;
             k++)
            sum +=
                FROM_A(((const A_TYPE *)p.a.values)[k]) * NAME(b_cell)(p.b, index_of(p.a.at, k), j);
        NAME(put)((C_TYPE *)p.c.data + i * p.c.row + j * p.c.column, alpha * sum, beta);
    }
}

/* A thread a line and column of B; `sums` begin as zeros. */
extern "C" __global__ void NAME(wpk_sparse_mixed_add_lines)(wpi_sparse_product p, SUM *sums) {
    sums += blockIdx.y * p.rows * p.columns;
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.a.lines * p.columns) {
        const long long i = item % p.a.lines, j = item / p.a.lines;
        const SUM b = NAME(b_cell)(p.b, i, j);
        for (long long k = index_of(p.a.offsets, i), end = index_of(p.a.offsets, i + 1); k < end;
             k++)
            atomicAdd(&sums[index_of(p.a.at, k) + j * p.rows],
                      FROM_A(((const A_TYPE *)p.a.values)[k]) * b);
    }
}

/* COO: a thread an entry and column of B. */
extern "C" __global__ void NAME(wpk_sparse_mixed_add)(wpi_sparse_product p, SUM *sums) {
    sums += blockIdx.y * p.rows * p.columns;
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.a.count * p.columns) {
        const long long k = item % p.a.count, j = item / p.a.count;
        const long long line = index_of(p.a.line, k), at = index_of(p.a.at, k);
        const long long to = p.a.is_transposed ? at : line, from = p.a.is_transposed ? line : at;
        atomicAdd(&sums[to + j * p.rows],
                  FROM_A(((const A_TYPE *)p.a.values)[k]) * NAME(b_cell)(p.b, from, j));
    }
}

extern "C" __global__ void NAME(wpk_sparse_mixed_put)(wpi_sparse_product p, const SUM *sums) {
    const SUM alpha = NAME(factor)(p.alpha), beta = NAME(factor)(p.beta);
    sums += blockIdx.y * p.rows * p.columns;
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.rows * p.columns) {
        const long long i = item % p.rows, j = item / p.rows;
        NAME(put)((C_TYPE *)p.c.data + i * p.c.row + j * p.c.column, alpha * sums[item], beta);
    }
}

static cudaError_t NAME(product)(cudaStream_t stream, const wpi_sparse_product *p, void *sums) {
    const bool is_coo = p->a.offsets.data == NULL;
    const long long items = p->rows * p->columns;
    const unsigned batch = (unsigned)p->batch;
    if (!wpi_sparse_needs_sums(&p->a))
        return LAUNCH(NAME(wpk_sparse_mixed_lines), dim3(blocks(items), batch), (void *)p);
    cudaError_t error = cudaMemsetAsync(sums, 0, (size_t)(items * p->batch) * sizeof(SUM), stream);
    if (error == cudaSuccess)
        error = is_coo ? LAUNCH(NAME(wpk_sparse_mixed_add),
                                dim3(blocks(p->a.count * p->columns), batch), (void *)p, &sums)
                       : LAUNCH(NAME(wpk_sparse_mixed_add_lines),
                                dim3(blocks(p->a.lines * p->columns), batch), (void *)p, &sums);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_sparse_mixed_put), dim3(blocks(items), batch), (void *)p, &sums);
}

/* A thread a line of C. A and B have one type. */
extern "C" __global__ void NAME(wpk_sparse_mixed_sampled)(wpi_sparse_sampled s) {
    const SUM alpha = NAME(factor)(s.alpha), beta = NAME(factor)(s.beta);
    FOR_EACH(line, s.c.lines) {
        for (long long k = index_of(s.c.offsets, line), end = index_of(s.c.offsets, line + 1);
             k < end; k++) {
            const long long at = index_of(s.c.at, k);
            const long long i = s.c.is_transposed ? at : line, j = s.c.is_transposed ? line : at;
            SUM sum = 0;
            for (long long d = 0; d < s.depth; d++)
                sum += NAME(b_cell)(s.a, i, d) * NAME(b_cell)(s.b, d, j);
            NAME(put)((C_TYPE *)s.c.values + k, alpha * sum, beta);
        }
    }
}

static cudaError_t NAME(sampled)(cudaStream_t stream, const wpi_sparse_sampled *s) {
    return LAUNCH(NAME(wpk_sparse_mixed_sampled), blocks(s->c.lines), (void *)s);
}
#undef NAME
#undef A_TYPE
#undef B_TYPE
#undef C_TYPE
#undef SUM
#undef FROM_A
#undef FROM_B
#undef FROM_C
#undef TO_C
