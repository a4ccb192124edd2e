/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusolver
/* cuSOLVER's dense calls of complex matrices, and, of all four types, systems by one call, inverses, singular values of
 * either shape and the first of many matrices: by what defines their results, computed in double. */
#include <cusolverDn.h>
#include <math.h>
#include <vector>

#include "check.h"
#include "numbers.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_##status)

static uint32_t state = 362436069u;
static cusolverDnHandle_t handle;
static cusolverDnParams_t params;
static int *info;
static double part() { return (int)(check_random(&state) % 2001) / 1000. - 1; }

template <typename T> struct type;
#define TYPE(X, T, R, named, limit, complex)                                                                                    \
    template <> struct type<T> {                                                                                                \
        typedef R real;                                                                                                         \
        static constexpr double tolerance = limit;                                                                              \
        static constexpr bool is_complex = complex;                                                                             \
        static constexpr cudaDataType name = named;                                                                             \
        static constexpr auto potrf = cusolverDn##X##potrf;                                                                     \
        static constexpr auto potri = cusolverDn##X##potri;                                                                     \
        static constexpr auto getrf = cusolverDn##X##getrf;                                                                     \
        static constexpr auto gesvdj_size = cusolverDn##X##gesvdj_bufferSize;                                                   \
        static constexpr auto gesvdj = cusolverDn##X##gesvdj;                                                                   \
        static constexpr auto gesvda_size = cusolverDn##X##gesvdaStridedBatched_bufferSize;                                     \
        static constexpr auto gesvda = cusolverDn##X##gesvdaStridedBatched;                                                     \
    };
TYPE(S, float, float, CUDA_R_32F, 2e-5, false)
TYPE(D, double, double, CUDA_R_64F, 1e-13, false)
TYPE(C, cuComplex, float, CUDA_C_32F, 2e-5, true)
TYPE(Z, cuDoubleComplex, double, CUDA_C_64F, 1e-13, true)

template <typename T> struct calls;
#define CALLS(X, T)                                                                                                             \
    template <> struct calls<T> {                                                                                               \
        static constexpr auto potrs = cusolverDn##X##potrs;                                                                     \
        static constexpr auto potrfBatched = cusolverDn##X##potrfBatched;                                                       \
        static constexpr auto potrsBatched = cusolverDn##X##potrsBatched;                                                       \
        static constexpr auto getrs = cusolverDn##X##getrs;                                                                     \
        static constexpr auto geqrf = cusolverDn##X##geqrf;                                                                     \
        static constexpr auto unmqr = cusolverDn##X##unmqr;                                                                     \
        static constexpr auto ungqr = cusolverDn##X##ungqr;                                                                     \
        static constexpr auto heevd_size = cusolverDn##X##heevd_bufferSize;                                                     \
        static constexpr auto heevd = cusolverDn##X##heevd;                                                                     \
        static constexpr auto heevdx = cusolverDn##X##heevdx;                                                                   \
        static constexpr auto heevjBatched_size = cusolverDn##X##heevjBatched_bufferSize;                                       \
        static constexpr auto heevjBatched = cusolverDn##X##heevjBatched;                                                       \
        static constexpr auto hegvd = cusolverDn##X##hegvd;                                                                     \
        static constexpr auto gesvd_size = cusolverDn##X##gesvd_bufferSize;                                                     \
        static constexpr auto gesvd = cusolverDn##X##gesvd;                                                                     \
    };
CALLS(C, cuComplex)
CALLS(Z, cuDoubleComplex)

/* A matrix of the host, by columns. */
struct matrix {
    int m, n;
    std::vector<number> data;
    matrix(int rows, int columns) : m(rows), n(columns), data((size_t)rows * columns) {}
    number &operator()(int i, int j) { return data[(size_t)j * m + i]; }
    number operator()(int i, int j) const { return data[(size_t)j * m + i]; }
};

/* Elements of the device, behind a column more than the matrix has rows for. */
template <typename T> struct stored {
    T *data;
    int ld, n;
    stored(int rows, int columns) : data(check_managed<T>((size_t)(rows + 1) * columns + 1)), ld(rows + 1), n(columns) {}
    stored(const matrix &from) : stored(from.m, from.n) {
        for (int j = 0; j < n; j++)
            for (int i = 0; i < from.m; i++)
                put(&data[j * ld + i], from(i, j));
    }
    stored(const stored &) = delete;
    ~stored() { CUDA_OK(cudaFree(data)); }
    matrix read(int rows, int columns) const {
        matrix r(rows, columns);
        for (int j = 0; j < columns; j++)
            for (int i = 0; i < rows; i++)
                r(i, j) = wide(data[j * ld + i]);
        return r;
    }
};

/* Random numbers as the type stores them. */
template <typename T> matrix random_matrix(int m, int n) {
    matrix a(m, n);
    for (number &x : a.data) {
        T rounded;
        put(&rounded, number(part(), part()));
        x = wide(rounded);
    }
    return a;
}

/* The conjugate transpose. */
static matrix across(const matrix &a) {
    matrix r(a.n, a.m);
    for (int i = 0; i < a.m; i++)
        for (int j = 0; j < a.n; j++)
            r(j, i) = conj(a(i, j));
    return r;
}

static matrix times(const matrix &a, const matrix &b) {
    matrix c(a.m, b.n);
    CHECK_EQ(a.n, b.m);
    for (int i = 0; i < a.m; i++)
        for (int j = 0; j < b.n; j++)
            for (int k = 0; k < a.n; k++)
                c(i, j) += a(i, k) * b(k, j);
    return c;
}

static matrix unit(int n) {
    matrix e(n, n);
    for (int i = 0; i < n; i++)
        e(i, i) = 1;
    return e;
}

/* Columns times values. */
template <typename R> matrix scaled(const matrix &a, const R *values) {
    matrix r = a;
    for (int j = 0; j < a.n; j++)
        for (int i = 0; i < a.m; i++)
            r(i, j) *= (double)values[j];
    return r;
}

template <typename T> void close(const char *what, const matrix &a, const matrix &b, double factor = 1) {
    double difference = 0, size = 1e-30;
    CHECK_EQ(a.m, b.m);
    CHECK_EQ(a.n, b.n);
    for (size_t i = 0; i < a.data.size(); i++)
        difference += norm(a.data[i] - b.data[i]), size += norm(b.data[i]);
    if (!(sqrt(difference / size) <= factor * type<T>::tolerance) && check_note_failure())
        printf("FAIL: %s of %d x %d, %d bytes: relative distance %g\n", what, a.m, a.n, (int)sizeof(T), sqrt(difference / size));
}

static void sync() { CUDA_OK(cudaDeviceSynchronize()); }

template <typename T> matrix definite(int n) {
    const matrix b = random_matrix<T>(n, n);
    matrix a = times(b, across(b));
    for (int i = 0; i < n; i++)
        a(i, i) = a(i, i).real() + 1;
    return a;
}

/* The triangle that is not read, and the parts of the diagonal that are not. */
static matrix with_noise(matrix a, bool is_upper) {
    for (int i = 0; i < a.n; i++) {
        a(i, i) += number(0, 5);
        for (int j = 0; j < i; j++)
            (is_upper ? a(i, j) : a(j, i)) = 99;
    }
    return a;
}

/* The whole of which one triangle is stored. */
static matrix whole(const matrix &half, bool is_upper) {
    matrix a = half;
    for (int i = 0; i < a.n; i++)
        for (int j = 0; j < i; j++)
            (is_upper ? a(i, j) : a(j, i)) = conj(is_upper ? half(j, i) : half(i, j));
    return a;
}

template <typename T> void check_inverse(int n, bool is_upper) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const matrix a = definite<T>(n);
    stored<T> f(a), work(1, 1);
    OK(type<T>::potrf(handle, uplo, n, f.data, f.ld, work.data, 1, info));
    OK(type<T>::potri(handle, uplo, n, f.data, f.ld, work.data, 1, info + 1));
    sync();
    CHECK_EQ(info[0], 0);
    CHECK_EQ(info[1], 0);
    close<T>("potri", times(a, whole(f.read(n, n), is_upper)), unit(n), 100);
    put(&f.data[0], 0);
    OK(type<T>::potri(handle, uplo, n, f.data, f.ld, work.data, 1, info));
    sync();
    CHECK_EQ(info[0], 1); /* a factor with a zero on the diagonal */
}

template <typename T> void check_cholesky(int n, bool is_upper) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const matrix a = definite<T>(n), x = random_matrix<T>(n, 3), b = times(a, x);
    stored<T> f(with_noise(a, is_upper)), solved(b), work(1, 1), other(with_noise(a, is_upper)), right(b);
    OK(type<T>::potrf(handle, uplo, n, f.data, f.ld, work.data, 1, info));
    OK(calls<T>::potrs(handle, uplo, n, 3, f.data, f.ld, solved.data, solved.ld, info + 1));
    sync();
    CHECK_EQ(info[0], 0);
    matrix l = f.read(n, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            (is_upper ? l(i, j) : l(j, i)) = 0;
    if (is_upper) l = across(l);
    close<T>("potrf", times(l, across(l)), a);
    close<T>("potrs", times(a, solved.read(n, 3)), b, 10);

    T **list = check_managed<T *>(3);
    list[0] = other.data, list[1] = right.data;
    OK(calls<T>::potrfBatched(handle, uplo, n, list, other.ld, info, 1));
    OK(calls<T>::potrsBatched(handle, uplo, n, 1, list, other.ld, list + 1, right.ld, info + 2, 1));
    sync();
    CHECK_EQ(info[0], 0);
    matrix column(n, 1), wanted(n, 1);
    const matrix got = right.read(n, 1);
    for (int i = 0; i < n; i++)
        column(i, 0) = got(i, 0), wanted(i, 0) = b(i, 0);
    close<T>("potrsBatched", times(a, column), wanted, 10);
    CUDA_OK(cudaFree(list));
}

template <typename T> void check_lu(int m, int n) {
    const matrix a = random_matrix<T>(m, n);
    stored<T> f(a), work(1, 1);
    const int steps = m < n ? m : n;
    int *pivots = check_managed<int>((size_t)steps);
    OK(type<T>::getrf(handle, m, n, f.data, f.ld, work.data, pivots, info));
    sync();
    CHECK_EQ(*info, 0);
    const matrix factors = f.read(m, n);
    matrix l(m, steps), u(steps, n), permuted = a;
    for (int k = 0; k < steps; k++) {
        for (int i = k; i < m; i++)
            l(i, k) = i == k ? number(1) : factors(i, k);
        for (int j = k; j < n; j++)
            u(k, j) = factors(k, j);
        for (int j = 0; j < n; j++)
            std::swap(permuted(k, j), permuted(pivots[k] - 1, j));
    }
    close<T>("getrf", times(l, u), permuted);
    for (int op = 0; op < 3 && m == n; op++) {
        matrix turned = op == 0 ? a : across(a);
        for (number &x : turned.data)
            x = op == 1 ? conj(x) : x;
        const matrix b = times(turned, random_matrix<T>(n, 2));
        stored<T> solved(b);
        OK(calls<T>::getrs(handle, op == 0 ? CUBLAS_OP_N : op == 1 ? CUBLAS_OP_T : CUBLAS_OP_C, n, 2, f.data, f.ld, pivots, solved.data,
                           solved.ld, info));
        sync();
        close<T>("getrs", times(turned, solved.read(n, 2)), b, 100);
    }
    CUDA_OK(cudaFree(pivots));
}

template <typename T> void check_qr(int m, int n) {
    const matrix a = random_matrix<T>(m, n);
    const int k = m < n ? m : n;
    stored<T> f(a), tau(n, 1), work(1, 1);
    OK(calls<T>::geqrf(handle, m, n, f.data, f.ld, tau.data, work.data, 1, info));
    sync();
    const matrix factors = f.read(m, n);
    matrix r(k, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < k && i <= j; i++)
            r(i, j) = factors(i, j);
    for (int i = 0; i < k; i++)
        CHECK_EQ(r(i, i).imag(), 0.);
    stored<T> all(factors.m, factors.m);
    for (int j = 0; j < k; j++)
        for (int i = 0; i < m; i++)
            all.data[j * all.ld + i] = f.data[j * f.ld + i];
    OK(calls<T>::ungqr(handle, m, m, k, all.data, all.ld, tau.data, work.data, 1, info));
    sync();
    const matrix q = all.read(m, m), part = all.read(m, k);
    close<T>("ungqr", times(across(q), q), unit(m));
    close<T>("geqrf", times(part, r), a);
    for (int is_right = 0; is_right < 2; is_right++)
        for (int is_across = 0; is_across < 2; is_across++) {
            const matrix b = random_matrix<T>(is_right ? 3 : m, is_right ? m : 3), by = is_across ? across(q) : q;
            stored<T> got(b);
            OK(calls<T>::unmqr(handle, is_right ? CUBLAS_SIDE_RIGHT : CUBLAS_SIDE_LEFT, is_across ? CUBLAS_OP_C : CUBLAS_OP_N, b.m, b.n,
                               k, f.data, f.ld, tau.data, got.data, got.ld, work.data, 1, info));
            sync();
            close<T>("unmqr", got.read(b.m, b.n), is_right ? times(b, by) : times(by, b));
        }
}

template <typename T> void check_eigen(int n, bool is_upper) {
    typedef typename type<T>::real R;
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    matrix a = random_matrix<T>(n, n);
    for (int i = 0; i < n; i++) {
        a(i, i) = a(i, i).real();
        for (int j = 0; j < i; j++)
            a(i, j) = conj(a(j, i));
    }
    stored<T> v(with_noise(a, is_upper)), plain(with_noise(a, is_upper)), some(with_noise(a, is_upper));
    R *values = check_managed<R>(4 * n), *others = values + n, *both = values + 2 * n;
    int size = 0, found = 0;
    OK(calls<T>::heevd_size(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, v.data, v.ld, values, &size));
    stored<T> work(2 * size, 1);
    OK(calls<T>::heevd(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, v.data, v.ld, values, work.data, size, info));
    OK(calls<T>::heevd(handle, CUSOLVER_EIG_MODE_NOVECTOR, uplo, n, plain.data, plain.ld, others, work.data, size, info + 1));
    sync();
    CHECK_EQ(info[0], 0);
    CHECK_EQ(info[1], 0);
    const matrix vectors = v.read(n, n);
    close<T>("heevd", times(a, vectors), scaled(vectors, values), 10);
    close<T>("heevd's vectors", times(across(vectors), vectors), unit(n));
    double largest = 1e-30;
    for (int i = 0; i < n; i++)
        largest = fmax(largest, fabs((double)values[i]));
    for (int i = 0; i < n; i++) {
        CHECK(fabs((double)values[i] - (double)others[i]) <= 10 * type<T>::tolerance * largest);
        if (i > 0) CHECK(values[i - 1] <= values[i]);
    }

    OK(calls<T>::heevdx(handle, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, uplo, n, some.data, some.ld, 0, 0, n, n, &found, others,
                        work.data, size, info));
    sync();
    CHECK_EQ(found, 1);
    const matrix last = some.read(n, 1);
    close<T>("heevdx", times(a, last), scaled(last, others), 100);

    /* Two in a batch: the matrix and its negative. */
    matrix two(n, 2 * n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            two(i, j) = a(i, j), two(i, n + j) = -a(i, j);
    stored<T> pair(two);
    syevjInfo_t parameters;
    OK(cusolverDnCreateSyevjInfo(&parameters));
    OK(calls<T>::heevjBatched_size(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, pair.data, pair.ld, both, &size, parameters, 2));
    OK(calls<T>::heevjBatched(handle, CUSOLVER_EIG_MODE_VECTOR, uplo, n, pair.data, pair.ld, both, work.data, size, info, parameters, 2));
    sync();
    OK(cusolverDnDestroySyevjInfo(parameters));
    for (int i = 0; i < n; i++)
        CHECK(fabs((double)both[2 * n - 1 - i] + (double)values[i]) <= 10 * type<T>::tolerance * largest);

    /* A x = w B x. */
    const matrix b = definite<T>(n);
    stored<T> x(with_noise(a, is_upper)), factor(with_noise(b, is_upper));
    OK(calls<T>::hegvd(handle, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, uplo, n, x.data, x.ld, factor.data, factor.ld, values,
                       work.data, 4 * n, info));
    sync();
    CHECK_EQ(info[0], 0);
    const matrix found_x = x.read(n, n);
    close<T>("hegvd's vectors", times(across(found_x), times(b, found_x)), unit(n), 100);
    matrix diagonal(n, n);
    for (int i = 0; i < n; i++)
        diagonal(i, i) = (double)values[i];
    close<T>("hegvd", times(across(found_x), times(a, found_x)), diagonal, 100);
    CUDA_OK(cudaFree(values));
}

template <typename R> void check_descending(const R *values, int n) {
    for (int j = 0; j < n; j++)
        CHECK(j + 1 == n ? values[j] >= 0 : values[j] >= values[j + 1]);
}

template <typename T> void check_svd(int m, int n, int rank) {
    typedef typename type<T>::real R;
    const matrix a = times(random_matrix<T>(m, rank), random_matrix<T>(rank, n));
    stored<T> f(a), u(m, m), vt(n, n);
    R *values = check_managed<R>(n);
    int size = 0;
    OK(calls<T>::gesvd_size(handle, m, n, &size));
    stored<T> work(size, 1);
    OK(calls<T>::gesvd(handle, 'A', 'A', m, n, f.data, f.ld, values, u.data, u.ld, vt.data, vt.ld, work.data, size, nullptr, info));
    sync();
    CHECK_EQ(*info, 0);
    const matrix left = u.read(m, m), right = vt.read(n, n);
    close<T>("gesvd", times(scaled(u.read(m, n), values), right), a);
    close<T>("gesvd's U", times(across(left), left), unit(m));
    close<T>("gesvd's V", times(across(right), right), unit(n));
    check_descending(values, n);
    for (int j = rank; j < n; j++)
        CHECK((double)values[j] <= 100 * type<T>::tolerance * (double)values[0]);
    CUDA_OK(cudaFree(values));
}

/* A = U S V^T of either shape, with all vectors or few. */
template <typename T> void check_jacobi(int m, int n, int econ) {
    typedef typename type<T>::real R;
    const int k = m < n ? m : n;
    const matrix a = random_matrix<T>(m, n);
    stored<T> f(a), u(m, m), v(n, n);
    R *values = check_managed<R>(k);
    gesvdjInfo_t parameters;
    int size = 0;
    OK(cusolverDnCreateGesvdjInfo(&parameters));
    OK(type<T>::gesvdj_size(handle, CUSOLVER_EIG_MODE_VECTOR, econ, m, n, f.data, f.ld, values, u.data, u.ld, v.data, v.ld, &size,
                            parameters));
    stored<T> work(size, 1);
    OK(type<T>::gesvdj(handle, CUSOLVER_EIG_MODE_VECTOR, econ, m, n, f.data, f.ld, values, u.data, u.ld, v.data, v.ld, work.data, size,
                       info, parameters));
    sync();
    OK(cusolverDnDestroyGesvdjInfo(parameters));
    CHECK_EQ(*info, 0);
    close<T>("gesvdj", times(scaled(u.read(m, k), values), across(v.read(n, k))), a);
    const matrix left = u.read(m, econ ? k : m), right = v.read(n, econ ? k : n);
    close<T>("gesvdj's U", times(across(left), left), unit(left.n));
    close<T>("gesvdj's V", times(across(right), right), unit(right.n));
    check_descending(values, k);
    CUDA_OK(cudaFree(values));
}

/* The first values of two matrices; what their product lacks is in the others. */
template <typename T> void check_first(int m, int n, int rank) {
    typedef typename type<T>::real R;
    const matrix a = random_matrix<T>(m, 2 * n);
    stored<T> f(a), u(m, 2 * rank), v(n, 2 * rank);
    R *values = check_managed<R>(2 * n);
    double lacking[2] = {-1, -1};
    int size = 0;
    const long long fs = (long long)f.ld * n, us = (long long)u.ld * rank, vs = (long long)v.ld * rank;
    OK(type<T>::gesvda_size(handle, CUSOLVER_EIG_MODE_VECTOR, rank, m, n, f.data, f.ld, fs, values, n, u.data, u.ld, us, v.data, v.ld, vs,
                            &size, 2));
    stored<T> work(size, 1);
    OK(type<T>::gesvda(handle, CUSOLVER_EIG_MODE_VECTOR, rank, m, n, f.data, f.ld, fs, values, n, u.data, u.ld, us, v.data, v.ld, vs,
                       work.data, size, info, lacking, 2));
    sync();
    for (int b = 0; b < 2; b++) {
        CHECK_EQ(info[b], 0);
        matrix one(m, n), left(m, rank), right(n, rank);
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++)
                one(i, j) = a(i, b * n + j);
        for (int j = 0; j < rank; j++) {
            for (int i = 0; i < m; i++)
                left(i, j) = wide(u.data[b * us + j * u.ld + i]);
            for (int i = 0; i < n; i++)
                right(i, j) = wide(v.data[b * vs + j * v.ld + i]);
        }
        check_descending(values + b * n, rank);
        close<T>("gesvda", times(one, right), scaled(left, values + b * n));
        const matrix got = times(scaled(left, values + b * n), across(right));
        double sum = 0, size_of = 0;
        for (size_t i = 0; i < one.data.size(); i++)
            sum += norm(one.data[i] - got.data[i]), size_of += norm(one.data[i]);
        CHECK(fabs(sqrt(sum) - lacking[b]) <= 10 * type<T>::tolerance * sqrt(size_of));
    }
    close<T>("gesvda's matrix, which it leaves", f.read(m, 2 * n), a);
    CUDA_OK(cudaFree(values));
}

template <typename T, typename S, typename S_size, typename L, typename L_size>
void check_system(const char *what, S gesv, S_size gesv_size, L gels, L_size gels_size) {
    const int n = 13, m = 21;
    const matrix a = random_matrix<T>(n, n), b = times(a, random_matrix<T>(n, 2));
    stored<T> f(a), right(b), x(n, 2);
    int *pivots = check_managed<int>(n), rounds = -1;
    size_t bytes = 0;
    OK(gesv_size(handle, n, 2, f.data, f.ld, pivots, right.data, right.ld, x.data, x.ld, nullptr, &bytes));
    CHECK(bytes > 0);
    char *work = check_managed<char>(bytes);
    OK(gesv(handle, n, 2, f.data, f.ld, pivots, right.data, right.ld, x.data, x.ld, work, bytes, &rounds, info));
    sync();
    CHECK_EQ(*info, 0);
    CHECK_EQ(rounds, 0);
    close<T>(what, times(a, x.read(n, 2)), b, 100);
    CUDA_OK(cudaFree(work));

    /* What is left of least squares is orthogonal to the columns. */
    const matrix tall = random_matrix<T>(m, n), wanted = random_matrix<T>(m, 2);
    stored<T> g(tall), given(wanted), y(n, 2);
    OK(gels_size(handle, m, n, 2, g.data, g.ld, given.data, given.ld, y.data, y.ld, nullptr, &bytes));
    work = check_managed<char>(bytes);
    rounds = -1;
    OK(gels(handle, m, n, 2, g.data, g.ld, given.data, given.ld, y.data, y.ld, work, bytes, &rounds, info));
    sync();
    CHECK_EQ(*info, 0);
    CHECK_EQ(rounds, 0);
    close<T>(what, times(across(tall), times(tall, y.read(n, 2))), times(across(tall), wanted), 100);
    IS(gels(handle, n, m, 2, g.data, g.ld, given.data, given.ld, y.data, y.ld, work, bytes, &rounds, info), INVALID_VALUE);
    CUDA_OK(cudaFree(work));

    /* A column of zeros: no solution. */
    for (int i = 0; i < n; i++)
        put(&f.data[3 * f.ld + i], 0);
    OK(gesv(handle, n, 2, f.data, f.ld, pivots, right.data, right.ld, x.data, x.ld, work, bytes, &rounds, info));
    sync();
    CHECK_EQ(*info, 4);
    CUDA_OK(cudaFree(pivots));
}
#define SYSTEM(X, T) check_system<T>(#X, cusolverDn##X##gesv, cusolverDn##X##gesv_bufferSize, cusolverDn##X##gels, cusolverDn##X##gels_bufferSize)

/* The interface with types by arguments. */
template <typename T> void check_named(int n) {
    typedef typename type<T>::real R;
    const cudaDataType t = type<T>::name, r = sizeof(R) == 4 ? CUDA_R_32F : CUDA_R_64F;
    matrix a = definite<T>(n);
    stored<T> v(a), f(a), u(n, n), vt(n, n), g(a), b(times(a, unit(n)));
    R *values = check_managed<R>(2 * n);
    int64_t *pivots = check_managed<int64_t>(n);
    size_t device = 0, host = 1, other = 0, more = 0;
    OK(cusolverDnXsyevd_bufferSize(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, t, v.data, v.ld, r, values, t,
                                   &device, &host));
    CHECK_EQ(host, (size_t)0);
    OK(cusolverDnXgesvd_bufferSize(handle, params, 'A', 'A', n, n, t, f.data, f.ld, r, values + n, t, u.data, u.ld, t, vt.data, vt.ld, t,
                                   &other, &host));
    OK(cusolverDnXgetrf_bufferSize(handle, params, n, n, t, g.data, g.ld, t, &more, &host));
    void *work = check_managed<char>(device + other + more);
    OK(cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, t, v.data, v.ld, r, values, t, work, device,
                        nullptr, 0, info));
    OK(cusolverDnXgesvd(handle, params, 'A', 'A', n, n, t, f.data, f.ld, r, values + n, t, u.data, u.ld, t, vt.data, vt.ld, t, work, other,
                        nullptr, 0, info + 1));
    OK(cusolverDnXgetrf(handle, params, n, n, t, g.data, g.ld, pivots, t, work, more, nullptr, 0, info + 2));
    OK(cusolverDnXgetrs(handle, params, CUBLAS_OP_C, n, n, t, g.data, g.ld, pivots, t, b.data, b.ld, info + 3));
    IS(cusolverDnXsyevd(handle, params, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, t, v.data, v.ld,
                        r == CUDA_R_32F ? CUDA_R_64F : CUDA_R_32F, values, t, work, device, nullptr, 0, info),
       INVALID_VALUE);
    sync();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(info[i], 0);
    const matrix vectors = v.read(n, n);
    close<T>("Xsyevd", times(a, vectors), scaled(vectors, values), 10);
    close<T>("Xgesvd", times(scaled(u.read(n, n), values + n), vt.read(n, n)), a, 10);
    close<T>("Xgetrs", b.read(n, n), unit(n), 100); /* A is its own conjugate transpose */
    for (int i = 0; i < n; i++)
        CHECK(fabs((double)values[i] - (double)values[2 * n - 1 - i]) <= 10 * type<T>::tolerance * (double)values[n]);
    CUDA_OK(cudaFree(values));
    CUDA_OK(cudaFree(pivots));
    CUDA_OK(cudaFree(work));
}

template <typename T> void check_complex() {
    for (int is_upper = 0; is_upper < 2; is_upper++)
        for (int n : {1, 2, 3, 17}) {
            check_cholesky<T>(n, is_upper);
            check_eigen<T>(n, is_upper);
        }
    check_eigen<T>(40, false);
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
    check_svd<T>(15, 6, 3);
}

template <typename T> void check_type() {
    for (int n : {1, 2, 19})
        check_inverse<T>(n, n == 2), check_inverse<T>(n, n != 2);
    for (int econ = 0; econ < 2; econ++) {
        check_jacobi<T>(5, 11, econ);
        check_jacobi<T>(11, 5, econ);
    }
    check_first<T>(14, 6, 2);
    check_first<T>(6, 6, 6);
    check_named<T>(10);
}

int main() {
    info = check_managed<int>(8);
    OK(cusolverDnCreate(&handle));
    OK(cusolverDnCreateParams(&params));
    check_complex<cuComplex>();
    check_complex<cuDoubleComplex>();
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
    SYSTEM(SS, float);
    SYSTEM(SH, float);
    SYSTEM(DD, double);
    SYSTEM(DS, double);
    SYSTEM(CC, cuComplex);
    SYSTEM(CK, cuComplex);
    SYSTEM(ZZ, cuDoubleComplex);
    SYSTEM(ZC, cuDoubleComplex);
    OK(cusolverDnDestroyParams(params));
    OK(cusolverDnDestroy(handle));
    return check_done();
}
