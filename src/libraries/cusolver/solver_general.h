/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Eigenvalues and eigenvectors of general matrices of the type T, whose real type is REAL and whose
 * complex type is CT: Hessenberg's form by reflections, Schur's by QR steps with implicit shifts,
 * then the vectors of the triangle, a thread each. Real matrices have steps of two shifts at once,
 * so that conjugate eigenvalues stay pairs; their blocks of two rows are made triangles at the end.
 * A block of threads works on the matrix: one thread finds what a step rotates or reflects, all
 * apply it to their rows and columns.
 */
#include "libraries/cusolver/solver_reflector.h"

static __device__ CT NAME(complex_of)(REAL re, REAL im) {
    return {re, im};
}

static __device__ REAL NAME(length)(CT a) {
    return hypot(a.x, a.y);
}

/* ---- Hessenberg's form: A = Q H Q^H ---- */

static __device__ void NAME(to_hessenberg)(T *a, long long ld, T *q, int n) {
    __shared__ T tau;
    EACH(j, 0, n) {
        for (int i = 0; i < n; i++)
            AT(q, n, i, j) = NAME(of_real)(i == j);
    }
    for (int k = 0; k < n - 2; k++) {
        const T *v = &AT(a, ld, 0, k);
        if (threadIdx.x == 0) tau = NAME(reflector)(&AT(a, ld, k + 1, k), n - k - 1);
        __syncthreads();
        EACH(j, k + 1, n) NAME(reflect)(v, conjugate(tau), &AT(a, ld, 0, j), 1, k + 1, n, 0);
        __syncthreads();
        EACH(i, 0, n) {
            NAME(reflect)(v, tau, &AT(a, ld, i, 0), ld, k + 1, n, 1);
            NAME(reflect)(v, tau, &AT(q, n, i, 0), n, k + 1, n, 1);
        }
        __syncthreads();
        EACH(i, k + 2, n) AT(a, ld, i, k) = NAME(of_real)(0);
        __syncthreads();
    }
}

/* ---- Schur's form ---- */

/* Whether the element below the diagonal in column i is negligible. */
static __device__ bool NAME(is_negligible)(const T *h, long long ld, int i) {
    const REAL beside = pivot_size(AT(h, ld, i, i)) + pivot_size(AT(h, ld, i + 1, i + 1));
    return pivot_size(AT(h, ld, i + 1, i)) <= EPSILON * beside ||
           (beside == 0 && pivot_size(AT(h, ld, i + 1, i)) == 0);
}

/* The rotation that makes (f, g) one element and a zero: c f + s g, -conj(s) f + c g. */
typedef struct NAME(rotation) {
    REAL c;
    CT s;
} NAME(rotation);

static __device__ NAME(rotation) NAME(rotate_out)(CT f, CT g) {
    NAME(rotation) r;
    const REAL f_size = NAME(length)(f), g_size = NAME(length)(g), size = hypot(f_size, g_size);
    if (size == 0) {
        r.c = 1;
        r.s = NAME(complex_of)(0, 0);
    } else if (f_size == 0) {
        r.c = 0;
        r.s = conjugate(g) / g_size;
    } else {
        r.c = f_size / size;
        r.s = (f / f_size) * (conjugate(g) / size);
    }
    return r;
}

/* Rows k and k + 1 of the triangle by the rotation, then columns of it and of Q by its inverse.
 * Rows from 0 to `rows`, columns from `first`. */
static __device__ void NAME(rotate)(CT *h, long long ld, CT *q, int n, NAME(rotation) r, int k,
                                    int first, int rows) {
    EACH(j, first, n) {
        const CT a = AT(h, ld, k, j), b = AT(h, ld, k + 1, j);
        AT(h, ld, k, j) = r.c * a + r.s * b;
        AT(h, ld, k + 1, j) = r.c * b - conjugate(r.s) * a;
    }
    __syncthreads();
    EACH(i, 0, n) {
        if (i < rows) {
            const CT a = AT(h, ld, i, k), b = AT(h, ld, i, k + 1);
            AT(h, ld, i, k) = r.c * a + conjugate(r.s) * b;
            AT(h, ld, i, k + 1) = r.c * b - r.s * a;
        }
        const CT a = AT(q, n, i, k), b = AT(q, n, i, k + 1);
        AT(q, n, i, k) = r.c * a + conjugate(r.s) * b;
        AT(q, n, i, k + 1) = r.c * b - r.s * a;
    }
    __syncthreads();
}

#if IS_COMPLEX

static __device__ T NAME(square_root)(T a) {
    const REAL size = hypot(a.x, a.y);
    const REAL re = sqrt((size + fabs(a.x)) / 2);
    if (re == 0) return {0, 0};
    if (a.x >= 0) return {re, a.y / (2 * re)};
    return {fabs(a.y) / (2 * re), a.y < 0 ? -re : re};
}

/* The eigenvalue of the last two rows that is nearer to the last element; now and then another
 * number, which ends cycles. */
static __device__ T NAME(shift)(const T *h, long long ld, int last, int round) {
    const T a = AT(h, ld, last - 1, last - 1), b = AT(h, ld, last - 1, last),
            c = AT(h, ld, last, last - 1), d = AT(h, ld, last, last);
    if (round % 10 == 9) return d + NAME(of_real)(pivot_size(c) * (REAL)0.75);
    const T half = (a - d) / (REAL)2, root = NAME(square_root)(half * half + b * c);
    const T plus = half + root, minus = half - root;
    return d + (square(plus) < square(minus) ? plus : minus);
}

/* The number of eigenvalues that were not found. */
static __device__ int NAME(to_schur)(T *h, long long ld, T *q, int n) {
    __shared__ NAME(rotation) step;
    __shared__ int first;
    int last = n - 1, round = 0;
    while (last > 0) {
        if (threadIdx.x == 0) {
            first = last;
            while (first > 0 && !NAME(is_negligible)(h, ld, first - 1))
                first--;
            if (first > 0) AT(h, ld, first, first - 1) = NAME(of_real)(0);
        }
        __syncthreads();
        const int from = first;
        __syncthreads();
        if (from == last) {
            last--;
            round = 0;
            continue;
        }
        if (round++ == ROUNDS_MAX) return last + 1;
        for (int k = from; k < last; k++) {
            if (threadIdx.x == 0)
                step = k == from
                           ? NAME(rotate_out)(AT(h, ld, k, k) - NAME(shift)(h, ld, last, round),
                                              AT(h, ld, k + 1, k))
                           : NAME(rotate_out)(AT(h, ld, k, k - 1), AT(h, ld, k + 1, k - 1));
            __syncthreads();
            NAME(rotate)(h, ld, q, n, step, k, k > from ? k - 1 : k,
                         k + 3 <= last ? k + 3 : last + 1);
            if (threadIdx.x == 0 && k > from) AT(h, ld, k + 1, k - 1) = NAME(of_real)(0);
        }
        __syncthreads();
    }
    return 0;
}

#else

/* Rows k to k + size - 1, columns of these numbers, and Q's, less the reflector v. */
static __device__ void NAME(reflect_all)(T *h, long long ld, T *q, int n, const T *v, T tau, int k,
                                         int size, int first, int rows) {
    EACH(j, first, n) NAME(reflect)(v, tau, &AT(h, ld, k, j), 1, 0, size, 0);
    __syncthreads();
    EACH(i, 0, n) {
        if (i < rows) NAME(reflect)(v, tau, &AT(h, ld, i, k), ld, 0, size, 1);
        NAME(reflect)(v, tau, &AT(q, n, i, k), n, 0, size, 1);
    }
    __syncthreads();
}

/* The first column of (H - s1)(H - s2), from row `first` on, with the eigenvalues of the last two
 * rows as shifts. */
static __device__ void NAME(first_column)(const T *h, long long ld, int first, int last, int round,
                                          T *v) {
    const T a = AT(h, ld, last - 1, last - 1), b = AT(h, ld, last - 1, last),
            c = AT(h, ld, last, last - 1), d = AT(h, ld, last, last);
    T sum = a + d, product = a * d - b * c;
    if (round % 10 == 9) {
        const T size = fabs(c) + fabs(AT(h, ld, last - 1, last - 2));
        sum = (T)1.5 * size;
        product = size * size;
    }
    const T x = AT(h, ld, first, first), y = AT(h, ld, first + 1, first);
    v[0] = x * x + AT(h, ld, first, first + 1) * y - sum * x + product;
    v[1] = y * (x + AT(h, ld, first + 1, first + 1) - sum);
    v[2] = y * AT(h, ld, first + 2, first + 1);
}

/* Leaves blocks of two rows, for pairs. The number of eigenvalues that were not found. */
static __device__ int NAME(to_schur)(T *h, long long ld, T *q, int n) {
    __shared__ T v[3], tau;
    __shared__ int first;
    int last = n - 1, round = 0;
    while (last > 0) {
        if (threadIdx.x == 0) {
            first = last;
            while (first > 0 && !NAME(is_negligible)(h, ld, first - 1))
                first--;
            if (first > 0) AT(h, ld, first, first - 1) = 0;
        }
        __syncthreads();
        const int from = first;
        __syncthreads();
        if (from >= last - 1) {
            last = from - 1;
            round = 0;
            continue;
        }
        if (round++ == ROUNDS_MAX) return last + 1;
        for (int k = from; k < last; k++) {
            const int size = k + 2 <= last ? 3 : 2;
            if (threadIdx.x == 0) {
                if (k == from)
                    NAME(first_column)(h, ld, from, last, round, v);
                else
                    for (int i = 0; i < size; i++)
                        v[i] = AT(h, ld, k + i, k - 1);
                tau = NAME(reflector)(v, size);
                v[0] = 1;
            }
            __syncthreads();
            NAME(reflect_all)(h, ld, q, n, v, tau, k, size, k > from ? k - 1 : k,
                              k + 4 <= last ? k + 4 : last + 1);
            if (threadIdx.x == 0 && k > from)
                for (int i = 1; i < size; i++)
                    AT(h, ld, k + i, k - 1) = 0;
        }
        __syncthreads();
    }
    return 0;
}

/* The eigenvalues of two rows: a pair, or two real numbers. */
static __device__ void NAME(pair)(T a, T b, T c, T d, CT *one, CT *other) {
    const T half = (a - d) / 2, inside = half * half + b * c;
    if (inside < 0) {
        *one = {(a + d) / 2, sqrt(-inside)};
        *other = {(a + d) / 2, -sqrt(-inside)};
        return;
    }
    const T far = half + (half < 0 ? -sqrt(inside) : sqrt(inside)); /* not a difference */
    *one = {d + far, 0};
    *other = {far != 0 ? d - b * c / far : d, 0};
}

/* Complex copies of H and Q, in which blocks of two rows become triangles. */
static __device__ void NAME(to_triangle)(const T *h, long long ld, const T *q, int n, CT *t,
                                         CT *u) {
    __shared__ NAME(rotation) step;
    EACH(j, 0, n) {
        for (int i = 0; i < n; i++) {
            AT(t, n, i, j) = {AT(h, ld, i, j), 0};
            AT(u, n, i, j) = {AT(q, n, i, j), 0};
        }
    }
    __syncthreads();
    for (int k = 0; k + 1 < n; k++) {
        const T c = AT(h, ld, k + 1, k);
        CT one, other;
        if (c == 0) continue;
        NAME(pair)(AT(h, ld, k, k), AT(h, ld, k, k + 1), c, AT(h, ld, k + 1, k + 1), &one, &other);
        const CT beside = {one.x - AT(h, ld, k + 1, k + 1), one.y}, below = {c, 0};
        if (threadIdx.x == 0) step = NAME(rotate_out)(beside, below);
        __syncthreads();
        NAME(rotate)(t, n, u, n, step, k, k, k + 2);
        if (threadIdx.x == 0) {
            AT(t, n, k, k) = one;
            AT(t, n, k + 1, k + 1) = other;
            AT(t, n, k + 1, k) = {0, 0};
        }
        __syncthreads();
    }
}
#endif

/* ---- vectors ---- */

/* x / size while its numbers grow too large: of matrices that lack eigenvectors. */
static __device__ void NAME(keep_small)(CT *x, int first, int outer, REAL size) {
    if (!(size > LARGE)) return;
    for (int i = first; i < outer; i++)
        x[i] = x[i] / size;
}

/* The eigenvector of a triangle to its eigenvalue k; from the left, with `is_left`. */
static __device__ void NAME(triangle_vector)(const CT *t, long long ld, int n, int k, int is_left,
                                             REAL smallest, CT *x) {
    const CT value = AT(t, ld, k, k);
    for (int i = 0; i < n; i++)
        x[i] = {i == k ? (REAL)1 : (REAL)0, 0};
    const int count = is_left ? n - 1 - k : k;
    for (int step = 1; step <= count; step++) {
        const int i = is_left ? k + step : k - step;
        CT sum = {0, 0};
        for (int j = 1; j <= step; j++) {
            const int other = is_left ? i - j : i + j;
            sum += is_left ? conjugate(AT(t, ld, other, i)) * x[other]
                           : AT(t, ld, i, other) * x[other];
        }
        CT pivot = AT(t, ld, i, i) - value;
        if (is_left) pivot = conjugate(pivot);
        if (pivot_size(pivot) < smallest) pivot = {smallest, 0};
        x[i] = -sum / pivot;
        NAME(keep_small)(x, is_left ? k : i, is_left ? i + 1 : k + 1, NAME(length)(x[i]));
    }
}

/* Of length 1, with a real largest element. */
static __device__ void NAME(normalize)(CT *y, int n) {
    REAL scale = 0, sum = 0;
    int largest = 0;
    for (int i = 0; i < n; i++)
        if (NAME(length)(y[i]) > scale) {
            scale = NAME(length)(y[i]);
            largest = i;
        }
    if (scale == 0) return;
    for (int i = 0; i < n; i++)
        sum += square(y[i] / scale);
    const CT factor = conjugate(y[largest]) / scale / (scale * sqrt(sum));
    for (int i = 0; i < n; i++)
        y[i] = y[i] * factor;
    y[largest].y = 0;
}

/* A column of `out`, or two of real ones, which hold a pair. */
static __device__ void NAME(put_vector)(const CT *y, CT value, int n, T *out, long long ld, int k) {
    for (int i = 0; i < n; i++) {
#if IS_COMPLEX
        (void)value;
        AT(out, ld, i, k) = y[i];
#else
        if (value.y < 0) return; /* the one before has it */
        AT(out, ld, i, k) = y[i].x;
        if (value.y > 0) AT(out, ld, i, k + 1) = y[i].y;
#endif
    }
}

static __device__ void NAME(vectors)(const CT *t, long long ld, const CT *u, int n, int is_left,
                                     CT *x, CT *y, T *out, long long ld_out) {
    REAL size = 0;
    for (int i = 0; i < n; i++)
        size = fmax(size, NAME(length)(AT(t, ld, i, i)));
    for (int i = 0; i + 1 < n; i++)
        size = fmax(size, NAME(length)(AT(t, ld, i, i + 1)));
    const REAL smallest = size > 0 ? size * EPSILON : EPSILON;
    EACH(k, 0, n) {
        CT *own = x + (long long)k * n, *result = y + (long long)k * n;
        NAME(triangle_vector)(t, ld, n, k, is_left, smallest, own);
        for (int i = 0; i < n; i++) {
            CT sum = {0, 0};
            for (int j = is_left ? k : 0; j < (is_left ? n : k + 1); j++)
                sum += AT(u, n, i, j) * own[j];
            result[i] = sum;
        }
        NAME(normalize)(result, n);
        NAME(put_vector)(result, AT(t, ld, k, k), n, out, ld_out, k);
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_solver_geev)(wpi_solver_general c) {
    T *a = (T *)c.a;
    const int n = c.n;
    CT *u = (CT *)c.work, *x = u + (long long)n * n, *y = x + (long long)n * n;
#if IS_COMPLEX
    CT *t = a;
    const long long ld = c.lda;
    T *q = u;
#else
    CT *t = y + (long long)n * n;
    const long long ld = n;
    T *q = (T *)(void *)x; /* which the vectors need later */
#endif
    NAME(to_hessenberg)(a, c.lda, q, n);
    const int missing = NAME(to_schur)(a, c.lda, q, n);
    if (threadIdx.x == 0) *c.info = missing;
    if (missing != 0) return;
#if !IS_COMPLEX
    NAME(to_triangle)(a, c.lda, q, n, t, u);
#endif
    EACH(k, 0, n) {
        const CT value = AT(t, ld, k, k);
        if (c.has_real_values) {
            ((REAL *)c.values)[k] = value.x;
            ((REAL *)c.values)[n + k] = value.y;
        } else {
            ((CT *)c.values)[k] = value;
        }
    }
    if (c.right != NULL) NAME(vectors)(t, ld, u, n, 0, x, y, (T *)c.right, c.ld_right);
    if (c.left != NULL) NAME(vectors)(t, ld, u, n, 1, x, y, (T *)c.left, c.ld_left);
}

static cudaError_t NAME(geev)(cudaStream_t stream, const wpi_solver_general *c) {
    return LAUNCH(NAME(wpk_solver_geev), 1u, (void *)c);
}
#undef AT
