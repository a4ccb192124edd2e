/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublas
/* cuBLAS by its first interface (cublas.h), against plain loops over small integers: the results are exact. */
#include <cublas.h>
#include <vector>

#include "check.h"

static uint32_t state = 88172645u;

static double number() {
    return (double)(check_random(&state) % 9) - 4;
}

template <class T> struct on_device {
    T *data = nullptr;
    int n;
    on_device(const std::vector<T> &from) : n((int)from.size()) {
        CHECK_EQ(cublasAlloc(n, sizeof(T), (void **)&data), CUBLAS_STATUS_SUCCESS);
        CHECK_EQ(cublasSetVector(n, sizeof(T), from.data(), 1, data, 1), CUBLAS_STATUS_SUCCESS);
    }
    std::vector<T> get() const {
        std::vector<T> out(n);
        CHECK_EQ(cublasGetVector(n, sizeof(T), data, 1, out.data(), 1), CUBLAS_STATUS_SUCCESS);
        return out;
    }
    ~on_device() { CHECK_EQ(cublasFree(data), CUBLAS_STATUS_SUCCESS); }
};

template <class T> static std::vector<T> numbers(int n) {
    std::vector<T> v(n);
    for (T &x : v)
        x = (T)number();
    return v;
}

static void vectors() {
    const int n = 301;
    const std::vector<float> x = numbers<float>(n), y = numbers<float>(n);
    on_device<float> dx(x), dy(y);
    float dot = 0, sum = 0;
    for (int i = 0; i < n; i++) {
        dot += x[i] * y[i];
        sum += fabsf(x[i]);
    }
    CHECK_EQ(cublasSdot(n, dx.data, 1, dy.data, 1), dot);
    CHECK_EQ(cublasSasum(n, dx.data, 1), sum);
    const int largest = cublasIsamax(n, dx.data, 1);
    CHECK(largest >= 1 && largest <= n && fabsf(x[largest - 1]) == 4);
    cublasSaxpy(n, 3.0f, dx.data, 1, dy.data, 1);
    cublasSscal(n, 2.0f, dx.data, 1);
    const std::vector<float> sums = dy.get(), doubled = dx.get();
    for (int i = 0; i < n; i++) {
        CHECK_EQ(sums[i], 3 * x[i] + y[i]);
        CHECK_EQ(doubled[i], 2 * x[i]);
    }
    const std::vector<double> z = {3, 4};
    on_device<double> dz(z);
    CHECK_EQ(cublasDnrm2(2, dz.data, 1), 5.0);
    const std::vector<cuComplex> a = {{1, 2}, {3, -1}}, b = {{2, 1}, {0, 5}};
    on_device<cuComplex> da(a), db(b);
    const cuComplex u = cublasCdotu(2, da.data, 1, db.data, 1), c = cublasCdotc(2, da.data, 1, db.data, 1);
    CHECK(u.x == 5 && u.y == 20); /* (1+2i)(2+i) + (3-i)5i */
    CHECK(c.x == -1 && c.y == 12); /* (1-2i)(2+i) + (3+i)5i */
}

static void matrices() {
    const int m = 23, n = 17, k = 31;
    const std::vector<double> a = numbers<double>(k * m), b = numbers<double>(k * n), c = numbers<double>(m * n);
    on_device<double> da(a), db(b), dc(c);
    cublasDgemm('t', 'N', m, n, k, 2.0, da.data, k, db.data, k, -1.0, dc.data, m);
    const std::vector<double> product = dc.get();
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            double expected = -c[j * m + i];
            for (int l = 0; l < k; l++)
                expected += 2 * a[i * k + l] * b[j * k + l];
            CHECK_EQ(product[j * m + i], expected);
        }
    const std::vector<float> g = numbers<float>(m * n), x = numbers<float>(n);
    on_device<float> dg(g), dx(x), dy(std::vector<float>(m, 7.0f));
    cublasSgemv('N', m, n, 1.0f, dg.data, m, dx.data, 1, 0.0f, dy.data, 1);
    const std::vector<float> y = dy.get();
    for (int i = 0; i < m; i++) {
        float expected = 0;
        for (int j = 0; j < n; j++)
            expected += g[j * m + i] * x[j];
        CHECK_EQ(y[i], expected);
    }
    /* A lower triangle of ones, and its inverse: differences. */
    std::vector<double> t(n * n, 0.0), r(n);
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            t[j * n + i] = 1;
    for (int i = 0; i < n; i++)
        r[i] = i * i;
    on_device<double> dt(t), dr(r);
    cublasDtrsm('L', 'L', 'N', 'N', n, 1, 1.0, dt.data, n, dr.data, n);
    std::vector<double> solved = dr.get();
    for (int i = 1; i < n; i++)
        CHECK_EQ(solved[i], i * i - (i - 1) * (i - 1));
    cublasDtrmm('L', 'L', 'N', 'N', n, 1, 1.0, dt.data, n, dr.data, n); /* in place */
    solved = dr.get();
    for (int i = 0; i < n; i++)
        CHECK_EQ(solved[i], r[i]);
}

static void errors() {
    CHECK_EQ(cublasGetError(), CUBLAS_STATUS_SUCCESS);
    float *none = nullptr;
    cublasSgemm('X', 'N', 1, 1, 1, 1.0f, none, 1, none, 1, 0.0f, none, 1);
    cublasSscal(-1, 1.0f, none, 1);
    CHECK_EQ(cublasGetError(), CUBLAS_STATUS_INVALID_VALUE);
    CHECK_EQ(cublasGetError(), CUBLAS_STATUS_SUCCESS); /* asked once */
    CHECK_EQ(cublasAlloc(0, 4, (void **)&none), CUBLAS_STATUS_INVALID_VALUE);
}

int main() {
    float *none = nullptr;
    cublasSscal(1, 1.0f, none, 1);
    CHECK_EQ(cublasGetError(), CUBLAS_STATUS_NOT_INITIALIZED);
    cublasStatus status = cublasInit();
    CHECK_EQ(status, CUBLAS_STATUS_SUCCESS);
    vectors();
    matrices();
    errors();
    CHECK_EQ(cublasShutdown(), CUBLAS_STATUS_SUCCESS);
    CHECK_EQ(cublasShutdown(), CUBLAS_STATUS_NOT_INITIALIZED);
    return check_done();
}
