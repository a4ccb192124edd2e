/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusolver -lcusparse
/* cuSOLVER's sparse systems: what the solution gives back for the right-hand side, in double; the four types, bases,
 * orders, memory of the host and of the device, singular and indefinite matrices, wrong arguments. */
#include <cusolverSp.h>
#include <vector>

#include "check.h"
#include "numbers.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_##status)

static uint32_t state = 521288629u;
static cusolverSpHandle_t handle;
static double part() { return (int)(check_random(&state) % 2001) / 1000. - 1; }

template <typename T> struct calls;
#define CALLS(X, T, limit)                                                                                                      \
    template <> struct calls<T> {                                                                                               \
        static constexpr double tolerance = limit;                                                                              \
        static constexpr auto qr = cusolverSp##X##csrlsvqr;                                                                     \
        static constexpr auto cholesky = cusolverSp##X##csrlsvchol;                                                             \
        static constexpr auto lu_host = cusolverSp##X##csrlsvluHost;                                                            \
        static constexpr auto qr_host = cusolverSp##X##csrlsvqrHost;                                                            \
        static constexpr auto cholesky_host = cusolverSp##X##csrlsvcholHost;                                                    \
    };
CALLS(S, float, 1e-4)
CALLS(D, double, 1e-12)
CALLS(C, cuComplex, 1e-4)
CALLS(Z, cuDoubleComplex, 1e-12)

/* Rows in managed memory, which host and device read. */
template <typename T> struct rows {
    int n, base, count = 0;
    std::vector<number> dense;
    int *offsets, *at;
    T *values;
    cusparseMatDescr_t descr;
    explicit rows(int size, int index_base)
        : n(size), base(index_base), dense(size * size), offsets(check_managed<int>(size + 1)), at(check_managed<int>(size * size + 1)),
          values(check_managed<T>(size * size + 1)) {
        CHECK_EQ((int)cusparseCreateMatDescr(&descr), 0);
        CHECK_EQ((int)cusparseSetMatIndexBase(descr, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO), 0);
    }
    rows(const rows &) = delete;
    ~rows() {
        CHECK_EQ((int)cusparseDestroyMatDescr(descr), 0);
        CUDA_OK(cudaFree(offsets));
        CUDA_OK(cudaFree(at));
        CUDA_OK(cudaFree(values));
    }
    void add(int i, int j, number v) { dense[i * n + j] += v; }
    void store(bool only_lower) {
        count = 0;
        for (int i = 0; i < n; i++) {
            offsets[i] = count + base;
            for (int j = 0; j < n; j++) {
                if (dense[i * n + j] == 0.) continue;
                at[count] = j + base;
                put(&values[count], only_lower && j > i ? number(77) : dense[i * n + j]); /* not read */
                dense[i * n + j] = only_lower && j > i ? dense[i * n + j] : wide(values[count]);
                count++;
            }
        }
        offsets[n] = count + base;
    }
};

template <typename T> number random_value() {
    T r;
    put(&r, number(part(), part()));
    return wide(r);
}

/* Links of a ring and of a few pairs far apart, in a shuffled order, so that an order matters. */
template <typename T> void fill(rows<T> &a, bool is_definite) {
    std::vector<int> name(a.n);
    for (int i = 0; i < a.n; i++)
        name[i] = i;
    for (int i = a.n - 1; i > 0; i--)
        std::swap(name[i], name[check_random(&state) % (i + 1)]);
    for (int i = 0; i < a.n; i++)
        for (int step : {1, 2, a.n / 2}) {
            if (a.n < 3 || (step == a.n / 2 && i % 7 != 0)) continue;
            const int p = name[i], q = name[(i + step) % a.n];
            if (p == q) continue;
            const number v = random_value<T>();
            a.add(p, q, v);
            a.add(q, p, is_definite ? conj(v) : random_value<T>());
        }
    for (int i = 0; i < a.n; i++)
        a.add(i, i, is_definite ? number(12) : random_value<T>() + 3.);
    a.store(is_definite);
}

template <typename T> void check_solution(const char *what, const rows<T> &a, const T *x, const T *b) {
    double difference = 0, size = 1e-30;
    for (int i = 0; i < a.n; i++) {
        number sum = 0;
        for (int j = 0; j < a.n; j++)
            sum += a.dense[i * a.n + j] * wide(x[j]);
        difference += norm(sum - wide(b[i])), size += norm(wide(b[i])) + norm(wide(x[i]));
    }
    if (!(sqrt(difference / size) <= calls<T>::tolerance) && check_note_failure())
        printf("FAIL: %s of %d rows, %d bytes: relative distance %g\n", what, a.n, (int)sizeof(T), sqrt(difference / size));
}

template <typename T> void check_type(int n, int base) {
    for (int is_definite = 0; is_definite < 2; is_definite++) {
        rows<T> a(n, base);
        fill(a, is_definite != 0);
        T *b = check_managed<T>(n), *x = check_managed<T>(n);
        for (int i = 0; i < n; i++)
            put(&b[i], random_value<T>());
        std::vector<T> there(n);
        for (int order = 0; order < 4; order++) {
            int singular = 5;
            if (is_definite)
                OK(calls<T>::cholesky(handle, n, a.count, a.descr, a.values, a.offsets, a.at, b, 0, order, x, &singular));
            else
                OK(calls<T>::qr(handle, n, a.count, a.descr, a.values, a.offsets, a.at, b, 0, order, x, &singular));
            CHECK_EQ(singular, -1);
            check_solution(is_definite ? "csrlsvchol" : "csrlsvqr", a, x, b);
            singular = 5;
            if (is_definite)
                OK(calls<T>::cholesky_host(handle, n, a.count, a.descr, a.values, a.offsets, a.at, b, 0, order, there.data(), &singular));
            else if (order % 2)
                OK(calls<T>::lu_host(handle, n, a.count, a.descr, a.values, a.offsets, a.at, b, 0, order, there.data(), &singular));
            else
                OK(calls<T>::qr_host(handle, n, a.count, a.descr, a.values, a.offsets, a.at, b, 0, order, there.data(), &singular));
            CHECK_EQ(singular, -1);
            check_solution("on the host", a, there.data(), b);
        }
        CUDA_OK(cudaFree(b));
        CUDA_OK(cudaFree(x));
    }
}

/* B = A by a permutation of rows and one of columns; orders are permutations that keep entries nearer. */
static void check_patterns(int n, int base) {
    rows<double> a(n, base), b(n, base);
    fill(a, false);
    b.dense = a.dense;
    b.store(false);
    std::vector<int> p(n), q(n), map(a.count), seen(n);
    for (int i = 0; i < n; i++)
        q[i] = (i * 3 + 1) % n; /* n is no multiple of 3 */
    for (int i = 0; i < a.count; i++)
        map[i] = i;
    int is_symmetric = 7;
    OK(cusolverSpXcsrissymHost(handle, n, a.count, a.descr, a.offsets, a.offsets + 1, a.at, &is_symmetric));
    CHECK_EQ(is_symmetric, 1);
    OK(cusolverSpXcsrsymrcmHost(handle, n, a.count, a.descr, a.offsets, a.at, p.data()));
    OK(cusolverSpXcsrsymamdHost(handle, n, a.count, a.descr, a.offsets, a.at, seen.data()));
    CHECK(p == seen);
    std::fill(seen.begin(), seen.end(), 0);
    for (int i = 0; i < n; i++)
        CHECK_EQ(seen[p[i]]++, 0);
    size_t bytes = 0;
    OK(cusolverSpXcsrperm_bufferSizeHost(handle, n, n, b.count, b.descr, b.offsets, b.at, p.data(), q.data(), &bytes));
    CHECK(bytes > 0);
    OK(cusolverSpXcsrpermHost(handle, n, n, b.count, b.descr, b.offsets, b.at, p.data(), q.data(), map.data(), nullptr));
    for (int i = 0; i < n; i++) {
        std::vector<number> row(n);
        for (int k = b.offsets[i] - base; k < b.offsets[i + 1] - base; k++) {
            CHECK(k == b.offsets[i] - base || b.at[k - 1] < b.at[k]);
            row[b.at[k] - base] = a.values[map[k]];
        }
        for (int j = 0; j < n; j++)
            CHECK(row[j] == a.dense[p[i] * n + q[j]]);
    }
    p[0] = p[1];
    IS(cusolverSpXcsrpermHost(handle, n, n, b.count, b.descr, b.offsets, b.at, p.data(), q.data(), map.data(), nullptr), INVALID_VALUE);
}

static void check_failures_of_matrices() {
    /* Row 2 is twice row 1: found where the factor's diagonal ends. */
    rows<double> a(3, 0);
    for (int j = 0; j < 3; j++)
        a.add(0, j, j == 0 ? 1. : 0.), a.add(1, j, 1. + j), a.add(2, j, 2. * (1 + j));
    a.store(false);
    double *b = check_managed<double>(3), *x = check_managed<double>(3);
    b[0] = b[1] = b[2] = 1;
    int singular = -2;
    OK(cusolverSpDcsrlsvqr(handle, 3, a.count, a.descr, a.values, a.offsets, a.at, b, 1e-12, 0, x, &singular));
    CHECK_EQ(singular, 2);
    rows<double> c(2, 1);
    c.add(0, 0, 1), c.add(1, 0, 2), c.add(0, 1, 2), c.add(1, 1, 1); /* not definite */
    c.store(false);
    OK(cusolverSpDcsrlsvchol(handle, 2, c.count, c.descr, c.values, c.offsets, c.at, b, 0, 0, x, &singular));
    CHECK_EQ(singular, 1);

    IS(cusolverSpDcsrlsvqr(nullptr, 3, a.count, a.descr, a.values, a.offsets, a.at, b, 0, 0, x, &singular), NOT_INITIALIZED);
    IS(cusolverSpDcsrlsvqr(handle, -1, a.count, a.descr, a.values, a.offsets, a.at, b, 0, 0, x, &singular), INVALID_VALUE);
    IS(cusolverSpDcsrlsvqr(handle, 3, a.count, a.descr, a.values, a.offsets, a.at, b, 0, 9, x, &singular), INVALID_VALUE);
    IS(cusolverSpDcsrlsvqr(handle, 3, a.count, a.descr, a.values, a.offsets, a.at, b, 0, 0, x, nullptr), INVALID_VALUE);
    a.at[1] = 7; /* no column */
    IS(cusolverSpDcsrlsvqr(handle, 3, a.count, a.descr, a.values, a.offsets, a.at, b, 0, 0, x, &singular), INVALID_VALUE);
    OK(cusolverSpDcsrlsvqr(handle, 0, 0, a.descr, a.values, a.offsets, a.at, b, 0, 0, x, &singular));
    CHECK_EQ(singular, -1);
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(x));
}

int main() {
    cudaStream_t stream, kept = nullptr;
    CUDA_OK(cudaStreamCreate(&stream));
    OK(cusolverSpCreate(&handle));
    OK(cusolverSpSetStream(handle, stream));
    OK(cusolverSpGetStream(handle, &kept));
    CHECK(kept == stream);
    check_type<float>(40, 0);
    check_type<double>(1, 1);
    check_type<double>(57, 1);
    check_type<cuComplex>(23, 1);
    check_type<cuDoubleComplex>(40, 0);
    check_patterns(40, 0);
    check_patterns(41, 1);
    check_failures_of_matrices();
    OK(cusolverSpDestroy(handle));
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
