/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over a matrix, made once a type; blas_vector.h comes before. */

/* A thread a row of op(a). */
extern "C" __global__ void NAME(wpk_gemv_rows)(int m, int n, wpi_scalar alpha, wpi_matrix a,
                                               wpi_vector x, wpi_scalar beta, wpi_vector y) {
    const T factor = NAME(scalar)(alpha), kept = NAME(scalar)(beta);
    FOR_EACH(i, m) {
        T sum = NAME(make)(0, 0);
        if (!NAME(is_zero)(factor)) {
            const T *data = NAME(data)(&a, 0);
            for (int j = 0; j < n; j++)
                sum =
                    NAME(add)(sum, NAME(mul)(NAME(element)(&a, data, (int)i, j), *NAME(at)(x, j)));
        }
        T *at = NAME(at)(y, i);
        const T before = NAME(is_zero)(kept) ? NAME(make)(0, 0) : NAME(mul)(kept, *at);
        *at = NAME(add)(NAME(mul)(factor, sum), before);
    }
}

/* A block a row of op(a), whose elements follow each other in memory. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_gemv_columns)(int m, int n, wpi_scalar alpha, wpi_matrix a, wpi_vector x,
                           wpi_scalar beta, wpi_vector y) {
    __shared__ T shares[BLOCK];
    const T factor = NAME(scalar)(alpha), kept = NAME(scalar)(beta);
    const int t = (int)threadIdx.x;
    for (int i = (int)blockIdx.x; i < m; i += (int)gridDim.x) {
        T sum = NAME(make)(0, 0);
        if (!NAME(is_zero)(factor)) {
            const T *data = NAME(data)(&a, 0);
            for (int j = t; j < n; j += BLOCK)
                sum = NAME(add)(sum, NAME(mul)(NAME(element)(&a, data, i, j), *NAME(at)(x, j)));
        }
        shares[t] = sum;
        for (int half = BLOCK / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) shares[t] = NAME(add)(shares[t], shares[t + half]);
        }
        if (t == 0) {
            T *at = NAME(at)(y, i);
            const T before = NAME(is_zero)(kept) ? NAME(make)(0, 0) : NAME(mul)(kept, *at);
            *at = NAME(add)(NAME(mul)(factor, shares[0]), before);
        }
        __syncthreads();
    }
}

extern "C" __global__ void NAME(wpk_ger)(int m, int n, wpi_scalar alpha, wpi_vector x, wpi_vector y,
                                         int is_conjugated, wpi_matrix a, int is_alpha_conjugated,
                                         int is_hermitian) {
    T factor = NAME(scalar)(alpha);
    if (is_alpha_conjugated) factor = NAME(conj)(factor);
    T *data = (T *)a.data + a.offset;
    FOR_EACH(at, (long long)m * n) {
        const int i = (int)(at % m), j = (int)(at / m);
        if ((a.triangle == WPI_TRIANGLE_LOWER && i < j) ||
            (a.triangle == WPI_TRIANGLE_UPPER && i > j))
            continue;
        const T v = *NAME(at)(y, j), w = is_conjugated ? NAME(conj)(v) : v;
        T *to = &data[i + (long long)j * a.ld];
        T value = NAME(add)(*to, NAME(mul)(factor, NAME(mul)(*NAME(at)(x, i), w)));
        if (is_hermitian && i == j) value = NAME(real_part)(value);
        *to = value;
    }
}

/* A thread a right-hand side, of at most SOLVE rows. */
extern "C" __global__ void NAME(wpk_trsm)(wpi_solve s) {
    const bool is_turned = s.a.op == WPI_OP_T || s.a.op == WPI_OP_C;
    const bool is_forward = (s.a.triangle == WPI_TRIANGLE_LOWER) != is_turned;
    for (long long batch = blockIdx.z; batch < s.batch; batch += gridDim.z) {
        const T *a = NAME(data)(&s.a, batch);
        T *b = (s.b.array != NULL ? (T *)s.b.array[batch] : (T *)s.b.data + batch * s.b.stride) +
               s.b.offset;
        FOR_EACH(side, s.count) {
            T x[SOLVE];
            T *at = b + side * s.side;
            for (int done = 0; done < s.size; done++) {
                const int i = is_forward ? done : s.size - 1 - done;
                T value = at[i * s.element];
                for (int l = 0; l < done; l++) {
                    const int j = is_forward ? l : s.size - 1 - l;
                    value = NAME(sub)(value, NAME(mul)(NAME(element)(&s.a, a, i, j), x[l]));
                }
                if (!s.a.is_unit) value = NAME(div)(value, NAME(element)(&s.a, a, i, i));
                x[done] = value;
                at[i * s.element] = value;
            }
        }
    }
}

extern "C" __global__ void NAME(wpk_geam)(int m, int n, wpi_scalar alpha, wpi_matrix a,
                                          wpi_scalar beta, wpi_matrix b, wpi_matrix c) {
    const T u = NAME(scalar)(alpha), v = NAME(scalar)(beta);
    FOR_EACH(at, (long long)m * n) {
        const int i = (int)(at % m), j = (int)(at / m);
        T value = NAME(make)(0, 0);
        if (!NAME(is_zero)(u)) value = NAME(mul)(u, NAME(element)(&a, NAME(data)(&a, 0), i, j));
        if (!NAME(is_zero)(v))
            value = NAME(add)(value, NAME(mul)(v, NAME(element)(&b, NAME(data)(&b, 0), i, j)));
        ((T *)c.data)[i + (long long)j * c.ld] = value;
    }
}

extern "C" __global__ void NAME(wpk_dgmm)(int m, int n, int is_left, wpi_matrix a, wpi_vector x,
                                          wpi_matrix c) {
    FOR_EACH(at, (long long)m * n) {
        const int i = (int)(at % m), j = (int)(at / m);
        const T value = ((const T *)a.data)[i + (long long)j * a.ld];
        ((T *)c.data)[i + (long long)j * c.ld] = NAME(mul)(value, *NAME(at)(x, is_left ? i : j));
    }
}

/* ---- LU factors: a block a matrix ---- */

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_getrf)(int n, wpi_matrix m, int *pivots, int *info, int batch_count) {
    __shared__ wpi_partial shares[BLOCK];
    __shared__ int pivot, zero_at;
    const int t = (int)threadIdx.x;
    for (int batch = (int)blockIdx.x; batch < batch_count; batch += (int)gridDim.x) {
        T *a = (T *)m.array[batch];
        if (t == 0) zero_at = 0;
        for (int k = 0; k < n; k++) {
            T *column = a + (long long)k * m.ld;
            if (pivots != NULL) {
                wpi_partial best = none();
                for (int i = k + t; i < n; i += BLOCK) {
                    wpi_partial own = none();
                    own.re = fabs(NAME(re)(column[i])) + fabs(NAME(im)(column[i]));
                    own.index = i;
                    best = join(WPI_REDUCE_AMAX, best, own);
                }
                best = join_block(WPI_REDUCE_AMAX, best, shares);
                if (t == 0) {
                    pivot = best.index < 0 ? k : (int)best.index;
                    pivots[(long long)batch * n + k] = pivot + 1;
                }
            } else if (t == 0) {
                pivot = k;
            }
            __syncthreads();
            if (pivot != k)
                for (int j = t; j < n; j += BLOCK) {
                    const T kept = a[k + (long long)j * m.ld];
                    a[k + (long long)j * m.ld] = a[pivot + (long long)j * m.ld];
                    a[pivot + (long long)j * m.ld] = kept;
                }
            __syncthreads();
            const T diagonal = column[k];
            const bool is_zero = NAME(is_zero)(diagonal);
            if (is_zero && t == 0 && zero_at == 0) zero_at = k + 1;
            if (!is_zero)
                for (int i = k + 1 + t; i < n; i += BLOCK)
                    column[i] = NAME(div)(column[i], diagonal);
            __syncthreads();
            const int rest = n - k - 1;
            for (long long at = t; at < (long long)rest * rest; at += BLOCK) {
                const int i = k + 1 + (int)(at % rest), j = k + 1 + (int)(at / rest);
                T *to = &a[i + (long long)j * m.ld];
                *to = NAME(sub)(*to, NAME(mul)(column[i], a[k + (long long)j * m.ld]));
            }
            __syncthreads();
        }
        if (t == 0) info[batch] = zero_at;
        __syncthreads();
    }
}

extern "C" __global__ void NAME(wpk_permute)(int n, int nrhs, const int *pivots, int is_back,
                                             wpi_matrix m, int batch_count) {
    for (long long batch = blockIdx.z; batch < batch_count; batch += gridDim.z) {
        T *b = (T *)m.array[batch];
        const int *own = pivots + batch * n;
        FOR_EACH(j, nrhs)
        for (int done = 0; done < n; done++) {
            const int i = is_back ? n - 1 - done : done, with = own[i] - 1;
            const T kept = b[i + j * m.ld];
            b[i + j * m.ld] = b[with + j * m.ld];
            b[with + j * m.ld] = kept;
        }
    }
}

extern "C" __global__ void NAME(wpk_identity)(int n, wpi_matrix m, int batch_count) {
    for (long long batch = blockIdx.z; batch < batch_count; batch += gridDim.z)
        FOR_EACH(at, (long long)n * n)
    ((T *)m.array[batch])[at % n + at / n * m.ld] = NAME(make)(at % n == at / n ? 1 : 0, 0);
}

/* ---- launches ---- */

static cudaError_t NAME(gemv)(cudaStream_t stream, int m, int n, wpi_scalar alpha, wpi_matrix a,
                              wpi_vector x, wpi_scalar beta, wpi_vector y) {
    const bool is_turned = a.op == WPI_OP_T || a.op == WPI_OP_C;
    if (is_turned)
        return LAUNCH(NAME(wpk_gemv_columns), m < 65535 ? m : 65535, &m, &n, &alpha, &a, &x, &beta,
                      &y);
    return LAUNCH(NAME(wpk_gemv_rows), blocks(m), &m, &n, &alpha, &a, &x, &beta, &y);
}

static cudaError_t NAME(ger)(cudaStream_t stream, int m, int n, wpi_scalar alpha, wpi_vector x,
                             wpi_vector y, int is_conjugated, wpi_matrix a,
                             int is_alpha_conjugated) {
    int is_hermitian = a.shape == WPI_SHAPE_HERMITIAN;
    return LAUNCH(NAME(wpk_ger), blocks((long long)m * n), &m, &n, &alpha, &x, &y, &is_conjugated,
                  &a, &is_alpha_conjugated, &is_hermitian);
}

static cudaError_t NAME(solve)(cudaStream_t stream, const wpi_solve *s) {
    const dim3 grid(blocks(s->count), 1, (unsigned)(s->batch < 65535 ? s->batch : 65535));
    return LAUNCH(NAME(wpk_trsm), grid, (void *)s);
}

static cudaError_t NAME(geam)(cudaStream_t stream, int m, int n, wpi_scalar alpha, wpi_matrix a,
                              wpi_scalar beta, wpi_matrix b, wpi_matrix c) {
    return LAUNCH(NAME(wpk_geam), blocks((long long)m * n), &m, &n, &alpha, &a, &beta, &b, &c);
}

static cudaError_t NAME(dgmm)(cudaStream_t stream, int m, int n, int is_left, wpi_matrix a,
                              wpi_vector x, wpi_matrix c) {
    return LAUNCH(NAME(wpk_dgmm), blocks((long long)m * n), &m, &n, &is_left, &a, &x, &c);
}

static cudaError_t NAME(getrf)(cudaStream_t stream, int n, wpi_matrix a, int *pivots, int *info,
                               int batch) {
    return LAUNCH(NAME(wpk_getrf), batch, &n, &a, &pivots, &info, &batch);
}

static cudaError_t NAME(permute)(cudaStream_t stream, int n, int nrhs, const int *pivots,
                                 int is_back, wpi_matrix b, int batch) {
    const dim3 grid(blocks(nrhs), 1, (unsigned)(batch < 65535 ? batch : 65535));
    return LAUNCH(NAME(wpk_permute), grid, &n, &nrhs, &pivots, &is_back, &b, &batch);
}

static cudaError_t NAME(identity)(cudaStream_t stream, int n, wpi_matrix a, int batch) {
    const dim3 grid(blocks((long long)n * n), 1, (unsigned)(batch < 65535 ? batch : 65535));
    return LAUNCH(NAME(wpk_identity), grid, &n, &a, &batch);
}
