/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent networks, layer by layer: the input's part of all steps is one product of matrices; a
 * step is a product with the state and a kernel. Products are convolutions of one place. A
 * direction keeps its states before and after each step, in the order of time, so that the
 * gradients of its weights are one product, too; of the backward direction, the state before a step
 * lies behind.
 */
#include "libraries/cudnn/recurrent/rnn_network.h"

#define ALIGNED(bytes) (((bytes) + 255) & ~(size_t)255)

/* Addresses in `kept`, by layers and directions, and in `work`. */
typedef struct places {
    char *input, *out, *mask; /* of a layer; input without copies: the out below */
    char *gates, *recurrent, *gate_changes, *recurrent_changes, *h, *c; /* of a direction */
} places;

typedef struct run {
    const wpi_rnn_call *call;
    const struct cudnnRNNStruct *d;
    int steps, batch, type;     /* of own buffers */
    size_t element_bytes, rows; /* steps x batch */
    int *lengths;
    char *dh, *dc, *dout, *din;
} run;

static int width_of(const struct cudnnRNNStruct *d, int layer) {
    return layer == 0 ? d->input : d->directions * d->hidden;
}

static bool is_dropping(const wpi_rnn_call *call) {
    return call->is_training && call->d->dropout != NULL && call->d->dropout->rate > 0;
}

static char *take(size_t *at, char *base, size_t bytes) {
    char *const from = base != NULL ? base + *at : NULL;
    *at += ALIGNED(bytes);
    return from;
}

/* The places of a layer's direction; the bytes of all, with layer `layers`. */
static size_t locate(const struct cudnnRNNStruct *d, size_t steps, size_t batch,
                     size_t element_bytes, char *base, int layer, int direction, places *found) {
    const size_t rows = steps * batch,
                 gates = rows * (size_t)(d->gates * d->hidden) * element_bytes,
                 states = (steps + 1) * batch * (size_t)d->hidden * element_bytes,
                 out = rows * (size_t)(d->directions * d->hidden) * element_bytes;
    const bool is_gru = d->mode == CUDNN_GRU;
    size_t at = 0;
    for (int l = 0; l < d->layers; l++) {
        places p = {0};
        p.input = take(&at, base, rows * (size_t)width_of(d, l) * element_bytes);
        p.out = take(&at, base, out);
        p.mask = take(&at, base, l > 0 ? rows * (size_t)(d->directions * d->hidden) : 0);
        for (int i = 0; i < d->directions; i++) {
            p.gates = take(&at, base, gates);
            p.gate_changes = take(&at, base, gates);
            p.recurrent = is_gru ? take(&at, base, gates) : p.gates;
            p.recurrent_changes = is_gru ? take(&at, base, gates) : p.gate_changes;
            p.h = take(&at, base, states);
            p.c = d->mode == CUDNN_LSTM ? take(&at, base, states) : p.h;
            if (l == layer && i == direction && found != NULL) *found = p;
        }
    }
    return at;
}

static size_t work_bytes(const struct cudnnRNNStruct *d, size_t steps, size_t batch,
                         size_t element_bytes, char *base, run *r) {
    const int out = d->directions * d->hidden, widest = out > d->input ? out : d->input;
    const size_t state = batch * (size_t)d->hidden * element_bytes,
                 rows = steps * batch * (size_t)widest * element_bytes;
    size_t at = 0;
    r->lengths = (int *)(void *)take(&at, base, batch * sizeof *r->lengths);
    r->dh = take(&at, base, state);
    r->dc = take(&at, base, state);
    r->dout = take(&at, base, rows);
    r->din = take(&at, base, rows);
    return at;
}

static int own_type(int type) {
    return type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
}

void wpi_rnn_sizes(const struct cudnnRNNStruct *d, const struct cudnnRNNDataStruct *x, size_t *work,
                   size_t *kept) {
    run r;
    const size_t bytes = wpi_rnn_element_bytes(own_type(d->type));
    *work = work_bytes(d, (size_t)x->steps, (size_t)x->batch, bytes, NULL, &r);
    *kept = locate(d, (size_t)x->steps, (size_t)x->batch, bytes, NULL, d->layers, 0, NULL);
}

static cudnnStatus_t begin(run *r, const wpi_rnn_call *call) {
    const struct cudnnRNNDataStruct *x = call->x_shape;
    *r = (run){.call = call,
               .d = call->d,
               .steps = x->steps,
               .batch = x->batch,
               .rows = (size_t)x->steps * (size_t)x->batch,
               .type = own_type(call->d->type)};
    r->element_bytes = wpi_rnn_element_bytes(r->type);
    work_bytes(r->d, (size_t)r->steps, (size_t)r->batch, r->element_bytes, call->work, r);
    return wpi_cudnn_status(cudaMemcpyAsync(r->lengths, x->lengths,
                                            (size_t)r->batch * sizeof *x->lengths,
                                            cudaMemcpyHostToDevice, call->handle->stream));
}

static places at_layer(const run *r, int layer, int direction) {
    places p = {0};
    locate(r->d, (size_t)r->steps, (size_t)r->batch, r->element_bytes, r->call->kept, layer,
           direction, &p);
    if (layer > 0 && !is_dropping(r->call)) { /* nothing between the layers */
        places below = {0};
        locate(r->d, (size_t)r->steps, (size_t)r->batch, r->element_bytes, r->call->kept, layer - 1,
               0, &below);
        p.input = below.out;
    }
    return p;
}

/* A matrix of rows that lie `apart`, for a product. */
static wpi_dnn_tensor matrix(int type, const void *data, size_t rows, int width, size_t apart) {
    return (wpi_dnn_tensor){.data = (void *)(uintptr_t)data,
                            .type = type,
                            .dims = 2 + WPI_DNN_SPACE,
                            .size = {(int)rows, width, 1, 1, 1},
                            .stride = {(long long)apart, 1, 1, 1, 1}};
}

/* y = x wᵀ + beta y, or the gradients of x or w. */
static cudnnStatus_t multiply(const run *r, wpi_dnn_way way, size_t rows, const void *x,
                              int x_width, const void *w, int w_type, const void *y, int y_width,
                              double beta) {
    const wpi_dnn_convolution c = {.x = matrix(r->type, x, rows, x_width, (size_t)x_width),
                                   .w =
                                       matrix(w_type, w, (size_t)y_width, x_width, (size_t)x_width),
                                   .y = matrix(r->type, y, rows, y_width, (size_t)y_width),
                                   .step = {1, 1, 1},
                                   .dilation = {1, 1, 1},
                                   .groups = 1,
                                   .alpha = 1,
                                   .beta = beta};
    return wpi_cudnn_convolve(r->call->handle, way, &c);
}

static const void *weight(const run *r, const void *weights, int layer, int direction,
                          bool is_state) {
    return (const char *)weights +
           wpi_rnn_matrix_at(r->d, layer * r->d->directions + direction, is_state) *
               wpi_rnn_element_bytes(r->d->type);
}

static cudnnStatus_t sequence(const run *r, const struct cudnnRNNDataStruct *shape,
                              const void *data, void *own, bool is_written) {
    const wpi_rnn_sequence p = {.data = {.data = (void *)(uintptr_t)data, .type = shape->type},
                                .layout = shape->layout,
                                .steps = r->steps,
                                .batch = r->batch,
                                .width = shape->width,
                                .lengths = r->lengths,
                                .fill = shape->fill};
    return wpi_cudnn_status(wpi_rnn_sequence_run(r->call->handle->stream, &p, own, is_written));
}

/* A layer's state of the program's, to or from our own. */
static cudnnStatus_t state(const run *r, const void *states, int layer, int direction, void *own,
                           bool is_written) {
    const wpi_dnn_tensor t = {.data = (void *)(uintptr_t)states, .type = r->d->type};
    const int count = r->batch * r->d->hidden;
    if (is_written && states == NULL) return CUDNN_STATUS_SUCCESS;
    return wpi_cudnn_status(wpi_rnn_state_run(
        r->call->handle->stream, &t, (long long)(layer * r->d->directions + direction) * count, own,
        count, is_written));
}

static cudnnStatus_t add_biases(const run *r, void *rows, long long one, long long other) {
    const wpi_dnn_tensor weights = {.data = (void *)(uintptr_t)r->call->weights,
                                    .type = r->d->type};
    return wpi_cudnn_status(wpi_rnn_bias_run(r->call->handle->stream, rows, (long long)r->rows,
                                             r->d->gates * r->d->hidden, &weights, one, other));
}

/* The dropout between two layers, of values or gradients. */
static cudnnStatus_t drop(const run *r, const void *from, void *to, void *mask, bool is_drawn) {
    const int width = r->d->directions * r->d->hidden;
    const wpi_dnn_dropout p = {.x = matrix(r->type, from, r->rows, width, (size_t)width),
                               .y = matrix(r->type, to, r->rows, width, (size_t)width),
                               .rate = r->d->dropout->rate,
                               .mask = mask,
                               .states = is_drawn ? r->d->dropout->states : NULL};
    return wpi_cudnn_status(wpi_dnn_dropout_run(r->call->handle->stream, &p));
}

static wpi_rnn_step step_at(const run *r, const places *p, int direction, int t) {
    const struct cudnnRNNStruct *d = r->d;
    const size_t gates = (size_t)t * (size_t)(r->batch * d->gates * d->hidden) * r->element_bytes,
                 state = (size_t)(r->batch * d->hidden) * r->element_bytes;
    const size_t before = (size_t)(t + (direction != 0)) * state,
                 after = (size_t)(t + (direction == 0)) * state;
    return (wpi_rnn_step){.mode = (int)d->mode,
                          .is_double = r->type == CUDNN_DATA_DOUBLE,
                          .batch = r->batch,
                          .hidden = d->hidden,
                          .gate_count = d->gates,
                          .t = t,
                          .lengths = r->lengths,
                          .gates = p->gates + gates,
                          .recurrent = p->recurrent + gates,
                          .gate_changes = p->gate_changes + gates,
                          .recurrent_changes = p->recurrent_changes + gates,
                          .h_before = p->h + before,
                          .h_after = p->h + after,
                          .c_before = p->c + before,
                          .c_after = p->c + after,
                          .out_row = d->directions * d->hidden,
                          .dh = r->dh,
                          .dc = r->dc};
}

/* Of a layer's output or its gradient, a direction's part at a time. */
static char *out_at(const run *r, char *out, int direction, int t) {
    const size_t hidden = (size_t)r->d->hidden;
    return out + ((size_t)t * (size_t)(r->batch * r->d->directions) + (size_t)direction) * hidden *
                     r->element_bytes;
}

static cudnnStatus_t direction_forward(const run *r, int layer, int direction) {
    const struct cudnnRNNStruct *d = r->d;
    const places p = at_layer(r, layer, direction);
    const int pseudo = layer * d->directions + direction, gates = d->gates * d->hidden;
    const long long by_input = wpi_rnn_bias_at(d, pseudo, false),
                    by_state = wpi_rnn_bias_at(d, pseudo, true);
    const bool is_gru = d->mode == CUDNN_GRU;
    const size_t first = direction == 0 ? 0 : (size_t)r->steps, last = (size_t)r->steps - first,
                 bytes = (size_t)(r->batch * d->hidden) * r->element_bytes;
    CUDNN_TRY(add_biases(r, p.gates, by_input, is_gru ? -1 : by_state));
    if (is_gru) CUDNN_TRY(add_biases(r, p.recurrent, by_state, -1));
    CUDNN_TRY(multiply(r, WPI_DNN_FORWARD, r->rows, p.input, width_of(d, layer),
                       weight(r, r->call->weights, layer, direction, false), d->type, p.gates,
                       gates, 1));
    CUDNN_TRY(state(r, r->call->hx, layer, direction, p.h + first * bytes, false));
    if (d->mode == CUDNN_LSTM)
        CUDNN_TRY(state(r, r->call->cx, layer, direction, p.c + first * bytes, false));
    for (int i = 0; i < r->steps; i++) {
        const int t = direction == 0 ? i : r->steps - 1 - i;
        wpi_rnn_step step = step_at(r, &p, direction, t);
        step.out = out_at(r, p.out, direction, t);
        CUDNN_TRY(multiply(r, WPI_DNN_FORWARD, (size_t)r->batch, step.h_before, d->hidden,
                           weight(r, r->call->weights, layer, direction, true), d->type,
                           step.recurrent, gates, 1));
        CUDNN_TRY(wpi_cudnn_status(wpi_rnn_step_run(r->call->handle->stream, &step, false)));
    }
    CUDNN_TRY(state(r, r->call->hy, layer, direction, p.h + last * bytes, true));
    return d->mode == CUDNN_LSTM ? state(r, r->call->cy, layer, direction, p.c + last * bytes, true)
                                 : CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t wpi_rnn_forward(const wpi_rnn_call *call) {
    run r;
    places p = {0};
    CUDNN_TRY(begin(&r, call));
    for (int layer = 0; layer < call->d->layers; layer++) {
        const places below = p;
        p = at_layer(&r, layer, 0);
        if (layer == 0) CUDNN_TRY(sequence(&r, call->x_shape, call->x, p.input, false));
        if (layer > 0 && is_dropping(call)) CUDNN_TRY(drop(&r, below.out, p.input, p.mask, true));
        for (int i = 0; i < call->d->directions; i++)
            CUDNN_TRY(direction_forward(&r, layer, i));
    }
    return sequence(&r, call->y_shape, call->y, p.out, true);
}

static cudnnStatus_t direction_backward(const run *r, int layer, int direction) {
    const struct cudnnRNNStruct *d = r->d;
    const places p = at_layer(r, layer, direction);
    const int gates = d->gates * d->hidden;
    const bool is_lstm = d->mode == CUDNN_LSTM;
    CUDNN_TRY(state(r, r->call->dhy, layer, direction, r->dh, false));
    if (is_lstm) CUDNN_TRY(state(r, r->call->dcy, layer, direction, r->dc, false));
    for (int i = r->steps - 1; i >= 0; i--) {
        const int t = direction == 0 ? i : r->steps - 1 - i;
        wpi_rnn_step step = step_at(r, &p, direction, t);
        step.out = out_at(r, r->dout, direction, t);
        CUDNN_TRY(wpi_cudnn_status(wpi_rnn_step_run(r->call->handle->stream, &step, true)));
        CUDNN_TRY(multiply(r, WPI_DNN_DATA, (size_t)r->batch, r->dh, d->hidden,
                           weight(r, r->call->weights, layer, direction, true), d->type,
                           step.recurrent_changes, gates, 1));
    }
    CUDNN_TRY(state(r, r->call->dhx, layer, direction, r->dh, true));
    if (is_lstm) CUDNN_TRY(state(r, r->call->dcx, layer, direction, r->dc, true));
    return multiply(r, WPI_DNN_DATA, r->rows, r->din, width_of(d, layer),
                    weight(r, r->call->weights, layer, direction, false), d->type, p.gate_changes,
                    gates, direction == 0 ? 0 : 1);
}

cudnnStatus_t wpi_rnn_backward_data(const wpi_rnn_call *call) {
    run r;
    CUDNN_TRY(begin(&r, call));
    CUDNN_TRY(sequence(&r, call->y_shape, call->dy, r.dout, false));
    for (int layer = call->d->layers - 1; layer >= 0; layer--) {
        for (int i = 0; i < call->d->directions; i++)
            CUDNN_TRY(direction_backward(&r, layer, i));
        char *const change = r.din;
        if (layer == 0)
            return call->dx != NULL ? sequence(&r, call->x_shape, call->dx, change, true)
                                    : CUDNN_STATUS_SUCCESS;
        if (is_dropping(call)) {
            CUDNN_TRY(drop(&r, change, r.dout, at_layer(&r, layer, 0).mask, false));
        } else {
            r.din = r.dout;
            r.dout = change;
        }
    }
    return CUDNN_STATUS_SUCCESS;
}

/* The sums over all steps of what the gates changed. */
static cudnnStatus_t bias_change(const run *r, const void *changes, long long at) {
    const int gates = r->d->gates * r->d->hidden;
    if (at < 0) return CUDNN_STATUS_SUCCESS;
    wpi_dnn_reduction p = {.x = matrix(r->type, changes, r->rows, gates, (size_t)gates),
                           .y = matrix(r->d->type,
                                       (const char *)r->call->dweights +
                                           (size_t)at * wpi_rnn_element_bytes(r->d->type),
                                       1, gates, 0),
                           .op = CUDNN_REDUCE_TENSOR_ADD,
                           .alpha = 1,
                           .beta = r->call->is_added ? 1 : 0};
    return wpi_cudnn_status(wpi_dnn_reduce(r->call->handle->stream, &p));
}

cudnnStatus_t wpi_rnn_backward_weights(const wpi_rnn_call *call) {
    const struct cudnnRNNStruct *d = call->d;
    const double old = call->is_added ? 1 : 0;
    run r;
    CUDNN_TRY(begin(&r, call));
    for (int pseudo = 0; pseudo < d->layers * d->directions; pseudo++) {
        const int layer = pseudo / d->directions, direction = pseudo % d->directions;
        const places p = at_layer(&r, layer, direction);
        const size_t shift = direction == 0 ? 0 : (size_t)(r.batch * d->hidden) * r.element_bytes;
        CUDNN_TRY(multiply(&r, WPI_DNN_FILTER, r.rows, p.input, width_of(d, layer),
                           weight(&r, call->dweights, layer, direction, false), d->type,
                           p.gate_changes, d->gates * d->hidden, old));
        CUDNN_TRY(multiply(&r, WPI_DNN_FILTER, r.rows, p.h + shift, d->hidden,
                           weight(&r, call->dweights, layer, direction, true), d->type,
                           p.recurrent_changes, d->gates * d->hidden, old));
        CUDNN_TRY(bias_change(&r, p.gate_changes, wpi_rnn_bias_at(d, pseudo, false)));
        CUDNN_TRY(bias_change(&r, p.recurrent_changes, wpi_rnn_bias_at(d, pseudo, true)));
    }
    return CUDNN_STATUS_SUCCESS;
}
