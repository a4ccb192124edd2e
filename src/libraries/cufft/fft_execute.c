/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Axis by axis: passes of small radices by Stockham's algorithm, which alternates between two
 * buffers, or Bluestein's where a length has a larger prime factor. Work memory is the two buffers
 * of all elements, then, for Bluestein's, two of padded lines and two of a filter.
 */
#include "libraries/cufft/fft_plan.h"

#define TRY(expression)                                                                            \
    do {                                                                                           \
        const cudaError_t fft_try = (expression);                                                  \
        if (fft_try != cudaSuccess) return fft_try;                                                \
    } while (0)

int wpi_fft_radix(long long length) {
    static const int radices[] = {4, 2, 3, 5, 7, 11, 13};
    for (size_t i = 0; i < sizeof radices / sizeof *radices; i++)
        if (length % radices[i] == 0) return radices[i];
    return 0;
}

bool wpi_fft_is_smooth(long long length) {
    while (length > 1) {
        const int radix = wpi_fft_radix(length);
        if (radix == 0) return false;
        length /= radix;
    }
    return true;
}

static long long padded_of(long long length) {
    long long padded = 1;
    while (padded < 2 * length - 1)
        padded *= 2;
    return padded;
}

static long long elements(const wpi_fft_shape *s) {
    return s->n[0] * s->n[1] * s->n[2] * s->batch;
}

/* Elements of the largest padded lines and the longest filter. */
static void chirp_sizes(const wpi_fft_shape *s, long long *lines, long long *filter) {
    *lines = *filter = 0;
    for (int axis = 0; axis < WPI_FFT_RANK_MAX; axis++) {
        if (wpi_fft_is_smooth(s->n[axis])) continue;
        const long long padded = padded_of(s->n[axis]), all = elements(s) / s->n[axis] * padded;
        if (all > *lines) *lines = all;
        if (padded > *filter) *filter = padded;
    }
}

size_t wpi_fft_work_bytes(const wpi_fft_shape *shape, cufftType type) {
    long long lines, filter;
    chirp_sizes(shape, &lines, &filter);
    const size_t element = wpi_fft_is_double(type) ? sizeof(double2) : sizeof(float2);
    return (size_t)(2 * elements(shape) + 2 * lines + 2 * filter) * element;
}

typedef struct buffers {
    void *data, *other;
} buffers;

static void exchange(buffers *b) {
    void *kept = b->data;
    b->data = b->other;
    b->other = kept;
}

/* A transform of lines along an axis; the result is in b->data. */
static cudaError_t passes(const wpi_fft_launches *launches, cudaStream_t stream, buffers *b,
                          long long outer, long long length, long long inner, int direction) {
    for (long long done = 1; done < length;) {
        const int radix = wpi_fft_radix(length / done);
        const wpi_fft_pass pass = {.from = b->data,
                                   .to = b->other,
                                   .outer = outer,
                                   .length = length,
                                   .inner = inner,
                                   .done = done,
                                   .radix = radix,
                                   .direction = direction};
        TRY(launches->pass(stream, &pass));
        exchange(b);
        done *= radix;
    }
    return cudaSuccess;
}

static cudaError_t bluestein(const wpi_fft_launches *launches, cudaStream_t stream, void *data,
                             buffers lines, buffers filter, long long outer, long long length,
                             long long inner, int direction) {
    wpi_fft_chirp c = {.data = data,
                       .padded_data = lines.data,
                       .outer = outer,
                       .length = length,
                       .inner = inner,
                       .padded = padded_of(length),
                       .direction = direction};
    TRY(launches->chirp_filter(stream, &c, filter.data));
    TRY(passes(launches, stream, &filter, 1, c.padded, 1, CUFFT_FORWARD));
    TRY(launches->chirp_load(stream, &c));
    TRY(passes(launches, stream, &lines, outer * inner, c.padded, 1, CUFFT_FORWARD));
    c.padded_data = lines.data;
    c.filter = filter.data;
    TRY(launches->chirp_multiply(stream, &c));
    TRY(passes(launches, stream, &lines, outer * inner, c.padded, 1, CUFFT_INVERSE));
    c.padded_data = lines.data;
    return launches->chirp_store(stream, &c);
}

/* In place, default layouts pad the real side to whole complex elements. */
static wpi_fft_layout padded_layout(const wpi_fft_shape *s, wpi_fft_layout l) {
    const long long row = 2 * (s->n[2] / 2 + 1);
    l.embed[2] = row;
    l.distance = s->n[0] * s->n[1] * row;
    return l;
}

cudaError_t wpi_fft_execute(const wpi_fft_plan *p, void *in, void *out, int direction) {
    const bool is_double = wpi_fft_is_double(p->type);
    const wpi_fft_launches *launches = is_double ? &wpi_fft_double : &wpi_fft_single;
    const size_t element = is_double ? sizeof(double2) : sizeof(float2);
    const wpi_fft_shape *s = &p->shape;
    long long line_elements, filter_elements;
    chirp_sizes(s, &line_elements, &filter_elements);
    char *at = p->work;
    buffers data = {at, at + (size_t)elements(s) * element};
    at += 2 * (size_t)elements(s) * element;
    const buffers lines = {at, at + (size_t)line_elements * element};
    at += 2 * (size_t)line_elements * element;
    const buffers filter = {at, at + (size_t)filter_elements * element};

    const bool is_in_place = in == out && p->is_default_layout;
    wpi_fft_layout from = p->in, to = p->out;
    if (is_in_place && wpi_fft_is_from_real(p->type)) from = padded_layout(s, from);
    if (is_in_place && wpi_fft_is_to_real(p->type)) to = padded_layout(s, to);
    const wpi_fft_side from_side = wpi_fft_is_from_real(p->type) ? WPI_FFT_REAL
                                   : wpi_fft_is_to_real(p->type) ? WPI_FFT_HALF
                                                                 : WPI_FFT_COMPLEX;
    const wpi_fft_side to_side = wpi_fft_is_to_real(p->type)     ? WPI_FFT_REAL
                                 : wpi_fft_is_from_real(p->type) ? WPI_FFT_HALF
                                                                 : WPI_FFT_COMPLEX;
    if (p->load.routine != NULL)
        TRY(p->called->load[is_double](p->stream, s, &from, from_side, in, data.data, &p->load));
    else
        TRY(launches->load(p->stream, s, &from, from_side, in, data.data));
    long long inner = 1;
    for (int axis = WPI_FFT_RANK_MAX - 1; axis >= 0; axis--) {
        const long long length = s->n[axis], outer = elements(s) / length / inner;
        if (wpi_fft_is_smooth(length))
            TRY(passes(launches, p->stream, &data, outer, length, inner, direction));
        else
            TRY(bluestein(launches, p->stream, data.data, lines, filter, outer, length, inner,
                          direction));
        inner *= length;
    }
    if (p->store.routine != NULL)
        return p->called->store[is_double](p->stream, s, &to, to_side, data.data, out, &p->store);
    return launches->store(p->stream, s, &to, to_side, data.data, out);
}
