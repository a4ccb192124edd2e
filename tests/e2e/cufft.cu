/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcufft
/* cuFFT against sums of the definition: all types, one to three dimensions, sizes of small and large primes, layouts, in
 * place, batches, there and back, wrong arguments. */
#include <complex>
#include <cufftXt.h>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUFFT_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CUFFT_##status)

typedef std::complex<double> value;
typedef std::vector<value> values;

static uint32_t state = 362436069u;

static double number() {
    return (double)(int)(check_random(&state) % 2001) / 1000 - 1;
}

/* One axis after the other, by the definition. */
static void reference(values &x, const int n[3], int sign) {
    int inner = 1;
    for (int axis = 2; axis >= 0; axis--) {
        const int length = n[axis], outer = (int)x.size() / length / inner;
        values line(length), turns(length);
        for (int k = 0; k < length; k++)
            turns[k] = std::polar(1., sign * 2 * M_PI * k / length);
        for (int o = 0; o < outer; o++)
            for (int i = 0; i < inner; i++) {
                for (int k = 0; k < length; k++) {
                    line[k] = 0;
                    for (int j = 0; j < length; j++)
                        line[k] += x[((size_t)o * length + j) * inner + i] * turns[(size_t)j * k % length];
                }
                for (int k = 0; k < length; k++)
                    x[((size_t)o * length + k) * inner + i] = line[k];
            }
        inner *= length;
    }
}

static double distance(const values &a, const values &b) {
    double difference = 0, size = 1e-300;
    for (size_t i = 0; i < a.size(); i++) {
        difference += std::norm(a[i] - b[i]);
        size += std::norm(b[i]);
    }
    return sqrt(difference / size);
}

static void check_distance(const char *what, const int n[3], const values &got, const values &expected, double tolerance) {
    const double d = distance(got, expected);
    if (!(d <= tolerance) && check_note_failure())
        printf("FAIL: %s of %d x %d x %d: relative distance %g\n", what, n[0], n[1], n[2], d);
}

/* Types by precision. */
struct single_precision {
    typedef cufftComplex complex;
    typedef cufftReal real;
    static constexpr double tolerance = 2e-6;
    static constexpr cufftType c2c = CUFFT_C2C, r2c = CUFFT_R2C, c2r = CUFFT_C2R;
    static cufftResult exec(cufftHandle p, complex *a, complex *b, int d) { return cufftExecC2C(p, a, b, d); }
    static cufftResult exec(cufftHandle p, real *a, complex *b) { return cufftExecR2C(p, a, b); }
    static cufftResult exec(cufftHandle p, complex *a, real *b) { return cufftExecC2R(p, a, b); }
};
struct double_precision {
    typedef cufftDoubleComplex complex;
    typedef cufftDoubleReal real;
    static constexpr double tolerance = 2e-14;
    static constexpr cufftType c2c = CUFFT_Z2Z, r2c = CUFFT_D2Z, c2r = CUFFT_Z2D;
    static cufftResult exec(cufftHandle p, complex *a, complex *b, int d) { return cufftExecZ2Z(p, a, b, d); }
    static cufftResult exec(cufftHandle p, real *a, complex *b) { return cufftExecD2Z(p, a, b); }
    static cufftResult exec(cufftHandle p, complex *a, real *b) { return cufftExecZ2D(p, a, b); }
};

static cufftResult plan_of(cufftHandle *plan, int rank, const int n[3], cufftType type) {
    return rank == 1   ? cufftPlan1d(plan, n[2], type, 1)
           : rank == 2 ? cufftPlan2d(plan, n[1], n[2], type)
                       : cufftPlan3d(plan, n[0], n[1], n[2], type);
}

template <class P> static void transforms(int rank, int n0, int n1, int n2) {
    typedef typename P::complex complex;
    typedef typename P::real real;
    const int n[3] = {n0, n1, n2}, half = n2 / 2 + 1;
    const size_t count = (size_t)n0 * n1 * n2, halves = (size_t)n0 * n1 * half;
    complex *a = check_managed<complex>(count + 2 * halves), *b = check_managed<complex>(count);
    real *r = check_managed<real>(count);
    cufftHandle plan;
    values x(count), got(count);
    for (size_t i = 0; i < count; i++) {
        a[i].x = (real)number(), a[i].y = (real)number();
        x[i] = value(a[i].x, a[i].y);
    }
    const values before = x;
    OK(plan_of(&plan, rank, n, P::c2c));
    OK(P::exec(plan, a, b, CUFFT_FORWARD));
    CUDA_OK(cudaDeviceSynchronize());
    reference(x, n, -1);
    for (size_t i = 0; i < count; i++)
        got[i] = value(b[i].x, b[i].y);
    check_distance("complex, forward", n, got, x, P::tolerance);
    OK(P::exec(plan, b, b, CUFFT_INVERSE)); /* in place */
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < count; i++)
        got[i] = value(b[i].x, b[i].y) / (double)count;
    check_distance("complex, back", n, got, before, P::tolerance * 2);
    OK(cufftDestroy(plan));

    /* Real numbers. */
    for (size_t i = 0; i < count; i++) {
        r[i] = (real)number();
        x[i] = (double)r[i];
    }
    const values real_before = x;
    reference(x, n, -1);
    values expected(halves), got_half(halves);
    for (size_t i = 0; i < halves; i++)
        expected[i] = x[i / half * n2 + i % half];
    OK(plan_of(&plan, rank, n, P::r2c));
    OK(P::exec(plan, r, a));
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < halves; i++)
        got_half[i] = value(a[i].x, a[i].y);
    check_distance("real", n, got_half, expected, P::tolerance);
    /* In place: rows are padded. */
    real *padded = (real *)(a + halves);
    for (size_t i = 0; i < count; i++)
        padded[i / n2 * 2 * half + i % n2] = r[i];
    OK(P::exec(plan, padded, a + halves));
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < halves; i++)
        got_half[i] = value(a[halves + i].x, a[halves + i].y);
    check_distance("real, in place", n, got_half, expected, P::tolerance);
    OK(cufftDestroy(plan));
    OK(plan_of(&plan, rank, n, P::c2r));
    OK(P::exec(plan, a, r));
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < count; i++)
        got[i] = (double)r[i] / (double)count;
    check_distance("to real", n, got, real_before, P::tolerance * 2);
    OK(cufftDestroy(plan));
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(r));
}

/* A batch of 2D transforms whose elements are `stride` apart in larger arrays. */
static void layouts() {
    const int batch = 3;
    int n[2] = {6, 10}, inembed[2] = {7, 12}, onembed[2] = {6, 11};
    const int istride = 2, idist = 7 * 12 * 2 + 3, ostride = 3, odist = 6 * 11 * 3;
    cufftComplex *in = check_managed<cufftComplex>(idist * batch), *out = check_managed<cufftComplex>(odist * batch);
    for (int i = 0; i < idist * batch; i++)
        in[i].x = (float)number(), in[i].y = (float)number();
    cufftHandle plan;
    size_t bytes = 0;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    OK(cufftCreate(&plan));
    OK(cufftSetAutoAllocation(plan, 0));
    OK(cufftMakePlanMany(plan, 2, n, inembed, istride, idist, onembed, ostride, odist, CUFFT_C2C, batch, &bytes));
    CHECK(bytes > 0);
    IS(cufftExecC2C(plan, in, out, CUFFT_FORWARD), NO_WORKSPACE);
    void *work;
    CUDA_OK(cudaMalloc(&work, bytes));
    OK(cufftSetWorkArea(plan, work));
    OK(cufftSetStream(plan, stream));
    OK(cufftExecC2C(plan, in, out, CUFFT_INVERSE));
    CUDA_OK(cudaStreamSynchronize(stream));
    const int whole[3] = {1, 6, 10};
    for (int b = 0; b < batch; b++) {
        values x(60), got(60);
        for (int i = 0; i < 60; i++) {
            const cufftComplex v = in[b * idist + (i / 10 * 12 + i % 10) * istride];
            const cufftComplex w = out[b * odist + (i / 10 * 11 + i % 10) * ostride];
            x[i] = value(v.x, v.y);
            got[i] = value(w.x, w.y);
        }
        reference(x, whole, 1);
        check_distance("a batch with strides", whole, got, x, 2e-6);
    }
    OK(cufftDestroy(plan));
    CUDA_OK(cudaFree(work));
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
    CUDA_OK(cudaStreamDestroy(stream));
}

/* Types as arguments, in place; the same numbers as the plain call's. */
static void types_as_arguments() {
    cufftHandle plain, plan;
    long long n[1] = {12};
    size_t bytes, expected_bytes;
    cufftReal *in = check_managed<cufftReal>(14);
    cufftComplex *out = check_managed<cufftComplex>(7), *in_place = (cufftComplex *)in;
    for (int i = 0; i < 12; i++)
        in[i] = (float)number();
    OK(cufftPlan1d(&plain, 12, CUFFT_R2C, 1));
    OK(cufftExecR2C(plain, in, out));
    OK(cufftGetSize(plain, &expected_bytes));
    OK(cufftCreate(&plan));
    OK(cufftXtGetSizeMany(plan, 1, n, NULL, 1, 1, CUDA_R_32F, NULL, 1, 1, CUDA_C_32F, 1, &bytes, CUDA_C_32F));
    CHECK_EQ(bytes, expected_bytes);
    IS(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 1, CUDA_C_16F, NULL, 1, 1, CUDA_C_16F, 1, &bytes, CUDA_C_16F), NOT_SUPPORTED);
    IS(cufftXtExec(plan, in, in, CUFFT_FORWARD), INVALID_PLAN);
    OK(cufftXtMakePlanMany(plan, 1, n, NULL, 1, 1, CUDA_R_32F, NULL, 1, 1, CUDA_C_32F, 1, &bytes, CUDA_C_32F));
    OK(cufftXtExec(plan, in, in, CUFFT_INVERSE)); /* real input: forward */
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 7; i++) {
        CHECK_EQ(in_place[i].x, out[i].x);
        CHECK_EQ(in_place[i].y, out[i].y);
    }
    OK(cufftDestroy(plain));
    OK(cufftDestroy(plan));
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
}

static void wrong_arguments() {
    cufftHandle plan;
    cufftComplex *data = check_managed<cufftComplex>(16);
    size_t bytes;
    int version;
    IS(cufftPlan1d(NULL, 8, CUFFT_C2C, 1), INVALID_VALUE);
    IS(cufftPlan1d(&plan, 0, CUFFT_C2C, 1), INVALID_SIZE);
    IS(cufftPlan1d(&plan, 8, CUFFT_C2C, 0), INVALID_SIZE);
    IS(cufftPlan1d(&plan, 8, (cufftType)7, 1), INVALID_TYPE);
    IS(cufftExecC2C(0, data, data, CUFFT_FORWARD), INVALID_PLAN);
    IS(cufftDestroy(1234), INVALID_PLAN);
    OK(cufftPlan1d(&plan, 16, CUFFT_C2C, 1));
    IS(cufftExecC2C(plan, data, data, 0), INVALID_VALUE);
    IS(cufftExecC2C(plan, NULL, data, CUFFT_FORWARD), INVALID_VALUE);
    IS(cufftExecR2C(plan, (cufftReal *)data, data), INVALID_PLAN);
    IS(cufftMakePlan1d(plan, 16, CUFFT_C2C, 1, &bytes), INVALID_PLAN);
    OK(cufftGetSize(plan, &bytes));
    OK(cufftDestroy(plan));
    IS(cufftDestroy(plan), INVALID_PLAN);
    OK(cufftGetVersion(&version));
    CUDA_OK(cudaFree(data));
}

int main() {
    static const int sizes[] = {1, 2, 8, 60, 64, 77, 97, 169};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        transforms<single_precision>(1, 1, 1, sizes[i]);
        transforms<double_precision>(1, 1, 1, sizes[i]);
    }
    transforms<single_precision>(2, 1, 12, 10);
    transforms<double_precision>(2, 1, 17, 9); /* 17 by Bluestein's algorithm, across rows */
    transforms<double_precision>(3, 4, 3, 10);
    transforms<single_precision>(3, 2, 19, 5);
    layouts();
    types_as_arguments();
    wrong_arguments();
    return check_done();
}
