/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcublas
/* cuBLAS against plain loops: every call for the four types, with random sizes, leading dimensions, increments and
 * operations; products of narrow types; batches; both pointer modes; bad arguments. */
#include <complex>
#include <cublas_v2.h>
#if !defined(CUBLAS_API_H_) || !defined(CUBLAS_V2_H_)
#error "helper_cuda.h of NVIDIA's samples looks for the headers' guards"
#endif
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <vector>

#include "check.h"

typedef std::complex<double> value; /* the reference computes in this type */

static uint32_t state = 2463534242u;

static int below(int n) {
    return (int)(check_random(&state) % (unsigned)n);
}
static double number() {
    return (double)(below(2001) - 1000) / 500;
}

/* ---- the four types ---- */

static float from_value(value v, float *) {
    return (float)v.real();
}
static double from_value(value v, double *) {
    return v.real();
}
static cuComplex from_value(value v, cuComplex *) {
    return make_cuComplex((float)v.real(), (float)v.imag());
}
static cuDoubleComplex from_value(value v, cuDoubleComplex *) {
    return make_cuDoubleComplex(v.real(), v.imag());
}
static value to_value(float a) {
    return a;
}
static value to_value(double a) {
    return a;
}
static value to_value(cuComplex a) {
    return value(a.x, a.y);
}
static value to_value(cuDoubleComplex a) {
    return value(a.x, a.y);
}
static value to_value(__half a) {
    return (double)__half2float(a);
}
static value to_value(__nv_bfloat16 a) {
    return (double)__bfloat162float(a);
}
static value to_value(int a) {
    return a;
}
static value to_value(signed char a) {
    return a;
}
static __half from_value(value v, __half *) {
    return __float2half((float)v.real());
}
static __nv_bfloat16 from_value(value v, __nv_bfloat16 *) {
    return __float2bfloat16((float)v.real());
}
static int from_value(value v, int *) {
    return (int)v.real();
}
static signed char from_value(value v, signed char *) {
    return (signed char)v.real();
}

template <class T> static T random_element() {
    return from_value(value(number(), number()), (T *)NULL);
}
template <> signed char random_element<signed char>() {
    return (signed char)(below(255) - 127);
}
template <> int random_element<int>() {
    return below(1000) - 500;
}

/* An array on the device with a copy of what it should hold. */
template <class T> struct array {
    std::vector<T> host;
    T *device;
    explicit array(size_t count) : host(count) {
        for (size_t i = 0; i < count; i++)
            host[i] = random_element<T>();
        CUDA_OK(cudaMalloc((void **)&device, (count + 1) * sizeof(T)));
        put();
    }
    ~array() {
        cudaFree(device);
    }
    void put() {
        CUDA_OK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    value at(size_t i) const {
        return to_value(host[i]);
    }
    void set(size_t i, value v) {
        host[i] = from_value(v, (T *)NULL);
    }
    /* Compares the device's elements with the host's. */
    void check(const char *what, double tolerance) {
        std::vector<T> got(host.size());
        CUDA_OK(cudaMemcpy(got.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost));
        for (size_t i = 0; i < host.size(); i++) {
            const value g = to_value(got[i]), e = at(i);
            if (std::abs(g - e) <= tolerance * (1 + std::abs(e))) continue;
            if (check_note_failure())
                printf("FAIL: %s: element %zu: expected %g%+gi, got %g%+gi\n", what, i, e.real(), e.imag(),
                       g.real(), g.imag());
            return;
        }
    }
    array(const array &) = delete;
};

static cublasHandle_t handle;

#define OK(call) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUBLAS_STATUS_##status)

/* Element (i, j) of op(a). */
template <class T> static value op_at(const array<T> &a, int ld, cublasOperation_t op, int i, int j) {
    const value v = op == CUBLAS_OP_N ? a.at(i + (size_t)j * ld) : a.at(j + (size_t)i * ld);
    return op == CUBLAS_OP_C ? std::conj(v) : v;
}

/* … of a symmetric, Hermitian ('S', 'H') or triangular ('T', 'U' with a unit diagonal) one. */
template <class T>
static value shaped_at(const array<T> &a, int ld, char shape, cublasFillMode_t uplo, cublasOperation_t op, int i, int j) {
    int row = op == CUBLAS_OP_N ? i : j, column = op == CUBLAS_OP_N ? j : i;
    const bool is_stored = row == column || (row > column) == (uplo == CUBLAS_FILL_MODE_LOWER);
    value v;
    if (shape == 'T' || shape == 'U') {
        v = is_stored ? a.at(row + (size_t)column * ld) : 0;
        if (shape == 'U' && row == column) v = 1;
    } else {
        v = is_stored ? a.at(row + (size_t)column * ld) : a.at(column + (size_t)row * ld);
        if (shape == 'H' && !is_stored) v = std::conj(v);
        if (shape == 'H' && row == column) v = v.real();
    }
    return op == CUBLAS_OP_C ? std::conj(v) : v;
}

static cublasOperation_t any_op() {
    return (cublasOperation_t)below(3);
}
static cublasFillMode_t any_fill() {
    return (cublasFillMode_t)below(2);
}

/* The calls by type. */
#define CALL(name)                                                                                                    \
    template <class... A> static cublasStatus_t name(float *, A... a) {                                               \
        return cublasS##name(handle, a...);                                                                           \
    }                                                                                                                 \
    template <class... A> static cublasStatus_t name(double *, A... a) {                                              \
        return cublasD##name(handle, a...);                                                                           \
    }                                                                                                                 \
    template <class... A> static cublasStatus_t name(cuComplex *, A... a) {                                           \
        return cublasC##name(handle, a...);                                                                           \
    }                                                                                                                 \
    template <class... A> static cublasStatus_t name(cuDoubleComplex *, A... a) {                                     \
        return cublasZ##name(handle, a...);                                                                           \
    }
#define cublasSnrm2x cublasSnrm2
#define cublasDnrm2x cublasDnrm2
#define cublasCnrm2x cublasScnrm2
#define cublasZnrm2x cublasDznrm2
#define cublasSasumx cublasSasum
#define cublasDasumx cublasDasum
#define cublasCasumx cublasScasum
#define cublasZasumx cublasDzasum
#define cublasSamaxx cublasIsamax
#define cublasDamaxx cublasIdamax
#define cublasCamaxx cublasIcamax
#define cublasZamaxx cublasIzamax
#define cublasSaminx cublasIsamin
#define cublasDaminx cublasIdamin
#define cublasCaminx cublasIcamin
#define cublasZaminx cublasIzamin
#define cublasSdotx cublasSdot
#define cublasDdotx cublasDdot
#define cublasCdotx cublasCdotc
#define cublasZdotx cublasZdotc
#define cublasSgerx cublasSger
#define cublasDgerx cublasDger
#define cublasCgerx cublasCgerc
#define cublasZgerx cublasZgerc
#define cublasSrotx cublasSrot
#define cublasDrotx cublasDrot
#define cublasCrotx cublasCsrot
#define cublasZrotx cublasZdrot
#define cublasSherkx cublasSsyrk
#define cublasDherkx cublasDsyrk
#define cublasCherkx cublasCherk
#define cublasZherkx cublasZherk
#define cublasSher2kx cublasSsyr2k
#define cublasDher2kx cublasDsyr2k
#define cublasCher2kx cublasCher2k
#define cublasZher2kx cublasZher2k
#define cublasSherx cublasSsyr
#define cublasDherx cublasDsyr
#define cublasCherx cublasCher
#define cublasZherx cublasZher
#define cublasSher2x cublasSsyr2
#define cublasDher2x cublasDsyr2
#define cublasCher2x cublasCher2
#define cublasZher2x cublasZher2
#define cublasShemmx cublasSsymm
#define cublasDhemmx cublasDsymm
#define cublasChemmx cublasChemm
#define cublasZhemmx cublasZhemm
#define cublasShemvx cublasSsymv
#define cublasDhemvx cublasDsymv
#define cublasChemvx cublasChemv
#define cublasZhemvx cublasZhemv
CALL(axpy)
CALL(scal)
CALL(copy)
CALL(swap)
CALL(rotx)
CALL(rotg)
template <class... A> static cublasStatus_t rotm(float *, A... a) {
    return cublasSrotm(handle, a...);
}
template <class... A> static cublasStatus_t rotm(double *, A... a) {
    return cublasDrotm(handle, a...);
}
template <class... A> static cublasStatus_t rotmg(float *, A... a) {
    return cublasSrotmg(handle, a...);
}
template <class... A> static cublasStatus_t rotmg(double *, A... a) {
    return cublasDrotmg(handle, a...);
}
CALL(dotx)
CALL(nrm2x)
CALL(asumx)
CALL(amaxx)
CALL(aminx)
CALL(gemv)
CALL(hemvx)
CALL(trmv)
CALL(trsv)
CALL(gerx)
CALL(herx)
CALL(her2x)
CALL(gemm)
CALL(gemmBatched)
CALL(gemmStridedBatched)
CALL(symm)
CALL(hemmx)
CALL(herkx)
CALL(her2kx)
CALL(trmm)
CALL(trsm)
CALL(trsmBatched)
CALL(geam)
CALL(dgmm)
CALL(getrfBatched)
CALL(getrsBatched)
CALL(getriBatched)

/* ---- level 1 ---- */

static size_t place(int n, int inc, int i) {
    return inc > 0 ? (size_t)i * inc : (size_t)(n - 1 - i) * -inc;
}

template <class T, class R> static void vectors(double tolerance) {
    T *const t = NULL;
    const int n = 1 + below(700), incx = below(2) ? 1 + below(3) : -1 - below(3), incy = below(2) ? 1 : -2;
    array<T> x((size_t)n * 3), y((size_t)n * 3);
    const T alpha = random_element<T>();
    const value factor = to_value(alpha);

    OK(axpy(t, n, &alpha, (const T *)x.device, incx, y.device, incy));
    for (int i = 0; i < n; i++)
        y.set(place(n, incy, i), y.at(place(n, incy, i)) + factor * x.at(place(n, incx, i)));
    y.check("axpy", tolerance);
    OK(scal(t, n, &alpha, x.device, 2));
    for (int i = 0; i < n; i++)
        x.set((size_t)i * 2, factor * x.at((size_t)i * 2));
    x.check("scal", tolerance);
    OK(swap(t, n, x.device, incx, y.device, incy));
    for (int i = 0; i < n; i++)
        std::swap(x.host[place(n, incx, i)], y.host[place(n, incy, i)]);
    x.check("swap", tolerance);
    y.check("swap", tolerance);
    const R c = (R)0.6, s = (R)-0.8;
    OK(rotx(t, n, x.device, incx, y.device, incy, &c, &s));
    for (int i = 0; i < n; i++) {
        const value u = x.at(place(n, incx, i)), v = y.at(place(n, incy, i));
        x.set(place(n, incx, i), (double)c * u + (double)s * v);
        y.set(place(n, incy, i), (double)c * v - (double)s * u);
    }
    x.check("rot", tolerance);
    y.check("rot", tolerance);

    value dot = 0;
    double squares = 0, sum = 0, most = -1, least = 1e300;
    int most_at = 0, least_at = 0;
    for (int i = 0; i < n; i++) {
        const value v = x.at((size_t)i * 2);
        const double size = std::abs(v.real()) + std::abs(v.imag());
        dot += std::conj(x.at(place(n, incx, i))) * y.at(place(n, incy, i));
        squares += std::norm(v);
        sum += size;
        if ((R)size > (R)most) most = size, most_at = i + 1;
        if ((R)size < (R)least) least = size, least_at = i + 1;
    }
    /* The sizes that are compared are rounded differently: equal ones may differ in the last place. */
    T got_dot;
    R got;
    int index;
    OK(dotx(t, n, (const T *)x.device, incx, (const T *)y.device, incy, &got_dot));
    CHECK(std::abs(to_value(got_dot) - dot) <= tolerance * (10 + std::abs(dot)));
    OK(nrm2x(t, n, (const T *)x.device, 2, &got));
    CHECK(std::abs((double)got - std::sqrt(squares)) <= tolerance * std::sqrt(squares));
    OK(asumx(t, n, (const T *)x.device, 2, &got));
    CHECK(std::abs((double)got - sum) <= tolerance * sum);
    OK(amaxx(t, n, (const T *)x.device, 2, &index));
    if (index != most_at) {
        const value v = x.at((size_t)(index - 1) * 2);
        CHECK(std::abs(std::abs(v.real()) + std::abs(v.imag()) - most) <= tolerance * most);
    }
    OK(aminx(t, n, (const T *)x.device, 2, &index));
    if (index != least_at) {
        const value v = x.at((size_t)(index - 1) * 2);
        CHECK(std::abs(std::abs(v.real()) + std::abs(v.imag()) - least) <= tolerance * (1 + least));
    }
    OK(copy(t, n, (const T *)x.device, incx, y.device, incy));
    for (int i = 0; i < n; i++)
        y.host[place(n, incy, i)] = x.host[place(n, incx, i)];
    y.check("copy", tolerance);
}

/* Rotations that are made: c a + s b = r, c b - conj(s) a = 0, and c² + |s|² = 1. */
template <class T, class R> static void made_rotation(T a, T b, double tolerance) {
    T r = a, rest = b, s;
    R c;
    OK(rotg((T *)NULL, &r, &rest, &c, &s));
    const value u = to_value(a), v = to_value(b), sine = to_value(s);
    const double cosine = (double)c, size = std::abs(u) + std::abs(v);
    CHECK(std::abs(cosine * u + sine * v - to_value(r)) <= tolerance * size);
    CHECK(std::abs(cosine * v - std::conj(sine) * u) <= tolerance * size);
    CHECK(std::abs(cosine * cosine + std::norm(sine) - 1) <= tolerance);
}

/* What a modified rotation's numbers say: flag, then h11, h21, h12, h22, of which the flag implies some. */
template <class T> static void matrix_of(const T *param, double h[4]) {
    const int flag = (int)param[0];
    h[0] = flag == 0 || flag == -2 ? 1 : (double)param[1];
    h[1] = flag == 1 ? -1 : flag == -2 ? 0 : (double)param[2];
    h[2] = flag == 1 ? 1 : flag == -2 ? 0 : (double)param[3];
    h[3] = flag == 0 || flag == -2 ? 1 : (double)param[4];
}

/* The rotation takes (x1, y1), weighted by d1 and d2, to (x1', 0), and keeps the weighted length; all numbers stay
 * within what the scaling allows. */
template <class T> static void made_modified(T d1, T d2, T x1, T y1, double tolerance) {
    T a = d1, b = d2, x = x1, param[5] = {9, 9, 9, 9, 9};
    double h[4];
    OK(rotmg((T *)NULL, &a, &b, &x, (const T *)&y1, param));
    matrix_of(param, h);
    const double p = h[0] * (double)x1 + h[2] * (double)y1, q = h[1] * (double)x1 + h[3] * (double)y1;
    const double length = (double)d1 * (double)x1 * (double)x1 + (double)d2 * (double)y1 * (double)y1;
    CHECK(std::abs(p - (double)x) <= tolerance * (std::abs(h[0] * (double)x1) + std::abs(h[2] * (double)y1)));
    CHECK(std::abs(q) <= tolerance * (std::abs(h[1] * (double)x1) + std::abs(h[3] * (double)y1)));
    CHECK(std::abs((double)a * (double)x * (double)x - length) <= 10 * tolerance * length);
    CHECK(std::abs((double)a) < 4096. * 4096 && std::abs((double)a) > 1. / (4096. * 4096));
    if (b != 0 && param[0] != -2) CHECK(std::abs((double)b) < 4096. * 4096 && std::abs((double)b) > 1. / (4096. * 4096));
}

template <class T> static void rotations(double tolerance) {
    const uint32_t kept = state; /* the other checks' numbers stay the same */
    made_rotation<T, T>(3, -4, tolerance);
    made_rotation<T, T>(-1, (T)0.25, tolerance);
    made_rotation<T, T>(0, 2, tolerance);
    made_rotation<T, T>(0, 0, tolerance);
    T a = 3, b = -4, c, s; /* r has the sign of the larger; the code of b is 1/c here */
    OK(rotg((T *)NULL, &a, &b, &c, &s));
    CHECK(std::abs((double)a + 5) <= tolerance * 5 && std::abs((double)b * (double)c - 1) <= tolerance);
    made_modified<T>(2, 3, 5, 1, tolerance);
    made_modified<T>(2, 3, 1, 5, tolerance);
    made_modified<T>((T)1e-9, (T)1e-9, 4, 3, tolerance);
    made_modified<T>((T)1e9, (T)3e8, 4, 3, tolerance);
    made_modified<T>(2, 3, 4, 0, tolerance);
    T negative = -1, other = 1, x1 = 2, param[5];
    const T y1 = 3;
    OK(rotmg((T *)NULL, &negative, &other, &x1, &y1, param));
    CHECK(negative == 0 && other == 0 && x1 == 0 && param[0] == -1 && param[1] == 0 && param[4] == 0);

    const int n = 300, incx = 2, incy = -1;
    for (int flag = -2; flag <= 1; flag++) {
        array<T> x((size_t)n * 2), y(n), on_device(5);
        T numbers[5] = {(T)flag, (T)0.5, (T)-1.5, (T)2.5, (T)0.75};
        double h[4];
        matrix_of(numbers, h);
        const bool is_device = flag == 0;
        for (int i = 0; i < 5; i++)
            on_device.host[i] = numbers[i];
        on_device.put();
        OK(cublasSetPointerMode(handle, is_device ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
        OK(rotm((T *)NULL, n, x.device, incx, y.device, incy, (const T *)(is_device ? on_device.device : numbers)));
        OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
        for (int i = 0; i < n; i++) {
            const value u = x.at(place(n, incx, i)), v = y.at(place(n, incy, i));
            x.set(place(n, incx, i), h[0] * u + h[2] * v);
            y.set(place(n, incy, i), h[1] * u + h[3] * v);
        }
        x.check("rotm", tolerance);
        y.check("rotm", tolerance);
    }
    state = kept;
}

/* ---- level 2 ---- */

template <class T, class R> static void matrix_and_vectors(bool is_complex, double tolerance) {
    T *const t = NULL;
    const int m = 1 + below(90), n = 1 + below(90), lda = m + below(5), incx = 1 + below(2), incy = below(2) ? -1 : 2;
    const cublasOperation_t op = any_op();
    const int rows = op == CUBLAS_OP_N ? m : n, columns = op == CUBLAS_OP_N ? n : m;
    array<T> a((size_t)lda * n), x((size_t)columns * 2), y((size_t)rows * 2);
    const T alpha = random_element<T>(), beta = random_element<T>();
    OK(gemv(t, op, m, n, &alpha, (const T *)a.device, lda, (const T *)x.device, incx, &beta, y.device, incy));
    for (int i = 0; i < rows; i++) {
        value sum = 0;
        for (int j = 0; j < columns; j++)
            sum += op_at(a, lda, op, i, j) * x.at((size_t)j * incx);
        const size_t to = place(rows, incy, i);
        y.set(to, to_value(alpha) * sum + to_value(beta) * y.at(to));
    }
    y.check("gemv", tolerance);

    array<T> u((size_t)m * 2), v((size_t)n * 2);
    OK(gerx(t, m, n, &alpha, (const T *)u.device, incx, (const T *)v.device, 2, a.device, lda));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            a.set(i + (size_t)j * lda, a.at(i + (size_t)j * lda) +
                                           to_value(alpha) * u.at((size_t)i * incx) * std::conj(v.at((size_t)j * 2)));
    a.check("ger", tolerance);

    /* Square ones. */
    const cublasFillMode_t uplo = any_fill();
    const char shape = is_complex ? 'H' : 'S';
    array<T> s((size_t)lda * m), w((size_t)m);
    OK(hemvx(t, uplo, m, &alpha, (const T *)s.device, lda, (const T *)u.device, 2, &beta, w.device, 1));
    for (int i = 0; i < m; i++) {
        value sum = 0;
        for (int j = 0; j < m; j++)
            sum += shaped_at(s, lda, shape, uplo, CUBLAS_OP_N, i, j) * u.at((size_t)j * 2);
        w.set(i, to_value(alpha) * sum + to_value(beta) * w.at(i));
    }
    w.check("symv, hemv", tolerance);

    const R real = (R)number();
    OK(herx(t, uplo, m, &real, (const T *)w.device, 1, s.device, lda));
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) {
            if (i != j && (i > j) != (uplo == CUBLAS_FILL_MODE_LOWER)) continue;
            value sum = s.at(i + (size_t)j * lda) + (double)real * w.at(i) * std::conj(w.at(j));
            s.set(i + (size_t)j * lda, i == j ? sum.real() : sum);
        }
    s.check("syr, her", tolerance);
    OK(her2x(t, uplo, m, &alpha, (const T *)w.device, 1, (const T *)u.device, 2, s.device, lda));
    for (int j = 0; j < m; j++)
        for (int i = 0; i < m; i++) {
            if (i != j && (i > j) != (uplo == CUBLAS_FILL_MODE_LOWER)) continue;
            value sum = s.at(i + (size_t)j * lda) +
                        to_value(alpha) * w.at(i) * std::conj(u.at((size_t)j * 2)) +
                        std::conj(to_value(alpha)) * u.at((size_t)i * 2) * std::conj(w.at(j));
            if (!is_complex)
                sum = s.at(i + (size_t)j * lda) + to_value(alpha) * (w.at(i) * u.at((size_t)j * 2) + u.at((size_t)i * 2) * w.at(j));
            s.set(i + (size_t)j * lda, i == j && is_complex ? value(sum.real()) : sum);
        }
    s.check("syr2, her2", tolerance * 4);

    /* Triangles: a product, then the equations give the vector back. */
    for (int i = 0; i < m; i++)
        for (int j = 0; j < m; j++)
            s.set(i + (size_t)j * lda, i == j ? value(4 + below(3)) : s.at(i + (size_t)j * lda) / (double)(8 * m));
    s.put();
    const cublasDiagType_t diag = (cublasDiagType_t)below(2);
    std::vector<T> before = w.host;
    OK(trmv(t, uplo, op, diag, m, (const T *)s.device, lda, w.device, 1));
    for (int i = 0; i < m; i++) {
        value sum = 0;
        for (int j = 0; j < m; j++)
            sum += shaped_at(s, lda, diag ? 'U' : 'T', uplo, op, i, j) * to_value(before[(size_t)j]);
        w.set(i, sum);
    }
    w.check("trmv", tolerance);
    OK(trsv(t, uplo, op, diag, m, (const T *)s.device, lda, w.device, 1));
    w.host = before;
    w.check("trsv", tolerance * 10);
}

/* ---- level 3 ---- */

/* What a product adds up to. */
template <class A, class C>
static void reference(cublasOperation_t ta, cublasOperation_t tb, int m, int n, int k, value alpha, const array<A> &a, int lda,
                      const array<A> &b, int ldb, value beta, array<C> &c, int ldc, size_t a0 = 0, size_t b0 = 0, size_t c0 = 0) {
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            value sum = 0;
            for (int l = 0; l < k; l++) {
                value u = a.at(a0 + (ta == CUBLAS_OP_N ? i + (size_t)l * lda : l + (size_t)i * lda));
                value v = b.at(b0 + (tb == CUBLAS_OP_N ? l + (size_t)j * ldb : j + (size_t)l * ldb));
                sum += (ta == CUBLAS_OP_C ? std::conj(u) : u) * (tb == CUBLAS_OP_C ? std::conj(v) : v);
            }
            const size_t to = c0 + i + (size_t)j * ldc;
            c.set(to, alpha * sum + (beta == 0. ? value(0) : beta * c.at(to)));
        }
}

/* Operands that fill tiles of the kernel, and some rest. */
template <class T> static void large_products(double tolerance) {
    T *const t = NULL;
    const int m = 64 + below(20), n = 64 + below(20), k = 64 + below(8);
    const T alpha = random_element<T>(), beta = random_element<T>();
    for (int which = 0; which < 4; which++) {
        const cublasOperation_t ta = which & 1 ? CUBLAS_OP_T : CUBLAS_OP_N, tb = which & 2 ? CUBLAS_OP_T : CUBLAS_OP_N;
        const int lda = (which & 1 ? k : m) + 3, ldb = (which & 2 ? n : k) + 2, ldc = m + 1;
        array<T> a((size_t)lda * (which & 1 ? m : k)), b((size_t)ldb * (which & 2 ? k : n)), c((size_t)ldc * n);
        OK(gemm(t, ta, tb, m, n, k, &alpha, (const T *)a.device, lda, (const T *)b.device, ldb, &beta, c.device, ldc));
        reference(ta, tb, m, n, k, to_value(alpha), a, lda, b, ldb, to_value(beta), c, ldc);
        c.check("gemm of whole tiles", tolerance);
    }
}

template <class T, class R> static void products(bool is_complex, double tolerance) {
    T *const t = NULL;
    const int m = 1 + below(80), n = 1 + below(80), k = 1 + below(40), batch = 3;
    const cublasOperation_t ta = any_op(), tb = any_op();
    const int lda = (ta == CUBLAS_OP_N ? m : k) + below(4), ldb = (tb == CUBLAS_OP_N ? k : n) + below(4), ldc = m + below(4);
    const size_t a_size = (size_t)lda * (ta == CUBLAS_OP_N ? k : m), b_size = (size_t)ldb * (tb == CUBLAS_OP_N ? n : k),
                 c_size = (size_t)ldc * n;
    array<T> a(a_size * batch), b(b_size * batch), c(c_size * batch);
    const T alpha = random_element<T>(), beta = below(3) ? random_element<T>() : from_value(0, (T *)NULL);
    const value u = to_value(alpha), v = to_value(beta);
    OK(gemm(t, ta, tb, m, n, k, &alpha, (const T *)a.device, lda, (const T *)b.device, ldb, &beta, c.device, ldc));
    reference(ta, tb, m, n, k, u, a, lda, b, ldb, v, c, ldc);
    c.check("gemm", tolerance);
    OK(gemmStridedBatched(t, ta, tb, m, n, k, &alpha, (const T *)a.device, lda, (long long)a_size, (const T *)b.device, ldb,
                          (long long)b_size, &beta, c.device, ldc, (long long)c_size, batch));
    for (int i = 0; i < batch; i++)
        reference(ta, tb, m, n, k, u, a, lda, b, ldb, v, c, ldc, a_size * i, b_size * i, c_size * i);
    c.check("gemmStridedBatched", tolerance * 2);
    T **places = check_managed<T *>(3 * batch);
    for (int i = 0; i < batch; i++) {
        places[i] = a.device + a_size * i;
        places[batch + i] = b.device + b_size * i;
        places[2 * batch + i] = c.device + c_size * (batch - 1 - i);
    }
    OK(gemmBatched(t, ta, tb, m, n, k, &alpha, (const T *const *)places, lda, (const T *const *)(places + batch), ldb, &beta,
                   (T *const *)(places + 2 * batch), ldc, batch));
    for (int i = 0; i < batch; i++)
        reference(ta, tb, m, n, k, u, a, lda, b, ldb, v, c, ldc, a_size * i, b_size * i, c_size * (batch - 1 - i));
    c.check("gemmBatched", tolerance * 4);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaFree(places));

    /* One operand has a shape. */
    const cublasSideMode_t side = (cublasSideMode_t)below(2);
    const cublasFillMode_t uplo = any_fill();
    const cublasOperation_t op = any_op();
    const cublasDiagType_t diag = (cublasDiagType_t)below(2);
    const int order = side == CUBLAS_SIDE_LEFT ? m : n, lds = order + below(3);
    array<T> s((size_t)lds * order), x((size_t)ldc * n), y((size_t)ldc * n);
    const char shapes[] = {'S', is_complex ? 'H' : 'S', diag ? 'U' : 'T'};
    for (int i = 0; i < order; i++)
        for (int j = 0; j < order; j++)
            s.set(i + (size_t)j * lds, i == j ? value(3 + below(3)) : s.at(i + (size_t)j * lds) / (double)(4 * order));
    s.put();
    for (int which = 0; which < 3; which++) {
        if (which == 0)
            OK(symm(t, side, uplo, m, n, &alpha, (const T *)s.device, lds, (const T *)x.device, ldc, &beta, y.device, ldc));
        else if (which == 1)
            OK(hemmx(t, side, uplo, m, n, &alpha, (const T *)s.device, lds, (const T *)x.device, ldc, &beta, y.device, ldc));
        else
            OK(trmm(t, side, uplo, op, diag, m, n, &alpha, (const T *)s.device, lds, (const T *)x.device, ldc, y.device, ldc));
        const cublasOperation_t turned = which == 2 ? op : CUBLAS_OP_N;
        for (int j = 0; j < n; j++)
            for (int i = 0; i < m; i++) {
                value sum = 0;
                for (int l = 0; l < order; l++)
                    sum += side == CUBLAS_SIDE_LEFT ? shaped_at(s, lds, shapes[which], uplo, turned, i, l) * x.at(l + (size_t)j * ldc)
                                                    : x.at(i + (size_t)l * ldc) * shaped_at(s, lds, shapes[which], uplo, turned, l, j);
                y.set(i + (size_t)j * ldc, u * sum + (which == 2 ? value(0) : v * y.at(i + (size_t)j * ldc)));
            }
        y.check(which == 0 ? "symm" : which == 1 ? "hemm" : "trmm", tolerance * 4);
    }
    /* op(s) z = x is solved, and multiplied again. */
    const T one = from_value(1, (T *)NULL);
    OK(copy(t, ldc * n, (const T *)x.device, 1, y.device, 1));
    OK(trsm(t, side, uplo, op, diag, m, n, &alpha, (const T *)s.device, lds, y.device, ldc));
    OK(trmm(t, side, uplo, op, diag, m, n, &one, (const T *)s.device, lds, (const T *)y.device, ldc, y.device, ldc));
    y.host = x.host;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            y.set(i + (size_t)j * ldc, u * x.at(i + (size_t)j * ldc));
    y.check("trsm", tolerance * 20);

    /* A matrix times itself, one triangle of it. */
    const cublasOperation_t own = below(2) ? CUBLAS_OP_N : is_complex ? CUBLAS_OP_C : CUBLAS_OP_T;
    const int ldr = (own == CUBLAS_OP_N ? n : k) + below(3);
    const size_t r_size = (size_t)ldr * (own == CUBLAS_OP_N ? k : n);
    array<T> r(r_size), q(r_size), h((size_t)n * n);
    const R ru = (R)number(), rv = (R)number();
    if (is_complex) {
        for (int i = 0; i < n; i++)
            h.set(i + (size_t)i * n, h.at(i + (size_t)i * n).real());
        h.put();
    }
    const cublasOperation_t other = own == CUBLAS_OP_N ? (is_complex ? CUBLAS_OP_C : CUBLAS_OP_T) : CUBLAS_OP_N;
    for (int which = 0; which < 2; which++) {
        if (which == 0)
            OK(herkx(t, uplo, own, n, k, &ru, (const T *)r.device, ldr, &rv, h.device, n));
        else
            OK(her2kx(t, uplo, own, n, k, &alpha, (const T *)r.device, ldr, (const T *)q.device, ldr, &rv, h.device, n));
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) {
                if (i != j && (i > j) != (uplo == CUBLAS_FILL_MODE_LOWER)) continue;
                value sum = 0, twin = 0;
                for (int l = 0; l < k; l++) {
                    sum += op_at(r, ldr, own, i, l) * op_at(which ? q : r, ldr, other, l, j);
                    twin += op_at(q, ldr, own, i, l) * op_at(r, ldr, other, l, j);
                }
                const value before = (double)rv * h.at(i + (size_t)j * n);
                h.set(i + (size_t)j * n, which == 0 ? before + (double)ru * sum
                                                    : before + u * sum + (is_complex ? std::conj(u) : u) * twin);
            }
        h.check(which == 0 ? "syrk, herk" : "syr2k, her2k", tolerance * 4);
    }

    /* Element by element. */
    array<T> e((size_t)(m + n) * (m + n)), f((size_t)(m + n) * (m + n)), g((size_t)ldc * n);
    const int lde = m + n;
    OK(geam(t, ta, tb, m, n, &alpha, (const T *)e.device, lde, &beta, (const T *)f.device, lde, g.device, ldc));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            g.set(i + (size_t)j * ldc, u * op_at(e, lde, ta, i, j) + v * op_at(f, lde, tb, i, j));
    g.check("geam", tolerance);
    OK(dgmm(t, side, m, n, (const T *)e.device, lde, (const T *)f.device, 1, g.device, ldc));
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++)
            g.set(i + (size_t)j * ldc, e.at(i + (size_t)j * lde) * f.at(side == CUBLAS_SIDE_LEFT ? i : j));
    g.check("dgmm", tolerance);
}

/* Factors, solutions and inverses of a batch: multiplied by the matrices they give back what they should. */
template <class T> static void factors(double tolerance) {
    T *const t = NULL;
    const int n = 1 + below(20), nrhs = 1 + below(4), batch = 2, ld = n + below(3);
    const size_t size = (size_t)ld * n;
    array<T> a(size * batch), b((size_t)ld * nrhs * batch), inverse(size * batch), b_before((size_t)ld * nrhs * batch);
    std::vector<T> whole = a.host;
    T **places = check_managed<T *>(3 * batch);
    int *pivots = check_managed<int>((size_t)n * batch), *info = check_managed<int>(batch), host_info = -1;
    for (int i = 0; i < batch; i++) {
        places[i] = a.device + size * i;
        places[batch + i] = b.device + (size_t)ld * nrhs * i;
        places[2 * batch + i] = inverse.device + size * i;
    }
    b_before.host = b.host;
    const cublasOperation_t op = any_op();
    OK(getrfBatched(t, n, (T *const *)places, ld, pivots, info, batch));
    OK(getrsBatched(t, op, n, nrhs, (const T *const *)places, ld, (const int *)pivots, (T *const *)(places + batch), ld, &host_info,
                    batch));
    CHECK_EQ(host_info, 0);
    OK(getriBatched(t, n, (const T *const *)places, ld, (const int *)pivots, (T *const *)(places + 2 * batch), ld, info, batch));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(info[0], 0);
    CHECK_EQ(info[1], 0);
    a.host = whole;
    a.put();
    const T one = from_value(1, (T *)NULL), zero = from_value(0, (T *)NULL);
    array<T> product(size * batch);
    for (int i = 0; i < batch; i++) {
        array<T> back((size_t)ld * nrhs);
        OK(gemm(t, op, CUBLAS_OP_N, n, nrhs, n, &one, (const T *)a.device + size * i, ld,
                (const T *)b.device + (size_t)ld * nrhs * i, ld, &zero, back.device, ld));
        for (int j = 0; j < nrhs; j++)
            for (int r = 0; r < n; r++)
                back.host[r + (size_t)j * ld] = b_before.host[(size_t)ld * nrhs * i + r + (size_t)j * ld];
        back.check("getrs", tolerance * 2000);
        array<T> unit(size);
        OK(gemm(t, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, (const T *)a.device + size * i, ld, (const T *)inverse.device + size * i,
                ld, &zero, unit.device, ld));
        for (int j = 0; j < n; j++)
            for (int r = 0; r < n; r++)
                unit.set(r + (size_t)j * ld, r == j ? 1 : 0);
        unit.check("getri", tolerance * 2000);
    }
    CUDA_OK(cudaFree(places));
    CUDA_OK(cudaFree(pivots));
    CUDA_OK(cudaFree(info));
}

/* ---- narrow types ---- */

template <class A, class C, class S>
static void narrow(cudaDataType ab, cudaDataType c_type, cublasComputeType_t compute, double tolerance) {
    const int m = 1 + below(70), n = 1 + below(70), k = 1 + below(40);
    const cublasOperation_t ta = any_op(), tb = any_op();
    const int lda = ta == CUBLAS_OP_N ? m : k, ldb = tb == CUBLAS_OP_N ? k : n;
    array<A> a((size_t)m * k), b((size_t)k * n);
    array<C> c((size_t)m * n);
    const S alpha = from_value(2, (S *)NULL), beta = from_value(below(2), (S *)NULL);
    OK(cublasGemmEx(handle, ta, tb, m, n, k, &alpha, a.device, ab, lda, b.device, ab, ldb, &beta, c.device, c_type, m, compute,
                    CUBLAS_GEMM_DEFAULT));
    reference(ta, tb, m, n, k, to_value(alpha), a, lda, b, ldb, to_value(beta), c, m);
    c.check("GemmEx", tolerance);
}

/* ---- the handle, factors on the device, wrong arguments ---- */

static void modes() {
    const int n = 300;
    array<float> x(n), y(n), factor(1), result(1);
    cudaStream_t stream, got;
    CUDA_OK(cudaStreamCreate(&stream));
    OK(cublasSetStream(handle, stream));
    OK(cublasGetStream(handle, &got));
    CHECK(got == stream);
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    OK(cublasSaxpy(handle, n, factor.device, x.device, 1, y.device, 1));
    OK(cublasSdot(handle, n, x.device, 1, y.device, 1, result.device));
    CUDA_OK(cudaStreamSynchronize(stream));
    value dot = 0;
    for (int i = 0; i < n; i++) {
        y.set(i, y.at(i) + factor.at(0) * x.at(i));
        dot += x.at(i) * y.at(i);
    }
    y.check("axpy by a factor on the device", 1e-5);
    result.set(0, dot);
    result.check("dot to the device", 1e-4);
    /* Hermitian calls have real factors. */
    array<cuComplex> z(16), h(256);
    array<float> real(2);
    OK(cublasCher(handle, CUBLAS_FILL_MODE_LOWER, 16, real.device, z.device, 1, h.device, 16));
    for (int j = 0; j < 16; j++)
        for (int i = j; i < 16; i++) {
            const value sum = h.at(i + 16 * j) + real.at(0) * z.at(i) * std::conj(z.at(j));
            h.set(i + 16 * j, i == j ? value(sum.real()) : sum);
        }
    h.check("her by a factor on the device", 1e-5);
    OK(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST));
    OK(cublasSetStream(handle, NULL));
    CUDA_OK(cudaStreamDestroy(stream));

    /* Numbers whose squares overflow. */
    for (int i = 0; i < n; i++)
        x.host[i] = i == 7 ? 3e30f : i == 9 ? 4e30f : 0;
    x.put();
    float norm;
    OK(cublasSnrm2(handle, n, x.device, 1, &norm));
    CHECK(fabsf(norm / 5e30f - 1) < 1e-5f);
    OK(cublasSnrm2(handle, 0, x.device, 1, &norm));
    CHECK(norm == 0);

    /* Between host and device. */
    float host[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, back[12] = {0};
    OK(cublasSetVector(4, sizeof(float), host, 3, y.device, 2));
    OK(cublasGetVector(4, sizeof(float), y.device, 2, back, 1));
    CHECK(back[0] == 1 && back[1] == 4 && back[2] == 7 && back[3] == 10);
    OK(cublasSetMatrix(2, 3, sizeof(float), host, 4, y.device, 5));
    OK(cublasGetMatrix(2, 3, sizeof(float), y.device, 5, back, 2));
    CHECK(back[0] == 1 && back[1] == 2 && back[2] == 5 && back[3] == 6 && back[4] == 9 && back[5] == 10);
    int version;
    OK(cublasGetVersion(handle, &version));
    CHECK(version >= 12000);
    CHECK(strcmp(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED") == 0);
}

static void wrong_arguments() {
    array<float> x(64);
    const float one = 1;
    float *d = x.device;
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T;
    IS(cublasCreate(NULL), INVALID_VALUE);
    IS(cublasDestroy(NULL), NOT_INITIALIZED);
    IS(cublasSaxpy(NULL, 1, &one, d, 1, d, 1), NOT_INITIALIZED);
    IS(cublasSaxpy(handle, 1, NULL, d, 1, d, 1), INVALID_VALUE);
    OK(cublasSaxpy(handle, -1, &one, d, 1, d, 1));
    IS(cublasSdot(handle, 1, d, 1, d, 1, NULL), INVALID_VALUE);
    IS(cublasSgemv(handle, n, 4, 4, &one, d, 3, d, 1, &one, d, 1), INVALID_VALUE);
    IS(cublasSgemv(handle, n, 4, 4, &one, d, 4, d, 0, &one, d, 1), INVALID_VALUE);
    IS(cublasSgemm(handle, n, n, -1, 4, 4, &one, d, 4, d, 4, &one, d, 4), INVALID_VALUE);
    IS(cublasSgemm(handle, n, n, 4, 4, 4, &one, d, 3, d, 4, &one, d, 4), INVALID_VALUE);
    IS(cublasSgemm(handle, t, n, 4, 4, 8, &one, d, 7, d, 8, &one, d, 4), INVALID_VALUE);
    IS(cublasSgemm(handle, (cublasOperation_t)9, n, 4, 4, 4, &one, d, 4, d, 4, &one, d, 4), INVALID_VALUE);
    IS(cublasSgemm(handle, n, n, 4, 4, 4, &one, NULL, 4, d, 4, &one, d, 4), INVALID_VALUE);
    OK(cublasSgemm(handle, n, n, 0, 4, 4, &one, NULL, 4, d, 4, &one, d, 4));
    IS(cublasSgemmStridedBatched(handle, n, n, 4, 4, 4, &one, d, 4, 0, d, 4, 0, &one, d, 4, 0, -1), INVALID_VALUE);
    IS(cublasSsyrk(handle, CUBLAS_FILL_MODE_FULL, n, 4, 4, &one, d, 4, &one, d, 4), INVALID_VALUE);
    IS(cublasSgeam(handle, t, n, 4, 4, &one, d, 4, &one, d, 4, d, 4), INVALID_VALUE);
    IS(cublasSetPointerMode(handle, (cublasPointerMode_t)2), INVALID_VALUE);
    IS(cublasSetVector(4, 0, d, 1, d, 1), INVALID_VALUE);
    IS(cublasSetMatrix(4, 4, 4, d, 3, d, 4), INVALID_VALUE);
    IS(cublasGemmEx(handle, n, n, 4, 4, 4, &one, d, CUDA_R_16F, 4, d, CUDA_R_32F, 4, &one, d, CUDA_R_32F, 4, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT),
       NOT_SUPPORTED);
    CHECK(cudaGetLastError() == cudaSuccess);
}

/* Settings of products in narrower types: kept, and the results are those of the wide types. */
static void emulation() {
    cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
    cudaEmulationMantissaControl control;
    cublasMath_t mode = CUBLAS_DEFAULT_MATH;
    int bits = 0;
    OK(cublasSetEmulationStrategy(handle, CUBLAS_EMULATION_STRATEGY_EAGER));
    OK(cublasGetEmulationStrategy(handle, &strategy));
    CHECK_EQ((int)strategy, (int)CUBLAS_EMULATION_STRATEGY_EAGER);
    OK(cublasSetFixedPointEmulationMantissaControl(handle, CUDA_EMULATION_MANTISSA_CONTROL_FIXED));
    OK(cublasGetFixedPointEmulationMantissaControl(handle, &control));
    CHECK_EQ((int)control, (int)CUDA_EMULATION_MANTISSA_CONTROL_FIXED);
    OK(cublasSetFixedPointEmulationMaxMantissaBitCount(handle, 55));
    OK(cublasGetFixedPointEmulationMaxMantissaBitCount(handle, &bits));
    CHECK_EQ(bits, 55);
    OK(cublasSetMathMode(handle, CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH));
    OK(cublasGetMathMode(handle, &mode));
    CHECK_EQ((int)mode, (int)CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
    IS(cublasSetEmulationStrategy(handle, (cublasEmulationStrategy_t)3), INVALID_VALUE);
    narrow<double, double, double>(CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, 1e-12);
    narrow<float, float, float>(CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_EMULATED_16BFX9, 1e-4);
    OK(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH));
}

int main() {
    OK(cublasCreate(&handle));
    for (int round = 0; round < 2; round++) {
        vectors<float, float>(2e-5);
        vectors<double, double>(1e-12);
        vectors<cuComplex, float>(2e-5);
        vectors<cuDoubleComplex, double>(1e-12);
        rotations<float>(2e-6);
        rotations<double>(1e-14);
        made_rotation<cuComplex, float>(make_cuComplex(1.5f, -2), make_cuComplex(0.25f, 3), 2e-6);
        made_rotation<cuDoubleComplex, double>(make_cuDoubleComplex(0, 0), make_cuDoubleComplex(1, -2), 1e-14);
        made_rotation<cuDoubleComplex, double>(make_cuDoubleComplex(-7, 1), make_cuDoubleComplex(2, 5), 1e-14);
        matrix_and_vectors<float, float>(false, 1e-4);
        matrix_and_vectors<double, double>(false, 1e-11);
        matrix_and_vectors<cuComplex, float>(true, 1e-4);
        matrix_and_vectors<cuDoubleComplex, double>(true, 1e-11);
        products<float, float>(false, 1e-4);
        products<double, double>(false, 1e-11);
        products<cuComplex, float>(true, 1e-4);
        products<cuDoubleComplex, double>(true, 1e-11);
    }
    factors<float>(1e-5);
    factors<double>(1e-13);
    factors<cuComplex>(1e-5);
    factors<cuDoubleComplex>(1e-13);
    narrow<__half, __half, float>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_32F, 2e-3);
    narrow<__half, float, float>(CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-4);
    narrow<__half, __half, __half>(CUDA_R_16F, CUDA_R_16F, CUBLAS_COMPUTE_16F, 0.1);
    narrow<__nv_bfloat16, __nv_bfloat16, float>(CUDA_R_16BF, CUDA_R_16BF, CUBLAS_COMPUTE_32F, 1e-2);
    narrow<__nv_bfloat16, float, float>(CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-4);
    narrow<signed char, int, int>(CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I, 0);
    narrow<signed char, float, float>(CUDA_R_8I, CUDA_R_32F, CUBLAS_COMPUTE_32F, 1e-5);
    modes();
    emulation();
    large_products<float>(1e-4);
    large_products<double>(1e-11);
    large_products<cuComplex>(1e-4);
    large_products<cuDoubleComplex>(1e-11);
    wrong_arguments();
    OK(cublasDestroy(handle));
    return check_done();
}
