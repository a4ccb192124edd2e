/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcusparse
/* cuSPARSE against loops over dense matrices, in double complex: the four types, formats, operations, index sizes and
 * bases, batches; triangular and tridiagonal systems, incomplete factors, conversions, products of two sparse matrices;
 * wrong arguments. */
#include <complex>
#include <cusparse.h>
#include <math.h>
#include <string.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_##status)
#define CUDA(call) CHECK_EQ((int)(call), (int)cudaSuccess)

typedef std::complex<double> value;
typedef std::vector<value> matrix; /* by columns */

static uint32_t state = 521288629u;
static cusparseHandle_t handle;

static int below(int n) { return (int)(check_random(&state) % (unsigned)n); }

template <typename T> struct element;
template <> struct element<float> {
    static constexpr cudaDataType type = CUDA_R_32F;
    static constexpr double tolerance = 1e-5;
    static float from(value v) { return (float)v.real(); }
    static value to(float v) { return v; }
    static constexpr bool is_complex = false;
};
template <> struct element<double> {
    static constexpr cudaDataType type = CUDA_R_64F;
    static constexpr double tolerance = 1e-13;
    static double from(value v) { return v.real(); }
    static value to(double v) { return v; }
    static constexpr bool is_complex = false;
};
template <> struct element<cuComplex> {
    static constexpr cudaDataType type = CUDA_C_32F;
    static constexpr double tolerance = 1e-5;
    static cuComplex from(value v) { return make_cuComplex((float)v.real(), (float)v.imag()); }
    static value to(cuComplex v) { return value(v.x, v.y); }
    static constexpr bool is_complex = true;
};
template <> struct element<cuDoubleComplex> {
    static constexpr cudaDataType type = CUDA_C_64F;
    static constexpr double tolerance = 1e-13;
    static cuDoubleComplex from(value v) { return make_cuDoubleComplex(v.real(), v.imag()); }
    static value to(cuDoubleComplex v) { return value(v.x, v.y); }
    static constexpr bool is_complex = true;
};

template <typename T> value number() {
    const double re = below(2001) / 1000. - 1, im = below(2001) / 1000. - 1;
    return value(re, element<T>::is_complex ? im : 0);
}

/* Device memory with the elements of a list. */
template <typename T> struct device {
    T *data = nullptr;
    size_t count;
    explicit device(const std::vector<T> &v) : count(v.size()) {
        CUDA(cudaMalloc(&data, (count + 1) * sizeof(T)));
        CUDA(cudaMemcpy(data, v.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device() { CUDA(cudaFree(data)); }
    device(const device &) = delete;
    std::vector<T> get() const {
        std::vector<T> v(count);
        CUDA(cudaMemcpy(v.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return v;
    }
};

template <typename T> std::vector<T> to(const matrix &m) {
    std::vector<T> v;
    for (value x : m)
        v.push_back(element<T>::from(x));
    return v;
}

template <typename T> void check_close(const char *what, const std::vector<T> &got, const matrix &expected) {
    double difference = 0, size = 1e-30;
    for (size_t i = 0; i < expected.size(); i++) {
        difference += std::norm(element<T>::to(got[i]) - expected[i]);
        size += std::norm(expected[i]);
    }
    if (!(sqrt(difference / size) <= element<T>::tolerance) && check_note_failure())
        printf("FAIL: %s, type %d: relative distance %g\n", what, (int)element<T>::type, sqrt(difference / size));
}

/* A dense matrix of which about a third is not zero. */
template <typename T> matrix thin(int rows, int columns) {
    matrix m((size_t)rows * columns);
    for (value &x : m)
        x = below(3) == 0 ? number<T>() : 0;
    return m;
}

/* Rounded, as the device's copy is. */
template <typename T> matrix rounded(const matrix &m) {
    matrix r;
    for (value x : m)
        r.push_back(element<T>::to(element<T>::from(x)));
    return r;
}

template <typename T> matrix full(int rows, int columns) {
    matrix m((size_t)rows * columns);
    for (value &x : m)
        x = number<T>();
    return rounded<T>(m);
}

/* Lists of a sparse matrix, by rows or by columns. */
template <typename I, typename T> struct lists {
    std::vector<I> offsets, line, at;
    std::vector<T> values;
    lists(const matrix &m, int rows, int columns, bool by_rows, int base) {
        for (int i = 0; i < (by_rows ? rows : columns); i++) {
            offsets.push_back((I)((int)values.size() + base));
            for (int j = 0; j < (by_rows ? columns : rows); j++) {
                const value x = by_rows ? m[(size_t)j * rows + i] : m[(size_t)i * rows + j];
                if (x == 0.) continue;
                line.push_back((I)(i + base));
                at.push_back((I)(j + base));
                values.push_back(element<T>::from(x));
            }
        }
        offsets.push_back((I)((int)values.size() + base));
    }
};

/* A description of one, in device memory. */
template <typename I, typename T> struct sparse {
    lists<I, T> host;
    device<I> offsets, line, at;
    device<T> values;
    cusparseSpMatDescr_t description;
    sparse(const matrix &m, int rows, int columns, cusparseFormat_t format, int base)
        : host(m, rows, columns, format != CUSPARSE_FORMAT_CSC, base), offsets(host.offsets), line(host.line), at(host.at),
          values(host.values) {
        const cusparseIndexType_t type = sizeof(I) == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
        const cusparseIndexBase_t b = (cusparseIndexBase_t)base;
        const int64_t count = (int64_t)values.count;
        if (format == CUSPARSE_FORMAT_CSR)
            OK(cusparseCreateCsr(&description, rows, columns, count, offsets.data, at.data, values.data, type, type, b,
                                 element<T>::type));
        else if (format == CUSPARSE_FORMAT_CSC)
            OK(cusparseCreateCsc(&description, rows, columns, count, offsets.data, at.data, values.data, type, type, b,
                                 element<T>::type));
        else
            OK(cusparseCreateCoo(&description, rows, columns, count, line.data, at.data, values.data, type, b,
                                 element<T>::type));
    }
    ~sparse() { OK(cusparseDestroySpMat(description)); }
};

static value of(const matrix &m, int rows, int i, int j, cusparseOperation_t op) {
    if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return m[(size_t)j * rows + i];
    const value x = m[(size_t)i * rows + j];
    return op == CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE ? std::conj(x) : x;
}

template <typename I, typename T> void check_products(cusparseFormat_t format, cusparseOperation_t op, int base) {
    const int m = 1 + below(40), n = 1 + below(40), k = 1 + below(5);
    const bool is_plain = op == CUSPARSE_OPERATION_NON_TRANSPOSE;
    const int rows = is_plain ? m : n, depth = is_plain ? n : m;
    const matrix a = rounded<T>(thin<T>(m, n)), b = full<T>(depth, k), c = full<T>(rows, k);
    const value alpha = element<T>::to(element<T>::from(number<T>())), beta = below(2) ? 0. : alpha * 0.5;
    const T alpha_value = element<T>::from(alpha), beta_value = element<T>::from(beta);
    matrix expected((size_t)rows * k);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++) {
            value sum = 0;
            for (int l = 0; l < depth; l++)
                sum += of(a, m, i, l, op) * b[(size_t)j * depth + l];
            expected[(size_t)j * rows + i] = alpha * sum + beta * c[(size_t)j * rows + i];
        }
    sparse<I, T> s(a, m, n, format, base);
    device<T> x(to<T>(b)), y(to<T>(c));
    size_t bytes = 0;

    /* The first column as a vector, then all of them. */
    cusparseDnVecDescr_t vx, vy;
    OK(cusparseCreateDnVec(&vx, depth, x.data, element<T>::type));
    OK(cusparseCreateDnVec(&vy, rows, y.data, element<T>::type));
    OK(cusparseSpMV_bufferSize(handle, op, &alpha_value, s.description, vx, &beta_value, vy, element<T>::type,
                               CUSPARSE_SPMV_ALG_DEFAULT, &bytes));
    CHECK(bytes > 0);
    OK(cusparseSpMV(handle, op, &alpha_value, s.description, vx, &beta_value, vy, element<T>::type,
                    CUSPARSE_SPMV_ALG_DEFAULT, nullptr));
    check_close("SpMV", y.get(), matrix(expected.begin(), expected.begin() + rows));
    OK(cusparseDestroyDnVec(vx));
    OK(cusparseDestroyDnVec(vy));

    device<T> fresh(to<T>(c));
    cusparseDnMatDescr_t mb, mc;
    OK(cusparseCreateDnMat(&mb, depth, k, depth, x.data, element<T>::type, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&mc, rows, k, rows, fresh.data, element<T>::type, CUSPARSE_ORDER_COL));
    OK(cusparseSpMM(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha_value, s.description, mb, &beta_value, mc,
                    element<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    check_close("SpMM", fresh.get(), expected);
    OK(cusparseDestroyDnMat(mb));
    OK(cusparseDestroyDnMat(mc));

    /* B by rows and transposed, factors in device memory. */
    std::vector<T> by_rows((size_t)rows * k);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++)
            by_rows[(size_t)i * k + j] = element<T>::from(c[(size_t)j * rows + i]);
    device<T> out(by_rows), factors(std::vector<T>{alpha_value, beta_value});
    OK(cusparseCreateDnMat(&mb, k, depth, depth, x.data, element<T>::type, CUSPARSE_ORDER_ROW));
    OK(cusparseCreateDnMat(&mc, rows, k, k, out.data, element<T>::type, CUSPARSE_ORDER_ROW));
    OK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_DEVICE));
    OK(cusparseSpMM(handle, op, CUSPARSE_OPERATION_TRANSPOSE, factors.data, s.description, mb, factors.data + 1, mc,
                    element<T>::type, CUSPARSE_SPMM_ALG_DEFAULT, nullptr));
    OK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    matrix transposed((size_t)rows * k);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < k; j++)
            transposed[(size_t)i * k + j] = expected[(size_t)j * rows + i];
    check_close("SpMM by rows", out.get(), transposed);
    OK(cusparseDestroyDnMat(mb));
    OK(cusparseDestroyDnMat(mc));
}

template <typename T> void check_solves(cusparseFormat_t format, cusparseOperation_t op, bool is_lower, bool is_unit) {
    const int n = 1 + below(40), k = 1 + below(3);
    matrix a = rounded<T>(thin<T>(n, n));
    for (int i = 0; i < n; i++)
        a[(size_t)i * n + i] = 20 + i % 3;
    const matrix solution = full<T>(n, k);
    matrix right((size_t)n * k);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k; j++)
            for (int l = 0; l < n; l++) {
                const int row = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? i : l,
                          column = op == CUSPARSE_OPERATION_NON_TRANSPOSE ? l : i;
                value x = of(a, n, i, l, op);
                if (i == l && is_unit) x = 1;
                if (row == column || (row > column) == is_lower) right[(size_t)j * n + i] += x * solution[(size_t)j * n + l];
            }
    sparse<int, T> s(a, n, n, format, 1);
    cusparseFillMode_t fill = is_lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    cusparseDiagType_t diagonal = is_unit ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    OK(cusparseSpMatSetAttribute(s.description, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    OK(cusparseSpMatSetAttribute(s.description, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    for (value &x : right)
        x *= 2;
    const T half = element<T>::from(0.5);
    device<T> b(to<T>(right)), x(to<T>(matrix((size_t)n * k)));
    cusparseDnMatDescr_t mb, mx;
    cusparseSpSMDescr_t work;
    size_t bytes;
    OK(cusparseCreateDnMat(&mb, n, k, n, b.data, element<T>::type, CUSPARSE_ORDER_COL));
    OK(cusparseCreateDnMat(&mx, n, k, n, x.data, element<T>::type, CUSPARSE_ORDER_COL));
    OK(cusparseSpSM_createDescr(&work));
    OK(cusparseSpSM_bufferSize(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &half, s.description, mb, mx, element<T>::type,
                               CUSPARSE_SPSM_ALG_DEFAULT, work, &bytes));
    OK(cusparseSpSM_analysis(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &half, s.description, mb, mx, element<T>::type,
                             CUSPARSE_SPSM_ALG_DEFAULT, work, nullptr));
    OK(cusparseSpSM_solve(handle, op, CUSPARSE_OPERATION_NON_TRANSPOSE, &half, s.description, mb, mx, element<T>::type,
                          CUSPARSE_SPSM_ALG_DEFAULT, work));
    check_close("SpSM", x.get(), solution);
    OK(cusparseSpSM_destroyDescr(work));
    OK(cusparseDestroyDnMat(mb));
    OK(cusparseDestroyDnMat(mx));

    device<T> y(to<T>(matrix((size_t)n)));
    cusparseDnVecDescr_t vb, vy;
    cusparseSpSVDescr_t one;
    OK(cusparseCreateDnVec(&vb, n, b.data, element<T>::type));
    OK(cusparseCreateDnVec(&vy, n, y.data, element<T>::type));
    OK(cusparseSpSV_createDescr(&one));
    OK(cusparseSpSV_analysis(handle, op, &half, s.description, vb, vy, element<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, one,
                             nullptr));
    OK(cusparseSpSV_solve(handle, op, &half, s.description, vb, vy, element<T>::type, CUSPARSE_SPSV_ALG_DEFAULT, one));
    check_close("SpSV", y.get(), matrix(solution.begin(), solution.begin() + n));
    OK(cusparseSpSV_destroyDescr(one));
    OK(cusparseDestroyDnVec(vb));
    OK(cusparseDestroyDnVec(vy));
}

/* Dense to sparse and back, in every format. */
template <typename T> void check_conversions() {
    const int m = 1 + below(30), n = 1 + below(30);
    const matrix a = rounded<T>(thin<T>(m, n));
    for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO}) {
        lists<int, T> expected(a, m, n, format != CUSPARSE_FORMAT_CSC, 0);
        device<T> dense(to<T>(a)), back(to<T>(full<T>(m, n))), values(expected.values);
        device<int> offsets(std::vector<int>(expected.offsets.size() + expected.line.size())),
            at(std::vector<int>(expected.at.size()));
        cusparseDnMatDescr_t md, mb;
        cusparseSpMatDescr_t s;
        OK(cusparseCreateDnMat(&md, m, n, m, dense.data, element<T>::type, CUSPARSE_ORDER_COL));
        OK(cusparseCreateDnMat(&mb, m, n, m, back.data, element<T>::type, CUSPARSE_ORDER_COL));
        if (format == CUSPARSE_FORMAT_CSR)
            OK(cusparseCreateCsr(&s, m, n, 0, offsets.data, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, element<T>::type));
        else if (format == CUSPARSE_FORMAT_CSC)
            OK(cusparseCreateCsc(&s, m, n, 0, offsets.data, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, element<T>::type));
        else
            OK(cusparseCreateCoo(&s, m, n, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                                 element<T>::type));
        size_t bytes = 0;
        OK(cusparseDenseToSparse_bufferSize(handle, md, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes));
        device<char> buffer{std::vector<char>(bytes)};
        OK(cusparseDenseToSparse_analysis(handle, md, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer.data));
        int64_t rows, columns, count;
        OK(cusparseSpMatGetSize(s, &rows, &columns, &count));
        CHECK_EQ((int)count, (int)expected.values.size());
        if (format == CUSPARSE_FORMAT_CSR)
            OK(cusparseCsrSetPointers(s, offsets.data, at.data, values.data));
        else if (format == CUSPARSE_FORMAT_CSC)
            OK(cusparseCscSetPointers(s, offsets.data, at.data, values.data));
        else
            OK(cusparseCooSetPointers(s, offsets.data, at.data, values.data));
        OK(cusparseDenseToSparse_convert(handle, md, s, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, buffer.data));
        CHECK(at.get() == expected.at);
        const std::vector<int> lines = offsets.get(),
                               &wanted = format == CUSPARSE_FORMAT_COO ? expected.line : expected.offsets;
        CHECK(std::equal(wanted.begin(), wanted.end(), lines.begin()));
        OK(cusparseSparseToDense(handle, s, mb, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
        check_close("dense to sparse to dense", back.get(), a);
        OK(cusparseDestroySpMat(s));
        OK(cusparseDestroyDnMat(md));
        OK(cusparseDestroyDnMat(mb));
    }

    /* Rows to columns, of base 1. */
    lists<int, T> by_rows(a, m, n, true, 1), by_columns(a, m, n, false, 1);
    device<int> ro(by_rows.offsets), ra(by_rows.at), co(std::vector<int>((size_t)n + 1)),
        ca(std::vector<int>(by_rows.at.size()));
    device<T> rv(by_rows.values), cv(by_rows.values);
    OK(cusparseCsr2cscEx2(handle, m, n, (int)by_rows.at.size(), rv.data, ro.data, ra.data, cv.data, co.data, ca.data,
                          element<T>::type, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ONE, CUSPARSE_CSR2CSC_ALG1,
                          nullptr));
    CHECK(co.get() == by_columns.offsets);
    CHECK(ca.get() == by_columns.at);
    CHECK(memcmp(cv.get().data(), by_columns.values.data(), by_columns.values.size() * sizeof(T)) == 0);
}

template <typename T> void check_sparse_products() {
    const int m = 1 + below(20), n = 1 + below(20), k = 1 + below(20);
    const matrix a = rounded<T>(thin<T>(m, k)), b = rounded<T>(thin<T>(k, n));
    matrix expected((size_t)m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                expected[(size_t)j * m + i] += a[(size_t)l * m + i] * b[(size_t)j * k + l];
    sparse<int, T> sa(a, m, k, CUSPARSE_FORMAT_CSR, 0), sb(b, k, n, CUSPARSE_FORMAT_CSR, 1);
    device<int> offsets(std::vector<int>((size_t)m + 1));
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t work;
    const T one = element<T>::from(1), zero = element<T>::from(0);
    const cusparseOperation_t N = CUSPARSE_OPERATION_NON_TRANSPOSE;
    size_t bytes;
    OK(cusparseCreateCsr(&c, m, n, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, element<T>::type));
    OK(cusparseSpGEMM_createDescr(&work));
    device<char> buffer{std::vector<char>(64)};
#define PRODUCT(step, ...)                                                                                                      \
    OK(cusparseSpGEMM_##step(handle, N, N, &one, sa.description, sb.description, &zero, c, element<T>::type,                     \
                             CUSPARSE_SPGEMM_DEFAULT, work, ##__VA_ARGS__))
    PRODUCT(workEstimation, &bytes, (void *)nullptr);
    PRODUCT(workEstimation, &bytes, (void *)buffer.data);
    PRODUCT(compute, &bytes, (void *)nullptr);
    PRODUCT(compute, &bytes, (void *)buffer.data);
    int64_t rows, columns, count;
    OK(cusparseSpMatGetSize(c, &rows, &columns, &count));
    device<int> at(std::vector<int>((size_t)count));
    device<T> values(std::vector<T>((size_t)count)), dense(to<T>(full<T>(m, n)));
    OK(cusparseCsrSetPointers(c, offsets.data, at.data, values.data));
    PRODUCT(copy);
    cusparseDnMatDescr_t d;
    OK(cusparseCreateDnMat(&d, m, n, m, dense.data, element<T>::type, CUSPARSE_ORDER_COL));
    OK(cusparseSparseToDense(handle, c, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
    check_close("SpGEMM", dense.get(), expected);
    const std::vector<int> columns_of = at.get(), starts = offsets.get();
    for (int i = 0; i < m; i++)
        for (int l = starts[i] + 1; l < starts[i + 1]; l++)
            CHECK(columns_of[l - 1] < columns_of[l]);

    /* The product of dense ones at given places. */
    const matrix x = full<T>(m, k), y = full<T>(n, k), old = rounded<T>(thin<T>(m, n));
    matrix sampled((size_t)m * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            value sum = 0;
            for (int l = 0; l < k; l++)
                sum += x[(size_t)l * m + i] * y[(size_t)l * n + j];
            if (old[(size_t)j * m + i] != 0.) sampled[(size_t)j * m + i] = sum + old[(size_t)j * m + i];
        }
    for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC}) {
        sparse<long long, T> so(old, m, n, format, 0);
        device<T> dx(to<T>(x)), dy(to<T>(y));
        cusparseDnMatDescr_t mx, my;
        OK(cusparseCreateDnMat(&mx, m, k, m, dx.data, element<T>::type, CUSPARSE_ORDER_COL));
        OK(cusparseCreateDnMat(&my, n, k, n, dy.data, element<T>::type, CUSPARSE_ORDER_COL));
        OK(cusparseSDDMM(handle, N, CUSPARSE_OPERATION_TRANSPOSE, &one, mx, my, &one, so.description, element<T>::type,
                         CUSPARSE_SDDMM_ALG_DEFAULT, nullptr));
        OK(cusparseSparseToDense(handle, so.description, d, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, nullptr));
        check_close("SDDMM", dense.get(), sampled);
        OK(cusparseDestroyDnMat(mx));
        OK(cusparseDestroyDnMat(my));
    }
    OK(cusparseDestroyDnMat(d));
    OK(cusparseSpGEMM_destroyDescr(work));
    OK(cusparseDestroySpMat(c));
}

template <typename T> void check_vectors() {
    const int n = 50, count = 17;
    std::vector<int> at;
    for (int i = 0; i < count; i++)
        at.push_back(i * 3 - i % 2 + (i == 0));
    const matrix x = full<T>(count, 1), y = full<T>(n, 1);
    matrix sum, spread = y, gathered;
    value conjugated = 0;
    const value alpha = 0.5, beta = -2;
    for (value v : y)
        sum.push_back(beta * v);
    for (int i = 0; i < count; i++) {
        sum[at[i]] += alpha * x[i];
        spread[at[i]] = x[i];
        gathered.push_back(y[at[i]]);
        conjugated += std::conj(x[i]) * y[at[i]];
    }
    device<int> da(at);
    device<T> dx(to<T>(x)), dy(to<T>(y)), ds(to<T>(y));
    cusparseSpVecDescr_t vx;
    cusparseDnVecDescr_t vy, vs;
    OK(cusparseCreateSpVec(&vx, n, count, da.data, dx.data, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, element<T>::type));
    OK(cusparseCreateDnVec(&vy, n, dy.data, element<T>::type));
    OK(cusparseCreateDnVec(&vs, n, ds.data, element<T>::type));
    T result;
    OK(cusparseSpVV(handle, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, vx, vy, &result, element<T>::type, nullptr));
    check_close("SpVV", std::vector<T>{result}, matrix{conjugated});
    /* Captured, it has its result when the graph has run. */
    cudaStream_t stream, usual;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    OK(cusparseGetStream(handle, &usual));
    CUDA_OK(cudaStreamCreate(&stream));
    OK(cusparseSetStream(handle, stream));
    result = T();
    CUDA_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    OK(cusparseSpVV(handle, CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE, vx, vy, &result, element<T>::type, nullptr));
    CUDA_OK(cudaStreamEndCapture(stream, &graph));
    CUDA_OK(cudaGraphInstantiate(&ready, graph, 0));
    CUDA_OK(cudaGraphLaunch(ready, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    check_close("SpVV in a graph", std::vector<T>{result}, matrix{conjugated});
    CUDA_OK(cudaGraphExecDestroy(ready));
    CUDA_OK(cudaGraphDestroy(graph));
    OK(cusparseSetStream(handle, usual));
    CUDA_OK(cudaStreamDestroy(stream));
    OK(cusparseScatter(handle, vx, vs));
    check_close("Scatter", ds.get(), spread);
    const T a = element<T>::from(alpha), b = element<T>::from(beta);
    OK(cusparseDnVecSetValues(vs, ds.data));
    CUDA(cudaMemcpy(ds.data, dy.data, n * sizeof(T), cudaMemcpyDeviceToDevice));
    OK(cusparseAxpby(handle, &a, vx, &b, vs));
    check_close("Axpby", ds.get(), sum);
    OK(cusparseGather(handle, vy, vx));
    check_close("Gather", dx.get(), gathered);
    OK(cusparseDestroySpVec(vx));
    OK(cusparseDestroyDnVec(vy));
    OK(cusparseDestroyDnVec(vs));
}

/* Calls with the type in their name. */
template <typename T> struct typed;
#define TYPED(X, T)                                                                                                             \
    template <> struct typed<T> {                                                                                               \
        static constexpr auto ilu = cusparse##X##csrilu02;                                                                      \
        static constexpr auto ic = cusparse##X##csric02;                                                                        \
        static constexpr auto band_bytes = cusparse##X##gtsv2_bufferSizeExt;                                                    \
        static constexpr auto band = cusparse##X##gtsv2;                                                                        \
        static constexpr auto bands = cusparse##X##gtsv2StridedBatch;                                                           \
        static constexpr auto mv = cusparse##X##csrmv;                                                                          \
        static constexpr auto count = cusparse##X##nnz;                                                                         \
        static constexpr auto from_dense = cusparse##X##dense2csr;                                                              \
        static constexpr auto to_dense = cusparse##X##csr2dense;                                                                \
    };
TYPED(S, float)
TYPED(D, double)
TYPED(C, cuComplex)
TYPED(Z, cuDoubleComplex)

/* Of a matrix whose factors fit its pattern, the incomplete factors are the factors. */
template <typename T> void check_factors() {
    const int n = 20;
    matrix a((size_t)n * n);
    for (int i = 0; i < n; i++) {
        a[(size_t)i * n + i] = 4 + 0.1 * i;
        if (i + 1 < n) {
            const value x = number<T>();
            a[(size_t)i * n + i + 1] = x;
            a[(size_t)(i + 1) * n + i] = std::conj(x);
        }
    }
    a = rounded<T>(a);
    cusparseMatDescr_t plain;
    OK(cusparseCreateMatDescr(&plain));
    csrilu02Info_t ilu;
    csric02Info_t ic;
    OK(cusparseCreateCsrilu02Info(&ilu));
    OK(cusparseCreateCsric02Info(&ic));
    for (int is_symmetric = 0; is_symmetric < 2; is_symmetric++) {
        sparse<int, T> s(a, n, n, CUSPARSE_FORMAT_CSR, 0);
        const int count = (int)s.values.count;
        int pivot = 7;
        if (is_symmetric) {
            OK(typed<T>::ic(handle, n, count, plain, s.values.data, s.offsets.data, s.at.data, ic,
                            CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
            OK(cusparseXcsric02_zeroPivot(handle, ic, &pivot));
        } else {
            OK(typed<T>::ilu(handle, n, count, plain, s.values.data, s.offsets.data, s.at.data, ilu,
                             CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
            OK(cusparseXcsrilu02_zeroPivot(handle, ilu, &pivot));
        }
        CHECK_EQ(pivot, -1);
        matrix f((size_t)n * n), product((size_t)n * n);
        const std::vector<T> values = s.values.get();
        for (int k = 0; k < count; k++)
            f[(size_t)s.host.at[k] * n + s.host.line[k]] = element<T>::to(values[k]);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l <= (i < j ? i : j); l++) {
                    const value left = l == i && !is_symmetric ? 1. : f[(size_t)l * n + i];
                    const value right = is_symmetric ? std::conj(f[(size_t)l * n + j]) : f[(size_t)j * n + l];
                    product[(size_t)j * n + i] += left * right;
                }
        check_close(is_symmetric ? "csric02" : "csrilu02", to<T>(product), a);
    }
    /* A zero pivot is named. */
    matrix zero = a;
    zero[0] = 0;
    sparse<int, T> s(zero, n, n, CUSPARSE_FORMAT_CSR, 0);
    int pivot = 7;
    OK(typed<T>::ilu(handle, n, (int)s.values.count, plain, s.values.data, s.offsets.data, s.at.data, ilu,
                     CUSPARSE_SOLVE_POLICY_NO_LEVEL, nullptr));
    IS(cusparseXcsrilu02_zeroPivot(handle, ilu, &pivot), ZERO_PIVOT);
    CHECK_EQ(pivot, 0);
    OK(cusparseDestroyCsrilu02Info(ilu));
    OK(cusparseDestroyCsric02Info(ic));

    /* y = A x by the older call, and the entries of rows. */
    sparse<int, T> whole(a, n, n, CUSPARSE_FORMAT_CSR, 0);
    const matrix x = full<T>(n, 1);
    matrix y((size_t)n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            y[i] += a[(size_t)j * n + i] * x[j];
    const T one = element<T>::from(1), none = element<T>::from(0);
    device<T> dx(to<T>(x)), dy(to<T>(x)), dense(to<T>(a));
    OK(typed<T>::mv(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, n, n, (int)whole.values.count, &one, plain, whole.values.data,
                    whole.offsets.data, whole.at.data, dx.data, &none, dy.data));
    check_close("csrmv", dy.get(), y);
    device<int> counts(std::vector<int>((size_t)n, -1));
    int total = 0;
    OK(typed<T>::count(handle, CUSPARSE_DIRECTION_ROW, n, n, plain, dense.data, n, counts.data, &total));
    CHECK_EQ(total, (int)whole.values.count);
    const std::vector<int> got = counts.get();
    for (int i = 0; i < n; i++)
        CHECK_EQ(got[i], whole.host.offsets[i + 1] - whole.host.offsets[i]);

    /* From dense to rows that count from 1, and back. */
    OK(cusparseSetMatIndexBase(plain, CUSPARSE_INDEX_BASE_ONE));
    device<int> offsets(std::vector<int>((size_t)n + 1, -1)), at(std::vector<int>((size_t)total, -1));
    device<T> values{std::vector<T>((size_t)total)}, again(to<T>(full<T>(n, n)));
    OK(typed<T>::from_dense(handle, n, n, plain, dense.data, n, counts.data, values.data, offsets.data, at.data));
    for (int i = 0; i <= n; i++)
        CHECK_EQ(offsets.get()[i], whole.host.offsets[i] + 1);
    for (int k = 0; k < total; k++)
        CHECK_EQ(at.get()[k], whole.host.at[k] + 1);
    OK(typed<T>::to_dense(handle, n, n, plain, values.data, offsets.data, at.data, again.data, n));
    check_close("csr2dense", again.get(), a);
    OK(cusparseDestroyMatDescr(plain));
}

template <typename T> void check_bands() {
    const int n = 3 + below(30), k = 2;
    matrix lower = full<T>(n, 1), middle = full<T>(n, 1), upper = full<T>(n, 1), x = full<T>(n, k);
    lower[0] = upper[n - 1] = 0;
    for (int is_batch = 0; is_batch < 2; is_batch++) {
        for (int i = 0; i < n && is_batch; i++)
            middle[i] += 4; /* the batch has no exchanges */
        middle = rounded<T>(middle);
        matrix b((size_t)n * k), l = lower, d = middle, u = upper;
        for (int j = 0; j < k; j++)
            for (int i = 0; i < n; i++)
                b[(size_t)j * n + i] = (i > 0 ? lower[i] * x[(size_t)j * n + i - 1] : 0.) + middle[i] * x[(size_t)j * n + i] +
                                       (i + 1 < n ? upper[i] * x[(size_t)j * n + i + 1] : 0.);
        for (matrix *list : {&l, &d, &u})
            list->insert(list->end(), list->begin(), list->begin() + n);
        device<T> dl(to<T>(l)), dd(to<T>(d)), du(to<T>(u)), db(to<T>(b));
        size_t bytes = 0;
        OK(typed<T>::band_bytes(handle, n, k, dl.data, dd.data, du.data, db.data, n, &bytes));
        device<char> buffer{std::vector<char>(bytes)};
        if (is_batch)
            OK(typed<T>::bands(handle, n, dl.data, dd.data, du.data, db.data, k, n, buffer.data));
        else
            OK(typed<T>::band(handle, n, k, dl.data, dd.data, du.data, db.data, n, buffer.data));
        /* A random system may be ill conditioned: the residue counts. */
        const std::vector<T> got = db.get();
        matrix back((size_t)n * k);
        for (int j = 0; j < k; j++)
            for (int i = 0; i < n; i++) {
                const T *side = &got[(size_t)j * n];
                back[(size_t)j * n + i] = (i > 0 ? lower[i] * element<T>::to(side[i - 1]) : 0.) +
                                          middle[i] * element<T>::to(side[i]) +
                                          (i + 1 < n ? upper[i] * element<T>::to(side[i + 1]) : 0.);
            }
        double difference = 0, size = 0;
        for (size_t i = 0; i < b.size(); i++) {
            difference += std::norm(back[i] - b[i]);
            size += std::norm(b[i]) + std::norm(element<T>::to(got[i]));
        }
        if (!(sqrt(difference / size) <= 10 * element<T>::tolerance) && check_note_failure())
            printf("FAIL: gtsv2 of %d rows, batch %d: residue %g\n", n, is_batch, sqrt(difference / size));
    }
}

static void check_indices() {
    std::vector<int> rows, columns, order;
    for (int i = 0; i < 200; i++) {
        rows.push_back((i * 37) % 20);
        columns.push_back((i * 91 + i / 20) % 50);
    }
    device<int> dr(rows), dc(columns), dp(std::vector<int>(200)), offsets(std::vector<int>(21)), back(rows);
    size_t bytes;
    OK(cusparseXcoosort_bufferSizeExt(handle, 20, 50, 200, dr.data, dc.data, &bytes));
    OK(cusparseCreateIdentityPermutation(handle, 200, dp.data));
    OK(cusparseXcoosortByRow(handle, 20, 50, 200, dr.data, dc.data, dp.data, nullptr));
    const std::vector<int> r = dr.get(), c = dc.get(), p = dp.get();
    for (int i = 0; i < 200; i++) {
        CHECK_EQ(r[i], rows[p[i]]);
        CHECK_EQ(c[i], columns[p[i]]);
        CHECK(i == 0 || r[i - 1] < r[i] || (r[i - 1] == r[i] && c[i - 1] <= c[i]));
    }
    OK(cusparseXcoo2csr(handle, dr.data, 200, 20, offsets.data, CUSPARSE_INDEX_BASE_ZERO));
    const std::vector<int> o = offsets.get();
    CHECK_EQ(o[20], 200);
    for (int i = 0; i < 20; i++)
        for (int k = o[i]; k < o[i + 1]; k++)
            CHECK_EQ(r[k], i);
    OK(cusparseXcsr2coo(handle, offsets.data, 200, 20, back.data, CUSPARSE_INDEX_BASE_ZERO));
    CHECK(back.get() == r);
}

static void check_statuses() {
    int version = 0;
    OK(cusparseGetVersion(handle, &version));
    CHECK_EQ(version, CUSPARSE_VERSION);
    CHECK(strcmp(cusparseGetErrorName(CUSPARSE_STATUS_ZERO_PIVOT), "CUSPARSE_STATUS_ZERO_PIVOT") == 0);
    CHECK(strlen(cusparseGetErrorString((cusparseStatus_t)99)) > 0);
    IS(cusparseCreate(nullptr), INVALID_VALUE);
    IS(cusparseSetStream(nullptr, nullptr), NOT_INITIALIZED);
    cusparseSpMatDescr_t m;
    cusparseDnVecDescr_t x, y;
    const float one = 1;
    IS(cusparseCreateCsr(&m, -1, 2, 3, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
       INVALID_VALUE);
    OK(cusparseCreateCsr(&m, 2, 3, 0, nullptr, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    OK(cusparseCreateDnVec(&x, 3, nullptr, CUDA_R_32F));
    OK(cusparseCreateDnVec(&y, 3, nullptr, CUDA_R_32F));
    IS(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT,
                    nullptr),
       INVALID_VALUE); /* y has 3 elements, the matrix 2 rows */
    int fill = 5;
    IS(cusparseSpMatSetAttribute(m, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), INVALID_VALUE);
    int64_t rows, columns, count;
    OK(cusparseSpMatGetSize(m, &rows, &columns, &count));
    CHECK_EQ((int)columns, 3);
    OK(cusparseDestroySpMat(m));
    OK(cusparseDestroyDnVec(x));
    OK(cusparseDestroyDnVec(y));
    IS(cusparseDestroyDnVec(nullptr), INVALID_VALUE);
    IS(cusparseCreateBsr(), NOT_SUPPORTED);
}

template <typename T> void check_type() {
    for (int base = 0; base < 2; base++)
        for (int op = 0; op < 3; op++)
            for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO}) {
                check_products<int, T>(format, (cusparseOperation_t)op, base);
                check_products<long long, T>(format, (cusparseOperation_t)op, base);
                for (int kind = 0; kind < 4 && base == 0 && format != CUSPARSE_FORMAT_COO; kind++)
                    check_solves<T>(format, (cusparseOperation_t)op, kind & 1, kind & 2);
            }
    check_conversions<T>();
    check_sparse_products<T>();
    check_vectors<T>();
    check_factors<T>();
    check_bands<T>();
}

int main() {
    OK(cusparseCreate(&handle));
    check_type<float>();
    check_type<double>();
    check_type<cuComplex>();
    check_type<cuDoubleComplex>();
    check_indices();
    check_statuses();
    OK(cusparseDestroy(handle));
    return check_done();
}
