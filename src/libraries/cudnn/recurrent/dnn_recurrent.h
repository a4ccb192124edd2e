/* SPDX-License-Identifier: Apache-2.0 */
/** Recurrent networks besides their products of matrices, with sums of one type over elements of
 * any. Before it is included: NAME, REAL, LOAD(tensor, offset), STORE(tensor, offset, value). */

static __device__ REAL NAME(sigmoid)(REAL x) {
    return 1 / (1 + exp(-x));
}

/* The program's sequences, as steps x batch, in REAL: padding is 0. */
extern "C" __global__ void NAME(wpk_rnn_read)(wpi_rnn_sequence p, REAL *to) {
    FOR_EACH(item, (long long)p.steps * p.batch * p.width) {
        const int v = (int)(item % p.width), b = (int)(item / p.width % p.batch),
                  t = (int)(item / p.width / p.batch);
        to[item] = t < p.lengths[b] ? LOAD(p.data, row_of(p, t, b) * p.width + v) : (REAL)0;
    }
}

extern "C" __global__ void NAME(wpk_rnn_write)(wpi_rnn_sequence p, const REAL *from) {
    FOR_EACH(item, (long long)p.steps * p.batch * p.width) {
        const int v = (int)(item % p.width), b = (int)(item / p.width % p.batch),
                  t = (int)(item / p.width / p.batch);
        if (t < p.lengths[b])
            STORE(p.data, row_of(p, t, b) * p.width + v, from[item]);
        else if (p.layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED)
            STORE(p.data, row_of(p, t, b) * p.width + v, (REAL)p.fill);
    }
}

/* A state of the program's; data NULL: zeros, or nothing to write. */
extern "C" __global__ void NAME(wpk_rnn_state)(wpi_dnn_tensor state, long long first, REAL *own,
                                               int count, int is_written) {
    FOR_EACH(i, count) {
        if (is_written)
            STORE(state, first + i, own[i]);
        else
            own[i] = state.data != NULL ? LOAD(state, first + i) : (REAL)0;
    }
}

/* Rows that products are added to: the sum of two biases, of which an offset may be -1. */
extern "C" __global__ void NAME(wpk_rnn_bias)(REAL *rows, long long count, int width,
                                              wpi_dnn_tensor weights, long long one,
                                              long long other) {
    FOR_EACH(item, count * width) {
        const int i = (int)(item % width);
        rows[item] = (one >= 0 ? LOAD(weights, one + i) : (REAL)0) +
                     (other >= 0 ? LOAD(weights, other + i) : (REAL)0);
    }
}

extern "C" __global__ void NAME(wpk_rnn_step)(wpi_rnn_step p) {
    REAL *const all = (REAL *)p.gates, *const others = (REAL *)p.recurrent,
                *const out = (REAL *)p.out;
    const REAL *const h_before = (const REAL *)p.h_before, *const c_before =
                                                               (const REAL *)p.c_before;
    FOR_EACH(item, (long long)p.batch * p.hidden) {
        const int b = (int)(item / p.hidden), j = (int)(item % p.hidden), width = p.hidden;
        REAL *g = all + (long long)b * p.gate_count * width + j, h = h_before[item];
        if (p.t >= p.lengths[b]) {
            if (p.mode == CUDNN_LSTM) ((REAL *)p.c_after)[item] = c_before[item];
            out[b * p.out_row + j] = 0;
        } else {
            switch (p.mode) {
            case CUDNN_LSTM: {
                const REAL i = NAME(sigmoid)(g[0]), f = NAME(sigmoid)(g[width]),
                           n = tanh(g[2 * width]), o = NAME(sigmoid)(g[3 * width]);
                const REAL c = f * c_before[item] + i * n;
                ((REAL *)p.c_after)[item] = c;
                g[0] = i, g[width] = f, g[2 * width] = n, g[3 * width] = o;
                h = o * tanh(c);
                break;
            }
            case CUDNN_GRU: {
                const REAL *q = others + (long long)b * p.gate_count * width + j;
                const REAL r = NAME(sigmoid)(g[0] + q[0]), i = NAME(sigmoid)(g[width] + q[width]);
                const REAL n = tanh(g[2 * width] + r * q[2 * width]);
                g[0] = r, g[width] = i, g[2 * width] = n;
                h = (1 - i) * n + i * h;
                break;
            }
            default: h = p.mode == CUDNN_RNN_RELU ? fmax(g[0], (REAL)0) : tanh(g[0]); g[0] = h;
            }
            out[b * p.out_row + j] = h;
        }
        ((REAL *)p.h_after)[item] = h;
    }
}

/* From the gradients of the states after a step, and of its output, those of the gates before their
 * functions, and of the states before the step; the product with the weights adds to dh. */
extern "C" __global__ void NAME(wpk_rnn_step_back)(wpi_rnn_step p) {
    const REAL *const gates = (const REAL *)p.gates, *const others = (const REAL *)p.recurrent;
    FOR_EACH(item, (long long)p.batch * p.hidden) {
        const int b = (int)(item / p.hidden), j = (int)(item % p.hidden), width = p.hidden;
        const long long first = (long long)b * p.gate_count * width + j;
        REAL *dg = (REAL *)p.gate_changes + first, *dq = (REAL *)p.recurrent_changes + first;
        REAL *dh = (REAL *)p.dh + item;
        if (p.t >= p.lengths[b]) {
            for (int i = 0; i < p.gate_count; i++)
                dg[i * width] = dq[i * width] = 0;
            continue;
        }
        const REAL *g = gates + first;
        const REAL change = *dh + ((const REAL *)p.out)[b * p.out_row + j];
        switch (p.mode) {
        case CUDNN_LSTM: {
            const REAL i = g[0], f = g[width], n = g[2 * width], o = g[3 * width];
            const REAL t = tanh(((const REAL *)p.c_after)[item]);
            REAL *dc = (REAL *)p.dc + item;
            const REAL c = *dc + change * o * (1 - t * t);
            dg[0] = c * n * i * (1 - i);
            dg[width] = c * ((const REAL *)p.c_before)[item] * f * (1 - f);
            dg[2 * width] = c * i * (1 - n * n);
            dg[3 * width] = change * t * o * (1 - o);
            *dc = c * f;
            *dh = 0;
            break;
        }
        case CUDNN_GRU: {
            const REAL r = g[0], i = g[width], n = g[2 * width];
            const REAL dn = change * (1 - i) * (1 - n * n);
            const REAL dr = dn * others[first + 2 * width] * r * (1 - r);
            const REAL di = change * (((const REAL *)p.h_before)[item] - n) * i * (1 - i);
            dg[0] = dq[0] = dr;
            dg[width] = dq[width] = di;
            dg[2 * width] = dn;
            dq[2 * width] = dn * r;
            *dh = change * i;
            break;
        }
        default:
            dg[0] = p.mode == CUDNN_RNN_RELU ? (g[0] > 0 ? change : (REAL)0)
                                             : change * (1 - g[0] * g[0]);
            *dh = 0;
        }
    }
}

/* ---- launches ---- */

static cudaError_t NAME(sequence)(cudaStream_t stream, const wpi_rnn_sequence *p, void *own,
                                  int is_written) {
    const unsigned count = blocks((long long)p->steps * p->batch * p->width);
    return is_written ? LAUNCH(NAME(wpk_rnn_write), count, (void *)p, &own)
                      : LAUNCH(NAME(wpk_rnn_read), count, (void *)p, &own);
}

static cudaError_t NAME(state)(cudaStream_t stream, wpi_dnn_tensor state, long long first,
                               void *own, int count, int is_written) {
    return LAUNCH(NAME(wpk_rnn_state), blocks(count), &state, &first, &own, &count, &is_written);
}

static cudaError_t NAME(bias)(cudaStream_t stream, void *rows, long long count, int width,
                              wpi_dnn_tensor weights, long long one, long long other) {
    return LAUNCH(NAME(wpk_rnn_bias), blocks(count * width), &rows, &count, &width, &weights, &one,
                  &other);
}

static cudaError_t NAME(step)(cudaStream_t stream, const wpi_rnn_step *p, int is_backward) {
    const unsigned count = blocks((long long)p->batch * p->hidden);
    return is_backward ? LAUNCH(NAME(wpk_rnn_step_back), count, (void *)p)
                       : LAUNCH(NAME(wpk_rnn_step), count, (void *)p);
}
