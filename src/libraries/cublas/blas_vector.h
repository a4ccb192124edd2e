/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over vectors, made once a type. Threads loop over the elements. */
static __device__ T *NAME(at)(wpi_vector v, long long i) {
    return (T *)v.data + i * v.inc;
}

extern "C" __global__ void NAME(wpk_axpy)(long long n, wpi_scalar alpha, wpi_vector x,
                                          wpi_vector y) {
    const T factor = NAME(scalar)(alpha);
    FOR_EACH(i, n) * NAME(at)(y, i) =
        NAME(add)(*NAME(at)(y, i), NAME(mul)(factor, *NAME(at)(x, i)));
}

extern "C" __global__ void NAME(wpk_scal)(long long n, wpi_scalar alpha, int is_real,
                                          wpi_vector x) {
    const T factor = is_real ? NAME(real_scalar)(alpha) : NAME(scalar)(alpha);
    FOR_EACH(i, n) * NAME(at)(x, i) = NAME(mul)(factor, *NAME(at)(x, i));
}

extern "C" __global__ void NAME(wpk_copy)(long long n, wpi_vector x, wpi_vector y) {
    FOR_EACH(i, n) * NAME(at)(y, i) = *NAME(at)(x, i);
}

extern "C" __global__ void NAME(wpk_swap)(long long n, wpi_vector x, wpi_vector y) {
    FOR_EACH(i, n) {
        const T kept = *NAME(at)(x, i);
        *NAME(at)(x, i) = *NAME(at)(y, i);
        *NAME(at)(y, i) = kept;
    }
}

extern "C" __global__ void NAME(wpk_rot)(long long n, wpi_vector x, wpi_vector y, wpi_scalar cosine,
                                         wpi_scalar sine, int is_real) {
    const T c = NAME(real_scalar)(cosine);
    const T s = is_real ? NAME(real_scalar)(sine) : NAME(scalar)(sine);
    FOR_EACH(i, n) {
        const T u = *NAME(at)(x, i), v = *NAME(at)(y, i);
        *NAME(at)(x, i) = NAME(add)(NAME(mul)(c, u), NAME(mul)(s, v));
        *NAME(at)(y, i) = NAME(sub)(NAME(mul)(c, v), NAME(mul)(NAME(conj)(s), u));
    }
}

extern "C" __global__ void NAME(wpk_rotm)(long long n, wpi_vector x, wpi_vector y, double h11,
                                          double h12, double h21, double h22) {
    const T xx = NAME(make)((REAL)h11, 0), xy = NAME(make)((REAL)h12, 0);
    const T yx = NAME(make)((REAL)h21, 0), yy = NAME(make)((REAL)h22, 0);
    FOR_EACH(i, n) {
        const T u = *NAME(at)(x, i), v = *NAME(at)(y, i);
        *NAME(at)(x, i) = NAME(add)(NAME(mul)(xx, u), NAME(mul)(xy, v));
        *NAME(at)(y, i) = NAME(add)(NAME(mul)(yx, u), NAME(mul)(yy, v));
    }
}

/* ---- reductions: a partial result a block, then one block over these ---- */

static __device__ wpi_partial NAME(term)(wpi_reduction op, wpi_vector x, wpi_vector y,
                                         long long i) {
    wpi_partial p;
    const T a = *NAME(at)(x, i);
    const double re = NAME(re)(a), im = NAME(im)(a);
    p.re = fabs(re) + fabs(im);
    p.im = 0;
    p.index = i;
    if (op == WPI_REDUCE_DOT || op == WPI_REDUCE_DOTC) {
        const T b = *NAME(at)(y, i);
        const double c = op == WPI_REDUCE_DOTC ? -im : im, br = NAME(re)(b), bi = NAME(im)(b);
        p.re = re * br - c * bi;
        p.im = re * bi + c * br;
    }
    if (op == WPI_REDUCE_NRM2) {
        const double large = fmax(fabs(re), fabs(im)), small = fmin(fabs(re), fabs(im));
        p.im = large;
        p.re = large > 0 ? 1 + small / large * (small / large) : 0;
        if (isinf(large)) p.re = 1;
    }
    return p;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_reduce)(wpi_reduction op, long long n, wpi_vector x, wpi_vector y,
                     wpi_partial *partials) {
    __shared__ wpi_partial shares[BLOCK];
    wpi_partial sum = none();
    FOR_EACH(i, n) sum = join(op, sum, NAME(term)(op, x, y, i));
    sum = join_block(op, sum, shares);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_reduce_end)(wpi_reduction op, int count, const wpi_partial *partials, void *result) {
    __shared__ wpi_partial shares[BLOCK];
    wpi_partial sum = none();
    for (int i = (int)threadIdx.x; i < count; i += BLOCK)
        sum = join(op, sum, partials[i]);
    sum = join_block(op, sum, shares);
    if (threadIdx.x != 0) return;
    switch (op) {
    case WPI_REDUCE_DOT:
    case WPI_REDUCE_DOTC: *(T *)result = NAME(make)((REAL)sum.re, (REAL)sum.im); break;
    case WPI_REDUCE_ASUM: *(REAL *)result = (REAL)sum.re; break;
    case WPI_REDUCE_NRM2: *(REAL *)result = (REAL)(sum.im * sqrt(sum.re)); break;
    default: *(int *)result = (int)(sum.index + 1); break;
    }
}

/* ---- launches ---- */

static cudaError_t NAME(axpy)(cudaStream_t stream, long long n, wpi_scalar alpha, wpi_vector x,
                              wpi_vector y) {
    return LAUNCH(NAME(wpk_axpy), blocks(n), &n, &alpha, &x, &y);
}

static cudaError_t NAME(scal)(cudaStream_t stream, long long n, wpi_scalar alpha, int is_real,
                              wpi_vector x) {
    return LAUNCH(NAME(wpk_scal), blocks(n), &n, &alpha, &is_real, &x);
}

static cudaError_t NAME(copy)(cudaStream_t stream, long long n, wpi_vector x, wpi_vector y) {
    return LAUNCH(NAME(wpk_copy), blocks(n), &n, &x, &y);
}

static cudaError_t NAME(swap)(cudaStream_t stream, long long n, wpi_vector x, wpi_vector y) {
    return LAUNCH(NAME(wpk_swap), blocks(n), &n, &x, &y);
}

static cudaError_t NAME(rot)(cudaStream_t stream, long long n, wpi_vector x, wpi_vector y,
                             wpi_scalar c, wpi_scalar s, int is_real) {
    return LAUNCH(NAME(wpk_rot), blocks(n), &n, &x, &y, &c, &s, &is_real);
}

static cudaError_t NAME(rotm)(cudaStream_t stream, long long n, wpi_vector x, wpi_vector y,
                              double h11, double h12, double h21, double h22) {
    return LAUNCH(NAME(wpk_rotm), blocks(n), &n, &x, &y, &h11, &h12, &h21, &h22);
}

static cudaError_t NAME(reduce)(cudaStream_t stream, wpi_reduction op, long long n, wpi_vector x,
                                wpi_vector y, wpi_partial *partials, void *result) {
    unsigned count = blocks(n) < WPI_PARTIALS ? blocks(n) : WPI_PARTIALS;
    const cudaError_t error = LAUNCH(NAME(wpk_reduce), count, &op, &n, &x, &y, &partials);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_reduce_end), 1, &op, &count, &partials, &result);
}
