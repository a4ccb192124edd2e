/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusparse
/* cuSPARSE's sums of two matrices, and triangular systems of before CUDA 12, against loops over dense matrices: the
 * four types, operations, bases, triangles, pivots that are not there. */
#include <cusparse.h>
#include <vector>

#include "check.h"
#include "numbers.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_##status)

static uint32_t state = 123456789u;
static cusparseHandle_t handle;
static double part() { return (int)(check_random(&state) % 2001) / 1000. - 1; }

template <typename T> struct calls;
#define CALLS(X, T, limit)                                                                                                      \
    template <> struct calls<T> {                                                                                               \
        static constexpr double tolerance = limit;                                                                              \
        static constexpr auto sum_size = cusparse##X##csrgeam2_bufferSizeExt;                                                   \
        static constexpr auto sum = cusparse##X##csrgeam2;                                                                      \
        static constexpr auto older_sum = cusparse##X##csrgeam;                                                                 \
        static constexpr auto vector_size = cusparse##X##csrsv2_bufferSize;                                                     \
        static constexpr auto vector_analysis = cusparse##X##csrsv2_analysis;                                                   \
        static constexpr auto vector = cusparse##X##csrsv2_solve;                                                               \
        static constexpr auto matrix_size = cusparse##X##csrsm2_bufferSizeExt;                                                  \
        static constexpr auto matrix_analysis = cusparse##X##csrsm2_analysis;                                                   \
        static constexpr auto matrix = cusparse##X##csrsm2_solve;                                                               \
    };
CALLS(S, float, 1e-4)
CALLS(D, double, 1e-12)
CALLS(C, cuComplex, 1e-4)
CALLS(Z, cuDoubleComplex, 1e-12)

template <typename T> T random_value() {
    T r;
    put(&r, number(part(), part()));
    return r;
}

template <typename T> void near(const char *what, number got, number wanted) {
    if (!(abs(got - wanted) <= calls<T>::tolerance * (1 + abs(wanted))) && check_note_failure())
        printf("FAIL: %s, %d bytes: %g %g, not %g %g\n", what, (int)sizeof(T), got.real(), got.imag(), wanted.real(), wanted.imag());
}

/* Rows of random entries, in managed memory. */
template <typename T> struct rows {
    int m, n, base, count = 0;
    int *offsets, *at;
    T *values;
    std::vector<number> dense;
    cusparseMatDescr_t descr;
    rows(int m, int n, int base, int of_ten, bool has_diagonal)
        : m(m), n(n), base(base), offsets(check_managed<int>(m + 1)), at(check_managed<int>(m * n + 1)), values(check_managed<T>(m * n + 1)),
          dense(m * n) {
        for (int i = 0; i < m; i++) {
            offsets[i] = count + base;
            for (int j = 0; j < n; j++) {
                if (!(has_diagonal && i == j) && (int)(check_random(&state) % 10) >= of_ten) continue;
                T v = random_value<T>();
                if (has_diagonal && i == j) put(&v, wide(v) + 3.);
                at[count] = j + base, values[count++] = v, dense[i * n + j] = wide(v);
            }
        }
        offsets[m] = count + base;
        OK(cusparseCreateMatDescr(&descr));
        OK(cusparseSetMatIndexBase(descr, base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO));
    }
    rows(const rows &) = delete;
    ~rows() {
        OK(cusparseDestroyMatDescr(descr));
        CUDA_OK(cudaFree(offsets));
        CUDA_OK(cudaFree(at));
        CUDA_OK(cudaFree(values));
    }
};

template <typename T> void check_sum(int m, int n, int base, bool is_older, bool is_on_device) {
    rows<T> a(m, n, base, 3, false), b(m, n, 1 - base, 4, false), c(m, n, base, 0, false);
    T *factors = check_managed<T>(2);
    factors[0] = random_value<T>(), factors[1] = random_value<T>();
    size_t bytes = 0;
    int total = -1, *counted = check_managed<int>(1);
    OK(cusparseSetPointerMode(handle, is_on_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST));
    OK(calls<T>::sum_size(handle, m, n, factors, a.descr, a.count, a.values, a.offsets, a.at, factors + 1, b.descr, b.count, b.values, b.offsets,
                          b.at, c.descr, c.values, c.offsets, c.at, &bytes));
    char *work = check_managed<char>(bytes);
    int *sum = is_on_device ? counted : &total;
    if (is_older)
        OK(cusparseXcsrgeamNnz(handle, m, n, a.descr, a.count, a.offsets, a.at, b.descr, b.count, b.offsets, b.at, c.descr, c.offsets, sum));
    else
        OK(cusparseXcsrgeam2Nnz(handle, m, n, a.descr, a.count, a.offsets, a.at, b.descr, b.count, b.offsets, b.at, c.descr, c.offsets, sum, work));
    if (is_older)
        OK(calls<T>::older_sum(handle, m, n, factors, a.descr, a.count, a.values, a.offsets, a.at, factors + 1, b.descr, b.count, b.values,
                               b.offsets, b.at, c.descr, c.values, c.offsets, c.at));
    else
        OK(calls<T>::sum(handle, m, n, factors, a.descr, a.count, a.values, a.offsets, a.at, factors + 1, b.descr, b.count, b.values, b.offsets,
                         b.at, c.descr, c.values, c.offsets, c.at, work));
    CUDA_OK(cudaDeviceSynchronize());
    /* Entries are those of either, in order. */
    int k = 0;
    for (int i = 0; i < m; i++) {
        CHECK_EQ(c.offsets[i], k + base);
        int l = a.offsets[i] - a.base, r = b.offsets[i] - b.base;
        for (int j = 0; j < n; j++) {
            const bool is_left = l < a.offsets[i + 1] - a.base && a.at[l] - a.base == j;
            const bool is_right = r < b.offsets[i + 1] - b.base && b.at[r] - b.base == j;
            if (!is_left && !is_right) continue;
            l += is_left, r += is_right;
            CHECK_EQ(c.at[k], j + base);
            near<T>("csrgeam2", wide(c.values[k++]), wide(factors[0]) * a.dense[i * n + j] + wide(factors[1]) * b.dense[i * n + j]);
        }
    }
    CHECK_EQ(c.offsets[m], k + base);
    CHECK_EQ(*sum, k);
    OK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    CUDA_OK(cudaFree(factors));
    CUDA_OK(cudaFree(counted));
    CUDA_OK(cudaFree(work));
}

/* op(A) x = alpha f with one triangle of A: x multiplied is f. */
template <typename T> void check_system(int n, int base, cusparseOperation_t op, bool is_lower, bool is_unit) {
    rows<T> a(n, n, base, 3, true);
    OK(cusparseSetMatFillMode(a.descr, is_lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER));
    OK(cusparseSetMatDiagType(a.descr, is_unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT));
    const auto element = [&](int i, int j) {
        const bool is_turned = op != CUSPARSE_OPERATION_NON_TRANSPOSE;
        const int row = is_turned ? j : i, column = is_turned ? i : j;
        if (row == column) return is_unit ? number(1) : op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(a.dense[row * n + row]) : a.dense[row * n + row];
        if ((column < row) != is_lower) return number(0);
        return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? conj(a.dense[row * n + column]) : a.dense[row * n + column];
    };
    const int columns = 3, ld = n + 2;
    T alpha = random_value<T>(), *f = check_managed<T>(n), *x = check_managed<T>(n), *b = check_managed<T>(ld * columns),
      *t = check_managed<T>(n * (columns + 1));
    put(&alpha, wide(alpha) + 2.);
    std::vector<number> right(n * columns);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < n; i++) {
            const T v = random_value<T>();
            right[j * n + i] = wide(v);
            b[j * ld + i] = v, t[i * (columns + 1) + j] = v;
            if (j == 0) f[i] = v;
        }
    csrsv2Info_t one;
    csrsm2Info_t many;
    int bytes = 0, position = 5;
    size_t size = 0;
    OK(cusparseCreateCsrsv2Info(&one));
    OK(cusparseCreateCsrsm2Info(&many));
    OK(calls<T>::vector_size(handle, op, n, a.count, a.descr, a.values, a.offsets, a.at, one, &bytes));
    OK(calls<T>::matrix_size(handle, 0, op, CUSPARSE_OPERATION_NON_TRANSPOSE, n, columns, a.count, &alpha, a.descr, a.values, a.offsets, a.at, b, ld,
                             many, CUSPARSE_SOLVE_POLICY_NO_LEVEL, &size));
    char *work = check_managed<char>(size + (size_t)bytes);
    OK(calls<T>::vector_analysis(handle, op, n, a.count, a.descr, a.values, a.offsets, a.at, one, CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    OK(cusparseXcsrsv2_zeroPivot(handle, one, &position));
    CHECK_EQ(position, -1);
    OK(calls<T>::vector(handle, op, n, a.count, &alpha, a.descr, a.values, a.offsets, a.at, one, f, x, CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    OK(calls<T>::matrix_analysis(handle, 0, op, CUSPARSE_OPERATION_NON_TRANSPOSE, n, columns, a.count, &alpha, a.descr, a.values, a.offsets, a.at, b,
                                 ld, many, CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    OK(cusparseXcsrsm2_zeroPivot(handle, many, &position));
    OK(calls<T>::matrix(handle, 0, op, CUSPARSE_OPERATION_NON_TRANSPOSE, n, columns, a.count, &alpha, a.descr, a.values, a.offsets, a.at, b, ld, many,
                        CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    OK(calls<T>::matrix(handle, 0, op, CUSPARSE_OPERATION_TRANSPOSE, n, columns, a.count, &alpha, a.descr, a.values, a.offsets, a.at, t, columns + 1,
                        many, CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
    CUDA_OK(cudaDeviceSynchronize());
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < n; i++) {
            number sums[3] = {};
            for (int k = 0; k < n; k++) {
                const number e = element(i, k);
                sums[0] += e * wide(b[j * ld + k]), sums[1] += e * wide(t[k * (columns + 1) + j]), sums[2] += e * wide(x[k]);
            }
            const number wanted = wide(alpha) * right[j * n + i];
            near<T>("csrsm2", sums[0], wanted);
            near<T>("csrsm2 by rows", sums[1], wanted);
            if (j == 0) near<T>("csrsv2", sums[2], wanted);
        }

    /* Without a pivot in row 2. */
    if (n > 2 && !is_unit) {
        for (int k = a.offsets[2] - base; k < a.offsets[3] - base; k++)
            if (a.at[k] == 2 + base) put(&a.values[k], 0);
        OK(calls<T>::vector_analysis(handle, op, n, a.count, a.descr, a.values, a.offsets, a.at, one, CUSPARSE_SOLVE_POLICY_NO_LEVEL, work));
        IS(cusparseXcsrsv2_zeroPivot(handle, one, &position), ZERO_PIVOT);
        CHECK_EQ(position, 2 + base);
    }
    OK(cusparseDestroyCsrsv2Info(one));
    OK(cusparseDestroyCsrsm2Info(many));
    CUDA_OK(cudaFree(f));
    CUDA_OK(cudaFree(x));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(t));
    CUDA_OK(cudaFree(work));
}

template <typename T> void check_type() {
    check_sum<T>(20, 13, 0, false, false);
    check_sum<T>(13, 20, 1, true, false);
    check_sum<T>(7, 7, 1, false, true);
    check_sum<T>(0, 3, 0, false, false);
    for (int op = 0; op < 3; op++)
        for (int is_lower = 0; is_lower < 2; is_lower++)
            check_system<T>(op == 1 ? 9 : 6, op == 0, (cusparseOperation_t)op, is_lower, op == 2);
    check_system<T>(1, 0, CUSPARSE_OPERATION_NON_TRANSPOSE, true, false);
    check_system<T>(5, 1, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, false, false);
}

static void check_statuses() {
    cusparseMatDescr_t symmetric;
    int total, position, *none = nullptr;
    OK(cusparseCreateMatDescr(&symmetric));
    OK(cusparseSetMatType(symmetric, CUSPARSE_MATRIX_TYPE_SYMMETRIC));
    IS(cusparseXcsrgeam2Nnz(handle, 2, 2, symmetric, 0, none, none, symmetric, 0, none, none, symmetric, &total, &total, nullptr),
       MATRIX_TYPE_NOT_SUPPORTED);
    IS(cusparseXcsrgeam2Nnz(handle, -1, 2, symmetric, 0, none, none, symmetric, 0, none, none, symmetric, &total, &total, nullptr), INVALID_VALUE);
    IS(cusparseXcsrsv2_zeroPivot(handle, nullptr, &position), INVALID_VALUE);
    IS(cusparseXcsrsv2_zeroPivot(nullptr, nullptr, &position), NOT_INITIALIZED);
    OK(cusparseDestroyMatDescr(symmetric));
}

int main() {
    OK(cusparseCreate(&handle));
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
    check_statuses();
    OK(cusparseDestroy(handle));
    return check_done();
}
