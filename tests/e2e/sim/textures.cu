// SPDX-License-Identifier: Apache-2.0
// DEVICES: sim:gtx1080ti
// textures nearest|centres|between|outside|linear|write: a kernel on 256 x 256 floats; textures.sh knows
// what it touches.
#include <cuda_runtime.h>
#include <cstdio>
#include <cstring>

constexpr int side = 256;

__global__ void fetch(cudaTextureObject_t texture, float shift, float *sum)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (tex2D<float>(texture, x + shift, y + shift) < 0) *sum = 1;
}

__global__ void fetch_linear_memory(cudaTextureObject_t texture, float *sum)
{
    const int i = blockIdx.y * side + blockIdx.x * blockDim.x + threadIdx.x;
    if (tex1Dfetch<float>(texture, i) < 0) *sum = 1;
}

__global__ void write(cudaSurfaceObject_t surface)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    surf2Dwrite(1.0f, surface, x * (int)sizeof(float), y);
}

static cudaTextureObject_t texture_of(const cudaResourceDesc &resource, bool is_linear, bool has_border)
{
    cudaTextureDesc how = {};
    cudaTextureObject_t texture = 0;
    how.filterMode = is_linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.addressMode[0] = how.addressMode[1] = has_border ? cudaAddressModeBorder : cudaAddressModeClamp;
    cudaCreateTextureObject(&texture, &resource, &how, nullptr);
    return texture;
}

int main(int, char **arguments)
{
    const char *what = arguments[1];
    const dim3 grid(side / 128, side), block(128);
    cudaArray_t array;
    float *sum, *linear;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMalloc(&sum, sizeof *sum);
    cudaMalloc(&linear, side * side * sizeof(float));
    cudaMallocArray(&array, &format, side, side, cudaArraySurfaceLoadStore);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    if (!strcmp(what, "nearest")) {
        fetch<<<grid, block>>>(texture_of(resource, false, false), 0.5f, sum);
    } else if (!strcmp(what, "centres")) {
        fetch<<<grid, block>>>(texture_of(resource, true, false), 0.5f, sum);
    } else if (!strcmp(what, "between")) {
        fetch<<<grid, block>>>(texture_of(resource, true, false), 0.0f, sum);
    } else if (!strcmp(what, "outside")) {
        fetch<<<grid, block>>>(texture_of(resource, true, true), 2.0f * side, sum);
    } else if (!strcmp(what, "write")) {
        cudaSurfaceObject_t surface = 0;
        cudaCreateSurfaceObject(&surface, &resource);
        write<<<grid, block>>>(surface);
    } else {
        resource.resType = cudaResourceTypeLinear;
        resource.res.linear.devPtr = linear;
        resource.res.linear.desc = format;
        resource.res.linear.sizeInBytes = side * side * sizeof(float);
        fetch_linear_memory<<<grid, block>>>(texture_of(resource, false, false), sum);
    }
    return cudaDeviceSynchronize() != cudaSuccess;
}
