/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over sparse matrices and their launches, made once a type. */
static __device__ T NAME(value)(const wpi_sparse &s, long long k) {
    const T v = ((const T *)s.values)[k];
    return s.is_conjugated ? NAME(conj)(v) : v;
}

static __device__ T *NAME(cell)(const wpi_sparse_dense &d, long long i, long long j) {
    return (T *)d.data + i * d.row + j * d.column;
}

static __device__ T NAME(cell_value)(const wpi_sparse_dense &d, long long i, long long j) {
    const T v = *NAME(cell)(d, i, j);
    return d.is_conjugated ? NAME(conj)(v) : v;
}

static __device__ void NAME(add_to)(T *to, T v) {
#if IS_COMPLEX
    atomicAdd(&to->x, v.x);
    atomicAdd(&to->y, v.y);
#else
    atomicAdd(to, v);
#endif
}

/* beta C, where the old C counts only if beta is not 0. */
static __device__ T NAME(scaled)(T beta, const T *c) {
    return NAME(is_zero)(beta) ? NAME(make)(0, 0) : NAME(mul)(beta, *c);
}

static __device__ void NAME(to_batch)(wpi_sparse_product *p, long long batch) {
    if (p->a.offsets.is_long)
        p->a.offsets.data = (long long *)p->a.offsets.data + batch * p->a.offsets_stride;
    else
        p->a.offsets.data = (int *)p->a.offsets.data + batch * p->a.offsets_stride;
    const long long entry = batch * p->a.stride * (p->a.at.is_long ? 8 : 4);
    p->a.at.data = (char *)p->a.at.data + entry;
    p->a.line.data = (char *)p->a.line.data + entry;
    p->a.values = (T *)p->a.values + batch * p->a.stride;
    p->b.data = (T *)p->b.data + batch * p->b.stride;
    p->c.data = (T *)p->c.data + batch * p->c.stride;
}

/* ---- products ---- */

/* A thread an element of C. */
extern "C" __global__ void NAME(wpk_sparse_lines)(wpi_sparse_product p) {
    const T alpha = NAME(scalar)(p.alpha), beta = NAME(scalar)(p.beta);
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.rows * p.columns) {
        const long long i = item % p.rows, j = item / p.rows;
        T sum = NAME(make)(0, 0);
        for (long long k = index_of(p.a.offsets, i), end = index_of(p.a.offsets, i + 1); k < end;
             k++)
            sum = NAME(add)(
                sum, NAME(mul)(NAME(value)(p.a, k), NAME(cell_value)(p.b, index_of(p.a.at, k), j)));
        T *c = NAME(cell)(p.c, i, j);
        *c = NAME(add)(NAME(mul)(alpha, sum), NAME(scaled)(beta, c));
    }
}

extern "C" __global__ void NAME(wpk_sparse_scale)(wpi_sparse_product p) {
    const T beta = NAME(scalar)(p.beta);
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.rows * p.columns) {
        T *c = NAME(cell)(p.c, item % p.rows, item / p.rows);
        *c = NAME(scaled)(beta, c);
    }
}

/* A thread a line and column of B; lines add to the elements of C that they name. */
extern "C" __global__ void NAME(wpk_sparse_scatter_lines)(wpi_sparse_product p) {
    const T alpha = NAME(scalar)(p.alpha);
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.a.lines * p.columns) {
        const long long i = item % p.a.lines, j = item / p.a.lines;
        const T b = NAME(mul)(alpha, NAME(cell_value)(p.b, i, j));
        for (long long k = index_of(p.a.offsets, i), end = index_of(p.a.offsets, i + 1); k < end;
             k++)
            NAME(add_to)(NAME(cell)(p.c, index_of(p.a.at, k), j),
                         NAME(mul)(NAME(value)(p.a, k), b));
    }
}

/* COO: a thread an entry and column of B. */
extern "C" __global__ void NAME(wpk_sparse_scatter)(wpi_sparse_product p) {
    const T alpha = NAME(scalar)(p.alpha);
    NAME(to_batch)(&p, blockIdx.y);
    FOR_EACH(item, p.a.count * p.columns) {
        const long long k = item % p.a.count, j = item / p.a.count;
        const long long line = index_of(p.a.line, k), at = index_of(p.a.at, k);
        const long long to = p.a.is_transposed ? at : line, from = p.a.is_transposed ? line : at;
        NAME(add_to)(
            NAME(cell)(p.c, to, j),
            NAME(mul)(NAME(value)(p.a, k), NAME(mul)(alpha, NAME(cell_value)(p.b, from, j))));
    }
}

static cudaError_t NAME(product)(cudaStream_t stream, const wpi_sparse_product *p) {
    const bool is_coo = p->a.offsets.data == NULL;
    const long long items = p->rows * p->columns;
    const unsigned batch = (unsigned)p->batch;
    if (!is_coo && !p->a.is_transposed)
        return LAUNCH(NAME(wpk_sparse_lines), dim3(blocks(items), batch), (void *)p);
    const cudaError_t error = LAUNCH(NAME(wpk_sparse_scale), dim3(blocks(items), batch), (void *)p);
    if (error != cudaSuccess) return error;
    if (is_coo)
        return LAUNCH(NAME(wpk_sparse_scatter), dim3(blocks(p->a.count * p->columns), batch),
                      (void *)p);
    return LAUNCH(NAME(wpk_sparse_scatter_lines), dim3(blocks(p->a.lines * p->columns), batch),
                  (void *)p);
}

/* A thread an entry of C; a line's entries follow one another. */
extern "C" __global__ void NAME(wpk_sparse_sampled)(wpi_sparse_sampled s) {
    const T alpha = NAME(scalar)(s.alpha), beta = NAME(scalar)(s.beta);
    FOR_EACH(line, s.c.lines) {
        for (long long k = index_of(s.c.offsets, line), end = index_of(s.c.offsets, line + 1);
             k < end; k++) {
            const long long at = index_of(s.c.at, k);
            const long long i = s.c.is_transposed ? at : line, j = s.c.is_transposed ? line : at;
            T sum = NAME(make)(0, 0);
            for (long long d = 0; d < s.depth; d++)
                sum = NAME(add)(
                    sum, NAME(mul)(NAME(cell_value)(s.a, i, d), NAME(cell_value)(s.b, d, j)));
            T *c = (T *)s.c.values + k;
            *c = NAME(add)(NAME(mul)(alpha, sum), NAME(scaled)(beta, c));
        }
    }
}

static cudaError_t NAME(sampled)(cudaStream_t stream, const wpi_sparse_sampled *s) {
    return LAUNCH(NAME(wpk_sparse_sampled), blocks(s->c.lines), (void *)s);
}

/* ---- triangular systems ---- */

extern "C" __global__ void NAME(wpk_sparse_begin_solve)(wpi_sparse_system s) {
    const T alpha = NAME(scalar)(s.alpha);
    FOR_EACH(item, s.a.lines * s.columns) {
        const long long i = item % s.a.lines, j = item / s.a.lines;
        *NAME(cell)(s.x, i, j) = NAME(mul)(alpha, NAME(cell_value)(s.b, i, j));
    }
}

/* A thread a right-hand side. As stored, a line subtracts the products of the lines before it;
 * transposed, it is subtracted from the lines after it. */
extern "C" __global__ void NAME(wpk_sparse_solve)(wpi_sparse_system s) {
    const bool is_forward = (s.is_lower != 0) != (s.a.is_transposed != 0);
    FOR_EACH(j, s.columns) {
        for (long long step = 0; step < s.a.lines; step++) {
            const long long i = is_forward ? step : s.a.lines - 1 - step;
            const long long start = index_of(s.a.offsets, i), end = index_of(s.a.offsets, i + 1);
            T x = *NAME(cell)(s.x, i, j), pivot = NAME(make)(s.is_unit ? 1 : 0, 0);
            for (long long k = start; k < end; k++) {
                const long long at = index_of(s.a.at, k);
                if (at == i) {
                    if (!s.is_unit) pivot = NAME(value)(s.a, k);
                } else if ((at < i) == (s.is_lower != 0) && !s.a.is_transposed) {
                    x = NAME(sub)(x, NAME(mul)(NAME(value)(s.a, k), *NAME(cell)(s.x, at, j)));
                }
            }
            if (!s.is_unit) x = NAME(div)(x, pivot);
            *NAME(cell)(s.x, i, j) = x;
            for (long long k = start; s.a.is_transposed && k < end; k++) {
                const long long at = index_of(s.a.at, k);
                if (at == i || (at < i) != (s.is_lower != 0)) continue;
                T *other = NAME(cell)(s.x, at, j);
                *other = NAME(sub)(*other, NAME(mul)(NAME(value)(s.a, k), x));
            }
        }
    }
}

static cudaError_t NAME(solve)(cudaStream_t stream, const wpi_sparse_system *s) {
    const cudaError_t error =
        LAUNCH(NAME(wpk_sparse_begin_solve), blocks(s->a.lines * s->columns), (void *)s);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_sparse_solve), blocks(s->columns), (void *)s);
}

/* One block: each thread looks for its first such line. */
extern "C" __global__ void NAME(wpk_sparse_pivot)(wpi_sparse a, long long *first) {
    __shared__ unsigned long long found;
    if (threadIdx.x == 0) found = NOWHERE;
    __syncthreads();
    for (long long i = threadIdx.x; i < a.lines; i += BLOCK) {
        bool has_pivot = false;
        for (long long k = index_of(a.offsets, i), end = index_of(a.offsets, i + 1); k < end; k++)
            has_pivot =
                has_pivot || (index_of(a.at, k) == i && !NAME(is_zero)(((const T *)a.values)[k]));
        if (has_pivot) continue;
        atomicMin(&found, (unsigned long long)i);
        break;
    }
    __syncthreads();
    if (threadIdx.x == 0) *first = found == NOWHERE ? -1 : (long long)found;
}

static cudaError_t NAME(pivot)(cudaStream_t stream, const wpi_sparse *a, long long *first) {
    return LAUNCH(NAME(wpk_sparse_pivot), 1, (void *)a, &first);
}

/* ---- sums ---- */

extern "C" __global__ void NAME(wpk_sparse_add)(wpi_sparse_addition s) {
    const T alpha = NAME(scalar)(s.alpha), beta = NAME(scalar)(s.beta);
    FOR_EACH(i, s.a.lines) {
        long long k = index_of(s.a.offsets, i), l = index_of(s.b.offsets, i),
                  to = index_of(s.c.offsets, i);
        const long long end = index_of(s.a.offsets, i + 1), last = index_of(s.b.offsets, i + 1);
        for (; k < end || l < last; to++) {
            const long long left = k < end ? index_of(s.a.at, k) : NOWHERE,
                            right = l < last ? index_of(s.b.at, l) : NOWHERE;
            T sum = NAME(make)(0, 0);
            if (left <= right) sum = NAME(mul)(alpha, ((const T *)s.a.values)[k++]);
            if (right <= left) sum = NAME(add)(sum, NAME(mul)(beta, ((const T *)s.b.values)[l++]));
            set_index(s.c.at, to, left <= right ? left : right);
            ((T *)s.c.values)[to] = sum;
        }
    }
}

static cudaError_t NAME(add_matrices)(cudaStream_t stream, const wpi_sparse_addition *s) {
    return LAUNCH(NAME(wpk_sparse_add), blocks(s->a.lines), (void *)s);
}

/* ---- products of two sparse matrices ---- */

static __device__ void NAME(sink)(long long *at, T *values, long long from, long long count) {
    for (long long child; (child = 2 * from + 1) < count; from = child) {
        if (child + 1 < count && at[child] < at[child + 1]) child++;
        if (at[from] >= at[child]) return;
        const long long kept_at = at[from];
        const T kept = values[from];
        at[from] = at[child], values[from] = values[child];
        at[child] = kept_at, values[child] = kept;
    }
}

extern "C" __global__ void NAME(wpk_sparse_expand)(wpi_sparse_square s) {
    const T alpha = NAME(scalar)(s.alpha);
    FOR_EACH(i, s.a.lines) {
        long long *at = s.at + s.starts[i], count = 0;
        T *values = (T *)s.values + s.starts[i];
        for (long long k = index_of(s.a.offsets, i), end = index_of(s.a.offsets, i + 1); k < end;
             k++) {
            const long long line = index_of(s.a.at, k);
            const T a = NAME(mul)(alpha, NAME(value)(s.a, k));
            for (long long l = index_of(s.b.offsets, line), last = index_of(s.b.offsets, line + 1);
                 l < last; l++) {
                at[count] = index_of(s.b.at, l);
                values[count++] = NAME(mul)(a, NAME(value)(s.b, l));
            }
        }
        for (long long k = count / 2; k-- > 0;)
            NAME(sink)(at, values, k, count);
        for (long long k = count; k-- > 1;) {
            const long long kept_at = at[k];
            const T kept = values[k];
            at[k] = at[0], values[k] = values[0];
            at[0] = kept_at, values[0] = kept;
            NAME(sink)(at, values, 0, k);
        }
        long long size = 0;
        for (long long k = 0; k < count; k++) {
            if (size > 0 && at[size - 1] == at[k]) {
                values[size - 1] = NAME(add)(values[size - 1], values[k]);
                continue;
            }
            at[size] = at[k];
            values[size++] = values[k];
        }
        s.sizes[i] = size;
    }
}

static cudaError_t NAME(expand)(cudaStream_t stream, const wpi_sparse_square *s) {
    return LAUNCH(NAME(wpk_sparse_expand), blocks(s->a.lines), (void *)s);
}

extern "C" __global__ void NAME(wpk_sparse_collect)(wpi_sparse_square s, wpi_sparse c) {
    FOR_EACH(i, s.a.lines) {
        const long long to = index_of(c.offsets, i), count = index_of(c.offsets, i + 1) - to;
        for (long long k = 0; k < count; k++) {
            set_index(c.at, to + k, s.at[s.starts[i] + k]);
            ((T *)c.values)[to + k] = ((const T *)s.values)[s.starts[i] + k];
        }
    }
}

static cudaError_t NAME(collect)(cudaStream_t stream, const wpi_sparse_square *s,
                                 const wpi_sparse *c) {
    return LAUNCH(NAME(wpk_sparse_collect), blocks(s->a.lines), (void *)s, (void *)c);
}

/* ---- conversions ---- */

extern "C" __global__ void NAME(wpk_sparse_count)(wpi_sparse_dense d, long long lines,
                                                  long long width, long long *sizes) {
    FOR_EACH(i, lines) {
        long long size = 0;
        for (long long j = 0; j < width; j++)
            size += !NAME(is_zero)(*NAME(cell)(d, i, j));
        sizes[i] = size;
    }
}

static cudaError_t NAME(count)(cudaStream_t stream, const wpi_sparse_dense *d, long long lines,
                               long long width, long long *sizes) {
    return LAUNCH(NAME(wpk_sparse_count), blocks(lines), (void *)d, &lines, &width, &sizes);
}

extern "C" __global__ void NAME(wpk_sparse_gather_lines)(wpi_sparse_dense d, wpi_sparse to,
                                                         const long long *starts) {
    FOR_EACH(i, to.lines) {
        long long k = starts[i];
        for (long long j = 0; j < to.width; j++) {
            const T v = *NAME(cell)(d, i, j);
            if (NAME(is_zero)(v)) continue;
            if (to.line.data != NULL) set_index(to.line, k, i);
            set_index(to.at, k, j);
            ((T *)to.values)[k++] = v;
        }
    }
}

static cudaError_t NAME(gather_lines)(cudaStream_t stream, const wpi_sparse_dense *d,
                                      const wpi_sparse *to, const long long *starts) {
    return LAUNCH(NAME(wpk_sparse_gather_lines), blocks(to->lines), (void *)d, (void *)to, &starts);
}

extern "C" __global__ void NAME(wpk_sparse_clear)(wpi_sparse_dense d, long long lines,
                                                  long long width) {
    FOR_EACH(item, lines * width) * NAME(cell)(d, item % lines, item / lines) = NAME(make)(0, 0);
}

extern "C" __global__ void NAME(wpk_sparse_spread)(wpi_sparse s, wpi_sparse_dense d) {
    if (s.offsets.data == NULL) {
        FOR_EACH(k, s.count)
        *NAME(cell)(d, index_of(s.line, k), index_of(s.at, k)) = ((const T *)s.values)[k];
        return;
    }
    FOR_EACH(i, s.lines) {
        for (long long k = index_of(s.offsets, i), end = index_of(s.offsets, i + 1); k < end; k++)
            *NAME(cell)(d, i, index_of(s.at, k)) = ((const T *)s.values)[k];
    }
}

static cudaError_t NAME(spread_lines)(cudaStream_t stream, const wpi_sparse *s,
                                      const wpi_sparse_dense *d) {
    long long lines = s->lines, width = s->width;
    const cudaError_t error =
        LAUNCH(NAME(wpk_sparse_clear), blocks(lines * width), (void *)d, &lines, &width);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_sparse_spread), blocks(s->offsets.data == NULL ? s->count : lines),
                  (void *)s, (void *)d);
}

/* One thread, so that a line's entries keep their order. */
extern "C" __global__ void NAME(wpk_sparse_transpose)(wpi_sparse s, wpi_sparse to, int has_values) {
    for (long long j = 0; j <= s.width; j++)
        set_index(to.offsets, j, 0);
    for (long long k = 0; k < s.count; k++) {
        const long long j = index_of(s.at, k);
        if (j + 2 <= s.width) set_index(to.offsets, j + 2, index_of(to.offsets, j + 2) + 1);
    }
    for (long long j = 2; j <= s.width; j++)
        set_index(to.offsets, j, index_of(to.offsets, j) + index_of(to.offsets, j - 1));
    /* Offset j + 1 is where the next entry of line j goes, and thus its end afterwards. */
    for (long long i = 0; i < s.lines; i++) {
        for (long long k = index_of(s.offsets, i), end = index_of(s.offsets, i + 1); k < end; k++) {
            const long long j = index_of(s.at, k), at = index_of(to.offsets, j + 1);
            set_index(to.at, at, i);
            if (has_values) ((T *)to.values)[at] = ((const T *)s.values)[k];
            set_index(to.offsets, j + 1, at + 1);
        }
    }
}

static cudaError_t NAME(transpose)(cudaStream_t stream, const wpi_sparse *s, const wpi_sparse *to,
                                   int has_values) {
    return LAUNCH_ONE(NAME(wpk_sparse_transpose), (void *)s, (void *)to, &has_values);
}

/* ---- vectors ---- */

extern "C" __global__ void NAME(wpk_sparse_scale_vector)(wpi_scalar beta, T *y, long long size) {
    const T factor = NAME(scalar)(beta);
    FOR_EACH(i, size) y[i] = NAME(scaled)(factor, &y[i]);
}

extern "C" __global__ void NAME(wpk_sparse_axpy)(wpi_scalar alpha, wpi_sparse x, T *y) {
    const T factor = NAME(scalar)(alpha);
    FOR_EACH(k, x.count) {
        const long long i = index_of(x.at, k);
        y[i] = NAME(add)(y[i], NAME(mul)(factor, NAME(value)(x, k)));
    }
}

static cudaError_t NAME(axpby)(cudaStream_t stream, wpi_scalar alpha, const wpi_sparse *x,
                               wpi_scalar beta, void *y) {
    long long size = x->width;
    const cudaError_t error = LAUNCH(NAME(wpk_sparse_scale_vector), blocks(size), &beta, &y, &size);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_sparse_axpy), blocks(x->count), &alpha, (void *)x, &y);
}

extern "C" __global__ void NAME(wpk_sparse_gather)(const T *y, wpi_sparse x) {
    FOR_EACH(k, x.count)((T *)x.values)[k] = y[index_of(x.at, k)];
}

static cudaError_t NAME(gather)(cudaStream_t stream, const void *y, const wpi_sparse *x) {
    return LAUNCH(NAME(wpk_sparse_gather), blocks(x->count), &y, (void *)x);
}

extern "C" __global__ void NAME(wpk_sparse_scatter_vector)(wpi_sparse x, T *y) {
    FOR_EACH(k, x.count) y[index_of(x.at, k)] = ((const T *)x.values)[k];
}

static cudaError_t NAME(scatter)(cudaStream_t stream, const wpi_sparse *x, void *y) {
    return LAUNCH(NAME(wpk_sparse_scatter_vector), blocks(x->count), (void *)x, &y);
}

extern "C" __global__ void NAME(wpk_sparse_dot)(wpi_sparse x, const T *y, T *result) {
    T sum = NAME(make)(0, 0);
    for (long long k = 0; k < x.count; k++)
        sum = NAME(add)(sum, NAME(mul)(NAME(value)(x, k), y[index_of(x.at, k)]));
    *result = sum;
}

static cudaError_t NAME(dot)(cudaStream_t stream, const wpi_sparse *x, const void *y,
                             int is_conjugated, void *result) {
    wpi_sparse vector = *x;
    vector.is_conjugated = is_conjugated;
    return LAUNCH_ONE(NAME(wpk_sparse_dot), &vector, &y, &result);
}

/* ---- incomplete factors ---- */

/* The entry of a sorted line at a position, or -1. */
static __device__ long long NAME(entry)(const wpi_sparse &s, long long i, long long j) {
    long long low = index_of(s.offsets, i), high = index_of(s.offsets, i + 1);
    const long long end = high;
    while (low < high) {
        const long long middle = (low + high) / 2;
        if (index_of(s.at, middle) < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && index_of(s.at, low) == j ? low : -1;
}

/* One thread: line by line, less the multiples of the lines before. */
extern "C" __global__ void NAME(wpk_sparse_ilu)(wpi_sparse s, long long *pivot) {
    T *values = (T *)s.values;
    *pivot = -1;
    for (long long i = 0; i < s.lines; i++) {
        const long long end = index_of(s.offsets, i + 1);
        for (long long k = index_of(s.offsets, i); k < end; k++) {
            const long long line = index_of(s.at, k);
            if (line >= i) break;
            const long long diagonal = NAME(entry)(s, line, line);
            if (diagonal < 0) continue;
            values[k] = NAME(div)(values[k], values[diagonal]);
            for (long long l = diagonal + 1; l < index_of(s.offsets, line + 1); l++) {
                const long long to = NAME(entry)(s, i, index_of(s.at, l));
                if (to >= 0) values[to] = NAME(sub)(values[to], NAME(mul)(values[k], values[l]));
            }
        }
        const long long diagonal = NAME(entry)(s, i, i);
        if (*pivot < 0 && (diagonal < 0 || NAME(is_zero)(values[diagonal]))) *pivot = i;
    }
}

/* The lower triangle becomes L of L L^H; the upper one stays. */
extern "C" __global__ void NAME(wpk_sparse_ic)(wpi_sparse s, long long *pivot) {
    T *values = (T *)s.values;
    *pivot = -1;
    for (long long i = 0; i < s.lines; i++) {
        const long long start = index_of(s.offsets, i), end = index_of(s.offsets, i + 1);
        double diagonal = 0;
        long long at_diagonal = -1;
        for (long long k = start; k < end; k++) {
            const long long j = index_of(s.at, k);
            if (j > i) break;
            T sum = values[k];
            for (long long l = start; l < k; l++) {
                const long long other = NAME(entry)(s, j, index_of(s.at, l));
                if (other >= 0)
                    sum = NAME(sub)(sum, NAME(mul)(values[l], NAME(conj)(values[other])));
            }
            if (j < i) {
                const long long below = NAME(entry)(s, j, j);
                values[k] = below < 0 ? sum : NAME(div)(sum, values[below]);
            } else {
                at_diagonal = k;
                diagonal = NAME(re)(sum);
            }
        }
        if (at_diagonal >= 0) values[at_diagonal] = NAME(make)((REAL)sqrt(diagonal), 0);
        if (*pivot < 0 && !(diagonal > 0)) *pivot = i;
    }
}

static cudaError_t NAME(factor)(cudaStream_t stream, const wpi_sparse *s, int is_symmetric,
                                long long *pivot) {
    if (is_symmetric) return LAUNCH_ONE(NAME(wpk_sparse_ic), (void *)s, &pivot);
    return LAUNCH_ONE(NAME(wpk_sparse_ilu), (void *)s, &pivot);
}

/* ---- tridiagonal systems ---- */

/* A thread a right-hand side: elimination with or without exchanges of neighbouring rows, in three
 * diagonals of its own. */
extern "C" __global__ void NAME(wpk_sparse_band)(wpi_sparse_band s, int has_pivots) {
    FOR_EACH(side, s.count) {
        const long long n = s.rows;
        const T *lower = (const T *)s.lower + side * s.step,
                *middle = (const T *)s.middle + side * s.step,
                *upper = (const T *)s.upper + side * s.step;
        T *x = (T *)s.x + side * s.x_step, *d = (T *)s.work + side * 3 * n, *u = d + n, *uu = u + n;
        for (long long i = 0; i < n; i++) {
            d[i] = middle[i];
            u[i] = i + 1 < n ? upper[i] : NAME(make)(0, 0);
            uu[i] = NAME(make)(0, 0);
        }
        for (long long i = 0; i + 1 < n; i++) {
            T below = lower[i + 1];
            if (has_pivots && fabs(NAME(re)(below)) + fabs(NAME(im)(below)) >
                                  fabs(NAME(re)(d[i])) + fabs(NAME(im)(d[i]))) {
                T kept = d[i];
                d[i] = below, below = kept;
                kept = u[i], u[i] = d[i + 1], d[i + 1] = kept;
                kept = uu[i], uu[i] = u[i + 1], u[i + 1] = kept;
                kept = x[i], x[i] = x[i + 1], x[i + 1] = kept;
            }
            const T factor = NAME(div)(below, d[i]);
            d[i + 1] = NAME(sub)(d[i + 1], NAME(mul)(factor, u[i]));
            u[i + 1] = NAME(sub)(u[i + 1], NAME(mul)(factor, uu[i]));
            x[i + 1] = NAME(sub)(x[i + 1], NAME(mul)(factor, x[i]));
        }
        for (long long i = n; i-- > 0;) {
            T sum = x[i];
            if (i + 1 < n) sum = NAME(sub)(sum, NAME(mul)(u[i], x[i + 1]));
            if (i + 2 < n) sum = NAME(sub)(sum, NAME(mul)(uu[i], x[i + 2]));
            x[i] = NAME(div)(sum, d[i]);
        }
    }
}

static cudaError_t NAME(band)(cudaStream_t stream, const wpi_sparse_band *s, int has_pivots) {
    return LAUNCH(NAME(wpk_sparse_band), blocks(s->count), (void *)s, &has_pivots);
}
