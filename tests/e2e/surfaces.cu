/* SPDX-License-Identifier: Apache-2.0 */
/* Surface objects and a surface reference: x counts bytes, boundary modes, texel types, layers. */
#include "check.h"

#define W 9
#define H 6
#define D 3

surface<void, cudaSurfaceType2D> reference;

__global__ void double_all(cudaSurfaceObject_t from, cudaSurfaceObject_t to)
{
    int x = threadIdx.x, y = threadIdx.y;
    float value = surf2Dread<float>(from, x * (int)sizeof(float), y);
    surf2Dwrite(2 * value, to, x * (int)sizeof(float), y);
}

__global__ void through_reference(float *out)
{
    float value;
    surf2Dread(&value, reference, 3 * (int)sizeof(float), 2);
    surf2Dwrite(value + 0.5f, reference, 4 * (int)sizeof(float), 2);
    *out = value;
}

__global__ void outside(cudaSurfaceObject_t s, float *out)
{
    const int b = (int)sizeof(float);
    out[0] = surf2Dread<float>(s, -b, 0, cudaBoundaryModeZero);
    out[1] = surf2Dread<float>(s, W * b, 1, cudaBoundaryModeZero);
    out[2] = surf2Dread<float>(s, 0, H, cudaBoundaryModeZero);
    out[3] = surf2Dread<float>(s, -100, -7, cudaBoundaryModeClamp);
    out[4] = surf2Dread<float>(s, 100 * b, 100, cudaBoundaryModeClamp);
    out[5] = surf2Dread<float>(s, 2 * b, 100, cudaBoundaryModeClamp);
    surf2Dwrite(-1.0f, s, W * b, 2, cudaBoundaryModeZero); /* nothing happens */
    surf2Dwrite(-2.0f, s, W * b, 3, cudaBoundaryModeClamp);
}

__global__ void trap(cudaSurfaceObject_t s)
{
    surf2Dwrite(1.0f, s, 0, H);
}

__global__ void fill_3d(cudaSurfaceObject_t s)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    surf3Dwrite(make_uchar4(x, y, z, 7), s, x * 4, y, z);
}

__global__ void fill_layers(cudaSurfaceObject_t s)
{
    surf2DLayeredwrite((short)(threadIdx.x + 100 * threadIdx.y + 1000 * threadIdx.z), s,
                       (int)(threadIdx.x * sizeof(short)), threadIdx.y, threadIdx.z);
}

__global__ void reverse_row(cudaSurfaceObject_t s)
{
    int4 value = surf1Dread<int4>(s, (int)(threadIdx.x * sizeof(int4)));
    __syncthreads();
    surf1Dwrite(value, s, (int)((blockDim.x - 1 - threadIdx.x) * sizeof(int4)));
}

static cudaSurfaceObject_t make_surface(cudaArray_t array)
{
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaSurfaceObject_t object = 0;
    CUDA_OK(cudaCreateSurfaceObject(&object, &resource));
    return object;
}

template <class T> static cudaArray_t make_array(size_t w, size_t h, size_t d, unsigned flags)
{
    cudaChannelFormatDesc format = cudaCreateChannelDesc<T>();
    cudaArray_t array;
    CUDA_OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(w, h, d),
                              flags | cudaArraySurfaceLoadStore));
    return array;
}

static void copy_out(void *to, cudaArray_t array, size_t w, size_t texel_bytes, size_t h, size_t d)
{
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcArray = array;
    copy.dstPtr = make_cudaPitchedPtr(to, w * texel_bytes, w, h);
    copy.extent = make_cudaExtent(w, h, d);
    copy.kind = cudaMemcpyDeviceToHost;
    CUDA_OK(cudaMemcpy3D(&copy));
}

/* In a process of its own: a device that failed may be of no more use to it. */
static int write_outside(void)
{
    trap<<<1, 1>>>(make_surface(make_array<float>(W, H, 0, 0)));
    printf("launch %s\n", cudaGetErrorName(cudaGetLastError()));
    printf("wait %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return write_outside();
    static float in[H][W], back[H][W];
    for (int i = 0; i < H * W; i++)
        (&in[0][0])[i] = (float)(i + 1);
    cudaArray_t first = make_array<float>(W, H, 0, 0), second = make_array<float>(W, H, 0, 0);
    CUDA_OK(cudaMemcpy2DToArray(first, 0, 0, in, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t from = make_surface(first), to = make_surface(second);
    double_all<<<1, dim3(W, H)>>>(from, to);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy2DFromArray(back, W * 4, second, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    for (int i = 0; i < H * W; i++)
        CHECK_EQ((&back[0][0])[i], 2.0f * (i + 1));

    float *out = check_managed<float>(8);
    CUDA_OK(cudaBindSurfaceToArray(reference, first));
    through_reference<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], in[2][3]);
    CUDA_OK(cudaMemcpy2DFromArray(back, W * 4, first, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    CHECK_EQ(back[2][4], in[2][3] + 0.5f);

    outside<<<1, 1>>>(to, out);
    KERNEL_OK();
    for (int i = 0; i < 3; i++)
        CHECK_EQ(out[i], 0.0f);
    CHECK_EQ(out[3], 2 * in[0][0]);
    CHECK_EQ(out[4], 2 * in[H - 1][W - 1]);
    CHECK_EQ(out[5], 2 * in[H - 1][2]);
    CUDA_OK(cudaMemcpy2DFromArray(back, W * 4, second, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    CHECK_EQ(back[2][W - 1], 2 * in[2][W - 1]);
    CHECK_EQ(back[3][W - 1], -2.0f);
    CHECK_EQ(back[3][0], 2 * in[3][0]);

    cudaArray_t cube = make_array<uchar4>(W, H, D, 0);
    cudaSurfaceObject_t object = make_surface(cube);
    fill_3d<<<1, dim3(W, H, D)>>>(object);
    KERNEL_OK();
    static uchar4 texels[D][H][W];
    copy_out(texels, cube, W, 4, H, D);
    for (int i = 0; i < D * H * W; i++) {
        uchar4 v = (&texels[0][0][0])[i];
        CHECK(v.x == i % W && v.y == i / W % H && v.z == i / W / H && v.w == 7);
    }
    CUDA_OK(cudaDestroySurfaceObject(object));
    CUDA_OK(cudaFreeArray(cube));

    cudaArray_t layers = make_array<short>(W, H, D, cudaArrayLayered);
    object = make_surface(layers);
    fill_layers<<<1, dim3(W, H, D)>>>(object);
    KERNEL_OK();
    static short shorts[D][H][W];
    copy_out(shorts, layers, W, 2, H, D);
    for (int i = 0; i < D * H * W; i++)
        CHECK_EQ((&shorts[0][0][0])[i], i % W + 100 * (i / W % H) + 1000 * (i / W / H));
    CUDA_OK(cudaDestroySurfaceObject(object));
    CUDA_OK(cudaFreeArray(layers));

    cudaArray_t row = make_array<int4>(W, 0, 0, 0);
    static int4 ints[W];
    for (int i = 0; i < W; i++)
        ints[i] = make_int4(i, -i, 10 * i, 5);
    CUDA_OK(cudaMemcpyToArray(row, 0, 0, ints, sizeof ints, cudaMemcpyHostToDevice));
    object = make_surface(row);
    reverse_row<<<1, W>>>(object);
    KERNEL_OK();
    CUDA_OK(cudaMemcpyFromArray(ints, row, 0, 0, sizeof ints, cudaMemcpyDeviceToHost));
    for (int i = 0; i < W; i++)
        CHECK(ints[i].x == W - 1 - i && ints[i].z == 10 * (W - 1 - i) && ints[i].w == 5);
    CUDA_OK(cudaDestroySurfaceObject(object));
    CUDA_OK(cudaFreeArray(row));

    /* An array that was not made for it is no surface. */
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t plain;
    CUDA_OK(cudaMallocArray(&plain, &format, W, H));
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof resource);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = plain;
    CHECK_ERROR(cudaCreateSurfaceObject(&object, &resource), cudaErrorInvalidValue);
    (void)cudaGetLastError();

    /* Outside without a mode: the kernel fails; which error it is GPUs do not agree on. */
    static char text[4096];
    CHECK_EQ(check_run_self(argv[0], "outside", text, sizeof text), 0);
    if (strstr(text, "launch cudaSuccess") == NULL || strstr(text, "wait cudaError") == NULL) {
        check_note_failure();
        printf("FAIL: outside without a mode: %s", text);
    }
    return check_done();
}
