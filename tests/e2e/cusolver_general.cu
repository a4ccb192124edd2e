/* SPDX-License-Identifier: Apache-2.0 */
/* cuSOLVER's eigenvalues of general matrices (Xgeev), of four types: what vectors must be, on both sides; pairs of real
 * matrices, both forms of their values; known values, repeated ones, a matrix without enough vectors; wrong arguments. */
// FLAGS: -lcusolver
#include <complex>
#include <cusolverDn.h>
#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSOLVER_STATUS_SUCCESS)

typedef std::complex<double> number;

enum { LD_MORE = 3, N_MAX = 48 };

static number widen(float x) { return number((double)x, 0); }
static number widen(double x) { return number(x, 0); }
static number widen(cuComplex x) { return number((double)x.x, (double)x.y); }
static number widen(cuDoubleComplex x) { return number(x.x, x.y); }
static void narrow(number x, float *out) { *out = (float)x.real(); }
static void narrow(number x, double *out) { *out = x.real(); }
static void narrow(number x, cuComplex *out) { *out = make_cuComplex((float)x.real(), (float)x.imag()); }
static void narrow(number x, cuDoubleComplex *out) { *out = make_cuDoubleComplex(x.real(), x.imag()); }

static cusolverDnHandle_t handle;

static void near(const char *what, int n, int k, double error, double most)
{
    if (!(error <= most) && check_note_failure()) printf("FAIL: %s, %d rows, value %d: off by %g, not %g\n", what, n, k, error, most);
}

/* What geev finds. */
struct result {
    number values[N_MAX], left[N_MAX][N_MAX], right[N_MAX][N_MAX]; /* [k]: vector k */
    int info;
};

/* R: the type of real numbers, T: of elements, C: of complex numbers. */
template <typename R, typename T, typename C>
static void run(cudaDataType type, cudaDataType values_type, int n, const number a[N_MAX][N_MAX], bool has_left, bool has_right,
                result *out)
{
    const bool is_complex = type == CUDA_C_32F || type == CUDA_C_64F, has_pairs = !is_complex;
    const bool has_real_values = values_type == CUDA_R_32F || values_type == CUDA_R_64F;
    const int ld = n + LD_MORE;
    T *matrix, *left, *right;
    C *values;
    int *info;
    void *work;
    size_t bytes = 0, host_bytes = 99;
    CUDA_OK(cudaMallocManaged(&matrix, ld * (n + 1) * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&left, ld * (n + 1) * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&right, ld * (n + 1) * sizeof(T)));
    CUDA_OK(cudaMallocManaged(&values, (n + 1) * sizeof(C)));
    CUDA_OK(cudaMallocManaged(&info, sizeof(int)));
    *info = -99;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < ld; i++) {
            narrow(i < n ? a[i][j] : 1e6, &matrix[i + j * ld]);
            narrow(77, &left[i + j * ld]);
            narrow(77, &right[i + j * ld]);
        }
    const cusolverEigMode_t jobvl = has_left ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const cusolverEigMode_t jobvr = has_right ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    OK(cusolverDnXgeev_bufferSize(handle, NULL, jobvl, jobvr, n, type, matrix, ld, values_type, values, type, left, ld, type,
                                  right, ld, type, &bytes, &host_bytes));
    CHECK_EQ(host_bytes, 0u);
    CUDA_OK(cudaMalloc(&work, bytes + 1));
    OK(cusolverDnXgeev(handle, NULL, jobvl, jobvr, n, type, matrix, ld, values_type, values, type, has_left ? left : NULL, ld,
                       type, has_right ? right : NULL, ld, type, work, bytes, NULL, 0, info));
    CUDA_OK(cudaDeviceSynchronize());
    out->info = *info;
    for (int k = 0; k < n; k++)
        out->values[k] = has_real_values ? number((double)((R *)values)[k], (double)((R *)values)[n + k]) : widen(values[k]);
    for (int side = 0; side < 2; side++) {
        const T *from = side == 0 ? left : right;
        for (int k = 0; k < n; k++)
            for (int i = 0; i < n; i++) {
                number &to = side == 0 ? out->left[k][i] : out->right[k][i];
                const double im = out->values[k].imag();
                if (!has_pairs || im == 0)
                    to = widen(from[i + k * ld]);
                else if (im > 0)
                    to = number(widen(from[i + k * ld]).real(), widen(from[i + (k + 1) * ld]).real());
                else
                    to = number(widen(from[i + (k - 1) * ld]).real(), -widen(from[i + k * ld]).real());
            }
        for (int j = 0; j < n; j++) /* behind the columns, and without vectors everywhere */
            for (int i = (side == 0 ? has_left : has_right) ? n : 0; i < ld; i++) CHECK_EQ(widen(from[i + j * ld]).real(), 77);
    }
    CUDA_OK(cudaFree(matrix));
    CUDA_OK(cudaFree(left));
    CUDA_OK(cudaFree(right));
    CUDA_OK(cudaFree(values));
    CUDA_OK(cudaFree(info));
    CUDA_OK(cudaFree(work));
}

static number matrix[N_MAX][N_MAX];
static result found, again;

/* What holds of all matrices. */
static void check_vectors(int n, bool is_real, double unit)
{
    double size = 0;
    number trace = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row += std::abs(matrix[i][j]);
        size = fmax(size, row);
        trace += matrix[i][i];
        sum += found.values[i];
    }
    CHECK_EQ(found.info, 0);
    near("trace", n, 0, std::abs(trace - sum), unit * n * (size + 1));
    for (int k = 0; k < n; k++) {
        double right = 0, left = 0, right_norm = 0, left_norm = 0, largest = 0, phase = 9;
        for (int i = 0; i < n; i++) {
            number r = -found.values[k] * found.right[k][i], l = -found.values[k] * std::conj(found.left[k][i]);
            for (int j = 0; j < n; j++) {
                r += matrix[i][j] * found.right[k][j];
                l += std::conj(found.left[k][j]) * matrix[j][i];
            }
            right = fmax(right, std::abs(r));
            left = fmax(left, std::abs(l));
            right_norm += std::norm(found.right[k][i]);
            left_norm += std::norm(found.left[k][i]);
            largest = fmax(largest, std::abs(found.right[k][i]));
        }
        for (int i = 0; i < n; i++) /* one of the largest, if they are alike */
            if (std::abs(found.right[k][i]) > largest * 0.999) phase = fmin(phase, fabs(found.right[k][i].imag()));
        near("right vector", n, k, right, unit * n * (size + 1));
        near("left vector", n, k, left, unit * n * (size + 1));
        near("right length", n, k, fabs(right_norm - 1), unit * 10 * n);
        near("left length", n, k, fabs(left_norm - 1), unit * 10 * n);
        near("largest part", n, k, phase, unit * 10);
        if (is_real && found.values[k].imag() > 0) {
            CHECK(k + 1 < n);
            CHECK(found.values[k + 1] == std::conj(found.values[k]));
        }
    }
}

static double noise(int *state)
{
    *state = (int)((*state * 1103515245u + 12345u) & 0x7fffffff);
    return (double)(*state >> 8) / (1 << 22) - 1;
}

template <typename R, typename T, typename C> static void try_type(cudaDataType type, cudaDataType complex_type, double unit)
{
    const bool is_real = type == CUDA_R_32F || type == CUDA_R_64F;
    int state = 7;
    for (int n : {1, 2, 3, 4, 9, 16, 33, (int)N_MAX}) {
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) matrix[i][j] = number(noise(&state), is_real ? 0 : noise(&state));
        run<R, T, C>(type, complex_type, n, matrix, true, true, &found);
        check_vectors(n, is_real, unit);
        /* Values alone are the same, in the other form of a real matrix, too. */
        run<R, T, C>(type, n % 2 == 0 || !is_real ? complex_type : type, n, matrix, false, n % 3 == 0, &again);
        CHECK_EQ(again.info, 0);
        for (int k = 0; k < n; k++) CHECK(again.values[k] == found.values[k]);
    }
    /* A circulant matrix: the values are known, and for 12 rows all but two are pairs. */
    const int n = 12;
    const double pi = 3.14159265358979323846;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) matrix[i][j] = (j - i + n) % n == 1 ? 1 : 0;
    run<R, T, C>(type, complex_type, n, matrix, true, true, &found);
    check_vectors(n, is_real, unit);
    for (int k = 0; k < n; k++) {
        double least = 9;
        for (int other = 0; other < n; other++)
            least = fmin(least, std::abs(found.values[other] - std::polar(1.0, 2 * pi * k / n)));
        near("value of the circulant matrix", n, k, least, unit * 100);
    }
    /* A triangle: its diagonal, exactly; a zero matrix; the unit matrix, with values repeated. */
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) matrix[i][j] = j < i ? 0 : i + j + 1;
    run<R, T, C>(type, complex_type, 5, matrix, true, true, &found);
    check_vectors(5, is_real, unit);
    for (int k = 0; k < 5; k++) CHECK(found.values[k] == number(2 * k + 1, 0));
    for (int scale = 0; scale < 2; scale++) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) matrix[i][j] = i == j ? scale : 0;
        run<R, T, C>(type, complex_type, 4, matrix, true, true, &found);
        check_vectors(4, is_real, unit);
    }
    /* One eigenvector for a value four times. */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) matrix[i][j] = i == j ? 2 : j == i + 1 ? 1 : 0;
    run<R, T, C>(type, complex_type, 4, matrix, true, true, &found);
    check_vectors(4, is_real, unit * 10);
    run<R, T, C>(type, complex_type, 0, matrix, true, true, &found);
    CHECK_EQ(found.info, 0);
}

int main(void)
{
    OK(cusolverDnCreate(&handle));
    try_type<float, float, cuComplex>(CUDA_R_32F, CUDA_C_32F, 2e-6);
    try_type<double, double, cuDoubleComplex>(CUDA_R_64F, CUDA_C_64F, 4e-15);
    try_type<float, cuComplex, cuComplex>(CUDA_C_32F, CUDA_C_32F, 2e-6);
    try_type<double, cuDoubleComplex, cuDoubleComplex>(CUDA_C_64F, CUDA_C_64F, 4e-15);
    /* Real and complex vectors of one matrix; values of another precision; rows that overlap. */
    size_t device = 0, host = 0;
    const cusolverEigMode_t none = CUSOLVER_EIG_MODE_NOVECTOR;
    CHECK_EQ((int)cusolverDnXgeev_bufferSize(handle, NULL, none, none, 4, CUDA_R_64F, NULL, 4, CUDA_C_64F, NULL, CUDA_C_64F, NULL,
                                             4, CUDA_C_64F, NULL, 4, CUDA_R_64F, &device, &host),
             (int)CUSOLVER_STATUS_INVALID_VALUE);
    CHECK_EQ((int)cusolverDnXgeev_bufferSize(handle, NULL, none, none, 4, CUDA_R_64F, NULL, 4, CUDA_C_32F, NULL, CUDA_R_64F, NULL,
                                             4, CUDA_R_64F, NULL, 4, CUDA_R_64F, &device, &host),
             (int)CUSOLVER_STATUS_INVALID_VALUE);
    CHECK_EQ((int)cusolverDnXgeev_bufferSize(handle, NULL, none, none, 4, CUDA_R_64F, NULL, 3, CUDA_C_64F, NULL, CUDA_R_64F, NULL,
                                             4, CUDA_R_64F, NULL, 4, CUDA_R_64F, &device, &host),
             (int)CUSOLVER_STATUS_INVALID_VALUE);
    OK(cusolverDnDestroy(handle));
    return check_done();
}
