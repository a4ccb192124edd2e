/* SPDX-License-Identifier: Apache-2.0 */
/* cuDNN's CTC loss against the sum over all paths, each listed, and against differences of that sum: labels in host and device
 * memory, probabilities and activations, samples of several lengths, labels that do not fit, strides, wrong arguments. */
// FLAGS: -lcudnn
#include <cudnn.h>
#include <math.h>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CUDNN_STATUS_SUCCESS)
#define FAILS(call, status) CHECK_EQ((int)(call), (int)CUDNN_STATUS_##status)

enum { STEPS = 6, SAMPLES = 6, LETTERS = 4, LABELS = 11, GAP = 3 /* behind each step */ };

/* One label, two, a repeated one, none, too many for the steps, all three letters in fewer steps. */
static const int label_lengths[SAMPLES] = {1, 2, 2, 0, 3, 3};
static const int input_lengths[SAMPLES] = {6, 6, 5, 4, 3, 5};
static const int labels[LABELS] = {2, 1, 3, 2, 2, 1, 1, 2, 3, 1, 2};

static double probability(const double x[STEPS][LETTERS], int t, int letter)
{
    double sum = 0;
    for (int k = 0; k < LETTERS; k++) sum += exp(x[t][k]);
    return exp(x[t][letter]) / sum;
}

/* Minus the logarithm of the sum over all sequences of letters that become the labels. */
static double cost_of(const double x[STEPS][LETTERS], int steps, const int *wanted, int count)
{
    double total = 0;
    int paths = 1;
    for (int t = 0; t < steps; t++) paths *= LETTERS;
    for (int path = 0; path < paths; path++) {
        int left = path, last = 0, found = 0;
        double product = 1;
        bool is_wanted = true;
        for (int t = 0; t < steps; t++, left /= LETTERS) {
            const int letter = left % LETTERS;
            product *= probability(x, t, letter);
            if (letter != 0 && letter != last) {
                is_wanted = is_wanted && found < count && wanted[found] == letter;
                found++;
            }
            last = letter;
        }
        if (is_wanted && found == count) total += product;
    }
    return -log(total);
}

static void near(const char *what, int n, int t, int k, double got, double want, double error)
{
    if (!(fabs(got - want) <= error) && check_note_failure())
        printf("FAIL: %s, sample %d, step %d, letter %d: %g, not %g\n", what, n, t, k, got, want);
}

static double x[SAMPLES][STEPS][LETTERS];

static void check_results(const char *what, const float *costs, const float *gradients, bool keeps)
{
    const int row = SAMPLES * LETTERS + GAP;
    for (int n = 0, first = 0; n < SAMPLES; first += label_lengths[n], n++) {
        const int *wanted = labels + first, count = label_lengths[n], steps = input_lengths[n];
        const double cost = cost_of(x[n], steps, wanted, count);
        const bool fits = isfinite(cost);
        if (fits)
            near(what, n, -1, -1, (double)costs[n], cost, 1e-4);
        else
            CHECK(isinf(costs[n]) && costs[n] > 0);
        CHECK_EQ(fits, n != 4);
        for (int t = 0; gradients != NULL && t < STEPS; t++)
            for (int k = 0; k < LETTERS; k++) {
                const double got = (double)gradients[t * row + n * LETTERS + k];
                if (!fits) {
                    CHECK_EQ(got, keeps ? 55 : 0);
                    continue;
                }
                double above[STEPS][LETTERS], below[STEPS][LETTERS];
                memcpy(above, x[n], sizeof above);
                memcpy(below, x[n], sizeof below);
                above[t][k] += 1e-4;
                below[t][k] -= 1e-4;
                const double want =
                    t < steps ? (cost_of(above, steps, wanted, count) - cost_of(below, steps, wanted, count)) / 2e-4 : 0;
                near(what, n, t, k, got, want, 1e-4);
            }
    }
    if (gradients != NULL)
        for (int t = 0; t + 1 < STEPS; t++)
            for (int i = 0; i < GAP; i++) CHECK_EQ(gradients[t * row + SAMPLES * LETTERS + i], 55);
}

int main(void)
{
    cudnnHandle_t handle;
    cudnnCTCLossDescriptor_t loss;
    cudnnTensorDescriptor_t probs, gradients_desc, small;
    const int sizes[] = {STEPS, SAMPLES, LETTERS}, fewer[] = {STEPS, SAMPLES, LETTERS - 1};
    const int row = SAMPLES * LETTERS + GAP, strides[] = {row, LETTERS, 1}, packed[] = {SAMPLES * LETTERS, LETTERS, 1};
    float *in = check_managed<float>(STEPS * row), *out = check_managed<float>(STEPS * row);
    float *costs = check_managed<float>(SAMPLES);
    int *device_labels = check_managed<int>(LABELS + 2 * SAMPLES);
    OK(cudnnCreate(&handle));
    OK(cudnnCreateCTCLossDescriptor(&loss));
    OK(cudnnCreateTensorDescriptor(&probs));
    OK(cudnnCreateTensorDescriptor(&gradients_desc));
    OK(cudnnCreateTensorDescriptor(&small));
    OK(cudnnSetTensorNdDescriptor(probs, CUDNN_DATA_FLOAT, 3, sizes, packed));
    OK(cudnnSetTensorNdDescriptor(gradients_desc, CUDNN_DATA_FLOAT, 3, sizes, strides));
    OK(cudnnSetTensorNdDescriptor(small, CUDNN_DATA_FLOAT, 3, fewer, packed));
    for (int n = 0; n < SAMPLES; n++)
        for (int t = 0; t < STEPS; t++)
            for (int k = 0; k < LETTERS; k++) x[n][t][k] = (float)((n * 5 + t * 3 + k * 7) % 11) / 4.f - 1.f;

    for (int round = 0; round < 8; round++) {
        const bool is_softmax = round % 2 == 1, keeps = round / 2 % 2 == 1, is_on_device = round / 4 == 1;
        size_t bytes = 0;
        void *work;
        for (int i = 0; i < STEPS * row; i++) out[i] = 55;
        for (int n = 0; n < SAMPLES; n++)
            for (int t = 0; t < STEPS; t++)
                for (int k = 0; k < LETTERS; k++)
                    in[t * SAMPLES * LETTERS + n * LETTERS + k] =
                        (float)(is_softmax ? x[n][t][k] : probability(x[n], t, k));
        OK(cudnnSetCTCLossDescriptor_v9(loss, CUDNN_DATA_FLOAT,
                                        is_softmax ? CUDNN_LOSS_NORMALIZATION_SOFTMAX : CUDNN_LOSS_NORMALIZATION_NONE,
                                        keeps ? CUDNN_CTC_SKIP_OOB_GRADIENTS : CUDNN_CTC_ZERO_OOB_GRADIENTS, 3));
        const cudnnCTCLossAlgo_t algo = keeps ? CUDNN_CTC_LOSS_ALGO_NON_DETERMINISTIC : CUDNN_CTC_LOSS_ALGO_DETERMINISTIC;
        if (is_on_device) {
            memcpy(device_labels, labels, sizeof labels);
            memcpy(device_labels + LABELS, label_lengths, sizeof label_lengths);
            memcpy(device_labels + LABELS + SAMPLES, input_lengths, sizeof input_lengths);
            OK(cudnnGetCTCLossWorkspaceSize_v8(handle, algo, loss, probs, gradients_desc, &bytes));
            CUDA_OK(cudaMalloc(&work, bytes));
            OK(cudnnCTCLoss_v8(handle, algo, loss, probs, in, device_labels, device_labels + LABELS,
                               device_labels + LABELS + SAMPLES, costs, gradients_desc, out, bytes, work));
        } else {
            OK(cudnnGetCTCLossWorkspaceSize(handle, probs, gradients_desc, labels, label_lengths, input_lengths, algo, loss,
                                            &bytes));
            CUDA_OK(cudaMalloc(&work, bytes));
            OK(cudnnCTCLoss(handle, probs, in, labels, label_lengths, input_lengths, costs, gradients_desc, out, algo, loss,
                            work, bytes));
        }
        CUDA_OK(cudaDeviceSynchronize());
        check_results(is_softmax ? "activations" : "probabilities", costs, out, keeps);
        if (!is_on_device) {
            for (int n = 0; n < SAMPLES; n++) costs[n] = -1;
            OK(cudnnCTCLoss(handle, probs, in, labels, label_lengths, input_lengths, costs, gradients_desc, NULL, algo, loss,
                            work, bytes));
            CUDA_OK(cudaDeviceSynchronize());
            check_results("costs alone", costs, NULL, keeps);
            FAILS(cudnnCTCLoss(handle, probs, in, labels, label_lengths, input_lengths, costs, gradients_desc, out, algo, loss,
                               work, bytes - 1),
                  BAD_PARAM);
        }
        CUDA_OK(cudaFree(work));
    }

    cudnnNanPropagation_t nan;
    cudnnLossNormalizationMode_t normalization;
    cudnnCTCGradMode_t gradients;
    int most = 0;
    size_t bytes;
    OK(cudnnSetCTCLossDescriptor_v8(loss, CUDNN_DATA_FLOAT, CUDNN_LOSS_NORMALIZATION_SOFTMAX, CUDNN_PROPAGATE_NAN, 9));
    OK(cudnnGetCTCLossDescriptor_v8(loss, NULL, &normalization, &nan, &most));
    CHECK_EQ((int)normalization, (int)CUDNN_LOSS_NORMALIZATION_SOFTMAX);
    CHECK_EQ((int)nan, (int)CUDNN_PROPAGATE_NAN);
    CHECK_EQ(most, 9);
    OK(cudnnSetCTCLossDescriptor(loss, CUDNN_DATA_FLOAT));
    OK(cudnnGetCTCLossDescriptor_v9(loss, NULL, &normalization, &gradients, NULL));
    CHECK_EQ((int)normalization, (int)CUDNN_LOSS_NORMALIZATION_NONE);
    CHECK_EQ((int)gradients, (int)CUDNN_CTC_ZERO_OOB_GRADIENTS);
    FAILS(cudnnSetCTCLossDescriptor(loss, CUDNN_DATA_HALF), BAD_PARAM);
    FAILS(cudnnGetCTCLossWorkspaceSize(handle, probs, small, labels, label_lengths, input_lengths,
                                       CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, loss, &bytes),
          BAD_PARAM);
    const int beyond[LABELS] = {LETTERS};
    FAILS(cudnnGetCTCLossWorkspaceSize(handle, probs, gradients_desc, beyond, label_lengths, input_lengths,
                                       CUDNN_CTC_LOSS_ALGO_DETERMINISTIC, loss, &bytes),
          BAD_PARAM);
    OK(cudnnDestroyTensorDescriptor(probs));
    OK(cudnnDestroyTensorDescriptor(gradients_desc));
    OK(cudnnDestroyTensorDescriptor(small));
    OK(cudnnDestroyCTCLossDescriptor(loss));
    OK(cudnnDestroy(handle));
    return check_done();
}
