/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Kernels of one element type T, whose real type is REAL, and their launches. A block works on a
 * matrix: its threads share the columns or elements of a step, and a barrier ends the step. What is
 * transposed of real matrices is conjugated, too, of complex ones.
 */
#include "libraries/cusolver/solver_reflector.h"

static __device__ T *NAME(of)(const wpi_solver_matrix &m, int b) {
    return m.pointers != NULL ? (T *)m.pointers[b] : (T *)m.data + b * m.stride;
}

static __device__ void NAME(set_info)(const wpi_solver_call &c, int value) {
    if (c.info != NULL && threadIdx.x == 0) c.info[blockIdx.x] = value;
}

/* ---- Cholesky's factor ---- */

/* What is stored for element (i, j) of the lower triangle, i >= j; its conjugate, if that is the
 * upper one. */
static __device__ T &NAME(low)(T *a, long long ld, int i, int j, int is_upper) {
    return is_upper ? AT(a, ld, j, i) : AT(a, ld, i, j);
}

static __device__ int NAME(cholesky)(T *a, long long ld, int n, int is_upper) {
    for (int k = 0; k < n; k++) {
        const REAL pivot = real_part(NAME(low)(a, ld, k, k, is_upper));
        if (!(pivot > 0)) return k + 1;
        const REAL root = sqrt(pivot);
        __syncthreads();
        EACH(i, k, n)
        NAME(low)(a, ld, i, k, is_upper) =
            i == k ? NAME(of_real)(root) : NAME(low)(a, ld, i, k, is_upper) / root;
        __syncthreads();
        EACH(j, k + 1, n) {
            const T factor = conjugate(NAME(low)(a, ld, j, k, is_upper));
            for (int i = j; i < n; i++)
                NAME(low)(a, ld, i, j, is_upper) -= NAME(low)(a, ld, i, k, is_upper) * factor;
        }
        __syncthreads();
    }
    return 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_potrf)(wpi_solver_call c) {
    NAME(set_info)(c, NAME(cholesky)(NAME(of)(c.a, blockIdx.x), c.a.ld, c.n, c.is_upper));
}

static __device__ T NAME(lower)(T *l, long long ld, int i, int j, int is_upper) {
    return is_upper ? conjugate(AT(l, ld, j, i)) : AT(l, ld, i, j);
}

/* x = L^-1 x, or L^-T x. */
static __device__ void NAME(lower_solve)(T *l, long long ld, int n, int is_upper, int is_transposed,
                                         T *x) {
    for (int step = 0; step < n; step++) {
        const int i = is_transposed ? n - 1 - step : step;
        T sum = x[i];
        if (is_transposed)
            for (int k = i + 1; k < n; k++)
                sum -= conjugate(NAME(lower)(l, ld, k, i, is_upper)) * x[k];
        else
            for (int k = 0; k < i; k++)
                sum -= NAME(lower)(l, ld, i, k, is_upper) * x[k];
        x[i] = sum / real_part(NAME(low)(l, ld, i, i, is_upper));
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_potrs)(wpi_solver_call c) {
    T *l = NAME(of)(c.a, blockIdx.x), *b = NAME(of)(c.b, blockIdx.x);
    EACH(j, 0, c.columns) {
        NAME(lower_solve)(l, c.a.ld, c.n, c.is_upper, 0, &AT(b, c.b.ld, 0, j));
        NAME(lower_solve)(l, c.a.ld, c.n, c.is_upper, 1, &AT(b, c.b.ld, 0, j));
    }
}

/* From the inverse M of the factor, M^T M: row i takes what is in it and below. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_potri)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x);
    const long long ld = c.a.ld;
    if (*c.info != 0) return; /* there is no inverse of the factor */
    for (int i = 0; i < c.n; i++) {
        REAL diagonal = 0;
        for (int k = i; k < c.n && threadIdx.x == 0; k++)
            diagonal += square(NAME(low)(a, ld, k, i, c.is_upper));
        EACH(j, 0, i) {
            T sum = NAME(of_real)(0);
            for (int k = i; k < c.n; k++)
                sum += conjugate(NAME(low)(a, ld, k, i, c.is_upper)) *
                       NAME(low)(a, ld, k, j, c.is_upper);
            NAME(low)(a, ld, i, j, c.is_upper) = sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) NAME(low)(a, ld, i, i, c.is_upper) = NAME(of_real)(diagonal);
        __syncthreads();
    }
}

/* ---- LU factors ---- */

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_getrf)(wpi_solver_call c) {
    __shared__ int pivot_row;
    T *a = NAME(of)(c.a, blockIdx.x);
    const long long ld = c.a.ld;
    const int steps = c.m < c.n ? c.m : c.n;
    int info = 0;
    for (int k = 0; k < steps; k++) {
        if (threadIdx.x == 0) {
            pivot_row = k;
            for (int i = k + 1; c.pivots != NULL && i < c.m; i++)
                if (pivot_size(AT(a, ld, i, k)) > pivot_size(AT(a, ld, pivot_row, k)))
                    pivot_row = i;
            if (c.pivots != NULL) put_pivot(c, (long long)blockIdx.x * steps + k, pivot_row + 1);
        }
        __syncthreads();
        const int row = pivot_row;
        EACH(j, 0, row == k ? 0 : c.n) {
            const T kept = AT(a, ld, k, j);
            AT(a, ld, k, j) = AT(a, ld, row, j);
            AT(a, ld, row, j) = kept;
        }
        __syncthreads();
        const T pivot = AT(a, ld, k, k);
        if (pivot_size(pivot) == 0) {
            if (info == 0) info = k + 1;
            continue; /* the column below is 0, too, or the matrix has no factors without exchanges
                       */
        }
        EACH(i, k + 1, c.m) AT(a, ld, i, k) /= pivot;
        __syncthreads();
        EACH(j, k + 1, c.n) {
            const T factor = AT(a, ld, k, j);
            for (int i = k + 1; i < c.m; i++)
                AT(a, ld, i, j) -= AT(a, ld, i, k) * factor;
        }
        __syncthreads();
    }
    NAME(set_info)(c, info);
}

static __device__ T NAME(across)(const wpi_solver_call &c, T a) {
    return c.is_conjugated ? conjugate(a) : a;
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_getrs)(wpi_solver_call c) {
    const T *a = NAME(of)(c.a, blockIdx.x);
    T *b = NAME(of)(c.b, blockIdx.x);
    const long long ld = c.a.ld;
    const int n = c.n;
    const bool has_pivots = c.pivots != NULL;
    EACH(j, 0, c.columns) {
        T *x = &AT(b, c.b.ld, 0, j);
        for (int step = 0; step < n && has_pivots && !c.is_transposed; step++) {
            const int row = pivot_of(c, step) - 1;
            const T kept = x[step];
            x[step] = x[row];
            x[row] = kept;
        }
        if (c.is_transposed) {
            for (int i = 0; i < n; i++) {
                for (int k = 0; k < i; k++)
                    x[i] -= NAME(across)(c, AT(a, ld, k, i)) * x[k];
                x[i] /= NAME(across)(c, AT(a, ld, i, i));
            }
            for (int i = n - 1; i >= 0; i--)
                for (int k = i + 1; k < n; k++)
                    x[i] -= NAME(across)(c, AT(a, ld, k, i)) * x[k];
        } else {
            for (int i = 0; i < n; i++)
                for (int k = 0; k < i; k++)
                    x[i] -= AT(a, ld, i, k) * x[k];
            for (int i = n - 1; i >= 0; i--) {
                for (int k = i + 1; k < n; k++)
                    x[i] -= AT(a, ld, i, k) * x[k];
                x[i] /= AT(a, ld, i, i);
            }
        }
        for (int step = n - 1; step >= 0 && has_pivots && c.is_transposed; step--) {
            const int row = pivot_of(c, step) - 1;
            const T kept = x[step];
            x[step] = x[row];
            x[row] = kept;
        }
    }
}

/* ---- the inverse of a triangle ---- */

/* In place, column by column: the part of column j beside the diagonal is -A^-1(done) a_j / a_jj.
 * The done part of a lower triangle lies behind column j, of an upper one before it. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_trtri)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x);
    const long long ld = c.a.ld;
    const int n = c.n;
    for (int k = 0; k < n && !c.is_unit; k++)
        if (pivot_size(AT(a, ld, k, k)) == 0) {
            NAME(set_info)(c, k + 1);
            return;
        }
    for (int step = 0; step < n; step++) {
        const int j = c.is_upper ? step : n - 1 - step;
        const T one = NAME(of_real)(1), inverse = c.is_unit ? one : one / AT(a, ld, j, j);
        const int first = c.is_upper ? 0 : j + 1, outer = c.is_upper ? j : n;
        /* A thread's rows are read by others: one thread multiplies in the order that keeps them.
         */
        __syncthreads();
        if (threadIdx.x == 0) {
            for (int at = 0; at < outer - first; at++) {
                const int i = c.is_upper ? first + at : outer - 1 - at;
                T sum = (c.is_unit ? one : AT(a, ld, i, i)) * AT(a, ld, i, j);
                if (c.is_upper)
                    for (int k = i + 1; k < outer; k++)
                        sum += AT(a, ld, i, k) * AT(a, ld, k, j);
                else
                    for (int k = first; k < i; k++)
                        sum += AT(a, ld, i, k) * AT(a, ld, k, j);
                AT(a, ld, i, j) = -sum * inverse;
            }
            if (!c.is_unit) AT(a, ld, j, j) = inverse;
        }
        __syncthreads();
    }
    NAME(set_info)(c, 0);
}

/* ---- QR factors ---- */

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_geqrf)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x), *tau = (T *)c.tau;
    const long long ld = c.a.ld;
    const int steps = c.m < c.n ? c.m : c.n;
    for (int k = 0; k < steps; k++) {
        if (threadIdx.x == 0) tau[k] = NAME(reflector)(&AT(a, ld, k, k), c.m - k);
        __syncthreads();
        EACH(j, k + 1, c.n)
        NAME(reflect)(&AT(a, ld, 0, k), conjugate(tau[k]), &AT(a, ld, 0, j), 1, k, c.m, 0);
        __syncthreads();
    }
    NAME(set_info)(c, 0);
}

/* C of m x n, less the reflectors in the first `columns` columns of A, a thread a column of C or,
 * from the right, a row. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_ormqr)(wpi_solver_call c) {
    const T *a = NAME(of)(c.a, blockIdx.x), *tau = (const T *)c.tau;
    T *b = NAME(of)(c.b, blockIdx.x);
    const long long step_in = c.is_right ? c.b.ld : 1, step_out = c.is_right ? 1 : c.b.ld;
    const int length = c.is_right ? c.n : c.m, count = c.is_right ? c.m : c.n;
    const bool is_forward = (c.is_right != 0) != (c.is_transposed != 0);
    EACH(j, 0, count) {
        T *x = b + j * step_out;
        for (int step = 0; step < c.columns; step++) {
            const int k = is_forward ? step : c.columns - 1 - step;
            NAME(reflect)(&AT(a, c.a.ld, 0, k), c.is_transposed ? conjugate(tau[k]) : tau[k], x,
                          step_in, k, length, c.is_right);
        }
    }
    NAME(set_info)(c, 0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_orgqr)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x);
    const T *tau = (const T *)c.tau;
    const long long ld = c.a.ld;
    EACH(j, c.columns, c.n) {
        for (int i = 0; i < c.m; i++)
            AT(a, ld, i, j) = NAME(of_real)(i == j);
    }
    __syncthreads();
    for (int k = c.columns - 1; k >= 0; k--) {
        EACH(j, k + 1, c.n)
        NAME(reflect)(&AT(a, ld, 0, k), tau[k], &AT(a, ld, 0, j), 1, k, c.m, 0);
        __syncthreads();
        EACH(i, 0, c.m) {
            if (i < k)
                AT(a, ld, i, k) = NAME(of_real)(0);
            else
                AT(a, ld, i, k) = i == k ? NAME(of_real)(1) - tau[k] : -tau[k] * AT(a, ld, i, k);
        }
        __syncthreads();
    }
    NAME(set_info)(c, 0);
}

/* The first n rows of B, less the triangle R of A: the solution of least squares behind Q^T B. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_upper)(wpi_solver_call c) {
    const T *a = NAME(of)(c.a, blockIdx.x);
    T *b = NAME(of)(c.b, blockIdx.x);
    for (int i = 0; i < c.n; i++)
        if (pivot_size(AT(a, c.a.ld, i, i)) == 0) {
            NAME(set_info)(c, i + 1);
            return;
        }
    EACH(j, 0, c.columns) {
        T *x = &AT(b, c.b.ld, 0, j);
        for (int i = c.n - 1; i >= 0; i--) {
            for (int k = i + 1; k < c.n; k++)
                x[i] -= AT(a, c.a.ld, i, k) * x[k];
            x[i] /= AT(a, c.a.ld, i, i);
        }
    }
}

/* B = A^T, of m x n. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_transpose)(wpi_solver_call c) {
    const T *a = NAME(of)(c.a, blockIdx.x);
    T *b = NAME(of)(c.b, blockIdx.x);
    EACH(i, 0, c.m) {
        for (int j = 0; j < c.n; j++)
            AT(b, c.b.ld, j, i) = conjugate(AT(a, c.a.ld, i, j));
    }
}

/* ---- eigenvalues of symmetric matrices ---- */

/* Householder's reduction to the diagonal d and what is beside it, e[1..]; reflectors stay in the
 * columns of the lower triangle. */
static __device__ void NAME(tridiagonal)(T *a, long long ld, int n, REAL *d, REAL *e, T *tau,
                                         T *w) {
    EACH(i, 0, n) AT(a, ld, i, i) = NAME(of_real)(real_part(AT(a, ld, i, i)));
    __syncthreads();
    for (int k = 0; k + 1 < n; k++) {
        if (threadIdx.x == 0) tau[k] = NAME(reflector)(&AT(a, ld, k + 1, k), n - k - 1);
        __syncthreads();
        /* w = tau A v, of the symmetric part behind; v[0] is 1. */
        EACH(i, k + 1, n) {
            T sum = NAME(of_real)(0);
            for (int j = k + 1; j < n; j++) {
                const T x = i >= j ? AT(a, ld, i, j) : conjugate(AT(a, ld, j, i));
                sum += j == k + 1 ? x : x * AT(a, ld, j, k);
            }
            w[i] = tau[k] * sum;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            T dot = conjugate(w[k + 1]);
            for (int i = k + 2; i < n; i++)
                dot += conjugate(w[i]) * AT(a, ld, i, k);
            dot *= tau[k] / (REAL)2;
            w[k + 1] -= dot;
            for (int i = k + 2; i < n; i++)
                w[i] -= dot * AT(a, ld, i, k);
        }
        __syncthreads();
        EACH(j, k + 1, n) {
            const T one = NAME(of_real)(1), v = j == k + 1 ? one : AT(a, ld, j, k);
            for (int i = j; i < n; i++)
                AT(a, ld, i, j) -=
                    (i == k + 1 ? one : AT(a, ld, i, k)) * conjugate(w[j]) + w[i] * conjugate(v);
        }
        __syncthreads();
    }
    EACH(i, 0, n) {
        d[i] = real_part(AT(a, ld, i, i));
        e[i] = i > 0 ? real_part(AT(a, ld, i, i - 1)) : 0;
    }
    __syncthreads();
}

/* The reflectors' product in place of A. */
static __device__ void NAME(form_vectors)(T *a, long long ld, int n, const T *tau) {
    /* Column k + 1 takes the reflector of column k, as orgqr of the matrix without its first row.
     */
    EACH(i, 0, n) {
        for (int j = n - 1; j > 0; j--)
            AT(a, ld, i, j) = i > j ? AT(a, ld, i, j - 1) : NAME(of_real)(i == j);
        AT(a, ld, i, 0) = NAME(of_real)(i == 0);
    }
    __syncthreads();
    for (int k = n - 2; k >= 0; k--) {
        const int first = k + 1; /* row and column of the reflector */
        EACH(j, first + 1, n) {
            T sum = AT(a, ld, first, j);
            for (int i = first + 1; i < n; i++)
                sum += conjugate(AT(a, ld, i, first)) * AT(a, ld, i, j);
            sum *= tau[k];
            AT(a, ld, first, j) -= sum;
            for (int i = first + 1; i < n; i++)
                AT(a, ld, i, j) -= AT(a, ld, i, first) * sum;
        }
        __syncthreads();
        EACH(i, first, n)
        AT(a, ld, i, first) =
            i == first ? NAME(of_real)(1) - tau[k] : -tau[k] * AT(a, ld, i, first);
        __syncthreads();
    }
}

/* Implicit QL steps. One thread finds the rotations of a step; each thread applies them to rows of
 * the vectors. The number of the value that did not converge, or 0. */
static __device__ int NAME(ql)(T *a, long long ld, int n, REAL *d, REAL *e, REAL *cosines,
                               REAL *sines, int has_vectors) {
    __shared__ int last_of_step;
    for (int i = 1; i < n && threadIdx.x == 0; i++)
        e[i - 1] = e[i];
    if (threadIdx.x == 0) e[n - 1] = 0;
    __syncthreads();
    for (int l = 0; l < n; l++) {
        for (int iteration = 0;; iteration++) {
            int from = 0, m;
            for (m = l; m + 1 < n; m++)
                if (fabs(e[m]) <= EPSILON * (fabs(d[m]) + fabs(d[m + 1]))) break;
            if (m == l) break;
            if (iteration == 60) return l + 1;
            __syncthreads();
            if (threadIdx.x == 0) {
                REAL g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypot(g, (REAL)1);
                g = d[m] - d[l] + e[l] / (g + (g >= 0 ? fabs(r) : -fabs(r)));
                REAL s = 1, c = 1, p = 0;
                int i;
                for (i = m - 1; i >= l; i--) {
                    const REAL f = s * e[i], b = c * e[i];
                    r = hypot(f, g);
                    e[i + 1] = r;
                    if (r == 0) {
                        d[i + 1] -= p;
                        e[m] = 0;
                        break;
                    }
                    s = f / r, c = g / r;
                    g = d[i + 1] - p;
                    r = (d[i] - g) * s + 2 * c * b;
                    p = s * r;
                    d[i + 1] = g + p;
                    g = c * r - b;
                    cosines[i] = c, sines[i] = s;
                }
                if (i < l) {
                    d[l] -= p;
                    e[l] = g;
                    e[m] = 0;
                }
                last_of_step = i + 1;
            }
            __syncthreads();
            from = last_of_step;
            EACH(row, 0, has_vectors ? n : 0) {
                for (int i = m - 1; i >= from; i--) {
                    const T x = AT(a, ld, row, i + 1), y = AT(a, ld, row, i);
                    AT(a, ld, row, i + 1) = sines[i] * y + cosines[i] * x;
                    AT(a, ld, row, i) = cosines[i] * y - sines[i] * x;
                }
            }
            __syncthreads();
        }
        __syncthreads();
    }
    return 0;
}

/* Ascending order; columns of the vectors go along. */
static __device__ void NAME(sort_values)(T *a, long long ld, int n, REAL *d, int has_vectors) {
    __shared__ int other;
    for (int k = 0; k + 1 < n; k++) {
        if (threadIdx.x == 0) {
            other = k;
            for (int i = k + 1; i < n; i++)
                if (d[i] < d[other]) other = i;
            const REAL kept = d[k];
            d[k] = d[other];
            d[other] = kept;
        }
        __syncthreads();
        const int from = other;
        EACH(i, 0, has_vectors && from != k ? n : 0) {
            const T kept = AT(a, ld, i, k);
            AT(a, ld, i, k) = AT(a, ld, i, from);
            AT(a, ld, i, from) = kept;
        }
        __syncthreads();
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_syev)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x), *work = (T *)c.work + blockIdx.x * c.work_stride;
    T *tau = work + c.n, *w = work + 2 * c.n;
    REAL *d = (REAL *)c.values + (long long)blockIdx.x * c.n, *e = (REAL *)work,
         *cosines = (REAL *)w, *sines = (REAL *)(work + 3 * c.n);
    const long long ld = c.a.ld;
    EACH(j, 0, c.is_upper ? c.n : 0) {
        for (int i = j + 1; i < c.n; i++)
            AT(a, ld, i, j) = conjugate(AT(a, ld, j, i));
    }
    __syncthreads();
    NAME(tridiagonal)(a, ld, c.n, d, e, tau, w);
    if (c.has_vectors) NAME(form_vectors)(a, ld, c.n, tau);
    const int info = NAME(ql)(a, ld, c.n, d, e, cosines, sines, c.has_vectors);
    __syncthreads();
    NAME(sort_values)(a, ld, c.n, d, c.has_vectors);
    NAME(set_info)(c, info);
}

/* A = L^-1 A L^-T: columns, then rows, of the whole matrix. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_sygst)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x), *l = NAME(of)(c.b, blockIdx.x);
    const long long ld = c.a.ld;
    EACH(j, 0, c.n) {
        AT(a, ld, j, j) = NAME(of_real)(real_part(AT(a, ld, j, j)));
        for (int i = j + 1; i < c.n; i++) {
            if (c.is_upper)
                AT(a, ld, i, j) = conjugate(AT(a, ld, j, i));
            else
                AT(a, ld, j, i) = conjugate(AT(a, ld, i, j));
        }
    }
    __syncthreads();
    EACH(j, 0, c.n) NAME(lower_solve)(l, c.b.ld, c.n, c.is_upper, 0, &AT(a, ld, 0, j));
    __syncthreads();
    EACH(i, 0, c.n) {
        for (int k = 0; k < c.n; k++) {
            T sum = AT(a, ld, i, k);
            for (int j = 0; j < k; j++)
                sum -= conjugate(NAME(lower)(l, c.b.ld, k, j, c.is_upper)) * AT(a, ld, i, j);
            AT(a, ld, i, k) = sum / real_part(NAME(low)(l, c.b.ld, k, k, c.is_upper));
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_sygst_back)(wpi_solver_call c) {
    T *a = NAME(of)(c.a, blockIdx.x), *l = NAME(of)(c.b, blockIdx.x);
    EACH(j, 0, c.n) NAME(lower_solve)(l, c.b.ld, c.n, c.is_upper, 1, &AT(a, c.a.ld, 0, j));
}

/* ---- singular values ---- */

/* Hestenes' rotations make the columns of A orthogonal. In a round every column has one partner,
 * and a thread a pair; n - 1 rounds pair all. */
extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_gesvd)(wpi_solver_svd c) {
    __shared__ int changes;
    T *a = NAME(of)(c.a, blockIdx.x), *v = (T *)c.work + blockIdx.x * c.work_stride;
    REAL *norms = (REAL *)(v + (long long)c.n * c.n),
         *values = (REAL *)c.values + (long long)blockIdx.x * c.values_stride;
    const long long ld = c.a.ld;
    const int n = c.n, even = n + n % 2;
    EACH(j, 0, n) {
        for (int i = 0; i < n; i++)
            AT(v, n, i, j) = NAME(of_real)(i == j);
    }
    int sweeps = 0, is_done = n < 2;
    for (; !is_done && sweeps < 60; sweeps++) {
        __syncthreads();
        if (threadIdx.x == 0) changes = 0;
        __syncthreads();
        for (int round = 0; round + 1 < even; round++) {
            EACH(pair, 0, even / 2) {
                int p = pair == 0 ? even - 1 : (round + pair) % (even - 1),
                    q = (round + even - 1 - pair) % (even - 1);
                if (p > q) {
                    const int kept = p;
                    p = q, q = kept;
                }
                if (q < n) {
                    T *x = &AT(a, ld, 0, p), *y = &AT(a, ld, 0, q), gamma = NAME(of_real)(0), phase;
                    REAL alpha = 0, beta = 0;
                    for (int i = 0; i < c.m; i++) {
                        alpha += square(x[i]);
                        beta += square(y[i]);
                        gamma += conjugate(x[i]) * y[i];
                    }
                    const REAL size = split(gamma, &phase);
                    if (fabs(size) > 4 * EPSILON * sqrt((REAL)c.m) * sqrt(alpha) * sqrt(beta)) {
                        const REAL zeta = (beta - alpha) / (2 * size);
                        const REAL t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                        const REAL cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
                        T *rows[2] = {&AT(v, n, 0, p), &AT(v, n, 0, q)};
                        for (int part = 0; part < 2; part++) {
                            T *left = part == 0 ? x : rows[0], *right = part == 0 ? y : rows[1];
                            for (int i = 0; i < (part == 0 ? c.m : n); i++) {
                                const T kept = left[i], turned = right[i] * conjugate(phase);
                                left[i] = cosine * kept - sine * turned;
                                right[i] = sine * kept + cosine * turned;
                            }
                        }
                        atomicAdd(&changes, 1);
                    }
                }
            }
            __syncthreads();
        }
        is_done = changes == 0;
    }
    __syncthreads();
    EACH(j, 0, n) {
        REAL scale = 0, sum = 0;
        for (int i = 0; i < c.m; i++)
            scale = fmax(scale, pivot_size(AT(a, ld, i, j)));
        for (int i = 0; i < c.m && scale > 0; i++)
            sum += square(AT(a, ld, i, j) / scale);
        norms[j] = scale * sqrt(sum);
    }
    __syncthreads();
    /* One thread sorts and stores; `order` is the column of each place. */
    REAL *order = norms + n;
    T *u = (T *)c.u + blockIdx.x * c.u_stride, *vt = (T *)c.vt + blockIdx.x * c.vt_stride;
    if (threadIdx.x == 0) {
        for (int j = 0; j < n; j++) {
            int place = j;
            for (; place > 0 && norms[(int)order[place - 1]] < norms[j]; place--)
                order[place] = order[place - 1];
            order[place] = (REAL)j;
        }
    }
    __syncthreads();
    EACH(j, 0, c.count) values[j] = norms[(int)order[j]];
    const REAL smallest = norms[(int)order[0]] * EPSILON * (REAL)c.m;
    __syncthreads();
    EACH(j, 0, c.vt != NULL ? c.vt_rows : 0) {
        for (int i = 0; i < n; i++) {
            const T x = AT(v, n, i, (int)order[j]);
            if (c.is_v)
                AT(vt, c.ldvt, i, j) = x;
            else
                AT(vt, c.ldvt, j, i) = conjugate(x);
        }
    }
    if (c.u != NULL) {
        EACH(j, 0, c.u_columns < n ? c.u_columns : n) {
            const int from = (int)order[j];
            for (int i = 0; i < c.m; i++)
                AT(u, c.ldu, i, j) =
                    norms[from] > smallest ? AT(a, ld, i, from) / norms[from] : NAME(of_real)(0);
        }
        __syncthreads();
        /* Columns without a direction: what is left of a unit vector outside the others' space. */
        for (int j = 0, unit = 0; j < c.u_columns && threadIdx.x == 0; j++) {
            if (j < n && norms[(int)order[j]] > smallest) continue;
            for (; unit < c.m; unit++) {
                REAL norm = 0;
                for (int i = 0; i < c.m; i++)
                    AT(u, c.ldu, i, j) = NAME(of_real)(i == unit);
                for (int pass = 0; pass < 2; pass++) {
                    for (int k = 0; k < j; k++) {
                        T dot = NAME(of_real)(0);
                        for (int i = 0; i < c.m; i++)
                            dot += conjugate(AT(u, c.ldu, i, k)) * AT(u, c.ldu, i, j);
                        for (int i = 0; i < c.m; i++)
                            AT(u, c.ldu, i, j) -= dot * AT(u, c.ldu, i, k);
                    }
                }
                for (int i = 0; i < c.m; i++)
                    norm += square(AT(u, c.ldu, i, j));
                norm = sqrt(norm);
                if (norm * norm * (REAL)(2 * c.m) < 1) continue;
                for (int i = 0; i < c.m; i++)
                    AT(u, c.ldu, i, j) /= norm;
                unit++;
                break;
            }
        }
    }
    if (c.info != NULL && threadIdx.x == 0) c.info[blockIdx.x] = is_done ? 0 : n + 1;
}

/* ---- bands ---- */

#define BAND(i, j) a[(long long)(i) * c.width + (j) - (i) + c.below]

/* Cholesky's factor of the lower triangle, then both solutions. */
static __device__ void NAME(definite_band)(const wpi_solver_band &c, T *a, T *x) {
    for (int k = 0; k < c.n; k++) {
        const int outer = k + c.below + 1 < c.n ? k + c.below + 1 : c.n;
        const REAL pivot = real_part(BAND(k, k));
        if (!(pivot > (REAL)c.tolerance)) {
            if (threadIdx.x == 0) *c.singularity = k;
            return;
        }
        const REAL root = sqrt(pivot);
        __syncthreads();
        EACH(i, k, outer) BAND(i, k) = i == k ? NAME(of_real)(root) : BAND(i, k) / root;
        __syncthreads();
        EACH(j, k + 1, outer) {
            const T factor = conjugate(BAND(j, k));
            for (int i = j; i < outer; i++)
                BAND(i, j) -= BAND(i, k) * factor;
        }
        __syncthreads();
    }
    for (int i = 0; i < c.n && threadIdx.x == 0; i++) {
        for (int k = i > c.below ? i - c.below : 0; k < i; k++)
            x[i] -= BAND(i, k) * x[k];
        x[i] /= BAND(i, i);
    }
    for (int i = c.n - 1; i >= 0 && threadIdx.x == 0; i--) {
        for (int k = i + 1; k < c.n && k <= i + c.below; k++)
            x[i] -= conjugate(BAND(k, i)) * x[k];
        x[i] /= BAND(i, i);
    }
}

/* R takes the place of the band; each reflector is applied to the columns that it reaches and to x.
 */
static __device__ void NAME(general_band)(const wpi_solver_band &c, T *a, T *x) {
    __shared__ T tau;
    T *v = (T *)c.v;
    for (int k = 0; k < c.n; k++) {
        const int length = k + c.below < c.n ? c.below + 1 : c.n - k;
        const int reach = k + c.below + c.above + 1 < c.n ? k + c.below + c.above + 1 : c.n;
        EACH(i, 0, length) v[i] = BAND(k + i, k);
        __syncthreads();
        if (threadIdx.x == 0) {
            tau = conjugate(NAME(reflector)(v, length));
            BAND(k, k) = v[0];
            if (*c.singularity < 0 && !(fabs(real_part(v[0])) > (REAL)c.tolerance))
                *c.singularity = k;
        }
        __syncthreads();
        EACH(column, k + 1, reach + 1) { /* the last one is x */
            const bool is_x = column == reach;
            T sum = is_x ? x[k] : BAND(k, column);
            for (int i = 1; i < length; i++)
                sum += conjugate(v[i]) * (is_x ? x[k + i] : BAND(k + i, column));
            sum *= tau;
            for (int i = 0; i < length; i++) {
                const T change = i == 0 ? sum : v[i] * sum;
                if (is_x)
                    x[k + i] -= change;
                else
                    BAND(k + i, column) -= change;
            }
        }
        __syncthreads();
    }
    for (int i = c.n - 1; i >= 0 && threadIdx.x == 0; i--) {
        for (int k = i + 1; k < c.n && k <= i + c.below + c.above; k++)
            x[i] -= BAND(i, k) * x[k];
        x[i] /= BAND(i, i);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_band)(wpi_solver_band c) {
    if (threadIdx.x == 0) *c.singularity = -1;
    __syncthreads();
    if (c.is_definite)
        NAME(definite_band)(c, (T *)c.a, (T *)c.x);
    else
        NAME(general_band)(c, (T *)c.a, (T *)c.x);
}
#undef BAND

static cudaError_t NAME(band)(cudaStream_t stream, const wpi_solver_band *c) {
    return LAUNCH(NAME(wpk_solver_band), 1u, (void *)c);
}

/* ---- launches ---- */

#define CALL(name, kernel)                                                                         \
    static cudaError_t NAME(name)(cudaStream_t stream, const wpi_solver_call *c) {                 \
        return LAUNCH(NAME(kernel), (unsigned)c->batch, (void *)c);                                \
    }
CALL(potrf, wpk_solver_potrf)
CALL(potrs, wpk_solver_potrs)
CALL(potri, wpk_solver_potri)
CALL(getrf, wpk_solver_getrf)
CALL(getrs, wpk_solver_getrs)
CALL(geqrf, wpk_solver_geqrf)
CALL(ormqr, wpk_solver_ormqr)
CALL(orgqr, wpk_solver_orgqr)
CALL(upper, wpk_solver_upper)
CALL(transpose, wpk_solver_transpose)
CALL(trtri, wpk_solver_trtri)
CALL(syev, wpk_solver_syev)
CALL(sygst, wpk_solver_sygst)
CALL(back, wpk_solver_sygst_back)
#undef CALL
#undef AT

static cudaError_t NAME(gesvd)(cudaStream_t stream, const wpi_solver_svd *c) {
    return LAUNCH(NAME(wpk_solver_gesvd), (unsigned)c->batch, (void *)c);
}
