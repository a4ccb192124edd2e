/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusolver
/* cuSOLVER's calls that name types by arguments, and parts of the eigenvalues, by what defines their results. */
#include <cusolverDn.h>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_##status)

static uint32_t state = 521288629u;
static cusolverDnHandle_t handle;
static cusolverDnParams_t params;
static int *info;

static double number() { return (int)(check_random(&state) % 2001) / 1000. - 1; }
template <typename T> cudaDataType type_of() { return sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F; }
template <typename T> double tolerance() { return sizeof(T) == 8 ? 1e-12 : 2e-4; }
template <typename T> void near(const char *what, int n, double got, double wanted) {
    if (!(fabs(got - wanted) <= tolerance<T>() * (1 + fabs(wanted))) && check_note_failure())
        printf("FAIL: %s of %d, %d bytes: %g, not %g\n", what, n, (int)sizeof(T), got, wanted);
}

/* Work memory of a call, and nothing on the host. */
struct room {
    size_t device = 0, host = 7;
    void *data = nullptr;
    void take() {
        CHECK(device > 0 && host == 0);
        data = check_managed<char>(device);
    }
    ~room() { CUDA_OK(cudaFree(data)); }
};

/* A symmetric matrix with the eigenvalues 1, 2, … n: a reflection of the diagonal. */
template <typename T> std::vector<double> known(int n, T *a) {
    std::vector<double> v(n), full(n * n);
    double norm = 0;
    for (double &x : v)
        x = number() + 1.5, norm += x * x;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += ((i == k) - 2 * v[i] * v[k] / norm) * (k + 1) * ((j == k) - 2 * v[j] * v[k] / norm);
            full[j * n + i] = sum, a[j * n + i] = (T)sum;
        }
    return full;
}

template <typename T> void check_systems(int n) {
    const cudaDataType type = type_of<T>();
    T *a = check_managed<T>(n * n), *f = check_managed<T>(n * n), *x = check_managed<T>(n);
    int64_t *pivots = check_managed<int64_t>(n);
    const std::vector<double> full = known(n, a);
    for (int is_definite = 0; is_definite < 2; is_definite++)
        for (int is_transposed = 0; is_transposed < 2 - is_definite; is_transposed++) {
            /* Without the shift rows of the general matrix need no exchange. */
            for (int i = 0; i < n * n; i++)
                f[i] = a[is_definite ? i : (i + n) % (n * n)];
            std::vector<double> m(n * n), wanted(n);
            for (int i = 0; i < n * n; i++)
                m[i] = f[i];
            for (int i = 0; i < n; i++)
                wanted[i] = number();
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int k = 0; k < n; k++)
                    sum += (is_transposed ? m[i * n + k] : m[k * n + i]) * wanted[k];
                x[i] = (T)sum;
            }
            room work;
            if (is_definite) {
                OK(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_UPPER, n, type, f, n, type, &work.device, &work.host));
                work.take();
                OK(cusolverDnXpotrf(handle, params, CUBLAS_FILL_MODE_UPPER, n, type, f, n, type, work.data, work.device, nullptr, 0,
                                    info));
                OK(cusolverDnXpotrs(handle, params, CUBLAS_FILL_MODE_UPPER, n, 1, type, f, n, type, x, n, info + 1));
            } else {
                OK(cusolverDnXgetrf_bufferSize(handle, params, n, n, type, f, n, type, &work.device, &work.host));
                work.take();
                OK(cusolverDnXgetrf(handle, params, n, n, type, f, n, pivots, type, work.data, work.device, nullptr, 0, info));
                OK(cusolverDnXgetrs(handle, params, is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, n, 1, type, f, n, pivots, type, x, n,
                                    info + 1));
            }
            CUDA_OK(cudaDeviceSynchronize());
            CHECK_EQ(info[0], 0);
            CHECK_EQ(info[1], 0);
            for (int i = 0; i < n; i++)
                near<T>(is_definite ? "potrs" : "getrs", n, x[i], wanted[i]);
            for (int i = 0; i < n && !is_definite; i++)
                CHECK(i + 1 <= pivots[i] && pivots[i] <= n);
        }
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(f));
    CUDA_OK(cudaFree(x));
    CUDA_OK(cudaFree(pivots));
}

template <typename T> void check_triangle(int n, bool is_upper, bool is_unit) {
    const cudaDataType type = type_of<T>();
    T *a = check_managed<T>(n * n);
    std::vector<double> m(n * n);
    for (int i = 0; i < n * n; i++)
        a[i] = (T)(i % (n + 1) == 0 ? 2 + number() : number() / n), m[i] = a[i];
    room work;
    const cublasFillMode_t uplo = is_upper ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
    const cublasDiagType_t diag = is_unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
    OK(cusolverDnXtrtri_bufferSize(handle, uplo, diag, n, type, a, n, &work.device, &work.host));
    work.take();
    OK(cusolverDnXtrtri(handle, uplo, diag, n, type, a, n, work.data, work.device, nullptr, 0, info));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*info, 0);
    const auto of = [&](auto &from, int i, int j) {
        return i == j && is_unit ? 1. : i == j || (i < j) == is_upper ? (double)from[j * n + i] : 0.;
    };
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += of(m, i, k) * of(a, k, j);
            near<T>("trtri", n, sum, i == j);
            if (i != j && (i < j) != is_upper) CHECK(a[j * n + i] == (T)m[j * n + i]);
        }
    if (!is_unit) {
        a[(n / 2) * (n + 1)] = 0;
        OK(cusolverDnXtrtri(handle, uplo, diag, n, type, a, n, work.data, work.device, nullptr, 0, info));
        CUDA_OK(cudaDeviceSynchronize());
        CHECK_EQ(*info, n / 2 + 1);
    }
    CUDA_OK(cudaFree(a));
}

/* Values first … last of 1, 2, … n: their vectors are the first columns. */
template <typename T> void check_values(const char *what, int n, int first, int last, int64_t found, const std::vector<double> &m,
                                        const T *a, const T *values) {
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*info, 0);
    CHECK_EQ(found, (int64_t)(last - first + 1));
    for (int j = 0; j < last - first + 1; j++) {
        near<T>(what, n, values[j], first + j);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += m[k * n + i] * a[j * n + k];
            near<T>(what, n, sum, values[j] * a[j * n + i]);
        }
    }
}

template <typename T> struct calls;
#define CALLS(X, T)                                                                                                             \
    template <> struct calls<T> {                                                                                               \
        static constexpr auto syevdx_work = cusolverDn##X##syevdx_bufferSize;                                                   \
        static constexpr auto syevdx = cusolverDn##X##syevdx;                                                                   \
        static constexpr auto sygvdx = cusolverDn##X##sygvdx;                                                                   \
        static constexpr auto sygvj = cusolverDn##X##sygvj;                                                                     \
    };
CALLS(S, float)
CALLS(D, double)

template <typename T> void check_eigen(int n) {
    const cudaDataType type = type_of<T>();
    T *a = check_managed<T>(n * n), *b = check_managed<T>(n * n), *values = check_managed<T>(n);
    const cusolverEigMode_t vectors = CUSOLVER_EIG_MODE_VECTOR;
    const cublasFillMode_t lower = CUBLAS_FILL_MODE_LOWER;
    std::vector<double> m = known(n, a);
    room work;
    OK(cusolverDnXsyevd_bufferSize(handle, params, vectors, lower, n, type, a, n, type, values, type, &work.device, &work.host));
    work.take();
    OK(cusolverDnXsyevd(handle, params, vectors, lower, n, type, a, n, type, values, type, work.data, work.device, nullptr, 0, info));
    check_values<T>("Xsyevd", n, 1, n, n, m, a, values);

    /* Two of them, one behind the other. */
    T *two = check_managed<T>(2 * n * n), *two_values = check_managed<T>(2 * n);
    room batch_work;
    std::vector<double> both[2] = {known(n, two), known(n, two + n * n)};
    info[1] = -1;
    OK(cusolverDnXsyevBatched_bufferSize(handle, params, vectors, lower, n, type, two, n, type, two_values, type,
                                         &batch_work.device, &batch_work.host, 2));
    batch_work.take();
    OK(cusolverDnXsyevBatched(handle, params, vectors, lower, n, type, two, n, type, two_values, type, batch_work.data,
                              batch_work.device, nullptr, 0, info, 2));
    for (int k = 0; k < 2; k++)
        check_values<T>("XsyevBatched", n, 1, n, n, both[k], two + k * n * n, two_values + k * n);
    CHECK_EQ(info[1], 0);
    CUDA_OK(cudaFree(two));
    CUDA_OK(cudaFree(two_values));

    const int first = n / 3 + 1, last = n - 1 > first ? n - 1 : n;
    int64_t wide = 0;
    m = known(n, a);
    T low = (T)(first - 0.5), high = (T)(last + 0.5);
    OK(cusolverDnXsyevdx(handle, params, vectors, CUSOLVER_EIG_RANGE_V, lower, n, type, a, n, &low, &high, 0, 0, &wide, type, values,
                         type, work.data, work.device, nullptr, 0, info));
    check_values<T>("Xsyevdx", n, first, last, wide, m, a, values);

    int found = 0, size = 0;
    m = known(n, a);
    OK(calls<T>::syevdx_work(handle, vectors, CUSOLVER_EIG_RANGE_I, lower, n, a, n, 0, 0, first, last, &found, values, &size));
    CHECK(size > 0 && size * sizeof(T) <= work.device);
    OK(calls<T>::syevdx(handle, vectors, CUSOLVER_EIG_RANGE_I, lower, n, a, n, 0, 0, first, last, &found, values, (T *)work.data,
                        size, info));
    check_values<T>("syevdx", n, first, last, found, m, a, values);

    /* B = 4: half the values' vectors, A's values over 4. */
    for (int is_j = 0; is_j < 2; is_j++) {
        m = known(n, a);
        for (int i = 0; i < n * n; i++)
            b[i] = i % (n + 1) == 0 ? 4 : 0, m[i] /= 4;
        if (is_j)
            OK(calls<T>::sygvj(handle, CUSOLVER_EIG_TYPE_1, vectors, lower, n, a, n, b, n, values, (T *)work.data, size, info,
                               nullptr));
        else
            OK(calls<T>::sygvdx(handle, CUSOLVER_EIG_TYPE_1, vectors, CUSOLVER_EIG_RANGE_ALL, lower, n, a, n, b, n, 0, 0, 0, 0,
                                &found, values, (T *)work.data, size, info));
        CUDA_OK(cudaDeviceSynchronize());
        for (int i = 0; i < n; i++)
            values[i] *= 4;
        for (double &x : m)
            x *= 4;
        check_values<T>(is_j ? "sygvj" : "sygvdx", n, 1, n, n, m, a, values);
    }
    IS(calls<T>::syevdx(handle, vectors, CUSOLVER_EIG_RANGE_I, lower, n, a, n, 0, 0, 1, n + 1, &found, values, (T *)work.data, size,
                        info),
       INVALID_VALUE);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(values));
}

/* The singular values of a symmetric positive matrix are its eigenvalues; R of its QR factors has their product. */
template <typename T> void check_factors(int n) {
    const cudaDataType type = type_of<T>();
    T *a = check_managed<T>(n * n), *u = check_managed<T>(n * n), *vt = check_managed<T>(n * n), *values = check_managed<T>(n);
    const std::vector<double> m = known(n, a);
    room work, more;
    OK(cusolverDnXgesvd_bufferSize(handle, params, 'S', 'S', n, n, type, a, n, type, values, type, u, n, type, vt, n, type,
                                   &work.device, &work.host));
    work.take();
    OK(cusolverDnXgesvd(handle, params, 'S', 'S', n, n, type, a, n, type, values, type, u, n, type, vt, n, type, work.data,
                        work.device, nullptr, 0, info));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*info, 0);
    for (int i = 0; i < n; i++) {
        near<T>("Xgesvd", n, values[i], n - i);
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)u[k * n + i] * (double)values[k] * (double)vt[j * n + k];
            near<T>("Xgesvd's vectors", n, sum, m[j * n + i]);
        }
    }
    double error = 1;
    const std::vector<double> other = known(n, a);
    OK(cusolverDnXgesvdp(handle, params, CUSOLVER_EIG_MODE_VECTOR, 1, n, n, type, a, n, type, values, type, u, n, type, vt, n, type,
                         work.data, work.device, nullptr, 0, info, &error));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(*info, 0);
    CHECK(error == 0);
    for (int i = 0; i < n; i++) {
        near<T>("Xgesvdp", n, values[i], n - i);
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += (double)u[k * n + i] * (double)values[k] * (double)vt[k * n + j];
            near<T>("Xgesvdp's vectors", n, sum, other[j * n + i]);
        }
    }
    known(n, a);
    OK(cusolverDnXgeqrf_bufferSize(handle, params, n, n, type, a, n, type, values, type, &more.device, &more.host));
    more.take();
    OK(cusolverDnXgeqrf(handle, params, n, n, type, a, n, type, values, type, more.data, more.device, nullptr, 0, info));
    CUDA_OK(cudaDeviceSynchronize());
    double product = 1, wanted = 1;
    for (int i = 0; i < n; i++)
        product *= fabs((double)a[i * n + i]), wanted *= i + 1;
    near<T>("Xgeqrf's determinant", n, product / wanted, 1);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(u));
    CUDA_OK(cudaFree(vt));
    CUDA_OK(cudaFree(values));
}

template <typename T> void check_type() {
    for (int n : {1, 2, 5, 12}) {
        check_systems<T>(n);
        check_eigen<T>(n);
        check_factors<T>(n);
        for (int i = 0; i < 4; i++)
            check_triangle<T>(n, i % 2 != 0, i / 2 != 0);
    }
}

int main() {
    info = check_managed<int>(4);
    OK(cusolverDnCreate(&handle));
    OK(cusolverDnCreateParams(&params));
    OK(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, CUSOLVER_ALG_1));
    IS(cusolverDnSetAdvOptions(params, CUSOLVERDN_GETRF, (cusolverAlgMode_t)9), INVALID_VALUE);
    check_type<float>();
    check_type<double>();
    size_t device, host;
    IS(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_UPPER, 2, CUDA_R_16F, nullptr, 2, CUDA_R_16F, &device, &host),
       NOT_SUPPORTED);
    IS(cusolverDnXpotrf_bufferSize(handle, params, CUBLAS_FILL_MODE_UPPER, 2, CUDA_R_32F, nullptr, 2, CUDA_R_64F, &device, &host),
       INVALID_VALUE);
    IS(cusolverDnXgetrf_bufferSize(handle, params, INT64_MAX, 2, CUDA_R_32F, nullptr, 2, CUDA_R_32F, &device, &host), INVALID_VALUE);
    OK(cusolverDnDestroyParams(params));
    OK(cusolverDnDestroy(handle));
    return check_done();
}
