/* SPDX-License-Identifier: Apache-2.0 */
/** What a column and a depth of a convolution's product add to offsets and coordinates. */
#ifndef WP_LIBRARIES_DNN_TERMS_H
#define WP_LIBRARIES_DNN_TERMS_H

/* A dimension of space. x from y: the elements of a class have the same remainder by the step, so
 * that the same taps reach them, each `tap_step` after the one before. */
typedef struct wpi_axis {
    int places, taps; /* of a class */
    int from_first, from_step,
        from_tap;          /* coordinate of what is gathered: first + place step + tap tap */
    int to_first, to_step; /* coordinate of the result, by places */
    int tap_first, tap_step;
} wpi_axis;

typedef struct wpi_term {
    int a_or_to; /* of a depth: in a, -1: beyond the end; of a column: in the result */
    int from, at[WPI_DNN_SPACE];
} wpi_term;

static __device__ void axis_of(const wpi_dnn_product &p, int of_class, int d, wpi_axis *axis) {
    const int step = p.step[d], dilation = p.dilation[d], pad = p.pad[d], taps = p.window[d];
    if (p.way != WPI_DNN_DATA) {
        const int places = p.way == WPI_DNN_FORWARD ? p.to.size[2 + d] : p.a.size[2 + d];
        *axis = {places, taps, p.shift[d] - pad, step, dilation, 0, 1, 0, 1};
        return;
    }
    for (int before = 0; before < d; before++)
        of_class /= p.step[before];
    const int first = of_class % step;
    int tap = 0, apart = 1;
    while (tap < taps && (first + pad - tap * dilation) % step != 0)
        tap++;
    while (apart * dilation % step != 0)
        apart++;
    axis->places = first < p.to.size[2 + d] ? (p.to.size[2 + d] - first + step - 1) / step : 0;
    axis->taps = tap < taps ? (taps - tap + apart - 1) / apart : 0;
    axis->from_first = p.shift[d] + (first + pad - tap * dilation) / step;
    axis->from_step = 1;
    axis->from_tap = -(apart * dilation / step);
    axis->to_first = first;
    axis->to_step = step;
    axis->tap_first = tap;
    axis->tap_step = apart;
}

/* Of three numbers by index, the last changing fastest. */
static __device__ void by_index(int at, int d, int h, int w, int index[3]) {
    index[2] = at % w;
    at /= w;
    index[1] = at % h;
    index[0] = d == 1 ? 0 : at / h;
}

static __device__ int taps_of(const wpi_axis *a) {
    return a[0].taps * a[1].taps * a[2].taps;
}

static __device__ int places_of(const wpi_axis *a) {
    return a[0].places * a[1].places * a[2].places;
}

static __device__ int columns_of(const wpi_dnn_product &p, const wpi_axis *a) {
    return p.way == WPI_DNN_FILTER ? p.channels * taps_of(a) : p.from.size[0] * places_of(a);
}

static __device__ int depth_of(const wpi_dnn_product &p, const wpi_axis *a) {
    return p.way == WPI_DNN_FILTER ? p.from.size[0] * places_of(a) : p.channels * taps_of(a);
}

/* A place of an image: what it adds for the gathered operand, and its offset in `other`. */
static __device__ void place_term(const wpi_dnn_product &p, const wpi_axis *a, int at,
                                  const wpi_dnn_tensor &other, wpi_term *t) {
    const int places = places_of(a), n = at / places;
    int index[3];
    by_index(at % places, a[0].places, a[1].places, a[2].places, index);
    long long from = n * p.from.stride[0], to = n * other.stride[0];
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        t->at[d] = a[d].from_first + index[d] * a[d].from_step;
        from += t->at[d] * p.from.stride[2 + d];
        to += (a[d].to_first + index[d] * a[d].to_step) * other.stride[2 + d];
    }
    t->from = (int)from;
    t->a_or_to = (int)to;
}

/* A tap of a channel, whose filters are in `filter`. */
static __device__ void tap_term(const wpi_dnn_product &p, const wpi_axis *a, int at,
                                const wpi_dnn_tensor &filter, wpi_term *t) {
    const int taps = taps_of(a);
    const int channel = p.is_channel_fast ? at % p.channels : at / taps,
              tap = p.is_channel_fast ? at / p.channels : at % taps;
    int index[3];
    by_index(tap, a[0].taps, a[1].taps, a[2].taps, index);
    long long from = channel * p.from.stride[1];
    long long in_filter = channel * filter.stride[p.way == WPI_DNN_DATA ? 0 : 1];
    for (int d = 0; d < WPI_DNN_SPACE; d++) {
        t->at[d] = index[d] * a[d].from_tap;
        from += t->at[d] * p.from.stride[2 + d];
        int tap_at = a[d].tap_first + index[d] * a[d].tap_step;
        if (p.is_flipped) tap_at = p.window[d] - 1 - tap_at;
        in_filter += tap_at * filter.stride[2 + d];
    }
    t->from = (int)from;
    t->a_or_to = (int)in_filter;
}

/* at: -1, beyond the end. Its coordinates are outside. */
static __device__ void no_term(wpi_term *t) {
    t->a_or_to = -1;
    t->from = 0;
    for (int d = 0; d < WPI_DNN_SPACE; d++)
        t->at[d] = -(1 << 30);
}

static __device__ void depth_term(const wpi_dnn_product &p, const wpi_axis *a, int at,
                                  wpi_term *t) {
    if (at < 0)
        no_term(t);
    else if (p.way == WPI_DNN_FILTER)
        place_term(p, a, at, p.a, t);
    else
        tap_term(p, a, at, p.a, t);
}

static __device__ void column_term(const wpi_dnn_product &p, const wpi_axis *a, int at,
                                   wpi_term *t) {
    if (p.way == WPI_DNN_FILTER)
        tap_term(p, a, at, p.to, t);
    else
        place_term(p, a, at, p.to, t);
}

#endif
