/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublas
/* cuBLAS's packed and banded matrices, batches of products with vectors and of small inverses, against loops over whole
 * matrices in double: the four types, triangles, operations, increments, pointer modes, statuses. */
#include <cublas_v2.h>
#include <vector>

#include "check.h"
#include "numbers.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_##status)

static uint32_t state = 88675123u;
static cublasHandle_t handle;
static double part() { return (int)(check_random(&state) % 2001) / 1000. - 1; }
static int below(int n) { return (int)(check_random(&state) % n); }

template <typename T> struct calls;
#define CALLS(X, SY, T, R, limit, complex)                                                                                      \
    template <> struct calls<T> {                                                                                               \
        typedef R real;                                                                                                         \
        static constexpr double tolerance = limit;                                                                              \
        static constexpr bool is_complex = complex;                                                                             \
        static constexpr auto gbmv = cublas##X##gbmv;                                                                           \
        static constexpr auto tbmv = cublas##X##tbmv;                                                                           \
        static constexpr auto tbsv = cublas##X##tbsv;                                                                           \
        static constexpr auto tpmv = cublas##X##tpmv;                                                                           \
        static constexpr auto tpsv = cublas##X##tpsv;                                                                           \
        static constexpr auto tpttr = cublas##X##tpttr;                                                                         \
        static constexpr auto trttp = cublas##X##trttp;                                                                         \
        static constexpr auto sbmv = cublas##X##SY##bmv;                                                                        \
        static constexpr auto spmv = cublas##X##SY##pmv;                                                                        \
        static constexpr auto spr = cublas##X##SY##pr;                                                                          \
        static constexpr auto spr2 = cublas##X##SY##pr2;                                                                        \
        static constexpr auto gemvBatched = cublas##X##gemvBatched;                                                             \
        static constexpr auto gemvStridedBatched = cublas##X##gemvStridedBatched;                                               \
        static constexpr auto matinvBatched = cublas##X##matinvBatched;                                                         \
    };
CALLS(S, s, float, float, 1e-4, false)
CALLS(D, s, double, double, 1e-12, false)
CALLS(C, h, cuComplex, float, 1e-4, true)
CALLS(Z, h, cuDoubleComplex, double, 1e-12, true)

template <typename T> T random_value() {
    T r;
    put(&r, number(part(), part()));
    return r;
}

template <typename T> void near(const char *what, number got, number wanted) {
    if (!(abs(got - wanted) <= calls<T>::tolerance * (1 + abs(wanted))) && check_note_failure())
        printf("FAIL: %s, %d bytes: %g %g, not %g %g\n", what, (int)sizeof(T), got.real(), got.imag(), wanted.real(), wanted.imag());
}

template <typename T> T *random_values(int n) {
    T *p = check_managed<T>(n + 1);
    for (int i = 0; i < n; i++)
        p[i] = random_value<T>();
    return p;
}

/* A vector with an increment: element i. */
template <typename T> struct strided {
    T *data;
    int n, inc;
    strided(int length, int increment) : data(random_values<T>(length * abs(increment) + 1)), n(length), inc(increment) {}
    strided(const strided &) = delete;
    ~strided() { CUDA_OK(cudaFree(data)); }
    T &at(int i) { return data[inc > 0 ? i * inc : (i - n + 1) * inc]; }
    std::vector<number> read() {
        std::vector<number> r(n);
        for (int i = 0; i < n; i++)
            r[i] = wide(at(i));
        return r;
    }
};

struct whole {
    int m, n;
    std::vector<number> data;
    whole(int rows, int columns) : m(rows), n(columns), data(rows * columns) {}
    number &operator()(int i, int j) { return data[j * m + i]; }
    number op(cublasOperation_t o, int i, int j) const {
        const number v = o == CUBLAS_OP_N ? data[j * m + i] : data[i * m + j];
        return o == CUBLAS_OP_C ? conj(v) : v;
    }
};

static int packed_at(bool is_upper, int n, int i, int j) { return is_upper ? i + j * (j + 1) / 2 : i + j * (2 * n - j - 1) / 2; }
static void sync() { CUDA_OK(cudaDeviceSynchronize()); }

template <typename T> void check_product(const char *what, const whole &a, cublasOperation_t op, T alpha, T beta, const std::vector<number> &x,
                                         const std::vector<number> &before, const std::vector<number> &got) {
    for (size_t i = 0; i < got.size(); i++) {
        number sum = 0;
        for (size_t j = 0; j < x.size(); j++)
            sum += a.op(op, (int)i, (int)j) * x[j];
        near<T>(what, got[i], wide(alpha) * sum + wide(beta) * before[i]);
    }
}

template <typename T> void check_general_band(int m, int n, int kl, int ku, cublasOperation_t op, int incx, int incy) {
    const int lda = kl + ku + 2;
    T *a = random_values<T>(lda * n), alpha = random_value<T>(), beta = random_value<T>();
    whole full(m, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            if (i - j <= kl && j - i <= ku) full(i, j) = wide(a[ku + i - j + j * lda]);
    strided<T> x(op == CUBLAS_OP_N ? n : m, incx), y(op == CUBLAS_OP_N ? m : n, incy);
    const std::vector<number> before = y.read();
    OK(calls<T>::gbmv(handle, op, m, n, kl, ku, &alpha, a, lda, x.data, incx, &beta, y.data, incy));
    sync();
    check_product("gbmv", full, op, alpha, beta, x.read(), before, y.read());
    CUDA_OK(cudaFree(a));
}

/* One triangle in both storages, as whole matrices. */
template <typename T> void check_mirrored(int n, int k, bool is_upper, int incx, int incy) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const int lda = k + 2;
    T *packed = random_values<T>(n * (n + 1) / 2), *band = random_values<T>(lda * n), alpha = random_value<T>(), beta = random_value<T>();
    whole of_packed(n, n), of_band(n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (i != j && (i < j) != is_upper) continue;
            number p = wide(packed[packed_at(is_upper, n, i, j)]), b = abs(i - j) <= k ? wide(band[(is_upper ? k : 0) + i - j + j * lda]) : 0.;
            if (i == j) p = p.real(), b = b.real(); /* what is not real of it is not read */
            of_packed(i, j) = p, of_packed(j, i) = conj(p);
            of_band(i, j) = b, of_band(j, i) = conj(b);
        }
    strided<T> x(n, incx), y(n, incy), z(n, incy);
    std::vector<number> before = y.read();
    OK(calls<T>::spmv(handle, uplo, n, &alpha, packed, x.data, incx, &beta, y.data, incy));
    sync();
    check_product("spmv", of_packed, CUBLAS_OP_N, alpha, beta, x.read(), before, y.read());
    before = z.read();
    OK(calls<T>::sbmv(handle, uplo, n, k, &alpha, band, lda, x.data, incx, &beta, z.data, incy));
    sync();
    check_product("sbmv", of_band, CUBLAS_OP_N, alpha, beta, x.read(), before, z.read());

    typename calls<T>::real factor = (typename calls<T>::real)part();
    const std::vector<number> u = x.read(), v = y.read();
    OK(calls<T>::spr(handle, uplo, n, &factor, x.data, incx, packed));
    OK(calls<T>::spr2(handle, uplo, n, &alpha, x.data, incx, y.data, incy, packed));
    sync();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (i != j && (i < j) != is_upper) continue;
            near<T>("spr, spr2", wide(packed[packed_at(is_upper, n, i, j)]),
                    of_packed(i, j) + (double)factor * u[i] * conj(u[j]) + wide(alpha) * u[i] * conj(v[j]) + conj(wide(alpha)) * v[i] * conj(u[j]));
        }
    CUDA_OK(cudaFree(packed));
    CUDA_OK(cudaFree(band));
}

template <typename T> void check_triangular(int n, int k, bool is_upper, cublasOperation_t op, bool is_unit, int inc) {
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const cublasDiagType_t diag = is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    const int lda = k + 1;
    T *packed = random_values<T>(n * (n + 1) / 2), *band = random_values<T>(lda * n), one, none;
    put(&one, 1), put(&none, 0);
    whole of_packed(n, n), of_band(n, n);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            if (i != j && (i < j) != is_upper) continue;
            T *p = &packed[packed_at(is_upper, n, i, j)], *b = abs(i - j) <= k ? &band[(is_upper ? k : 0) + i - j + j * lda] : nullptr;
            if (i == j) put(p, wide(*p) + 3.), put(b, wide(*b) + 3.);
            if (i != j) put(p, wide(*p) / (double)n);
            of_packed(i, j) = i == j && is_unit ? number(1) : wide(*p);
            if (b != nullptr) of_band(i, j) = i == j && is_unit ? number(1) : wide(*b);
        }
    for (int is_band = 0; is_band < 2; is_band++) {
        const whole &a = is_band ? of_band : of_packed;
        strided<T> x(n, inc);
        const std::vector<number> before = x.read(), zero(n);
        if (is_band)
            OK(calls<T>::tbmv(handle, uplo, op, diag, n, k, band, lda, x.data, inc));
        else
            OK(calls<T>::tpmv(handle, uplo, op, diag, n, packed, x.data, inc));
        sync();
        check_product(is_band ? "tbmv" : "tpmv", a, op, one, none, before, zero, x.read());
        const std::vector<number> right = x.read();
        if (is_band)
            OK(calls<T>::tbsv(handle, uplo, op, diag, n, k, band, lda, x.data, inc));
        else
            OK(calls<T>::tpsv(handle, uplo, op, diag, n, packed, x.data, inc));
        sync();
        check_product(is_band ? "tbsv" : "tpsv", a, op, one, none, x.read(), zero, right);
    }

    /* To a whole matrix and back. */
    T *full = random_values<T>((n + 1) * n), *again = random_values<T>(n * (n + 1) / 2), *other = random_values<T>((n + 1) * n);
    for (int i = 0; i < (n + 1) * n; i++)
        other[i] = full[i];
    OK(calls<T>::tpttr(handle, uplo, n, packed, full, n + 1));
    OK(calls<T>::trttp(handle, uplo, n, full, n + 1, again));
    sync();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const bool is_stored = i == j || (i < j) == is_upper;
            CHECK(wide(full[i + j * (n + 1)]) == wide(is_stored ? packed[packed_at(is_upper, n, i, j)] : other[i + j * (n + 1)]));
        }
    for (int i = 0; i < n * (n + 1) / 2; i++)
        CHECK(wide(again[i]) == wide(packed[i]));
    for (T *p : {packed, band, full, again, other})
        CUDA_OK(cudaFree(p));
}

template <typename T> void check_batches(int m, int n, cublasOperation_t op, int incx, int incy) {
    enum { BATCH = 3 };
    const int lda = m + 1, rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m, xs = columns * abs(incx) + 2,
              ys = rows * abs(incy) + 1;
    T *a = random_values<T>(lda * n * BATCH), *x = random_values<T>(xs * BATCH), *y = random_values<T>(ys * BATCH), *z = random_values<T>(ys * BATCH);
    T *factors = random_values<T>(2), **list = check_managed<T *>(3 * BATCH);
    std::vector<number> before(ys * BATCH);
    for (int i = 0; i < ys * BATCH; i++)
        before[i] = wide(y[i]), z[i] = y[i];
    for (int b = 0; b < BATCH; b++)
        list[b] = a + b * lda * n, list[BATCH + b] = x + b * xs, list[2 * BATCH + b] = z + b * ys;
    OK(calls<T>::gemvStridedBatched(handle, op, m, n, factors, a, lda, lda * n, x, incx, xs, factors + 1, y, incy, ys, BATCH));
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    OK(calls<T>::gemvBatched(handle, op, m, n, factors, list, lda, list + BATCH, incx, factors + 1, list + 2 * BATCH, incy, BATCH));
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    sync();
    const auto place = [](int i, int count, int inc) { return inc > 0 ? i * inc : (i - count + 1) * inc; };
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < rows; i++) {
            number sum = 0;
            for (int j = 0; j < columns; j++) {
                number v = wide(a[b * lda * n + (op == CUBLAS_OP_N ? i + j * lda : j + i * lda)]);
                if (op == CUBLAS_OP_C) v = conj(v);
                sum += v * wide(x[b * xs + place(j, columns, incx)]);
            }
            const int at = b * ys + place(i, rows, incy);
            const number wanted = wide(factors[0]) * sum + wide(factors[1]) * before[at];
            near<T>("gemvStridedBatched", wide(y[at]), wanted);
            near<T>("gemvBatched", wide(z[at]), wanted);
        }
    for (T *p : {a, x, y, z, factors})
        CUDA_OK(cudaFree(p));
    CUDA_OK(cudaFree(list));
}

template <typename T> void check_inverses(int n) {
    enum { BATCH = 4 };
    const int lda = n + 1, ldb = n + 2;
    T *a = random_values<T>(lda * n * BATCH), *b = random_values<T>(ldb * n * BATCH), **list = check_managed<T *>(2 * BATCH);
    int *info = check_managed<int>(BATCH);
    for (int k = 0; k < BATCH; k++) {
        list[k] = a + k * lda * n, list[BATCH + k] = b + k * ldb * n;
        for (int j = 0; j < n; j++) /* pivots are beside the diagonal, but for the first matrix */
            put(&list[k][(j + k) % n + j * lda], wide(list[k][(j + k) % n + j * lda]) + (double)n);
        info[k] = 9;
    }
    for (int i = 0; i < n; i++)
        put(&list[3][i + (n - 1) * lda], 0); /* has no inverse */
    OK(calls<T>::matinvBatched(handle, n, list, lda, list + BATCH, ldb, info, BATCH));
    sync();
    for (int k = 0; k < BATCH; k++) {
        CHECK_EQ(info[k], k == 3 ? n : 0);
        for (int i = 0; i < n && k != 3; i++)
            for (int j = 0; j < n; j++) {
                number sum = 0;
                for (int l = 0; l < n; l++)
                    sum += wide(list[k][i + l * lda]) * wide(list[BATCH + k][l + j * ldb]);
                near<T>("matinvBatched", sum, i == j);
            }
    }
    IS(calls<T>::matinvBatched(handle, 33, list, 40, list, 40, info, 1), INVALID_VALUE);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(list));
    CUDA_OK(cudaFree(info));
}

template <typename T> void check_type() {
    const cublasOperation_t operations[] = {CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C};
    for (cublasOperation_t op : operations) {
        check_general_band<T>(9, 14, 2, 3, op, 1, -2);
        check_general_band<T>(14, 9, below(4), below(20), op, -3, 1);
        check_general_band<T>(1, 5, 0, 0, op, 1, 1);
        check_batches<T>(7, 4, op, 1, 1);
        check_batches<T>(4, 9, op, -2, 3);
        for (int is_upper = 0; is_upper < 2; is_upper++)
            for (int is_unit = 0; is_unit < 2; is_unit++)
                check_triangular<T>(is_unit ? 140 : 11, is_unit ? 3 : 1 + below(10), is_upper, op, is_unit, is_unit ? -1 : 2);
    }
    for (int is_upper = 0; is_upper < 2; is_upper++) {
        check_mirrored<T>(12, 3, is_upper, 1, -1);
        check_mirrored<T>(5, 9, is_upper, 2, 1);
        check_mirrored<T>(1, 0, is_upper, 1, 1);
    }
    for (int n : {1, 2, 17, 32})
        check_inverses<T>(n);
}

static void check_statuses() {
    double one = 1, x[4] = {};
    IS(cublasDgbmv(handle, CUBLAS_OP_N, 3, 3, 1, 1, &one, x, 2, x, 1, &one, x, 1), INVALID_VALUE); /* lda */
    IS(cublasDspmv(handle, CUBLAS_FILL_MODE_LOWER, 3, &one, x, x, 0, &one, x, 1), INVALID_VALUE);
    IS(cublasDtpsv(handle, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, (cublasDiagType_t)7, 3, x, x, 1), INVALID_VALUE);
    IS(cublasDtpsv(nullptr, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_UNIT, 3, x, x, 1), NOT_INITIALIZED);
    IS(cublasDgemvStridedBatched(handle, CUBLAS_OP_N, 2, 2, &one, x, 2, 4, x, 1, 2, &one, x, 1, 2, -1), INVALID_VALUE);
    OK(cublasDspr(handle, CUBLAS_FILL_MODE_LOWER, 0, &one, x, 1, x));
}

int main() {
    OK(cublasCreate(&handle));
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
    check_statuses();
    OK(cublasDestroy(handle));
    return check_done();
}
