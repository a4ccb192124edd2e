/* SPDX-License-Identifier: Apache-2.0 */
/* Device variables by name, as programs before CUDA 5 give them, and variables that look like names. */
#include "check.h"

__constant__ float scale[2] = {1.0f, 2.0f};
static __device__ int total;
__device__ char text[8] = "total";  /* is a variable, though it holds another one's name */
__device__ const char *message = 0; /* likewise */

__global__ void use(float *out)
{
    total += (int)scale[1];
    out[0] = scale[0];
    out[1] = text[0];
    out[2] = message != 0;
}

int main(void)
{
    float *out = check_managed<float>(3);
    const float numbers[2] = {8.0f, 5.0f};
    const int start = 10;
    const char *name = "total";
    CUDA_OK(cudaMemcpyToSymbol("scale", numbers, sizeof numbers, 0, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpyToSymbol(name, &start, sizeof start));
    CUDA_OK(cudaMemcpyToSymbol(text, "xyz", 4));
    const char *somewhere = (const char *)out;
    CUDA_OK(cudaMemcpyToSymbol(message, &somewhere, sizeof somewhere));
    use<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 8.0f);
    CHECK_EQ(out[1], (float)'x');
    CHECK_EQ(out[2], 1.0f);
    int sum = 0;
    CUDA_OK(cudaMemcpyFromSymbol(&sum, "total", sizeof sum, 0, cudaMemcpyDeviceToHost));
    CHECK_EQ(sum, 15);
    CUDA_OK(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK_EQ(sum, 15);
    void *by_name = NULL, *by_variable = NULL;
    CUDA_OK(cudaGetSymbolAddress(&by_name, "scale"));
    CUDA_OK(cudaGetSymbolAddress(&by_variable, scale));
    CHECK(by_name == by_variable && by_name != NULL);
    size_t bytes = 0;
    CUDA_OK(cudaGetSymbolSize(&bytes, "scale"));
    CHECK_EQ(bytes, sizeof numbers);
    CHECK_ERROR(cudaGetSymbolSize(&bytes, "nothing"), cudaErrorInvalidSymbol);
    (void)cudaGetLastError();
    return check_done();
}
