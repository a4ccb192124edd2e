/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusolver
/* cuSOLVER's dense calls by what defines their results: factors multiply to the matrix, solutions solve, vectors are
 * orthogonal; both types, triangles, shapes, batches; numbers of failures; wrong arguments. */
#include <cusolverDn.h>
#ifndef CUSOLVER_COMMON_H_
#error "helper_cuda.h of NVIDIA's samples looks for the header's guard"
#endif
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_##status)

static uint32_t state = 88675123u;
static cusolverDnHandle_t handle;
static double number() { return (int)(check_random(&state) % 2001) / 1000. - 1; }

template <typename T> struct calls;
#define CALLS(X, T, limit)                                                                                                      \
    template <> struct calls<T> {                                                                                               \
        static constexpr double tolerance = limit;                                                                              \
        static constexpr auto potrf = cusolverDn##X##potrf;                                                                     \
        static constexpr auto potrs = cusolverDn##X##potrs;                                                                     \
        static constexpr auto potrfBatched = cusolverDn##X##potrfBatched;                                                       \
        static constexpr auto potrsBatched = cusolverDn##X##potrsBatched;                                                       \
        static constexpr auto getrf = cusolverDn##X##getrf;                                                                     \
        static constexpr auto getrs = cusolverDn##X##getrs;                                                                     \
        static constexpr auto geqrf = cusolverDn##X##geqrf;                                                                     \
        static constexpr auto ormqr = cusolverDn##X##ormqr;                                                                     \
        static constexpr auto orgqr = cusolverDn##X##orgqr;                                                                     \
        static constexpr auto syevd_bytes = cusolverDn##X##syevd_bufferSize;                                                    \
        static constexpr auto syevd = cusolverDn##X##syevd;                                                                     \
        static constexpr auto syevjBatched_bytes = cusolverDn##X##syevjBatched_bufferSize;                                      \
        static constexpr auto syevjBatched = cusolverDn##X##syevjBatched;                                                       \
        static constexpr auto sygvd = cusolverDn##X##sygvd;                                                                     \
        static constexpr auto gesvd_bytes = cusolverDn##X##gesvd_bufferSize;                                                    \
        static constexpr auto gesvd = cusolverDn##X##gesvd;                                                                     \
        static constexpr auto gesvdjBatched_bytes = cusolverDn##X##gesvdjBatched_bufferSize;                                    \
        static constexpr auto gesvdjBatched = cusolverDn##X##gesvdjBatched;                                                     \
    };
CALLS(S, float, 2e-5)
CALLS(D, double, 1e-13)

/* Managed memory for a matrix, by columns. */
template <typename T> struct matrix {
    T *data;
    int m, n;
    matrix(int rows, int columns) : data(check_managed<T>((size_t)rows * columns + 1)), m(rows), n(columns) {}
    matrix(const matrix &o) : matrix(o.m, o.n) {
        for (int i = 0; i < m * n; i++)
            data[i] = o.data[i];
    }
    ~matrix() { CUDA_OK(cudaFree(data)); }
    T &operator()(int i, int j) { return data[(size_t)j * m + i]; }
    T operator()(int i, int j) const { return data[(size_t)j * m + i]; }
    void fill() {
        for (int i = 0; i < m * n; i++)
            data[i] = (T)number();
    }
};

template <typename T> matrix<T> times(const matrix<T> &a, const matrix<T> &b, bool ta = false, bool tb = false) {
    matrix<T> c(ta ? a.n : a.m, tb ? b.m : b.n);
    for (int i = 0; i < c.m; i++)
        for (int j = 0; j < c.n; j++) {
            double sum = 0;
            for (int k = 0; k < (ta ? a.m : a.n); k++)
                sum += (double)(ta ? a(k, i) : a(i, k)) * (double)(tb ? b(j, k) : b(k, j));
            c(i, j) = (T)sum;
        }
    return c;
}

template <typename T> void close(const char *what, const matrix<T> &a, const matrix<T> &b) {
    double difference = 0, size = 1e-30;
    for (int i = 0; i < a.m * a.n; i++) {
        difference += ((double)a.data[i] - (double)b.data[i]) * ((double)a.data[i] - (double)b.data[i]);
        size += (double)b.data[i] * (double)b.data[i];
    }
    if (!(sqrt(difference / size) <= calls<T>::tolerance) && check_note_failure())
        printf("FAIL: %s of %d x %d, %d bytes: relative distance %g\n", what, a.m, a.n, (int)sizeof(T), sqrt(difference / size));
}

template <typename T> matrix<T> unit(int n) {
    matrix<T> e(n, n);
    for (int i = 0; i < n * n; i++)
        e.data[i] = i % (n + 1) == 0;
    return e;
}

static void sync() { CUDA_OK(cudaDeviceSynchronize()); }
static int *info;

/* A positive definite matrix. */
template <typename T> matrix<T> definite(int n) {
    matrix<T> b(n, n);
    b.fill();
    matrix<T> a = times(b, b, false, true);
    for (int i = 0; i < n; i++)
        a(i, i) += 1;
    return a;
}

template <typename T> void check_cholesky(int n, bool is_upper) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const matrix<T> a = definite<T>(n);
    matrix<T> f = a, x(n, 3), l(n, n), work(1, 1);
    x.fill();
    const matrix<T> b = times(a, x);
    matrix<T> solved = b;
    *info = 7;
    OK(calls<T>::potrf(handle, uplo, n, f.data, n, work.data, 1, info));
    OK(calls<T>::potrs(handle, uplo, n, 3, f.data, n, solved.data, n, info + 1));
    sync();
    CHECK_EQ(*info, 0);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            l(i, j) = i < j ? (T)0 : is_upper ? f(j, i) : f(i, j);
    close("potrf", times(l, l, false, true), a);
    close("potrs", times(a, solved), b);
    /* The other triangle is as it was. */
    if (n > 1) CHECK(is_upper ? f(1, 0) == a(1, 0) : f(0, 1) == a(0, 1));

    matrix<T> other = a, right = b;
    T **list = check_managed<T *>(4);
    list[0] = other.data, list[1] = f.data;
    f(0, 0) = -1;
    list[2] = right.data;
    OK(calls<T>::potrfBatched(handle, uplo, n, list, n, info, 2));
    OK(calls<T>::potrsBatched(handle, uplo, n, 1, list, n, list + 2, n, info + 3, 1));
    sync();
    CHECK_EQ(info[0], 0);
    CHECK_EQ(info[1], 1); /* the first minor is not positive */
    matrix<T> column(n, 1), wanted(n, 1);
    for (int i = 0; i < n; i++)
        column(i, 0) = right(i, 0), wanted(i, 0) = b(i, 0);
    close("potrsBatched", times(a, column), wanted);
    CUDA_OK(cudaFree(list));
}

template <typename T> void check_lu(int m, int n) {
    matrix<T> a(m, n), work(1, 1);
    a.fill();
    matrix<T> f = a;
    const int steps = m < n ? m : n;
    int *pivots = check_managed<int>((size_t)steps);
    OK(calls<T>::getrf(handle, m, n, f.data, m, work.data, pivots, info));
    sync();
    CHECK_EQ(*info, 0);
    matrix<T> l(m, steps), u(steps, n), permuted = a;
    for (int k = 0; k < steps; k++) {
        for (int i = 0; i < m; i++)
            l(i, k) = i == k ? (T)1 : i > k ? f(i, k) : (T)0;
        for (int j = 0; j < n; j++)
            u(k, j) = j >= k ? f(k, j) : (T)0;
        for (int j = 0; j < n; j++) {
            const T kept = permuted(k, j);
            permuted(k, j) = permuted(pivots[k] - 1, j);
            permuted(pivots[k] - 1, j) = kept;
        }
        for (int i = k + 1; i < m; i++)
            CHECK(fabs(f(i, k)) <= 1);
    }
    close("getrf", times(l, u), permuted);
    if (m == n)
        for (int is_transposed = 0; is_transposed < 2; is_transposed++) {
            matrix<T> x(n, 2);
            x.fill();
            const matrix<T> b = times(a, x, is_transposed != 0);
            matrix<T> solved = b;
            OK(calls<T>::getrs(handle, is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, 2, f.data, n, pivots, solved.data, n, info));
            sync();
            /* Backward error: the condition number may be large. */
            matrix<T> back = times(a, solved, is_transposed != 0);
            double difference = 0, size = 0;
            for (int i = 0; i < n * 2; i++) {
                difference += pow((double)(back.data[i] - b.data[i]), 2);
                size += pow((double)b.data[i], 2) + pow((double)solved.data[i], 2);
            }
            CHECK(sqrt(difference / size) <= 10 * calls<T>::tolerance);
        }
    CUDA_OK(cudaFree(pivots));
}

template <typename T> void check_qr(int m, int n) {
    matrix<T> a(m, n), tau(n, 1), work(1, 1), c(m, 3);
    a.fill();
    c.fill();
    const int k = m < n ? m : n;
    matrix<T> f = a;
    OK(calls<T>::geqrf(handle, m, n, f.data, m, tau.data, work.data, 1, info));
    sync();
    matrix<T> q(m, k), r(k, n), whole(m, m);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            if (i < k) r(i, j) = i <= j ? f(i, j) : (T)0;
            if (j < k) q(i, j) = whole(i, j) = f(i, j);
        }
    OK(calls<T>::orgqr(handle, m, k, k, q.data, m, tau.data, work.data, 1, info));
    OK(calls<T>::orgqr(handle, m, m, k, whole.data, m, tau.data, work.data, 1, info));
    sync();
    close("orgqr", times(q, q, true), unit<T>(k));
    close("orgqr of all columns", times(whole, whole, true), unit<T>(m));
    close("geqrf", times(q, r), a);
    for (int is_right = 0; is_right < 2; is_right++)
        for (int is_transposed = 0; is_transposed < 2; is_transposed++) {
            matrix<T> b(is_right ? 3 : m, is_right ? m : 3);
            b.fill();
            matrix<T> got = b;
            OK(calls<T>::ormqr(handle, is_right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                               b.m, b.n, k, f.data, m, tau.data, got.data, b.m, work.data, 1, info));
            sync();
            close("ormqr", got, is_right ? times(b, whole, false, is_transposed != 0) : times(whole, b, is_transposed != 0));
        }
}

template <typename T> void check_vectors(const char *what, const matrix<T> &a, const matrix<T> &v, const T *values) {
    matrix<T> scaled = v;
    for (int j = 0; j < v.n; j++)
        for (int i = 0; i < v.m; i++)
            scaled(i, j) = v(i, j) * values[j];
    close(what, times(a, v), scaled);
    for (int j = 1; j < v.n; j++)
        CHECK(values[j - 1] <= values[j]);
}

template <typename T> void check_eigen(int n, bool is_upper) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    matrix<T> a(n, n), values(n, 1), others(n, 1);
    a.fill();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            a(i, j) = a(j, i);
    matrix<T> v = a, plain = a;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            (is_upper ? v(i, j) : v(j, i)) = 99; /* is not read */
    int size = 0;
    OK(calls<T>::syevd_bytes(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, v.data, n, values.data, &size));
    matrix<T> work(size, 2);
    OK(calls<T>::syevd(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, v.data, n, values.data, work.data, size, info));
    OK(calls<T>::syevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, plain.data, n, others.data, work.data, size, info + 1));
    sync();
    CHECK_EQ(info[0], 0);
    check_vectors("syevd", a, v, values.data);
    close("syevd's vectors", times(v, v, true), unit<T>(n));
    close("syevd without vectors", others, values);

    /* Two in a batch: the matrix and its negative. */
    matrix<T> both(n, 2 * n), two(2 * n, 1);
    for (int i = 0; i < n * n; i++)
        both.data[i] = a.data[i], both.data[n * n + i] = -a.data[i];
    syevjInfo_t parameters;
    OK(cusolverDnCreateSyevjInfo(&parameters));
    OK(cusolverDnXsyevjSetMaxSweeps(parameters, 50));
    OK(calls<T>::syevjBatched_bytes(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, both.data, n, two.data, &size, parameters, 2));
    matrix<T> room(size, 1);
    OK(calls<T>::syevjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, both.data, n, two.data, room.data, size, info, parameters,
                              2));
    sync();
    OK(cusolverDnDestroySyevjInfo(parameters));
    for (int i = 0; i < n; i++)
        others(i, 0) = -two(2 * n - 1 - i, 0);
    close("syevjBatched", others, values);

    /* A x = w B x. */
    const matrix<T> b = definite<T>(n);
    matrix<T> factor = b, x = a, right(n, n);
    OK(calls<T>::sygvd(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, uplo, n, x.data, n, factor.data, n, values.data,
                       work.data, size, info));
    sync();
    CHECK_EQ(info[0], 0);
    const matrix<T> bx = times(b, x);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            right(i, j) = bx(i, j) * values(j, 0);
    close("sygvd's vectors", times(x, bx, true), unit<T>(n));
    close("sygvd", times(x, times(a, x), true), times(x, right, true));
}

template <typename T> void check_svd(int m, int n, int rank) {
    matrix<T> x(m, rank), y(rank, n);
    x.fill();
    y.fill();
    const matrix<T> a = times(x, y);
    matrix<T> f = a, values(n, 1), u(m, m), vt(n, n), scaled(m, n), few(m, n);
    int size = 0;
    OK(calls<T>::gesvd_bytes(handle, m, n, &size));
    matrix<T> work(size, 1);
    OK(calls<T>::gesvd(handle, 'A', 'A', m, n, f.data, m, values.data, u.data, m, vt.data, n, work.data, size, nullptr, info));
    sync();
    CHECK_EQ(*info, 0);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            few(i, j) = u(i, j), scaled(i, j) = u(i, j) * values(j, 0);
    close("gesvd", times(scaled, vt), a);
    close("gesvd's U", times(u, u, true), unit<T>(m));
    close("gesvd's V", times(vt, vt, false, true), unit<T>(n));
    for (int j = 1; j < n; j++)
        CHECK(values(j - 1, 0) >= values(j, 0));
    CHECK(values(n - 1, 0) >= 0);
    for (int j = rank; j < n; j++)
        CHECK((double)values(j, 0) <= 100 * calls<T>::tolerance * (double)values(0, 0));

    /* In the matrix' place: U, then V^T. */
    matrix<T> columns(m, n), rows(n, n), left(m, n), right = a, over = a;
    OK(calls<T>::gesvd(handle, 'O', 'S', m, n, over.data, m, values.data, nullptr, 1, vt.data, n, work.data, size, nullptr, info));
    OK(calls<T>::gesvd(handle, 'S', 'O', m, n, right.data, m, values.data, left.data, m, nullptr, 1, work.data, size, nullptr, info));
    CHECK_EQ((int)calls<T>::gesvd(handle, 'O', 'O', m, n, over.data, m, values.data, nullptr, 1, nullptr, 1, work.data, size, nullptr, info),
             (int)CUSOLVER_STATUS_INVALID_VALUE);
    sync();
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < m; i++)
            columns(i, j) = over(i, j) * values(j, 0), left(i, j) = left(i, j) * values(j, 0);
        for (int i = 0; i < n; i++)
            rows(i, j) = right(i, j);
    }
    close("gesvd's U in the matrix", times(columns, vt), a);
    close("gesvd's V in the matrix", times(left, rows), a);

    matrix<T> both(m, 2 * n), s(n, 2), us(m, 2 * m), vs(n, 2 * n);
    for (int i = 0; i < m * n; i++)
        both.data[i] = a.data[i], both.data[m * n + i] = 2 * a.data[i];
    gesvdjInfo_t parameters;
    OK(cusolverDnCreateGesvdjInfo(&parameters));
    OK(calls<T>::gesvdjBatched_bytes(handle, CUSOLVER_EIG_MODE_VECTOR, m, n, both.data, m, s.data, us.data, m, vs.data, n, &size,
                                     parameters, 2));
    matrix<T> room(size, 1);
    OK(calls<T>::gesvdjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, m, n, both.data, m, s.data, us.data, m, vs.data, n, room.data,
                               size, info, parameters, 2));
    sync();
    OK(cusolverDnDestroyGesvdjInfo(parameters));
    matrix<T> v(n, n), doubled(n, 1), first(n, 1);
    for (int i = 0; i < n; i++)
        doubled(i, 0) = s(i, 1) / 2, first(i, 0) = s(i, 0);
    for (int i = 0; i < n * n; i++)
        v.data[i] = vs.data[n * n + i];
    close("gesvdjBatched", doubled, values);
    close("gesvdjBatched", first, values);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            scaled(i, j) = us.data[m * m + j * m + i] * s(j, 1) / 2;
    close("gesvdjBatched's vectors", times(scaled, v, false, true), a);
}

template <typename T> void check_type() {
    for (int is_upper = 0; is_upper < 2; is_upper++)
        for (int n : {1, 2, 3, 17, 40}) {
            check_cholesky<T>(n, is_upper);
            check_eigen<T>(n, is_upper);
        }
    check_lu<T>(1, 1);
    check_lu<T>(20, 20);
    check_lu<T>(9, 14);
    check_lu<T>(14, 9);
    check_qr<T>(1, 1);
    check_qr<T>(20, 20);
    check_qr<T>(23, 11);
    check_qr<T>(7, 12);
    check_svd<T>(1, 1, 1);
    check_svd<T>(12, 12, 12);
    check_svd<T>(20, 7, 7);
    check_svd<T>(15, 6, 3);
}

static void check_statuses() {
    int size, version = 0;
    IS(cusolverDnCreate(nullptr), INVALID_VALUE);
    IS(cusolverDnSetStream(nullptr, nullptr), NOT_INITIALIZED);
    IS(cusolverDnDpotrf_bufferSize(handle, CUBLAS_FILL_MODE_LOWER, 5, nullptr, 4, &size), INVALID_VALUE);
    IS(cusolverDnDgesvd_bufferSize(handle, 3, 4, &size), INVALID_VALUE); /* more columns than rows */
    double work[8];
    IS(cusolverDnDsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, 4, work, 4, work, work, 1, nullptr),
       INVALID_VALUE); /* too little work memory */
    IS(cusolverDnXgesvdr(), NOT_SUPPORTED);
    OK(cusolverGetVersion(&version));
    CHECK_EQ(version, CUSOLVER_VERSION);

    /* A singular matrix is factored, and its first zero named. */
    double *a = check_managed<double>(9);
    int *pivots = check_managed<int>(3);
    for (int i = 0; i < 9; i++)
        a[i] = i < 6 ? i + 1 : 0;
    OK(cusolverDnDgetrf(handle, 3, 3, a, 3, a, pivots, info));
    sync();
    CHECK_EQ(*info, 3);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(pivots));
}

int main() {
    info = check_managed<int>(8);
    OK(cusolverDnCreate(&handle));
    check_type<float>();
    check_type<double>();
    check_statuses();
    OK(cusolverDnDestroy(handle));
    return check_done();
}
