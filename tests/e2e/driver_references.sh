# SPDX-License-Identifier: Apache-2.0
# Texture and surface references of modules, and launches with cuParamSetv and cuLaunchGrid, on cpu, a simulated GPU and
# the stand-in for NVIDIA's driver.
set -e
cd "$TMP"
cat >module.cu <<'END'
texture<float, 1> line;
texture<int2, 1> pairs;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> bytes;
texture<float, 2> plane;
surface<void, 2> target;
extern "C" __global__ void fetch(float *out, char tag, double scale, int n)
{
    const int x = threadIdx.x, y = blockIdx.x;
    const int2 p = tex1Dfetch(pairs, x);
    extern __shared__ float kept[];
    kept[x] = tex1Dfetch(line, x) * (float)scale;
    __syncthreads();
    if (x < n) out[y * n + x] = kept[n - 1 - x] + p.x - p.y + tag;
    surf2Dwrite(tex2D(plane, (float)x, (float)y) + 1.0f, target, x * 4, y);
}
extern "C" __global__ void shades(float *out, float at)
{
    out[threadIdx.x] = tex2D(bytes, at + threadIdx.x, 0.5f);
}
END
cat >host.cu <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(call) do { CUresult r = (call); if (r) { const char *s; cuGetErrorName(r, &s); \
    printf("line %d: %s\n", __LINE__, s); exit(1); } } while (0)
#define IS(a, b) do { if ((a) != (b)) { printf("line %d: %g, not %g\n", __LINE__, (double)(a), (double)(b)); exit(1); } } while (0)
enum { W = 32, H = 3 };

static CUarray make_array(CUarray_format format, unsigned flags)
{
    CUarray a;
    CUDA_ARRAY3D_DESCRIPTOR d = {W, H, 0, format, 1, flags};
    OK(cuArray3DCreate(&a, &d));
    return a;
}

static void copy_array(CUarray a, void *host, size_t row_bytes, bool is_to_array)
{
    CUDA_MEMCPY2D c = {};
    c.srcMemoryType = is_to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    c.dstMemoryType = is_to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    c.srcHost = host, c.dstHost = host, c.srcArray = a, c.dstArray = a;
    c.srcPitch = c.dstPitch = c.WidthInBytes = row_bytes, c.Height = H;
    OK(cuMemcpy2D(&c));
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule m;
    CUfunction fetch, shades;
    CUtexref line, pairs, bytes, plane, own, same;
    CUsurfref target;
    CUdeviceptr dline, dother, dpairs, out, at;
    CUarray as_plane, as_target, as_bytes, got;
    CUaddress_mode address;
    CUfilter_mode filter;
    CUarray_format format;
    unsigned flags;
    int channels;
    float host[W * H], result[W * H];
    int2 two[W];
    unsigned char grey[W * H];
    size_t offset = 7;
    OK(cuInit(0)); OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoad(&m, argv[1]));
    OK(cuModuleGetFunction(&fetch, m, "fetch")); OK(cuModuleGetFunction(&shades, m, "shades"));
    OK(cuModuleGetTexRef(&line, m, "line")); OK(cuModuleGetTexRef(&pairs, m, "pairs"));
    OK(cuModuleGetTexRef(&plane, m, "plane")); OK(cuModuleGetTexRef(&bytes, m, "bytes"));
    OK(cuModuleGetTexRef(&same, m, "line")); IS(same == line, true);
    OK(cuModuleGetSurfRef(&target, m, "target"));
    IS(cuModuleGetTexRef(&own, m, "nothing"), CUDA_ERROR_NOT_FOUND);
    for (int i = 0; i < W * H; i++) host[i] = i * 0.5f, grey[i] = 5 * i % 256;
    for (int i = 0; i < W; i++) two[i] = make_int2(3 * i, i);
    OK(cuMemAlloc(&dline, sizeof host)); OK(cuMemcpyHtoD(dline, host, sizeof host));
    OK(cuMemAlloc(&dother, sizeof host)); OK(cuMemcpyHtoD(dother, host + W, sizeof host / 3));
    OK(cuMemAlloc(&dpairs, sizeof two)); OK(cuMemcpyHtoD(dpairs, two, sizeof two));
    OK(cuMemAlloc(&out, sizeof result));
    as_plane = make_array(CU_AD_FORMAT_FLOAT, 0);
    as_target = make_array(CU_AD_FORMAT_FLOAT, CUDA_ARRAY3D_SURFACE_LDST);
    as_bytes = make_array(CU_AD_FORMAT_UNSIGNED_INT8, 0);
    copy_array(as_plane, host, W * 4, true); copy_array(as_bytes, grey, W, true);

    /* What is set is what a query returns. */
    OK(cuTexRefSetAddress(&offset, line, dline, W * 4)); IS(offset, 0);
    OK(cuTexRefGetAddress(&at, line)); IS(at == dline, true);
    IS(cuTexRefGetArray(&got, line), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefSetFormat(line, CU_AD_FORMAT_FLOAT, 1));
    OK(cuTexRefSetFlags(pairs, CU_TRSF_READ_AS_INTEGER));
    OK(cuTexRefSetFormat(pairs, CU_AD_FORMAT_SIGNED_INT32, 2));
    OK(cuTexRefSetAddress(NULL, pairs, dpairs, sizeof two));
    OK(cuTexRefGetFormat(&format, &channels, pairs)); IS(format, CU_AD_FORMAT_SIGNED_INT32); IS(channels, 2);
    OK(cuTexRefGetFlags(&flags, pairs)); IS(flags, CU_TRSF_READ_AS_INTEGER);
    IS(cuTexRefSetArray(plane, as_plane, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuTexRefSetArray(plane, as_plane, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefGetArray(&got, plane)); IS(got == as_plane, true);
    OK(cuSurfRefSetArray(target, as_target, 0));
    OK(cuSurfRefGetArray(&got, target)); IS(got == as_target, true);

    /* A launch of CUDA 3: 8 bytes of a pointer, a char, a double, an int. */
    char tag = 2;
    double scale = 4;
    IS(cuLaunchGrid(fetch, H, 1), CUDA_ERROR_INVALID_VALUE); /* no shape of the block */
    OK(cuFuncSetBlockShape(fetch, W, 1, 1)); OK(cuFuncSetSharedSize(fetch, W * 4));
    OK(cuParamSetv(fetch, 0, &out, sizeof out)); OK(cuParamSetv(fetch, 8, &tag, 1));
    OK(cuParamSetv(fetch, 16, &scale, sizeof scale)); OK(cuParamSeti(fetch, 24, W));
    IS(cuLaunchGrid(fetch, H, 1), CUDA_ERROR_INVALID_VALUE); /* no size */
    OK(cuParamSetSize(fetch, 28));
    OK(cuParamSetTexRef(fetch, CU_PARAM_TR_DEFAULT, line));
    IS(cuParamSetv(fetch, 4090, &scale, sizeof scale), CUDA_ERROR_INVALID_VALUE);
    OK(cuLaunchGrid(fetch, H, 1));
    OK(cuMemcpyDtoH(result, out, sizeof result));
    for (int i = 0; i < W * H; i++) IS(result[i], 4 * host[W - 1 - i % W] + 2 * (i % W) + 2);
    copy_array(as_target, result, W * 4, false);
    for (int i = 0; i < W * H; i++) IS(result[i], host[i] + 1);

    /* Bound to other memory, on a stream; kernels of before have the former binding. */
    CUstream stream;
    OK(cuStreamCreate(&stream, 0));
    OK(cuTexRefSetAddress(NULL, line, dother, W * 4));
    OK(cuLaunchGridAsync(fetch, H, 1, stream)); OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(result, out, sizeof result));
    for (int i = 0; i < W * H; i++) IS(result[i], 4 * host[2 * W - 1 - i % W] + 2 * (i % W) + 2);

    /* Modes after the memory; cuLaunchKernel reads them, too. */
    float begin = 0.5f;
    void *args[] = {&out, &begin};
    OK(cuTexRefSetArray(bytes, as_bytes, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuLaunchKernel(shades, 1, 1, 1, W, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(result, out, W * 4));
    for (int i = 0; i < W; i++) IS(result[i], grey[i] / 255.0f);
    begin = 1;
    OK(cuTexRefSetFilterMode(bytes, CU_TR_FILTER_MODE_LINEAR));
    OK(cuTexRefGetFilterMode(&filter, bytes)); IS(filter, CU_TR_FILTER_MODE_LINEAR);
    OK(cuTexRefSetAddressMode(bytes, 0, CU_TR_ADDRESS_MODE_BORDER));
    OK(cuTexRefGetAddressMode(&address, bytes, 0)); IS(address, CU_TR_ADDRESS_MODE_BORDER);
    OK(cuLaunchKernel(shades, 1, 1, 1, W, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(result, out, W * 4));
    for (int i = 0; i < W - 1; i++) IS(abs(result[i] - (grey[i] + grey[i + 1]) / 510.0f) < 1e-3f, true);
    IS(abs(result[W - 1] - grey[W - 1] / 510.0f) < 1e-3f, true);

    OK(cuTexRefCreate(&own)); OK(cuTexRefSetArray(own, as_plane, CU_TRSA_OVERRIDE_FORMAT));
    OK(cuTexRefDestroy(own)); IS(cuTexRefDestroy(own), CUDA_ERROR_INVALID_HANDLE);
    IS(cuTexRefDestroy(line), CUDA_ERROR_INVALID_HANDLE);
    OK(cuModuleUnload(m));
    IS(cuTexRefSetFlags(line, 0), CUDA_ERROR_INVALID_HANDLE);
    puts("right");
    return 0;
}
END
"$WPCC" host.cu -o host -lcuda
"$WPCC" -cubin module.cu -o module.cubin
fake=$(cd "$(dirname "$WPCC")/../tests" && pwd)/libfake_cuda.so
for device in cpu sim:gtx1080ti cuda:0; do
    said=$(WARPAGE_DEVICE=$device WARPAGE_LIBCUDA=$fake ./host module.cubin 2>&1) && [ "$said" = right ] ||
        { echo "on $device: $said"; exit 1; }
done
