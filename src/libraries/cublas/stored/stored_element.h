/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over packed, banded and batched matrices, made once a type; blas_element.h comes before.
 */

static __device__ T *NAME(stored_data)(const wpi_stored &a, long long batch) {
    return a.array != NULL ? (T *)a.array[batch] : (T *)a.data + batch * a.stride;
}

static __device__ T *NAME(stored_vector)(const wpi_stored_vector &v, long long batch, int n) {
    T *data = v.array != NULL ? (T *)v.array[batch] : (T *)v.data + batch * v.stride;
    return v.inc < 0 ? data + (1 - n) * v.inc : data;
}

/* The place of an element that is stored; negative: it is outside of the band. */
static __device__ long long NAME(stored_place)(const wpi_stored &a, int row, int column) {
    const long long i = row, j = column, n = a.columns;
    switch (a.storage) {
    case WPI_STORED_FULL: return i + j * a.ld;
    case WPI_STORED_BAND:
        return i - j > a.below || j - i > a.above ? -1 : a.above + i - j + j * a.ld;
    default:
        return a.triangle == WPI_TRIANGLE_LOWER ? i + j * (2 * n - j - 1) / 2 : i + j * (j + 1) / 2;
    }
}

/* Element (i, j) of op(a). */
static __device__ T NAME(stored_element)(const wpi_stored &a, const T *data, int i, int j) {
    const bool is_turned = a.op == WPI_OP_T || a.op == WPI_OP_C;
    bool is_conjugated = a.op == WPI_OP_C || a.op == WPI_OP_CONJ;
    int row = is_turned ? j : i, column = is_turned ? i : j;
    if (a.shape != WPI_SHAPE_GENERAL && row == column && a.is_unit) return NAME(make)(1, 0);
    if (a.shape != WPI_SHAPE_GENERAL && row != column &&
        (row < column) == (a.triangle == WPI_TRIANGLE_LOWER)) {
        if (a.shape == WPI_SHAPE_TRIANGULAR) return NAME(make)(0, 0);
        const int kept = row;
        row = column;
        column = kept;
        if (a.shape == WPI_SHAPE_HERMITIAN) is_conjugated = !is_conjugated;
    }
    const long long place = NAME(stored_place)(a, row, column);
    if (place < 0) return NAME(make)(0, 0);
    const T value = data[place];
    if (a.shape == WPI_SHAPE_HERMITIAN && row == column) return NAME(real_part)(value);
    return is_conjugated ? NAME(conj)(value) : value;
}

extern "C" __global__ void NAME(wpk_blas_stored_product)(wpi_stored_product p) {
    const T factor = NAME(scalar)(p.alpha), kept = NAME(scalar)(p.beta);
    for (long long batch = blockIdx.z; batch < p.batch; batch += gridDim.z) {
        const T *a = NAME(stored_data)(p.a, batch), *x = NAME(stored_vector)(p.x, batch, p.columns);
        T *y = NAME(stored_vector)(p.y, batch, p.rows);
        FOR_EACH(i, p.rows) {
            int first, outer;
            stored_range(p.a, (int)i, p.columns, &first, &outer);
            T sum = NAME(make)(0, 0);
            for (int j = first; j < outer && !NAME(is_zero)(factor); j++)
                sum = NAME(add)(sum,
                                NAME(mul)(NAME(stored_element)(p.a, a, (int)i, j), x[j * p.x.inc]));
            T *at = &y[i * p.y.inc];
            const T before = NAME(is_zero)(kept) ? NAME(make)(0, 0) : NAME(mul)(kept, *at);
            *at = NAME(add)(NAME(mul)(factor, sum), before);
        }
    }
}

/* One block: a row after the other, whose sum the threads share. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_blas_stored_solve)(wpi_stored s, wpi_stored_vector v) {
    __shared__ T shares[BLOCK];
    const bool is_turned = s.op == WPI_OP_T || s.op == WPI_OP_C;
    const bool is_forward = (s.triangle == WPI_TRIANGLE_LOWER) != is_turned;
    const T *a = NAME(stored_data)(s, 0);
    T *x = NAME(stored_vector)(v, 0, s.columns);
    const int t = (int)threadIdx.x;
    for (int step = 0; step < s.columns; step++) {
        const int i = is_forward ? step : s.columns - 1 - step;
        int first, outer;
        stored_range(s, i, s.columns, &first, &outer);
        if (is_forward)
            outer = i;
        else
            first = i + 1;
        T sum = NAME(make)(0, 0);
        for (int j = first + t; j < outer; j += BLOCK)
            sum = NAME(add)(sum, NAME(mul)(NAME(stored_element)(s, a, i, j), x[j * v.inc]));
        shares[t] = sum;
        for (int half = BLOCK / 2; half > 0; half /= 2) {
            __syncthreads();
            if (t < half) shares[t] = NAME(add)(shares[t], shares[t + half]);
        }
        if (t == 0) {
            const T value = NAME(sub)(x[i * v.inc], shares[0]);
            x[i * v.inc] = s.is_unit ? value : NAME(div)(value, NAME(stored_element)(s, a, i, i));
        }
        __syncthreads();
    }
}

static __device__ bool NAME(is_stored)(const wpi_stored &a, int i, int j) {
    return i == j || (i < j) == (a.triangle == WPI_TRIANGLE_UPPER);
}

extern "C" __global__ void NAME(wpk_blas_stored_update)(wpi_stored_update u) {
    const bool is_hermitian = u.a.shape == WPI_SHAPE_HERMITIAN, has_two = u.y.data != NULL;
    const int n = u.a.columns;
    const T alpha = NAME(scalar)(u.alpha);
    T *a = NAME(stored_data)(u.a, 0);
    const T *x = NAME(stored_vector)(u.x, 0, n);
    const T *y = has_two ? NAME(stored_vector)(u.y, 0, n) : x;
    const long long step = has_two ? u.y.inc : u.x.inc;
    FOR_EACH(item, (long long)n * n) {
        const int i = (int)(item % n), j = (int)(item / n);
        if (!NAME(is_stored)(u.a, i, j)) continue;
        T *to = &a[NAME(stored_place)(u.a, i, j)];
        const T right = y[j * step], other = x[j * u.x.inc];
        T value =
            NAME(mul)(alpha, NAME(mul)(x[i * u.x.inc], is_hermitian ? NAME(conj)(right) : right));
        if (has_two) {
            const T factor = is_hermitian ? NAME(conj)(alpha) : alpha;
            value = NAME(add)(
                value, NAME(mul)(factor,
                                 NAME(mul)(y[i * step], is_hermitian ? NAME(conj)(other) : other)));
        }
        value = NAME(add)(*to, value);
        *to = is_hermitian && i == j ? NAME(real_part)(value) : value;
    }
}

extern "C" __global__ void NAME(wpk_blas_stored_copy)(wpi_stored from, wpi_stored to) {
    const int n = from.columns;
    FOR_EACH(item, (long long)n * n) {
        const int i = (int)(item % n), j = (int)(item / n);
        if (!NAME(is_stored)(from, i, j)) continue;
        NAME(stored_data)(to, 0)[NAME(stored_place)(to, i, j)] =
            NAME(stored_data)(from, 0)[NAME(stored_place)(from, i, j)];
    }
}

/* Gauss and Jordan's steps in place, a block a matrix; a row that was exchanged is a column of the
 * inverse that is exchanged back. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_blas_stored_invert)(wpi_stored_inverse v) {
    __shared__ int pivots[WPI_STORED_INVERSE_MAX], failed;
    __shared__ T column[WPI_STORED_INVERSE_MAX];
    const int t = (int)threadIdx.x, n = v.n;
    for (int batch = (int)blockIdx.x; batch < v.batch; batch += (int)gridDim.x) {
        const T *from = (const T *)v.from[batch];
        T *a = (T *)v.to[batch];
        for (int at = t; at < n * n; at += BLOCK)
            a[at % n + (long long)(at / n) * v.ld_inverse] =
                from[at % n + (long long)(at / n) * v.ld];
        if (t == 0) failed = 0;
        __syncthreads();
        for (int k = 0; k < n; k++) {
            if (t == 0) {
                int best = k;
                double largest = -1;
                for (int i = k; i < n; i++) {
                    const T x = a[i + (long long)k * v.ld_inverse];
                    const double size = fabs(NAME(re)(x)) + fabs(NAME(im)(x));
                    if (size > largest) best = i, largest = size;
                }
                pivots[k] = best;
                if (!(largest > 0)) failed = k + 1;
            }
            __syncthreads();
            if (failed != 0) break;
            const int row = pivots[k];
            for (int j = t; j < n && row != k; j += BLOCK) {
                T *up = &a[k + (long long)j * v.ld_inverse],
                  *down = &a[row + (long long)j * v.ld_inverse];
                const T kept = *up;
                *up = *down;
                *down = kept;
            }
            __syncthreads();
            const T inverse = NAME(div)(NAME(make)(1, 0), a[k + (long long)k * v.ld_inverse]);
            __syncthreads();
            for (int i = t; i < n; i += BLOCK) {
                T *at = &a[i + (long long)k * v.ld_inverse];
                column[i] = *at;
                *at = i == k ? inverse : NAME(make)(0, 0);
            }
            __syncthreads();
            for (int j = t; j < n; j += BLOCK) {
                T *own = &a[(long long)j * v.ld_inverse];
                if (j != k) own[k] = NAME(mul)(own[k], inverse);
                for (int i = 0; i < n; i++)
                    if (i != k) own[i] = NAME(sub)(own[i], NAME(mul)(column[i], own[k]));
            }
            __syncthreads();
        }
        __syncthreads();
        for (int k = n - 1; k >= 0 && failed == 0; k--) {
            const int other = pivots[k];
            for (int i = t; i < n && other != k; i += BLOCK) {
                T *left = &a[i + (long long)k * v.ld_inverse],
                  *right = &a[i + (long long)other * v.ld_inverse];
                const T kept = *left;
                *left = *right;
                *right = kept;
            }
            __syncthreads();
        }
        if (t == 0) v.info[batch] = failed;
        __syncthreads();
    }
}

/* ---- launches ---- */

static cudaError_t NAME(stored_product)(cudaStream_t stream, const wpi_stored_product *p) {
    const dim3 grid(blocks(p->rows), 1, (unsigned)(p->batch < 65535 ? p->batch : 65535));
    return LAUNCH(NAME(wpk_blas_stored_product), grid, (void *)p);
}

static cudaError_t NAME(stored_solve)(cudaStream_t stream, const wpi_stored *a,
                                      const wpi_stored_vector *x) {
    return LAUNCH(NAME(wpk_blas_stored_solve), 1, (void *)a, (void *)x);
}

static cudaError_t NAME(stored_update)(cudaStream_t stream, const wpi_stored_update *u) {
    return LAUNCH(NAME(wpk_blas_stored_update), blocks((long long)u->a.columns * u->a.columns),
                  (void *)u);
}

static cudaError_t NAME(stored_copy)(cudaStream_t stream, const wpi_stored *from,
                                     const wpi_stored *to) {
    return LAUNCH(NAME(wpk_blas_stored_copy), blocks((long long)from->columns * from->columns),
                  (void *)from, (void *)to);
}

static cudaError_t NAME(stored_invert)(cudaStream_t stream, const wpi_stored_inverse *v) {
    return LAUNCH(NAME(wpk_blas_stored_invert), v->batch < 65535 ? v->batch : 65535, (void *)v);
}
