/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of one precision that call a program's functions: NAME(x), REAL, COMPLEX and LOAD_REAL …
 * STORE_COMPLEX, the functions' types. Included once a precision. */
static __device__ long long NAME(place)(const wpi_fft_layout *l, long long b, long long i, long long j, long long k) {
    return b * l->distance + ((i * l->embed[1] + j) * l->embed[2] + k) * l->stride;
}

/* Each element is loaded once. Of HALF a thread also writes the conjugate. */
extern "C" __global__ void NAME(wpk_fft_load_called)(wpi_fft_shape s, wpi_fft_layout l, wpi_fft_side side, void *in, COMPLEX *work,
                                                     wpi_fft_callback c) {
    extern __shared__ char room[];
    const long long last = side == WPI_FFT_HALF ? s.n[2] / 2 + 1 : s.n[2];
    FOR_EACH(at, s.n[0] * s.n[1] * last * s.batch) {
        const long long k = at % last, j = at / last % s.n[1], i = at / last / s.n[1] % s.n[0], b = at / last / s.n[1] / s.n[0];
        const size_t from = (size_t)NAME(place)(&l, b, i, j, k);
        COMPLEX value;
        if (side == WPI_FFT_REAL) {
            value.x = ((LOAD_REAL)c.routine)(in, from, c.info, room);
            value.y = 0;
        } else {
            value = ((LOAD_COMPLEX)c.routine)(in, from, c.info, room);
        }
        work[((b * s.n[0] + i) * s.n[1] + j) * s.n[2] + k] = value;
        if (side == WPI_FFT_HALF && k > 0 && k < s.n[2] - k) {
            const long long other_i = i == 0 ? 0 : s.n[0] - i, other_j = j == 0 ? 0 : s.n[1] - j;
            value.y = -value.y;
            work[((b * s.n[0] + other_i) * s.n[1] + other_j) * s.n[2] + s.n[2] - k] = value;
        }
    }
}

extern "C" __global__ void NAME(wpk_fft_store_called)(wpi_fft_shape s, wpi_fft_layout l, wpi_fft_side side, const COMPLEX *work,
                                                      void *out, wpi_fft_callback c) {
    extern __shared__ char room[];
    const long long last = side == WPI_FFT_HALF ? s.n[2] / 2 + 1 : s.n[2];
    FOR_EACH(at, s.n[0] * s.n[1] * last * s.batch) {
        const long long k = at % last, j = at / last % s.n[1], i = at / last / s.n[1] % s.n[0], b = at / last / s.n[1] / s.n[0];
        const COMPLEX value = work[((b * s.n[0] + i) * s.n[1] + j) * s.n[2] + k];
        const size_t to = (size_t)NAME(place)(&l, b, i, j, k);
        if (side == WPI_FFT_REAL)
            ((STORE_REAL)c.routine)(out, to, value.x, c.info, room);
        else
            ((STORE_COMPLEX)c.routine)(out, to, value, c.info, room);
    }
}

static cudaError_t NAME(load)(cudaStream_t stream, const wpi_fft_shape *s, const wpi_fft_layout *l, wpi_fft_side side,
                              const void *in, void *work, const wpi_fft_callback *c) {
    void *arguments[] = {(void *)s, (void *)l, &side, &in, &work, (void *)c};
    return launch((const void *)NAME(wpk_fft_load_called), s, c, stream, arguments);
}

static cudaError_t NAME(store)(cudaStream_t stream, const wpi_fft_shape *s, const wpi_fft_layout *l, wpi_fft_side side,
                               const void *work, void *out, const wpi_fft_callback *c) {
    void *arguments[] = {(void *)s, (void *)l, &side, &work, &out, (void *)c};
    return launch((const void *)NAME(wpk_fft_store_called), s, c, stream, arguments);
}
