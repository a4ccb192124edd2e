/* SPDX-License-Identifier: Apache-2.0 */
/* Layered textures, cube maps and tex2Dgather. */
#include "check.h"

#define W 8
#define H 4
#define LAYERS 3

__global__ void read_layers(cudaTextureObject_t object, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, layer = threadIdx.z;
    out[(layer * H + y) * W + x] = tex2DLayered<float>(object, x + 0.5f, y + 0.5f, layer);
}

__global__ void between(cudaTextureObject_t object, float *out)
{
    out[0] = tex2DLayered<float>(object, 2.0f, 1.5f, 1);  /* half of two neighbours */
    out[1] = tex2DLayered<float>(object, 2.5f, 1.5f, 99); /* the last layer */
}

__global__ void read_rows(cudaTextureObject_t object, float2 *out)
{
    out[threadIdx.y * W + threadIdx.x] =
        tex1DLayered<float2>(object, (threadIdx.x + 0.5f) / W, threadIdx.y);
}

__global__ void read_faces(cudaTextureObject_t object, float3 direction, int cube, float *out)
{
    *out = cube < 0 ? texCubemap<float>(object, direction.x, direction.y, direction.z)
                    : texCubemapLayered<float>(object, direction.x, direction.y, direction.z, cube);
}

__global__ void gather(cudaTextureObject_t object, float4 *out)
{
    out[0] = tex2Dgather<float4>(object, 3.0f, 2.0f);
    out[1] = tex2Dgather<float4>(object, 3.0f, 2.0f, 1);
}

template <class T>
static cudaArray_t make_array(const T *from, size_t w, size_t h, size_t d, unsigned flags)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    CUDA_OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d), flags));
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr((void *)from, w * sizeof(T), w, h > 0 ? h : 1);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(w, h > 0 ? h : 1, d > 0 ? d : 1);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA_OK(cudaMemcpy3D(&copy));
    return array;
}

static cudaTextureObject_t make_texture(cudaArray_t array, cudaTextureFilterMode filter,
                                        bool is_normalized)
{
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int i = 0; i < 3; i++)
        desc.addressMode[i] = cudaAddressModeClamp;
    desc.filterMode = filter;
    desc.normalizedCoords = is_normalized;
    cudaTextureObject_t object = 0;
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    return object;
}

int main(void)
{
    static float in[LAYERS][H][W];
    float *out = check_managed<float>(LAYERS * H * W);
    for (int i = 0; i < LAYERS * H * W; i++)
        (&in[0][0][0])[i] = (float)(i * i);
    cudaArray_t array = make_array(&in[0][0][0], W, H, LAYERS, cudaArrayLayered);
    cudaTextureObject_t object = make_texture(array, cudaFilterModeLinear, false);
    read_layers<<<1, dim3(W, H, LAYERS)>>>(object, out);
    KERNEL_OK();
    for (int i = 0; i < LAYERS * H * W; i++)
        CHECK_EQ(out[i], (float)(i * i));
    between<<<1, 1>>>(object, out);
    KERNEL_OK();
    CHECK_EQ(out[0], 0.5f * (in[1][1][1] + in[1][1][2]));
    CHECK_EQ(out[1], in[LAYERS - 1][1][2]);

    static float2 rows[LAYERS][W];
    for (int i = 0; i < LAYERS * W; i++)
        (&rows[0][0])[i] = make_float2((float)i, (float)-i);
    float2 *pairs = check_managed<float2>(LAYERS * W);
    cudaArray_t lines = make_array(&rows[0][0], W, 0, LAYERS, cudaArrayLayered);
    read_rows<<<1, dim3(W, LAYERS)>>>(make_texture(lines, cudaFilterModePoint, true), pairs);
    KERNEL_OK();
    for (int i = 0; i < LAYERS * W; i++)
        CHECK(pairs[i].x == i && pairs[i].y == -i);

    /* Two cubes with faces of 4 x 4: value = 1000 cube + 100 face + 10 row + column. */
    static float cubes[12][4][4];
    for (int i = 0; i < 12 * 16; i++)
        (&cubes[0][0][0])[i] = (float)(i / 96 * 1000 + i / 16 % 6 * 100 + i / 4 % 4 * 10 + i % 4);
    cudaTextureObject_t one =
        make_texture(make_array(&cubes[0][0][0], 4, 4, 6, cudaArrayCubemap), cudaFilterModePoint, true);
    cudaTextureObject_t two = make_texture(
        make_array(&cubes[0][0][0], 4, 4, 12, cudaArrayCubemap | cudaArrayLayered),
        cudaFilterModePoint, true);
    /* Column = from s, row = from t: (s / m + 1) / 2 * 4. */
    static const struct { float x, y, z; int expected; } looks[] = {
        {2.0f, 1.5f, -1.5f, 3},    {2.0f, -0.5f, 0.1f, 21},   /* +x: s = -z, t = -y */
        {-2.0f, 1.5f, -1.5f, 100}, {-2.0f, -0.5f, 0.1f, 122}, /* -x: s = z, t = -y */
        {-1.5f, 2.0f, 1.5f, 230},  {-1.5f, -2.0f, 1.5f, 300}, /* +y: t = z; -y: t = -z */
        {0.5f, 1.5f, 2.0f, 402},   {0.5f, 1.5f, -2.0f, 501},  /* +z: s = x; -z: s = -x */
    };
    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        const float3 direction = make_float3(looks[i].x, looks[i].y, looks[i].z);
        for (int cube = -1; cube < 2; cube++) {
            read_faces<<<1, 1>>>(cube < 0 ? one : two, direction, cube, out);
            KERNEL_OK();
            CHECK_EQ(out[0], (float)(looks[i].expected + (cube > 0 ? 1000 : 0)));
        }
    }

    static float2 plane[H][W];
    for (int i = 0; i < H * W; i++)
        (&plane[0][0])[i] = make_float2((float)i, (float)(100 + i));
    cudaArray_t flat = make_array(&plane[0][0], W, H, 0, cudaArrayTextureGather);
    float4 *corners = check_managed<float4>(2);
    gather<<<1, 1>>>(make_texture(flat, cudaFilterModePoint, false), corners);
    KERNEL_OK();
    CHECK_EQ(corners[0].x, plane[2][2].x); /* lower left, lower right, upper right, upper left */
    CHECK_EQ(corners[0].y, plane[2][3].x);
    CHECK_EQ(corners[0].z, plane[1][3].x);
    CHECK_EQ(corners[0].w, plane[1][2].x);
    CHECK_EQ(corners[1].x, plane[2][2].y);
    CHECK_EQ(corners[1].w, plane[1][2].y);

    /* Shapes that do not exist. */
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t wrong;
    CHECK_ERROR(cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 4, 5), cudaArrayCubemap),
                cudaErrorInvalidValue);
    CHECK_ERROR(cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 8, 6), cudaArrayCubemap),
                cudaErrorInvalidValue);
    CHECK_ERROR(cudaMalloc3DArray(&wrong, &format, make_cudaExtent(4, 4, 0), cudaArrayLayered),
                cudaErrorInvalidValue);
    (void)cudaGetLastError();
    return check_done();
}
