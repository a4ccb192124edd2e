/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CTC loss: the logarithm of the sum over all ways to stretch the labels over the steps, forward
 * and backward over the states, a block a sample. The gradient is that of the activations before
 * softmax: the probability of a letter less that of being in one of its states.
 */
#include <math.h>

#include "libraries/cudnn/ctc/ctc_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"

#define EACH(i, count) for (int i = (int)threadIdx.x; i < (count); i += BLOCK)

/* A sample, and where its part of the work memory is. */
typedef struct sample {
    const float *activations;
    const int *labels;
    int steps, states, stride_max;
    double *forward, *backward, *next, *share, *norm;
} sample;

static __device__ double log_sum(double a, double b) {
    const double large = a > b ? a : b, small = a > b ? b : a;
    return large == -INFINITY ? large : large + log1p(exp(small - large));
}

static __device__ int letter_of(const sample &s, int state) {
    return state % 2 == 0 ? 0 : s.labels[state / 2];
}

/* Whether a path may pass from two states before, over a blank: to another letter. */
static __device__ bool may_skip(const sample &s, int state) {
    return state % 2 == 1 && state >= 3 && s.labels[state / 2] != s.labels[state / 2 - 1];
}

static __device__ double log_probability(const wpi_ctc &c, const sample &s, int t, int letter) {
    const double x = (double)s.activations[t * c.stride[0] + letter * c.stride[2]];
    return c.is_softmax ? x - s.norm[t] : log(x);
}

/* The sample's labels stand behind those of the samples before. */
static __device__ sample sample_of(const wpi_ctc &c, int n) {
    sample s;
    int first = 0;
    for (int i = 0; i < n; i++)
        first += c.label_lengths[i];
    s.activations = c.activations + n * c.stride[1];
    s.labels = c.labels + first;
    s.steps = c.input_lengths[n];
    s.states = 2 * c.label_lengths[n] + 1;
    s.stride_max = c.states_max;
    s.forward = c.work + (long long)n * WPI_CTC_WORK(c.steps, c.states_max);
    s.norm = s.forward + (long long)c.steps * c.states_max;
    s.backward = s.norm + c.steps;
    s.next = s.backward + c.states_max;
    s.share = s.next + c.states_max;
    return s;
}

/* Letters that follow themselves need a blank between them. */
static __device__ bool fits(const sample &s) {
    int needed = s.states / 2;
    for (int i = 1; i < s.states / 2; i++)
        needed += s.labels[i] == s.labels[i - 1];
    return needed <= s.steps && s.steps > 0;
}

static __device__ void normalise(const wpi_ctc &c, const sample &s) {
    EACH(t, s.steps) {
        double sum = -INFINITY;
        for (int k = 0; k < c.letters; k++)
            sum = log_sum(sum, (double)s.activations[t * c.stride[0] + k * c.stride[2]]);
        s.norm[t] = sum;
    }
    __syncthreads();
}

static __device__ void go_forward(const wpi_ctc &c, const sample &s) {
    for (int t = 0; t < s.steps; t++) {
        double *now = s.forward + (long long)t * s.stride_max;
        const double *before = now - s.stride_max;
        EACH(i, s.states) {
            double sum = t == 0 && i < 2 ? 0 : -INFINITY;
            if (t > 0) {
                sum = before[i];
                if (i >= 1) sum = log_sum(sum, before[i - 1]);
                if (may_skip(s, i)) sum = log_sum(sum, before[i - 2]);
            }
            now[i] = sum + log_probability(c, s, t, letter_of(s, i));
        }
        __syncthreads();
    }
}

/* The probability of all that follows a state at step t, from that at the step behind. */
static __device__ void go_backward(const wpi_ctc &c, const sample &s, int t) {
    EACH(i, s.states) {
        double sum = i + 2 >= s.states ? 0 : -INFINITY;
        if (t + 1 < s.steps) {
            sum = s.next[i] + log_probability(c, s, t + 1, letter_of(s, i));
            if (i + 1 < s.states)
                sum = log_sum(sum, s.next[i + 1] + log_probability(c, s, t + 1, letter_of(s, i + 1)));
            if (i + 2 < s.states && may_skip(s, i + 2))
                sum = log_sum(sum, s.next[i + 2] + log_probability(c, s, t + 1, letter_of(s, i + 2)));
        }
        s.backward[i] = sum;
    }
    __syncthreads();
}

static __device__ void put_gradients(const wpi_ctc &c, const sample &s, float *to, int t, double total) {
    EACH(i, s.states) {
        s.share[i] = exp(s.forward[(long long)t * s.stride_max + i] + s.backward[i] - total);
        s.next[i] = s.backward[i];
    }
    __syncthreads();
    EACH(k, c.letters) {
        double value = exp(log_probability(c, s, t, k));
        for (int i = k == 0 ? 0 : 1; i < s.states; i += 2)
            if (k == 0 || letter_of(s, i) == k) value -= s.share[i];
        to[t * c.gradient_stride[0] + k * c.gradient_stride[2]] = (float)value;
    }
    __syncthreads();
}

static __device__ void put_zeros(const wpi_ctc &c, float *to, int first) {
    for (int t = first; t < c.steps; t++)
        EACH(k, c.letters) to[t * c.gradient_stride[0] + k * c.gradient_stride[2]] = 0;
}

extern "C" __global__ void __launch_bounds__(BLOCK) wpk_dnn_ctc(wpi_ctc c) {
    const int n = (int)blockIdx.x;
    const sample s = sample_of(c, n);
    float *gradients = c.gradients != NULL ? c.gradients + n * c.gradient_stride[1] : NULL;
    if (!fits(s)) {
        if (threadIdx.x == 0) c.costs[n] = INFINITY;
        if (gradients != NULL && !c.keeps_gradients) put_zeros(c, gradients, 0);
        return;
    }
    if (c.is_softmax) normalise(c, s);
    go_forward(c, s);
    const double *last = s.forward + (long long)(s.steps - 1) * s.stride_max + s.states - 1;
    const double total = s.states > 1 ? log_sum(last[0], last[-1]) : last[0];
    if (threadIdx.x == 0) c.costs[n] = (float)-total;
    if (gradients == NULL) return;
    for (int t = s.steps - 1; t >= 0; t--) {
        go_backward(c, s, t);
        put_gradients(c, s, gradients, t, total);
    }
    put_zeros(c, gradients, s.steps);
}

extern "C" cudaError_t wpi_ctc_run(cudaStream_t stream, const wpi_ctc *c) {
    return LAUNCH(wpk_dnn_ctc, (unsigned)c->samples, (void *)c);
}
