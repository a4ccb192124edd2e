// SPDX-License-Identifier: Apache-2.0
/* Arrays, textures and surfaces of the driver API: every copy, formats, read modes, bad arguments. */
#include <cuda.h>

#include "check.h"

#define CHECK_DRIVER(call, expected) CHECK_EQ((int)(call), (int)(expected))
#define DRIVER_OK(call) CHECK_DRIVER(call, CUDA_SUCCESS)

enum { WIDTH = 24, HEIGHT = 10, DEPTH = 3 };

__global__ void read_2d(CUtexObject t, float *out) {
    out[blockIdx.x * WIDTH + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, blockIdx.x + 0.5f);
}
__global__ void read_normalized(CUtexObject t, float *out) {
    out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x);
}
__global__ void read_integers(CUtexObject t, int *out) {
    out[threadIdx.x] = tex1Dfetch<unsigned char>(t, threadIdx.x);
}
__global__ void add_one(CUsurfObject s) {
    float v;
    surf2Dread(&v, s, threadIdx.x * sizeof v, blockIdx.x);
    surf2Dwrite(v + 1, s, threadIdx.x * sizeof v, blockIdx.x);
}

static float image[HEIGHT * WIDTH], back[HEIGHT * WIDTH];

static CUDA_MEMCPY2D whole(CUarray array, float *host, bool is_to_array) {
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = is_to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = is_to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = c.dstHost = host;
    c.srcArray = c.dstArray = array;
    c.srcPitch = c.dstPitch = c.WidthInBytes = WIDTH * sizeof *host;
    c.Height = HEIGHT;
    return c;
}

static void images() {
    CUDA_ARRAY3D_DESCRIPTOR d = {WIDTH, HEIGHT, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST}, got;
    CUDA_ARRAY_DESCRIPTOR flat;
    CUarray array = NULL;
    DRIVER_OK(cuArray3DCreate(&array, &d));
    DRIVER_OK(cuArray3DGetDescriptor(&got, array));
    CHECK(got.Width == WIDTH && got.Height == HEIGHT && got.Depth == 0 && got.Format == CU_AD_FORMAT_FLOAT &&
          got.NumChannels == 1 && got.Flags == CUDA_ARRAY3D_SURFACE_LDST);
    DRIVER_OK(cuArrayGetDescriptor(&flat, array));
    CHECK(flat.Width == WIDTH && flat.Height == HEIGHT && flat.NumChannels == 1);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        image[i] = (float)i;
    CUDA_MEMCPY2D copy = whole(array, image, true);
    DRIVER_OK(cuMemcpy2D(&copy));

    CUDA_RESOURCE_DESC r = {}, described;
    CUDA_TEXTURE_DESC t = {};
    CUtexObject texture;
    r.resType = CU_RESOURCE_TYPE_ARRAY;
    r.res.array.hArray = array;
    DRIVER_OK(cuTexObjectCreate(&texture, &r, &t, NULL));
    DRIVER_OK(cuTexObjectGetResourceDesc(&described, texture));
    CHECK(described.resType == CU_RESOURCE_TYPE_ARRAY && described.res.array.hArray == array);
    CUdeviceptr out;
    DRIVER_OK(cuMemAlloc(&out, sizeof image));
    read_2d<<<HEIGHT, WIDTH>>>(texture, (float *)out);
    DRIVER_OK(cuMemcpyDtoH(back, out, sizeof back));
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        CHECK_EQ(back[i], (float)i);
    DRIVER_OK(cuTexObjectDestroy(texture));

    CUsurfObject surface;
    DRIVER_OK(cuSurfObjectCreate(&surface, &r));
    DRIVER_OK(cuSurfObjectGetResourceDesc(&described, surface));
    CHECK(described.res.array.hArray == array);
    add_one<<<HEIGHT, WIDTH>>>(surface);
    DRIVER_OK(cuCtxSynchronize());
    DRIVER_OK(cuSurfObjectDestroy(surface));
    copy = whole(array, back, false);
    copy.srcXInBytes = 4 * sizeof(float); /* a part: columns 4 to 11 of rows 2 to 4 */
    copy.srcY = 2;
    copy.WidthInBytes = 8 * sizeof(float);
    copy.Height = 3;
    DRIVER_OK(cuMemcpy2D(&copy));
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 8; x++)
            CHECK_EQ(back[y * WIDTH + x], (float)((y + 2) * WIDTH + x + 4 + 1));
    copy.srcXInBytes = 3; /* inside an element */
    CHECK_DRIVER(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    copy.srcXInBytes = WIDTH * sizeof(float);
    CHECK_DRIVER(cuMemcpy2D(&copy), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemFree(out));
    DRIVER_OK(cuArrayDestroy(array));
    CHECK(cuArrayDestroy(array) != CUDA_SUCCESS);
}

/* Copies along a row, between arrays, and of a box. */
static void copies() {
    CUDA_ARRAY_DESCRIPTOR d = {WIDTH, 0, CU_AD_FORMAT_SIGNED_INT16, 2};
    CUarray a, b;
    short from[WIDTH * 2], to[WIDTH * 2] = {0};
    DRIVER_OK(cuArrayCreate(&a, &d));
    DRIVER_OK(cuArrayCreate(&b, &d));
    for (int i = 0; i < WIDTH * 2; i++)
        from[i] = (short)(i - 20);
    DRIVER_OK(cuMemcpyHtoA(a, 0, from, sizeof from));
    DRIVER_OK(cuMemcpyAtoA(b, 0, a, 0, sizeof from));
    DRIVER_OK(cuMemcpyAtoH(to, b, 8, sizeof to - 8));
    for (int i = 0; i < WIDTH * 2 - 4; i++)
        CHECK_EQ(to[i], from[i + 4]);
    CUdeviceptr device;
    DRIVER_OK(cuMemAlloc(&device, sizeof from));
    DRIVER_OK(cuMemcpyAtoD(device, b, 0, sizeof from));
    DRIVER_OK(cuMemsetD16(device, 7, 2));
    DRIVER_OK(cuMemcpyDtoA(a, 0, device, sizeof from));
    DRIVER_OK(cuMemcpyAtoHAsync(to, a, 0, sizeof to, NULL));
    DRIVER_OK(cuCtxSynchronize());
    for (int i = 0; i < WIDTH * 2; i++)
        CHECK_EQ(to[i], i < 2 ? 7 : from[i]);
    DRIVER_OK(cuMemcpyHtoAAsync(a, 4, from, 8, NULL));
    DRIVER_OK(cuMemcpyAtoH(to, a, 0, sizeof to));
    CHECK(to[1] == 7 && to[2] == from[0] && to[5] == from[3] && to[6] == from[6]);
    CHECK_DRIVER(cuMemcpyHtoA(a, sizeof from, from, 4), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemFree(device));
    DRIVER_OK(cuArrayDestroy(a));
    DRIVER_OK(cuArrayDestroy(b));

    CUDA_ARRAY3D_DESCRIPTOR box = {4, 3, DEPTH, CU_AD_FORMAT_UNSIGNED_INT32, 1, 0};
    unsigned data[DEPTH * 3 * 4], out[DEPTH * 3 * 4];
    DRIVER_OK(cuArray3DCreate(&a, &box));
    for (unsigned i = 0; i < DEPTH * 3 * 4; i++)
        data[i] = i * i;
    CUDA_MEMCPY3D c = {};
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost = data;
    c.srcPitch = 16;
    c.srcHeight = 3;
    c.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    c.dstArray = a;
    c.WidthInBytes = 16;
    c.Height = 3;
    c.Depth = DEPTH;
    DRIVER_OK(cuMemcpy3D(&c));
    CUDA_MEMCPY3D e = {};
    e.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    e.srcArray = a;
    e.srcZ = 1;
    e.dstMemoryType = CU_MEMORYTYPE_HOST;
    e.dstHost = out;
    e.dstPitch = 16;
    e.dstHeight = 3;
    e.WidthInBytes = 16;
    e.Height = 3;
    e.Depth = DEPTH - 1;
    DRIVER_OK(cuMemcpy3D(&e));
    for (unsigned i = 0; i < (DEPTH - 1) * 12; i++)
        CHECK_EQ(out[i], data[i + 12]);
    DRIVER_OK(cuArrayDestroy(a));
}

static void read_modes() {
    unsigned char bytes[32];
    float floats[32];
    int numbers[32];
    CUdeviceptr data, out;
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)(i * 8);
    DRIVER_OK(cuMemAlloc(&data, sizeof bytes));
    DRIVER_OK(cuMemAlloc(&out, sizeof floats));
    DRIVER_OK(cuMemcpyHtoD(data, bytes, sizeof bytes));
    CUDA_RESOURCE_DESC r = {};
    CUDA_TEXTURE_DESC t = {};
    CUtexObject texture;
    r.resType = CU_RESOURCE_TYPE_LINEAR;
    r.res.linear.devPtr = data;
    r.res.linear.format = CU_AD_FORMAT_UNSIGNED_INT8;
    r.res.linear.numChannels = 1;
    r.res.linear.sizeInBytes = sizeof bytes;
    DRIVER_OK(cuTexObjectCreate(&texture, &r, &t, NULL)); /* 0 to 1 unless the flag is set */
    read_normalized<<<1, 32>>>(texture, (float *)out);
    DRIVER_OK(cuMemcpyDtoH(floats, out, sizeof floats));
    DRIVER_OK(cuTexObjectDestroy(texture));
    t.flags = CU_TRSF_READ_AS_INTEGER;
    DRIVER_OK(cuTexObjectCreate(&texture, &r, &t, NULL));
    read_integers<<<1, 32>>>(texture, (int *)out);
    DRIVER_OK(cuMemcpyDtoH(numbers, out, sizeof numbers));
    DRIVER_OK(cuTexObjectDestroy(texture));
    for (int i = 0; i < 32; i++) {
        CHECK_NEAR(floats[i], (float)bytes[i] / 255.0f, 1);
        CHECK_EQ(numbers[i], bytes[i]);
    }
    CUDA_RESOURCE_VIEW_DESC view = {};
    CHECK_DRIVER(cuTexObjectCreate(&texture, &r, &t, &view), CUDA_ERROR_NOT_SUPPORTED);
    r.res.linear.numChannels = 3;
    CHECK_DRIVER(cuTexObjectCreate(&texture, &r, &t, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_DRIVER(cuTexObjectCreate(&texture, NULL, &t, NULL), CUDA_ERROR_INVALID_VALUE);
    DRIVER_OK(cuMemFree(data));
    DRIVER_OK(cuMemFree(out));
}

int main() {
    CUdevice device;
    CUcontext context;
    CUarray none;
    DRIVER_OK(cuInit(0));
    DRIVER_OK(cuDeviceGet(&device, 0));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&context, device));
    DRIVER_OK(cuCtxSetCurrent(context));
    CUDA_ARRAY_DESCRIPTOR bad = {8, 8, (CUarray_format)0x77, 1};
    CHECK_DRIVER(cuArrayCreate(&none, &bad), CUDA_ERROR_INVALID_VALUE);
    CHECK_DRIVER(cuArrayCreate(&none, NULL), CUDA_ERROR_INVALID_VALUE);
    images();
    copies();
    read_modes();
    DRIVER_OK(cuDevicePrimaryCtxRelease(device));
    return check_done();
}
