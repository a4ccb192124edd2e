# SPDX-License-Identifier: Apache-2.0
# Textures and surfaces in PTX text, by their objects, and aliases of functions: on cpu and a simulated GPU.
set -e
cd "$TMP"
cat >module.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64

.func (.param .b32 func_retval0) base(.param .b32 base_param_0)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [base_param_0];
	add.s32 %r2, %r1, 1000;
	st.param.b32 [func_retval0+0], %r2;
	ret;
}
.func (.param .b32 func_retval0) other(.param .b32 other_param_0);
.alias other, base;

.visible .entry fetch(.param .u64 out_param, .param .u64 linear, .param .u64 plane)
{
	.reg .b32 %r<16>;
	.reg .f32 %f<24>;
	.reg .b64 %rd<8>;
	ld.param.u64 %rd1, [out_param];
	ld.param.u64 %rd2, [linear];
	ld.param.u64 %rd3, [plane];
	cvta.to.global.u64 %rd4, %rd1;
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %rd5, %r1, 16;
	add.s64 %rd6, %rd4, %rd5;
	tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [%rd2, {%r1}];
	cvt.rn.f32.u32 %f1, %r1;
	add.f32 %f2, %f1, 0f3F000000;
	mov.f32 %f3, 0f3FC00000;
	tex.2d.v4.f32.f32 {%f4, %f5, %f6, %f7}, [%rd3, {%f2, %f3}];
	tex.level.2d.v4.f32.f32 {%f8, %f9, %f10, %f11}, [%rd3, {%f2, %f3}], %f3;
	tld4.r.2d.v4.f32.f32 {%f12, %f13, %f14, %f15}, [%rd3, {%f2, %f3}];
	{
	.param .b32 param0;
	st.param.b32 [param0+0], %r2;
	.param .b32 retval0;
	call.uni (retval0), other, (param0);
	ld.param.b32 %r6, [retval0+0];
	}
	st.global.u32 [%rd6], %r6;
	st.global.f32 [%rd6+4], %f4;
	st.global.f32 [%rd6+8], %f8;
	add.f32 %f16, %f12, %f13;
	add.f32 %f17, %f14, %f15;
	add.f32 %f18, %f16, %f17;
	st.global.f32 [%rd6+12], %f18;
	ret;
}

.visible .entry swap(.param .u64 surface)
{
	.reg .b32 %r<16>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [surface];
	mov.u32 %r1, %tid.x;
	shl.b32 %r2, %r1, 3;
	mov.u32 %r3, 1;
	suld.b.2d.v2.b32.trap {%r4, %r5}, [%rd1, {%r2, %r3}];
	suld.b.2d.b32.zero {%r6}, [%rd1, {%r2, %r1}];
	add.s32 %r7, %r2, 4000;
	suld.b.2d.b32.zero {%r8}, [%rd1, {%r7, %r3}];
	add.s32 %r9, %r4, %r8;
	sust.b.2d.v2.b32.trap [%rd1, {%r2, %r3}], {%r5, %r9};
	ret;
}
END
cat >host.cu <<'END'
#include <cuda.h>
#include <stdio.h>
#include <string.h>

#define OK(call) do { int e = (int)(call); if (e) { printf("%s: %d\n", #call, e); return 1; } } while (0)
int main()
{
    const int n = 16, h = 4;
    CUmodule module;
    CUfunction fetch, swap;
    OK(cuInit(0));
    OK(cudaFree(0));
    OK(cuModuleLoad(&module, "module.ptx"));
    OK(cuModuleGetFunction(&fetch, module, "fetch"));
    OK(cuModuleGetFunction(&swap, module, "swap"));
    struct texel { int whole; float point, level, gathered; } *out;
    int *values;
    OK(cudaMallocManaged(&out, n * sizeof *out));
    OK(cudaMallocManaged(&values, n * sizeof *values));
    for (int i = 0; i < n; i++) values[i] = -i;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t linear, plane;
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = values;
    r.res.linear.sizeInBytes = n * sizeof *values;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    OK(cudaCreateTextureObject(&linear, &r, &d, NULL));
    float texels[h][n];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < n; x++) texels[y][x] = 100 * y + x;
    cudaArray_t array, pairs;
    cudaChannelFormatDesc one = cudaCreateChannelDesc<float>(), two = cudaCreateChannelDesc<int2>();
    OK(cudaMallocArray(&array, &one, n, h));
    OK(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof texels[0], sizeof texels[0], h, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeArray;
    r.res.array.array = array;
    d.addressMode[0] = d.addressMode[1] = cudaAddressModeClamp;
    OK(cudaCreateTextureObject(&plane, &r, &d, NULL));
    void *args[] = {&out, &linear, &plane};
    OK(cuLaunchKernel(fetch, 1, 1, 1, n, 1, 1, 0, 0, args, 0));
    OK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int x = 0; x < n; x++) {
        /* the centre of (x, 1): that texel and those to the right and below */
        const float sum = 2 * (100 + x) + 2 * (200 + x) + (x + 1 < n ? 2 : 0);
        wrong += out[x].whole != 1000 - x || out[x].point != 100 + x || out[x].level != 100 + x ||
                 out[x].gathered != sum;
    }
    int2 cells[h][n];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < n; x++) cells[y][x] = make_int2(x, 10 * x);
    OK(cudaMallocArray(&pairs, &two, n, h, cudaArraySurfaceLoadStore));
    OK(cudaMemcpy2DToArray(pairs, 0, 0, cells, sizeof cells[0], sizeof cells[0], h, cudaMemcpyHostToDevice));
    r.res.array.array = pairs;
    cudaSurfaceObject_t surface;
    OK(cudaCreateSurfaceObject(&surface, &r));
    void *surfaces[] = {&surface};
    OK(cuLaunchKernel(swap, 1, 1, 1, n, 1, 1, 0, 0, surfaces, 0));
    OK(cudaMemcpy2DFromArray(cells, sizeof cells[0], pairs, 0, 0, sizeof cells[0], h, cudaMemcpyDeviceToHost));
    for (int x = 0; x < n; x++) wrong += cells[1][x].x != 10 * x || cells[1][x].y != x || cells[2][x].x != x;
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
END
"$WPCC" -w host.cu -o host -lcuda
for device in cpu sim:v100; do
    WARPAGE_DEVICE=$device ./host >said || { echo "on $device:"; cat said; exit 1; }
    [ "$(cat said)" = "0 wrong" ] || { cat said; exit 1; }
done

# What is not there: a sentence.
sed 's/tex\.1d\.v4\.s32\.s32/tex.2d.v4.s32.s32/' module.ptx >bad.ptx
"$WPCC" -cubin bad.ptx -o bad.cubin 2>talk && { echo "a texel of a plane has whole coordinates"; exit 1; }
grep -q 'PTX line [0-9]*: the instruction "tex.2d.v4.s32.s32 .*only one-dimensional' talk || { cat talk; exit 1; }
sed 's/^.alias other, base/.alias other, none/' module.ptx >bad.ptx
"$WPCC" -cubin bad.ptx -o bad.cubin 2>talk && { echo "an alias of nothing was taken"; exit 1; }
grep -q 'PTX line [0-9]*: an alias needs' talk || { cat talk; exit 1; }
