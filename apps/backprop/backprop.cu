/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Back-propagation: a neural network of one hidden layer learns to give the target answers.
 *
 * Very many inputs, 16 hidden units, one output. The device does what concerns the weights between
 * inputs and hidden units, a block for 16 inputs, a thread a weight; the host does the rest:
 *   forward  each input times its weights; a block sums its 16 inputs, for each hidden unit
 *   host     the blocks' sums, hidden units, output, and how wrong each of them is
 *   adjust   each weight moves against its part in that, with momentum
 * in the arrays and launches of Rodinia's benchmark of this name: forward works in place, leaves
 * the products and sums of its tree where it found weights, and so has a copy of them.
 *
 * The order of additions is fixed and every multiply-add is a fused one by name, so all devices and
 * the serial check agree to the bit.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/kernel.h"
#include "common/memory.h"
#include "common/points.h"
#include "common/random.h"
#include "common/report.h"

#define HIDDEN 16        /* hidden units, and inputs of a block */
#define ROW (HIDDEN + 1) /* weights of an input; the first is not used */
#define COPY_THREADS 256
#define LEARNING_RATE 0.3f
#define MOMENTUM 0.3f
#define TARGET 0.1f

/* A product that is rounded before something is added to it, whatever the compiler prefers. */
static __host__ __device__ __forceinline__ float rounded_product(float a, float b) {
    return fmaf(a, b, 0.0f);
}

static __host__ __device__ __forceinline__ void adjust_weight(float *weight, float *change,
                                                              float delta, float unit) {
    *change = fmaf(MOMENTUM, *change, LEARNING_RATE * delta * unit);
    *weight += *change;
}

/* ---- the kernels ---- */

/* Input 0 is the bias, always 1; blocks begin with input 1. */
static __device__ __forceinline__ uint64_t input_of_thread(void) {
    return (uint64_t)blockIdx.x * HIDDEN + threadIdx.y + 1;
}

__global__ void forward(const float *inputs, float *weights, float *block_sums,
                        uint64_t input_count) {
    __shared__ float unit[HIDDEN];
    __shared__ float product[HIDDEN][HIDDEN];
    unsigned tx = threadIdx.x;
    unsigned ty = threadIdx.y;
    uint64_t input = input_of_thread();
    size_t at = input * ROW + tx + 1;
    bool is_input = input <= input_count;
    if (tx == 0) {
        unit[ty] = is_input ? inputs[input] : 0.0f;
    }
    __syncthreads();
    product[ty][tx] = is_input ? rounded_product(weights[at], unit[ty]) : 0.0f;
    __syncthreads();
    for (unsigned half = 1; half < HIDDEN; half *= 2) {
        if (ty % (2 * half) == 0) {
            product[ty][tx] += product[ty + half][tx];
        }
        __syncthreads();
    }
    if (is_input) {
        weights[at] = product[ty][tx];
    }
    if (tx == 0) {
        block_sums[(size_t)blockIdx.x * HIDDEN + ty] = product[0][ty];
    }
}

__global__ void adjust(const float *hidden_delta, const float *inputs, float *weights,
                       float *changes, uint64_t input_count) {
    unsigned hidden = threadIdx.x + 1;
    uint64_t input = input_of_thread();
    size_t at = input * ROW + hidden;
    if (input <= input_count) {
        adjust_weight(&weights[at], &changes[at], hidden_delta[hidden], inputs[input]);
    }
    if (blockIdx.x == 0 && threadIdx.y == 0) {
        adjust_weight(&weights[hidden], &changes[hidden], hidden_delta[hidden], 1.0f);
    }
}

/* Before another round: forward has used its copy up. */
__global__ void renew_weights(float *copy, const float *weights, uint64_t weight_count) {
    uint64_t i = app_thread();
    if (i < weight_count) {
        copy[i] = weights[i];
    }
}

/* ---- the host's part ---- */

/* Everything behind the hidden layer's sums. Entry 0 of each array is the bias's. */
typedef struct head {
    float weight[ROW]; /* from hidden units to the output */
    float change[ROW];
    float hidden_delta[ROW]; /* for adjust */
} head;

static void head_init(head *h, uint64_t seed) {
    app_random random = {app_random_at(seed, 0), 0};
    memset(h, 0, sizeof *h);
    for (int j = 0; j < ROW; j++) {
        h->weight[j] = (float)(2.0 * app_random_unit(&random) - 1.0);
    }
}

static float squash(double sum) {
    return (float)(1.0 / (1.0 + exp(-sum)));
}

/* From the sums of the blocks and the weights of the bias to the errors of the hidden units;
 * trains the last layer. Returns the output. */
static float head_learn(head *h, const float *block_sums, uint64_t block_count,
                        const float *bias_weights) {
    float hidden[ROW] = {1.0f};
    double output_sum = (double)h->weight[0];
    for (int j = 1; j < ROW; j++) {
        double sum = (double)bias_weights[j];
        for (uint64_t block = 0; block < block_count; block++) {
            sum += (double)block_sums[block * HIDDEN + (uint64_t)j - 1];
        }
        hidden[j] = squash(sum);
        output_sum += (double)h->weight[j] * (double)hidden[j];
    }
    float output = squash(output_sum);
    float output_delta = output * (1.0f - output) * (TARGET - output);
    for (int j = 0; j < ROW; j++) {
        h->hidden_delta[j] = hidden[j] * (1.0f - hidden[j]) * output_delta * h->weight[j];
        adjust_weight(&h->weight[j], &h->change[j], output_delta, hidden[j]);
    }
    return output;
}

static uint64_t count_blocks(uint64_t input_count) {
    return (input_count + HIDDEN - 1) / HIDDEN;
}

/* Inputs shrink with their number, so that the hidden units' sums are of the order of 1. */
static void generate_inputs(float *inputs, uint64_t input_count, uint64_t seed) {
    double scale = sqrt(3.0 / (double)input_count);
    inputs[0] = 1.0f;
    for (uint64_t i = 1; i <= input_count; i++) {
        app_random random = {seed, 2 * i};
        inputs[i] = (float)(scale * app_random_unit(&random));
    }
}

static void generate_weights(float *weights, uint64_t weight_count, uint64_t seed) {
    for (uint64_t i = 0; i < weight_count; i++) {
        app_random random = {seed, 2 * i + 1};
        weights[i] = (float)(2.0 * app_random_unit(&random) - 1.0);
    }
}

/* ---- check, output ---- */

/* What a block's tree makes of its inputs' products, for one hidden unit. */
static float serial_block_sum(const float *inputs, const float *weights, uint64_t input_count,
                              uint64_t block, int hidden) {
    float sum[HIDDEN];
    for (uint64_t y = 0; y < HIDDEN; y++) {
        uint64_t input = block * HIDDEN + y + 1;
        sum[y] = input <= input_count
                     ? rounded_product(weights[input * ROW + (uint64_t)hidden], inputs[input])
                     : 0.0f;
    }
    for (int half = 1; half < HIDDEN; half *= 2) {
        for (int y = 0; y < HIDDEN; y += 2 * half) {
            sum[y] += sum[y + half];
        }
    }
    return sum[0];
}

static void serial_round(head *h, const float *inputs, float *weights, float *changes,
                         float *block_sums, uint64_t input_count, float *output) {
    for (uint64_t block = 0; block < count_blocks(input_count); block++) {
        for (int j = 1; j < ROW; j++) {
            block_sums[block * HIDDEN + (uint64_t)j - 1] =
                serial_block_sum(inputs, weights, input_count, block, j);
        }
    }
    *output = head_learn(h, block_sums, count_blocks(input_count), weights);
    for (uint64_t input = 0; input <= input_count; input++) {
        for (uint64_t j = 1; j < ROW; j++) {
            adjust_weight(&weights[input * ROW + j], &changes[input * ROW + j], h->hidden_delta[j],
                          inputs[input]);
        }
    }
}

static bool check(const float *inputs, const float *weights, const float *changes,
                  const float *outputs, uint64_t input_count, uint64_t rounds, uint64_t seed) {
    size_t weight_count = (input_count + 1) * ROW;
    float *expected = (float *)app_allocate(weight_count, sizeof(float), "the check");
    float *expected_changes = (float *)app_allocate(weight_count, sizeof(float), "the check");
    float *block_sums =
        (float *)app_allocate(count_blocks(input_count) * HIDDEN, sizeof(float), "the check");
    double largest = 0.0;
    head h;
    head_init(&h, seed);
    generate_weights(expected, weight_count, seed);
    memset(expected_changes, 0, weight_count * sizeof(float));
    for (uint64_t round = 0; round < rounds; round++) {
        float output;
        serial_round(&h, inputs, expected, expected_changes, block_sums, input_count, &output);
        largest = fmax(largest, app_floats_difference(&outputs[round], &output, 1));
    }
    largest = fmax(largest, app_floats_difference(weights, expected, weight_count));
    largest = fmax(largest, app_floats_difference(changes, expected_changes, weight_count));
    printf("check      weights of %s inputs against %s serial rounds: %s, largest difference %g\n",
           app_count(input_count), app_count(rounds), largest == 0.0 ? "equal" : "DIFFERENT",
           largest);
    free(expected);
    free(expected_changes);
    free(block_sums);
    return largest == 0.0;
}

static void print_result(const float *outputs, const float *weights, uint64_t input_count,
                         uint64_t rounds, uint64_t seed) {
    enum { ROWS = 16 };
    double sum = 0.0;
    for (uint64_t i = 0; i < (input_count + 1) * ROW; i++) {
        sum += (double)weights[i];
    }
    printf("network    %s inputs, %d hidden units, 1 output, seed %llu\n", app_count(input_count),
           HIDDEN, (unsigned long long)seed);
    printf("training   %s rounds towards %.1f; sum of the weights now %.9g\n\n", app_count(rounds),
           (double)TARGET, sum);
    printf("     round     output\n");
    uint64_t step = (rounds + ROWS - 1) / ROWS;
    for (uint64_t round = 0; round < rounds; round += step) {
        printf("%10s %10.6f  ", app_count(round + 1), (double)outputs[round]);
        app_bar(stdout, (double)outputs[round], 40);
        putchar('\n');
    }
    putchar('\n');
}

/* ---- the loop ---- */

typedef struct arrays {
    app_array inputs;
    app_array forward_weights; /* forward's copy */
    app_array weights;
    app_array changes; /* of the last round, for the momentum */
    app_array block_sums;
    app_array hidden_delta;
} arrays;

static void create_arrays(app_device *device, arrays *a, uint64_t input_count, uint64_t seed) {
    size_t weight_count = (input_count + 1) * ROW;
    app_array_create(device, &a->inputs, input_count + 1, sizeof(float), "inputs", APP_ROLE_INPUT);
    app_array_create(device, &a->forward_weights, weight_count, sizeof(float), "forward weights",
                     APP_ROLE_UPDATED);
    app_array_create(device, &a->weights, weight_count, sizeof(float), "weights", APP_ROLE_UPDATED);
    app_array_create(device, &a->changes, weight_count, sizeof(float), "changes of weights",
                     APP_ROLE_UPDATED);
    app_array_create(device, &a->block_sums, count_blocks(input_count) * HIDDEN, sizeof(float),
                     "sums of blocks", APP_ROLE_STATE);
    app_array_create(device, &a->hidden_delta, ROW, sizeof(float), "hidden errors", APP_ROLE_INPUT);
    generate_inputs((float *)a->inputs.host, input_count, seed);
    generate_weights((float *)a->weights.host, weight_count, seed);
    memcpy(a->forward_weights.host, a->weights.host, a->weights.size_bytes);
    memset(a->changes.host, 0, a->changes.size_bytes);
    app_array_to_device(device, &a->inputs);
    app_array_to_device(device, &a->forward_weights);
    app_array_to_device(device, &a->weights);
    app_array_to_device(device, &a->changes);
}

static void free_arrays(app_device *device, arrays *a) {
    app_array_free(device, &a->inputs);
    app_array_free(device, &a->forward_weights);
    app_array_free(device, &a->weights);
    app_array_free(device, &a->changes);
    app_array_free(device, &a->block_sums);
    app_array_free(device, &a->hidden_delta);
}

/* One round of training; returns the output it began with. */
static float train(app_device *device, arrays *a, head *h, uint64_t input_count) {
    unsigned blocks = app_blocks(input_count, HIDDEN);
    dim3 threads(HIDDEN, HIDDEN);
    float buffer[ROW];
    app_kernels_begin(device);
    forward<<<blocks, threads>>>((const float *)a->inputs.device,
                                 (float *)a->forward_weights.device, (float *)a->block_sums.device,
                                 input_count);
    app_kernels_end(device, "forward", 1);
    app_array_to_host(device, &a->block_sums);
    const float *bias_weights =
        (const float *)app_array_view(device, &a->forward_weights, 0, buffer, sizeof buffer);
    float output =
        head_learn(h, (const float *)a->block_sums.host, count_blocks(input_count), bias_weights);
    memcpy(a->hidden_delta.host, h->hidden_delta, sizeof h->hidden_delta);
    app_array_to_device(device, &a->hidden_delta);
    app_kernels_begin(device);
    adjust<<<blocks, threads>>>((const float *)a->hidden_delta.device,
                                (const float *)a->inputs.device, (float *)a->weights.device,
                                (float *)a->changes.device, input_count);
    app_kernels_end(device, "adjust", 1);
    return output;
}

static void renew(app_device *device, arrays *a, uint64_t input_count) {
    uint64_t weight_count = (input_count + 1) * ROW;
    app_kernels_begin(device);
    renew_weights<<<app_blocks(weight_count, COPY_THREADS), COPY_THREADS>>>(
        (float *)a->forward_weights.device, (const float *)a->weights.device, weight_count);
    app_kernels_end(device, "renew_weights", 1);
}

int main(int argc, char **argv) {
    const app_program program = {"backprop", "training of a neural network by back-propagation",
                                 "inputs of the network, or bytes such as 1GiB", NULL,
                                 "backprop --size 64K --iterations 10 --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    uint64_t rounds = 1;
    const app_option options[] = {
        {"--iterations", APP_OPTION_COUNT, &rounds, "N", 1, 1e6, "training rounds"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    uint64_t input_count = app_size_items(common.size, 212.0, 64 * 1024, 1, UINT64_C(1) << 32);

    app_device device;
    arrays a;
    head h;
    float *outputs = (float *)app_allocate(rounds, sizeof *outputs, "the outputs");
    app_device_open(&device, common.memory);
    create_arrays(&device, &a, input_count, common.seed);
    head_init(&h, common.seed);
    for (uint64_t round = 0; round < rounds; round++) {
        if (round > 0) {
            renew(&device, &a, input_count);
        }
        outputs[round] = train(&device, &a, &h, input_count);
    }
    app_array_to_host(&device, &a.weights);
    if (common.check) {
        app_array_to_host(&device, &a.changes);
    }

    print_result(outputs, (const float *)a.weights.host, input_count, rounds, common.seed);
    app_device_report(&device, (double)input_count * HIDDEN * (double)rounds, "weights");
    bool is_right = !common.check ||
                    check((const float *)a.inputs.host, (const float *)a.weights.host,
                          (const float *)a.changes.host, outputs, input_count, rounds, common.seed);
    free(outputs);
    free_arrays(&device, &a);
    app_device_close(&device);
    return is_right ? 0 : 1;
}
