/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels over vectors of 16-bit floats, made once a type: STORED, with LOAD to float and STORE
 * from it. Factors are float, sums double. */
static __device__ STORED *NAME(at)(wpi_vector v, long long i) {
    return (STORED *)v.data + i * v.inc;
}

extern "C" __global__ void NAME(wpk_axpy)(long long n, wpi_scalar alpha, wpi_vector x,
                                          wpi_vector y) {
    const float factor = factor_of(alpha);
    FOR_EACH(i, n) * NAME(at)(y, i) =
        STORE(fmaf(factor, LOAD(*NAME(at)(x, i)), LOAD(*NAME(at)(y, i))));
}

extern "C" __global__ void NAME(wpk_scal)(long long n, wpi_scalar alpha, wpi_vector x) {
    const float factor = factor_of(alpha);
    FOR_EACH(i, n) * NAME(at)(x, i) = STORE(factor * LOAD(*NAME(at)(x, i)));
}

/* Squares of 16-bit floats are far from double's limits: NRM2 needs no scale. */
extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_reduce)(int is_dot, long long n, wpi_vector x, wpi_vector y, wpi_partial *partials) {
    __shared__ wpi_partial shares[BLOCK];
    wpi_partial sum = none();
    FOR_EACH(i, n) {
        const double a = (double)LOAD(*NAME(at)(x, i));
        sum.re += a * (is_dot ? (double)LOAD(*NAME(at)(y, i)) : a);
        sum.index = 0;
    }
    sum = join_block(WPI_REDUCE_DOT, sum, shares);
    if (threadIdx.x == 0) partials[blockIdx.x] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
    NAME(wpk_reduce_end)(int is_dot, int count, const wpi_partial *partials, STORED *result) {
    __shared__ wpi_partial shares[BLOCK];
    wpi_partial sum = none();
    for (int i = (int)threadIdx.x; i < count; i += BLOCK)
        sum = join(WPI_REDUCE_DOT, sum, partials[i]);
    sum = join_block(WPI_REDUCE_DOT, sum, shares);
    if (threadIdx.x == 0) *result = STORE((float)(is_dot ? sum.re : sqrt(sum.re)));
}

/* ---- launches ---- */

static cudaError_t NAME(axpy)(cudaStream_t stream, long long n, wpi_scalar alpha, wpi_vector x,
                              wpi_vector y) {
    return LAUNCH(NAME(wpk_axpy), blocks(n), &n, &alpha, &x, &y);
}

static cudaError_t NAME(scal)(cudaStream_t stream, long long n, wpi_scalar alpha, int is_real,
                              wpi_vector x) {
    (void)is_real;
    return LAUNCH(NAME(wpk_scal), blocks(n), &n, &alpha, &x);
}

static cudaError_t NAME(reduce)(cudaStream_t stream, wpi_reduction op, long long n, wpi_vector x,
                                wpi_vector y, wpi_partial *partials, void *result) {
    int is_dot = op != WPI_REDUCE_NRM2;
    unsigned count = blocks(n) < WPI_PARTIALS ? blocks(n) : WPI_PARTIALS;
    STORED *to = (STORED *)result;
    const cudaError_t error = LAUNCH(NAME(wpk_reduce), count, &is_dot, &n, &x, &y, &partials);
    if (error != cudaSuccess) return error;
    return LAUNCH(NAME(wpk_reduce_end), 1, &is_dot, &count, &partials, &to);
}
