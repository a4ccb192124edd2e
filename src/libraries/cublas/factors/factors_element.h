/* SPDX-License-Identifier: Apache-2.0 */
/** QR factors by Householder's reflections, a block a matrix; made once a type, behind
 * blas_element.h. */

static __device__ REAL NAME(size_of)(T x) {
    return (REAL)fmax(fabs(NAME(re)(x)), fabs(NAME(im)(x)));
}

/* One thread: the reflector I - tau v v^H, whose conjugate transpose makes x, of `n` elements, a
 * real number and zeros. x[0] becomes this, the others v, whose v[0] is 1. */
static __device__ T NAME(make_reflector)(T *x, int n) {
    REAL scale = 0, sum = 0;
    for (int i = 1; i < n; i++)
        scale = fmax(scale, NAME(size_of)(x[i]));
    if (scale == 0 && NAME(im)(x[0]) == 0) return NAME(make)(0, 0);
    scale = fmax(scale, NAME(size_of)(x[0]));
    for (int i = 0; i < n; i++) {
        const REAL re = (REAL)NAME(re)(x[i]) / scale, im = (REAL)NAME(im)(x[i]) / scale;
        sum += re * re + im * im;
    }
    const REAL norm = scale * sqrt(sum), beta = NAME(re)(x[0]) > 0 ? -norm : norm;
    const T shifted = NAME(sub)(x[0], NAME(make)(beta, 0));
    const T tau = NAME(div)(NAME(sub)(NAME(make)(beta, 0), x[0]), NAME(make)(beta, 0));
    for (int i = 1; i < n; i++)
        x[i] = NAME(div)(x[i], shifted);
    x[0] = NAME(make)(beta, 0);
    return tau;
}

/* x, less tau v v^H x: `n` elements, of which v[0] is 1. */
static __device__ void NAME(apply_reflector)(const T *v, T tau, T *x, int n) {
    T sum = x[0];
    for (int i = 1; i < n; i++)
        sum = NAME(add)(sum, NAME(mul)(NAME(conj)(v[i]), x[i]));
    sum = NAME(mul)(sum, tau);
    x[0] = NAME(sub)(x[0], sum);
    for (int i = 1; i < n; i++)
        x[i] = NAME(sub)(x[i], NAME(mul)(v[i], sum));
}

/* x = R^-1 x. */
static __device__ void NAME(solve_upper)(const T *a, long long lda, T *x, int n) {
    for (int i = n - 1; i >= 0; i--) {
        T value = x[i];
        for (int k = i + 1; k < n; k++)
            value = NAME(sub)(value, NAME(mul)(a[i + k * lda], x[k]));
        x[i] = NAME(div)(value, a[i + i * lda]);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) NAME(wpk_qr)(wpi_qr q) {
    __shared__ T tau;
    __shared__ int singular;
    T *a = (T *)q.a[blockIdx.x], *c = q.c != NULL ? (T *)q.c[blockIdx.x] : NULL;
    const long long lda = q.lda, ldc = q.ldc;
    const int steps = q.m < q.n ? q.m : q.n;
    if (threadIdx.x == 0) singular = 0;
    for (int k = 0; k < steps; k++) {
        T *v = a + k + k * lda;
        if (threadIdx.x == 0) {
            const T factor = NAME(make_reflector)(v, q.m - k);
            if (q.tau != NULL) ((T *)q.tau[blockIdx.x])[k] = factor;
            if (singular == 0 && NAME(is_zero)(v[0])) singular = k + 1;
            tau = NAME(conj)(factor);
        }
        __syncthreads();
        for (int j = k + 1 + (int)threadIdx.x; j < q.n + q.nrhs; j += BLOCK)
            NAME(apply_reflector)(v, tau, j < q.n ? a + k + j * lda : c + k + (j - q.n) * ldc,
                                  q.m - k);
        __syncthreads();
    }
    if (threadIdx.x == 0 && q.info != NULL) q.info[blockIdx.x] = singular;
    for (int j = (int)threadIdx.x; j < q.nrhs && singular == 0; j += BLOCK)
        NAME(solve_upper)(a, lda, c + j * ldc, q.n);
}

static cudaError_t NAME(qr)(cudaStream_t stream, const wpi_qr *q) {
    return LAUNCH(NAME(wpk_qr), q->batch, (void *)q);
}
