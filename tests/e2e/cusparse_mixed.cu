/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE's products of mixed types against loops in double: halves, bfloat16, bytes, floats with doubles; with vectors and
 * matrices, sampled; CSR, CSC and COO, both operations, both pointer modes, orders, batches; refused mixes. */
// FLAGS: -lcusparse
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusparse.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_SUCCESS)
#define FAILS(call, status) CHECK_EQ((int)(call), (int)CUSPARSE_STATUS_##status)

enum { ROWS = 37, COLUMNS = 29, WIDTH = 5, BATCH = 2 };

static cusparseHandle_t handle;

static double widen(__half x) { return (double)__half2float(x); }
static double widen(__nv_bfloat16 x) { return (double)__bfloat162float(x); }
static double widen(signed char x) { return x; }
static double widen(int x) { return x; }
static double widen(float x) { return (double)x; }
static double widen(double x) { return x; }
static void narrow(double x, __half *out) { *out = __float2half((float)x); }
static void narrow(double x, __nv_bfloat16 *out) { *out = __float2bfloat16((float)x); }
static void narrow(double x, signed char *out) { *out = (signed char)x; }
static void narrow(double x, int *out) { *out = (int)x; }
static void narrow(double x, float *out) { *out = (float)x; }
static void narrow(double x, double *out) { *out = x; }

template <typename T> static T *managed(size_t count)
{
    T *p;
    CUDA_OK(cudaMallocManaged(&p, (count + 1) * sizeof(T)));
    return p;
}

/* Small whole numbers, which all types hold. */
static double number(int i) { return (i * 13 + i / 7) % 9 - 4; }
static bool is_entry(int i, int j) { return (i * 7 + j * 3) % 5 == 0 && i != 11; }

/* A sparse matrix of ROWS x COLUMNS in one format. */
template <typename T> struct sparse {
    cusparseSpMatDescr_t description;
    double dense[ROWS][COLUMNS];
    int *lines, *at, count;
    T *values;

    sparse(cusparseFormat_t format, cudaDataType type, cusparseIndexBase_t base)
    {
        const bool is_csc = format == CUSPARSE_FORMAT_CSC, is_coo = format == CUSPARSE_FORMAT_COO;
        const int outer = is_csc ? COLUMNS : ROWS, inner = is_csc ? ROWS : COLUMNS;
        lines = managed<int>(ROWS * COLUMNS);
        at = managed<int>(ROWS * COLUMNS);
        values = managed<T>(ROWS * COLUMNS);
        count = 0;
        for (int l = 0; l < outer; l++) {
            if (!is_coo) lines[l] = count + base;
            for (int k = 0; k < inner; k++) {
                const int i = is_csc ? k : l, j = is_csc ? l : k;
                dense[i][j] = is_entry(i, j) ? number(i * COLUMNS + j) : 0;
                if (!is_entry(i, j)) continue;
                if (is_coo) lines[count] = l + base;
                at[count] = k + base;
                narrow(dense[i][j], &values[count++]);
            }
        }
        if (!is_coo) lines[outer] = count + base;
        const cusparseIndexType_t index = CUSPARSE_INDEX_32I;
        if (is_coo)
            OK(cusparseCreateCoo(&description, ROWS, COLUMNS, count, lines, at, values, index, base, type));
        else if (is_csc)
            OK(cusparseCreateCsc(&description, ROWS, COLUMNS, count, lines, at, values, index, index, base, type));
        else
            OK(cusparseCreateCsr(&description, ROWS, COLUMNS, count, lines, at, values, index, index, base, type));
    }
    ~sparse()
    {
        OK(cusparseDestroySpMat(description));
        CUDA_OK(cudaFree(lines));
        CUDA_OK(cudaFree(at));
        CUDA_OK(cudaFree(values));
    }
};

static void near(const char *what, int i, double got, double want, double unit)
{
    if (fabs(got - want) > unit * fmax(1, fabs(want)) && check_note_failure())
        printf("FAIL: %s, element %d: %g, not %g\n", what, i, got, want);
}

/* S: of alpha, beta and the sums. */
template <typename A, typename B, typename C, typename S> struct mix {
    cudaDataType a, b, c, compute;
    double unit;

    void products(cusparseFormat_t format, bool is_turned, bool is_device, bool by_rows)
    {
        sparse<A> s(format, a, by_rows ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO);
        const cusparseOperation_t op = is_turned ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
        const int m = is_turned ? COLUMNS : ROWS, k = is_turned ? ROWS : COLUMNS;
        const cusparseOrder_t order = by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL;
        S *factors = managed<S>(2);
        factors[0] = 3, factors[1] = 2;
        OK(cusparseSetPointerMode(handle, is_device ? CUSPARSE_POINTER_MODE_DEVICE : CUSPARSE_POINTER_MODE_HOST));
        B *x = managed<B>(BATCH * k * WIDTH);
        C *y = managed<C>(BATCH * m * WIDTH);
        std::vector<double> old(BATCH * m * WIDTH);
        for (int i = 0; i < BATCH * k * WIDTH; i++) narrow(number(i + 5), &x[i]);
        for (int i = 0; i < BATCH * m * WIDTH; i++) {
            narrow(number(i + 2), &y[i]);
            old[i] = widen(y[i]);
        }
        auto element = [&](int i, int l) { return is_turned ? s.dense[l][i] : s.dense[i][l]; };
        cusparseDnVecDescr_t vx, vy;
        cusparseDnMatDescr_t mx, my;
        size_t bytes = 0;
        void *buffer;
        OK(cusparseCreateDnVec(&vx, k, x, b));
        OK(cusparseCreateDnVec(&vy, m, y, c));
        OK(cusparseSpMV_bufferSize(handle, op, factors, s.description, vx, factors + 1, vy, compute, CUSPARSE_SPMV_ALG_DEFAULT,
                                   &bytes));
        CUDA_OK(cudaMalloc(&buffer, bytes));
        OK(cusparseSpMV(handle, op, factors, s.description, vx, factors + 1, vy, compute, CUSPARSE_SPMV_ALG_DEFAULT, buffer));
        CUDA_OK(cudaDeviceSynchronize());
        for (int i = 0; i < m; i++) {
            double sum = 0;
            for (int l = 0; l < k; l++) sum += element(i, l) * widen(x[l]);
            near("SpMV", i, widen(y[i]), 3 * sum + 2 * old[i], unit);
            narrow(old[i], &y[i]);
        }
        CUDA_OK(cudaFree(buffer));
        OK(cusparseDestroyDnVec(vx));
        OK(cusparseDestroyDnVec(vy));

        const int ld_x = by_rows ? WIDTH : k, ld_y = by_rows ? WIDTH : m;
        OK(cusparseCreateDnMat(&mx, k, WIDTH, ld_x, x, b, order));
        OK(cusparseCreateDnMat(&my, m, WIDTH, ld_y, y, c, order));
        OK(cusparseDnMatSetStridedBatch(mx, BATCH, k * WIDTH));
        OK(cusparseDnMatSetStridedBatch(my, BATCH, m * WIDTH));
        const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
        OK(cusparseSpMM_bufferSize(handle, op, plain, factors, s.description, mx, factors + 1, my, compute,
                                   CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
        CUDA_OK(cudaMalloc(&buffer, bytes));
        OK(cusparseSpMM(handle, op, plain, factors, s.description, mx, factors + 1, my, compute, CUSPARSE_SPMM_ALG_DEFAULT,
                        buffer));
        CUDA_OK(cudaDeviceSynchronize());
        for (int batch = 0; batch < BATCH; batch++)
            for (int j = 0; j < WIDTH; j++)
                for (int i = 0; i < m; i++) {
                    const int place = batch * m * WIDTH + (by_rows ? i * WIDTH + j : i + j * m);
                    double sum = 0;
                    for (int l = 0; l < k; l++)
                        sum += element(i, l) * widen(x[batch * k * WIDTH + (by_rows ? l * WIDTH + j : l + j * k)]);
                    near("SpMM", place, widen(y[place]), 3 * sum + 2 * old[place], unit);
                }
        if ((is_turned != (format == CUSPARSE_FORMAT_CSC)) || format == CUSPARSE_FORMAT_COO) /* it needs the buffer */
            FAILS(cusparseSpMM(handle, op, plain, factors, s.description, mx, factors + 1, my, compute,
                               CUSPARSE_SPMM_ALG_DEFAULT, NULL),
                  INVALID_VALUE);
        CUDA_OK(cudaFree(buffer));
        OK(cusparseDestroyDnMat(mx));
        OK(cusparseDestroyDnMat(my));
        CUDA_OK(cudaFree(x));
        CUDA_OK(cudaFree(y));
        CUDA_OK(cudaFree(factors));
        OK(cusparseSetPointerMode(handle, CUSPARSE_POINTER_MODE_HOST));
    }

    /* C at its entries, of the type C; A and B of the type B. */
    void sampled(cusparseFormat_t format)
    {
        sparse<C> s(format, c, CUSPARSE_INDEX_BASE_ZERO);
        std::vector<double> old(s.count);
        for (int i = 0; i < s.count; i++) old[i] = widen(s.values[i]);
        B *x = managed<B>(ROWS * WIDTH), *y = managed<B>(COLUMNS * WIDTH);
        for (int i = 0; i < ROWS * WIDTH; i++) narrow(number(i + 1), &x[i]);
        for (int i = 0; i < COLUMNS * WIDTH; i++) narrow(number(i + 4), &y[i]);
        cusparseDnMatDescr_t mx, my;
        OK(cusparseCreateDnMat(&mx, ROWS, WIDTH, ROWS, x, b, CUSPARSE_ORDER_COL));
        OK(cusparseCreateDnMat(&my, COLUMNS, WIDTH, COLUMNS, y, b, CUSPARSE_ORDER_COL));
        const S alpha = 2, beta = 1;
        OK(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, &alpha, mx, my, &beta,
                         s.description, compute, CUSPARSE_SDDMM_ALG_DEFAULT, NULL));
        CUDA_OK(cudaDeviceSynchronize());
        const bool is_csc = format == CUSPARSE_FORMAT_CSC;
        for (int l = 0, e = 0; l < (is_csc ? COLUMNS : ROWS); l++)
            for (; e < s.lines[l + 1]; e++) {
                const int i = is_csc ? s.at[e] : l, j = is_csc ? l : s.at[e];
                double sum = 0;
                for (int d = 0; d < WIDTH; d++) sum += widen(x[i + d * ROWS]) * widen(y[j + d * COLUMNS]);
                near("SDDMM", e, widen(s.values[e]), 2 * sum + old[e], unit);
            }
        OK(cusparseDestroyDnMat(mx));
        OK(cusparseDestroyDnMat(my));
        CUDA_OK(cudaFree(x));
        CUDA_OK(cudaFree(y));
    }

    void run()
    {
        int number_of = 0;
        for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO})
            for (bool is_turned : {false, true}) {
                products(format, is_turned, number_of % 2 != 0, number_of % 3 == 0);
                number_of++;
            }
    }
};

int main(void)
{
    OK(cusparseCreate(&handle));
    mix<__half, __half, __half, float> half = {CUDA_R_16F, CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, 1e-3};
    mix<__half, __half, float, float> half_float = {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUDA_R_32F, 1e-6};
    mix<__nv_bfloat16, __nv_bfloat16, __nv_bfloat16, float> bfloat = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, 8e-3};
    mix<__nv_bfloat16, __nv_bfloat16, float, float> bfloat_float = {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUDA_R_32F, 1e-6};
    mix<signed char, signed char, int, int> byte_int = {CUDA_R_8I, CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, 0};
    mix<signed char, signed char, float, float> byte_float = {CUDA_R_8I, CUDA_R_8I, CUDA_R_32F, CUDA_R_32F, 1e-6};
    mix<float, double, double, double> float_double = {CUDA_R_32F, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, 1e-14};
    half.run();
    half_float.run();
    bfloat.run();
    bfloat_float.run();
    byte_int.run();
    byte_float.run();
    float_double.run();
    for (cusparseFormat_t format : {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC}) {
        half.sampled(format);
        half_float.sampled(format);
        bfloat.sampled(format);
        bfloat_float.sampled(format);
    }

    /* Sums in half, and a mix of the two 16-bit types, are refused. */
    const float one = 1;
    sparse<__half> s(CUSPARSE_FORMAT_CSR, CUDA_R_16F, CUSPARSE_INDEX_BASE_ZERO);
    cusparseDnVecDescr_t x, y;
    OK(cusparseCreateDnVec(&x, COLUMNS, managed<__half>(COLUMNS), CUDA_R_16F));
    OK(cusparseCreateDnVec(&y, ROWS, managed<__half>(ROWS), CUDA_R_16BF));
    const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
    FAILS(cusparseSpMV(handle, plain, &one, s.description, x, &one, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, NULL),
          NOT_SUPPORTED);
    FAILS(cusparseSpMV(handle, plain, &one, s.description, x, &one, y, CUDA_R_16F, CUSPARSE_SPMV_ALG_DEFAULT, NULL),
          NOT_SUPPORTED);
    OK(cusparseDestroyDnVec(x));
    OK(cusparseDestroyDnVec(y));
    OK(cusparseDestroy(handle));
    return check_done();
}
