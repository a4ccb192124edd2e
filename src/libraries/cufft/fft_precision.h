/* SPDX-License-Identifier: Apache-2.0 */
/** Kernels of one precision: NAME(x), REAL, COMPLEX, SINCOSPI. Included once a precision. */
static __device__ COMPLEX NAME(times)(COMPLEX a, REAL re, REAL im) {
    COMPLEX r;
    r.x = a.x * re - a.y * im;
    r.y = a.x * im + a.y * re;
    return r;
}

/* exp(direction 2 pi i k / n) times a. */
static __device__ COMPLEX NAME(turned)(COMPLEX a, long long k, long long n, int direction) {
    REAL sine, cosine;
    if (k == 0) return a;
    SINCOSPI((REAL)(2 * k) / (REAL)n, &sine, &cosine);
    return NAME(times)(a, cosine, (REAL)direction * sine);
}

/* The place of an element in the program's layout. */
static __device__ long long NAME(place)(const wpi_fft_layout *l, long long b, long long i, long long j, long long k) {
    return b * l->distance + ((i * l->embed[1] + j) * l->embed[2] + k) * l->stride;
}

extern "C" __global__ void NAME(wpk_fft_load)(wpi_fft_shape s, wpi_fft_layout l, wpi_fft_side side, const void *in, COMPLEX *work) {
    FOR_EACH(at, s.n[0] * s.n[1] * s.n[2] * s.batch) {
        long long k = at % s.n[2], j = at / s.n[2] % s.n[1], i = at / s.n[2] / s.n[1] % s.n[0];
        const long long b = at / s.n[2] / s.n[1] / s.n[0];
        COMPLEX value;
        if (side == WPI_FFT_REAL) {
            value.x = ((const REAL *)in)[NAME(place)(&l, b, i, j, k)];
            value.y = 0;
        } else {
            const bool is_mirrored = side == WPI_FFT_HALF && k > s.n[2] / 2;
            if (is_mirrored) {
                k = s.n[2] - k;
                j = j == 0 ? 0 : s.n[1] - j;
                i = i == 0 ? 0 : s.n[0] - i;
            }
            value = ((const COMPLEX *)in)[NAME(place)(&l, b, i, j, k)];
            if (is_mirrored) value.y = -value.y;
        }
        work[at] = value;
    }
}

extern "C" __global__ void NAME(wpk_fft_store)(wpi_fft_shape s, wpi_fft_layout l, wpi_fft_side side, const COMPLEX *work, void *out) {
    const long long last = side == WPI_FFT_HALF ? s.n[2] / 2 + 1 : s.n[2];
    FOR_EACH(at, s.n[0] * s.n[1] * last * s.batch) {
        const long long k = at % last, j = at / last % s.n[1], i = at / last / s.n[1] % s.n[0], b = at / last / s.n[1] / s.n[0];
        const COMPLEX value = work[((b * s.n[0] + i) * s.n[1] + j) * s.n[2] + k];
        const long long to = NAME(place)(&l, b, i, j, k);
        if (side == WPI_FFT_REAL)
            ((REAL *)out)[to] = value.x;
        else
            ((COMPLEX *)out)[to] = value;
    }
}

/* Stockham's pass: a thread transforms `radix` elements and leaves them in order. */
extern "C" __global__ void NAME(wpk_fft_pass)(wpi_fft_pass p) {
    const int radix = p.radix;
    const long long rest = p.length / p.done / radix; /* the length that the next passes transform */
    FOR_EACH(at, p.outer * (p.length / radix) * p.inner) {
        const long long i = at % p.inner, q = at / p.inner % p.done, r = at / p.inner / p.done % rest;
        const long long line = at / p.inner / p.done / rest * p.length;
        COMPLEX in[WPI_FFT_RADIX_MAX];
        for (int k = 0; k < radix; k++)
            in[k] = ((const COMPLEX *)p.from)[(line + q + p.done * (r + rest * k)) * p.inner + i];
        COMPLEX *to = (COMPLEX *)p.to + (line + q + p.done * (radix * r)) * p.inner + i;
        const long long step = p.done * p.inner;
        if (radix == 4) { /* turns by quarters are exchanges */
            const REAL d = (REAL)p.direction;
            COMPLEX a, b, c, e;
            a.x = in[0].x + in[2].x, a.y = in[0].y + in[2].y;
            b.x = in[0].x - in[2].x, b.y = in[0].y - in[2].y;
            c.x = in[1].x + in[3].x, c.y = in[1].y + in[3].y;
            e.x = -d * (in[1].y - in[3].y), e.y = d * (in[1].x - in[3].x);
            in[0].x = a.x + c.x, in[0].y = a.y + c.y;
            in[1].x = b.x + e.x, in[1].y = b.y + e.y;
            in[2].x = a.x - c.x, in[2].y = a.y - c.y;
            in[3].x = b.x - e.x, in[3].y = b.y - e.y;
            for (int j = 0; j < 4; j++)
                to[j * step] = NAME(turned)(in[j], j * r, rest * 4, p.direction);
            continue;
        }
        for (int j = 0; j < radix; j++) {
            COMPLEX sum = in[0];
            for (int k = 1; k < radix; k++) {
                COMPLEX term = in[k];
                if (radix > 2)
                    term = NAME(turned)(term, j * k % radix, radix, p.direction);
                else if (j == 1)
                    term.x = -term.x, term.y = -term.y;
                sum.x += term.x;
                sum.y += term.y;
            }
            to[j * step] = NAME(turned)(sum, j * r, rest * radix, p.direction);
        }
    }
}

/* ---- Bluestein ---- */

/* exp(direction pi i k^2 / n) times a; the square is reduced exactly. */
static __device__ COMPLEX NAME(chirped)(COMPLEX a, long long k, long long n, int direction) {
    const unsigned long long square = (unsigned long long)k * (unsigned long long)k % (2ull * (unsigned long long)n);
    double sine, cosine;
    sincospi((double)square / (double)n, &sine, &cosine);
    return NAME(times)(a, (REAL)cosine, (REAL)(direction * sine));
}

extern "C" __global__ void NAME(wpk_fft_chirp_filter)(wpi_fft_chirp c, COMPLEX *filter) {
    FOR_EACH(k, c.padded) {
        const long long distance = k <= c.padded / 2 ? k : c.padded - k;
        COMPLEX one;
        one.x = distance < c.length ? 1 : 0;
        one.y = 0;
        filter[k] = NAME(chirped)(one, distance, c.length, -c.direction);
    }
}

extern "C" __global__ void NAME(wpk_fft_chirp_load)(wpi_fft_chirp c) {
    FOR_EACH(at, c.outer * c.inner * c.padded) {
        const long long k = at % c.padded, line = at / c.padded, i = line % c.inner, o = line / c.inner;
        COMPLEX value;
        value.x = value.y = 0;
        if (k < c.length)
            value = NAME(chirped)(((const COMPLEX *)c.data)[(o * c.length + k) * c.inner + i], k, c.length, c.direction);
        ((COMPLEX *)c.padded_data)[at] = value;
    }
}

extern "C" __global__ void NAME(wpk_fft_chirp_multiply)(wpi_fft_chirp c) {
    FOR_EACH(at, c.outer * c.inner * c.padded) {
        const COMPLEX f = ((const COMPLEX *)c.filter)[at % c.padded];
        COMPLEX *x = (COMPLEX *)c.padded_data + at;
        *x = NAME(times)(*x, f.x, f.y);
    }
}

extern "C" __global__ void NAME(wpk_fft_chirp_store)(wpi_fft_chirp c) {
    FOR_EACH(at, c.outer * c.length * c.inner) {
        const long long i = at % c.inner, k = at / c.inner % c.length, o = at / c.inner / c.length;
        const COMPLEX x = ((const COMPLEX *)c.padded_data)[(o * c.inner + i) * c.padded + k];
        const REAL scale = (REAL)1 / (REAL)c.padded;
        ((COMPLEX *)c.data)[at] = NAME(chirped)(NAME(times)(x, scale, 0), k, c.length, c.direction);
    }
}

/* ---- launches ---- */

static cudaError_t NAME(load)(cudaStream_t stream, const wpi_fft_shape *s, const wpi_fft_layout *l, wpi_fft_side side,
                              const void *in, void *work) {
    void *arguments[] = {(void *)s, (void *)l, &side, &in, &work};
    return launch((const void *)NAME(wpk_fft_load), s->n[0] * s->n[1] * s->n[2] * s->batch, stream, arguments);
}

static cudaError_t NAME(store)(cudaStream_t stream, const wpi_fft_shape *s, const wpi_fft_layout *l, wpi_fft_side side,
                               const void *work, void *out) {
    void *arguments[] = {(void *)s, (void *)l, &side, &work, &out};
    return launch((const void *)NAME(wpk_fft_store), s->n[0] * s->n[1] * s->n[2] * s->batch, stream, arguments);
}

static cudaError_t NAME(pass)(cudaStream_t stream, const wpi_fft_pass *p) {
    void *arguments[] = {(void *)p};
    return launch((const void *)NAME(wpk_fft_pass), p->outer * (p->length / p->radix) * p->inner, stream, arguments);
}

static cudaError_t NAME(chirp_filter)(cudaStream_t stream, const wpi_fft_chirp *c, void *filter) {
    void *arguments[] = {(void *)c, &filter};
    return launch((const void *)NAME(wpk_fft_chirp_filter), c->padded, stream, arguments);
}

static cudaError_t NAME(chirp_load)(cudaStream_t stream, const wpi_fft_chirp *c) {
    void *arguments[] = {(void *)c};
    return launch((const void *)NAME(wpk_fft_chirp_load), c->outer * c->inner * c->padded, stream, arguments);
}

static cudaError_t NAME(chirp_multiply)(cudaStream_t stream, const wpi_fft_chirp *c) {
    void *arguments[] = {(void *)c};
    return launch((const void *)NAME(wpk_fft_chirp_multiply), c->outer * c->inner * c->padded, stream, arguments);
}

static cudaError_t NAME(chirp_store)(cudaStream_t stream, const wpi_fft_chirp *c) {
    void *arguments[] = {(void *)c};
    return launch((const void *)NAME(wpk_fft_chirp_store), c->outer * c->length * c->inner, stream, arguments);
}

extern "C" const wpi_fft_launches NAME(wpi_fft) = {NAME(load),       NAME(store),          NAME(pass),       NAME(chirp_filter),
                                                   NAME(chirp_load), NAME(chirp_multiply), NAME(chirp_store)};
