# SPDX-License-Identifier: Apache-2.0
# PTX text as a source: a module as other compilers write it (shared addresses of 32 bits, calls, tables of branches)
# on cpu and a simulated GPU, with checks and traces; programs that run from their own PTX; what is not understood.
set -e
cd "$TMP"
cat >module.ptx <<'END'
// A module as nvcc writes it.
.version 7.0
.target sm_70
.address_size 64
	.file	1 "/a//path/with/comment.cu"
.global .align 4 .u32 calls = 3;
.const .align 4 .f32 weights[4] = {0f3F800000, 0f40000000, 3.0, 4};
.global .align 8 .u64 where = generic(calls);
.shared .align 4 .b8 tile[512];

.func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [twice_param_0];
	add.s32 %r2, %r1, %r1;
	st.param.b32 [func_retval0+0], %r2;
	ret;
}

.visible .entry reverse(.param .u64 reverse_param_0, .param .u32 reverse_param_1)
.maxntid 16, 8, 1 // 128 threads of any shape
{
	.local .align 8 .b8 __local_depot0[16];
	.reg .pred %p<4>;
	.reg .b32 %r<24>;
	.reg .f32 %f<5>;
	.reg .b64 %rd<12>, %SP, %SPL;
	mov.u64 %SPL, __local_depot0;
	cvta.local.u64 %SP, %SPL;
	ld.param.u64 %rd1, [reverse_param_0];
	ld.param.u32 %r1, [reverse_param_1];
	cvta.to.global.u64 %rd2, %rd1;
	mov.u32 %r2, %tid.x;
	setp.ge.u32 %p1, %r2, %r1;
	mul.wide.u32 %rd3, %r2, 4;
	add.s64 %rd4, %rd2, %rd3;
	@!%p1 ld.global.u32 %r3, [%rd4];
	shl.b32 %r4, %r2, 2;
	mov.u32 %r5, tile;
	add.s32 %r6, %r5, %r4;
	@!%p1 st.shared.u32 [%r6], %r3;
	bar.sync 0;
	@%p1 bra $L_end;
	not.b32 %r7, %r2;
	add.s32 %r8, %r1, %r7;
	mad.lo.s32 %r9, %r8, 4, %r5;
	cvt.u64.u32 %rd5, %r9;
	cvta.shared.u64 %rd6, %rd5;		// generic, from 32 bits
	ld.u32 %r10, [%rd6];
	{ // callseq 0, 0
	.param .b32 param0;
	st.param.b32 [param0+0], %r10;
	.param .b32 retval0;
	call.uni (retval0), twice, (param0);
	ld.param.b32 %r11, [retval0+0];
	}
	and.b32 %r12, %r2, 3;
$L_brx: .branchtargets $L_zero, $L_one, $L_two, $L_three;
	brx.idx %r12, $L_brx;
$L_zero:
	add.s32 %r11, %r11, 1000;
	bra.uni $L_sum;
$L_one:
	add.s32 %r11, %r11, 2000;
	bra.uni $L_sum;
$L_two:
	{ // a loop with a label of its own
	.reg .pred %p1;
	mov.u32 %r13, 0;
again:	add.s32 %r11, %r11, 1;
	add.s32 %r13, %r13, 1;
	setp.lt.u32 %p1, %r13, 5;
	@%p1 bra again;
	}
$L_three:
$L_sum:
	st.local.v2.u32 [%SPL+8], {%r11, %r12};
	ld.v2.u32 {%r14, %r15}, [%SP+8];
	mov.u64 %rd7, weights;
	mul.wide.u32 %rd8, %r15, 4;
	add.s64 %rd9, %rd7, %rd8;
	ld.const.f32 %f1, [%rd9];
	cvt.rn.f32.s32 %f2, %r14;
	mul.rn.f32 %f3, %f1, %f2;
	cvt.rzi.s32.f32 %r16, %f3;
	st.global.u32 [%rd4], %r16;
	ld.global.u64 %rd10, [where];
	atom.add.u32 %r17, [%rd10], 1;
$L_end:
	ret;
}
END
cat >host.cu <<'END'
#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#define OK(call) do { CUresult r = (call); if (r) { const char *s; cuGetErrorName(r, &s); \
    printf("line %d: %s\n", __LINE__, s); exit(1); } } while (0)
enum { MOST = 128 };
int main(int argc, char **argv)
{
    static char text[1 << 16];
    int n = argc > 2 ? atoi(argv[2]) : 101, data[MOST], calls, wrong = 0;
    CUcontext context;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d, at;
    size_t bytes;
    FILE *file = fopen(argv[1], "r");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    for (int i = 0; i < MOST; i++) data[i] = 3 * i;
    OK(cuInit(0)); OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoadData(&m, text));
    OK(cuModuleGetFunction(&f, m, "reverse"));
    OK(cuMemAlloc(&d, 101 * sizeof(int)));
    OK(cuMemcpyHtoD(d, data, 101 * sizeof(int)));
    void *args[] = {&d, &n};
    OK(cuLaunchKernel(f, 1, 1, 1, MOST, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemcpyDtoH(data, d, 101 * sizeof(int)));
    OK(cuModuleGetGlobal(&at, &bytes, m, "calls"));
    OK(cuMemcpyDtoH(&calls, at, sizeof calls));
    for (int t = 0; t < 101; t++) {
        int more[] = {1000, 2000, 5, 0};
        wrong += data[t] != (int)((t % 4 + 1.0f) * (float)(2 * 3 * (100 - t) + more[t % 4]));
    }
    printf("%d wrong, %d calls, %d bytes\n", wrong, calls, (int)bytes);
    return wrong != 0;
}
END
"$WPCC" host.cu -o host -lcuda
for device in cpu sim:gtx1080ti; do
    [ "$(WARPAGE_DEVICE=$device ./host module.ptx)" = "0 wrong, 104 calls, 4 bytes" ] || { echo "wrong on $device"; exit 1; }
done
# From the cache, without wpcc; and as an image that wpcc wrote.
WARPAGE_LOG=debug ./host module.ptx >said 2>talk
grep -q '0 wrong, 104 calls' said
"$WPCC" -cubin module.ptx -o module.cubin
"$WPCC" -emit-llvm module.ptx -o module.bc
# Checks find what the PTX does, and name its array: 128 threads on an array of 101.
"$WARPAGE" run --check -- ./host module.ptx 110 >said 2>talk && { echo "the check found nothing"; cat said talk; exit 1; }
grep -q 'reverse' talk || { cat talk; exit 1; }

# Fat binaries: in cuModuleLoadData, and in a program as nvcc links it, with LZ4, Zstandard and without.
cat >fat.py <<'END'
import struct, sys
def entry(kind, data, flags, raw):
    padded = data + b"\0" * (-len(data) % 8)
    return struct.pack("<HHIQIIIIIIQQQ", kind, 0x101, 64, len(padded), len(data), 0, 0, 70, 64, 0, flags, 0, raw) + padded
def lz4(data): # literals only
    rest = len(data) - 15
    return bytes([0xf0]) + b"\xff" * (rest // 255) + bytes([rest % 255]) + data
def zstd(data): # blocks that are not compressed
    blocks = [data[i:i + 65536] for i in range(0, len(data), 65536)]
    out = struct.pack("<IBI", 0xfd2fb528, 0xa0, len(data))
    for i, block in enumerate(blocks):
        out += struct.pack("<I", (i == len(blocks) - 1) | len(block) << 3)[:3] + block
    return out
kind, source, out = sys.argv[1:]
text = open(source, "rb").read() + b"\0"
body = entry(2, b"\x7fELF machine code", 0x11, 0)
if kind == "plain": body += entry(1, text, 0x11, 0)
if kind == "lz4": body += entry(1, lz4(text), 0x2011, len(text))
if kind == "zstd": body += entry(1, zstd(text), 0x8011, len(text))
open(out, "wb").write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(body)) + body)
END
cat >linked.cu <<'END'
#include <stdio.h>
__device__ int calls;
extern "C" __global__ void reverse(int *data, int n) {}
int main()
{
    int *data, counted = 0;
    cudaMallocManaged(&data, 101 * sizeof *data);
    for (int i = 0; i < 101; i++) data[i] = i;
    reverse<<<1, 128>>>(data, 101);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = cudaMemcpyFromSymbol(&counted, calls, sizeof counted);
    printf("%s, %d, %d calls\n", cudaGetErrorName(error), data[3], counted);
}
END
"$WPCC" -c linked.cu -o linked.o
for kind in plain lz4 zstd none; do
    python3 fat.py $kind module.ptx $kind.fatbin
    objcopy --update-section .nv_fatbin=$kind.fatbin linked.o $kind.o
    "$WPCC" $kind.o -o linked-$kind
    ./linked-$kind >said 2>talk || true
    wanted="cudaSuccess, 776, 104 calls"
    [ $kind != none ] || wanted="cudaErrorNoKernelImageForDevice, 3, 0 calls"
    [ "$(cat said)" = "$wanted" ] || { echo "with $kind:"; cat said talk; exit 1; }
done
# … that looks for NVIDIA's runtime, which `warpage run` provides under its name and version.
names=${WARPAGE%/*}/../lib/warpage/nvidia
nm -u lz4.o | sed -n 's/.* \(_*cuda[A-Za-z]*\)$/void \1() {}/p' >stand_in.c
for version in 11.0 12 13; do
    echo "libcudart.so.$version { global: *; };" >stand_in.map
    gcc -shared -w -x c stand_in.c -o stand_in.so -Wl,-soname,libcudart.so.$version,--version-script=stand_in.map
    g++ lz4.o -o linked-$version ./stand_in.so "$names/libwarpage.so.0"
    readelf -V linked-$version | grep -q "Name: libcudart.so.$version" || { echo "$version: no version"; exit 1; }
    "$WARPAGE" run -- ./linked-$version >said 2>talk
    [ "$(cat said)" = "cudaSuccess, 776, 104 calls" ] || { echo "with $version:"; cat said talk; exit 1; }
    ! grep version talk || exit 1
done
./linked-none >said 2>talk
[ "$(wc -l <talk)" = 1 ] && grep -q 'no PTX, which alone can be translated' talk || { cat talk; exit 1; }

# One sentence, with the line, the instruction and the entry.
refused() { # text, sentence
    printf '.version 7.0\n.target sm_70\n.address_size 64\n%s\n' "$1" >bad.ptx
    "$WPCC" -cubin bad.ptx -o bad.cubin 2>talk && { echo "accepted: $1"; exit 1; }
    [ "$(wc -l <talk)" = 1 ] && grep -q "$2" talk && [ ! -e bad.cubin ] || { echo "for $1:"; cat talk; exit 1; }
}
refused '.entry k() { tcgen05.wait::ld.sync.aligned; ret; }' 'PTX line 4: the instruction "tcgen05.wait::ld.sync.aligned" is not understood (in k)'
refused '.entry k() { bra nowhere; }' 'PTX line 4: .* no such label'
refused '.entry k() { .reg .b32 %r<2>; mov.u32 %r1, %r9; }' 'PTX line 4: .*"%r9" is not a register'
refused '.global .texref t;' 'PTX line 4: the type of a variable'
refused '.entry k() {' 'the end of a function is missing'
"$WPCC" module.ptx -o module 2>talk && { echo "linked PTX"; exit 1; }
grep -q 'PTX has no host code' talk
printf '.version 7.0\n.target sm_70\n.entry reverse() {\n frob.b32 %%r1;\n}\n' >bad.ptx
./host bad.ptx >said 2>talk && exit 1
grep -q 'PTX line 4: the instruction "frob.b32 %r1" is not understood (in reverse)' talk || { cat talk; exit 1; }

# Programs that run from their own PTX give what they give directly; tools/through-ptx.sh runs them all.
for name in barrier_functions function_pointers recursion; do
    "$WPCC" --through-ptx -I "$E2E" "$E2E/$name.cu" -o "$name"
    [ "$(./$name | tail -n 1)" = PASS ] || { echo "$name fails"; exit 1; }
done
