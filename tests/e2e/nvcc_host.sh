# SPDX-License-Identifier: Apache-2.0
# What the host code of nvcc 13 does, by hand: registration, a __managed__ variable, launches by handle, the functions
# that CUDA 13 gave other parameters. Linked with a stand-in for libcudart.so.13; on cpu, a simulated GPU and the
# stand-in for the driver.
set -e
cd "$TMP"
names=$(cd "${WARPAGE%/*}/../lib/warpage/nvidia" && pwd)
fake=$(cd "$(dirname "$WPCC")/../tests" && pwd)/libfake_cuda.so
printf 'first line\nadd it\nstore it\n' >count.cu
cat >module.ptx <<'END'
.version 7.0
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 total = 5;
.global .attribute(.managed) .align 8 .b8 seen[800];
.visible .entry count(.param .u32 count_param_0)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<5>;
	.loc	1 1 0
	ld.param.u32 %r1, [count_param_0];
	.loc	1 2 5, function_name $L_name, inlined_at 1 1 9
	mov.u64 %rd1, total;
	atom.global.add.u32 %r2, [%rd1], %r1;
	.loc	1 3 5
	mov.u32 %r3, %tid.x;
	mul.wide.u32 %rd2, %r3, 4;
	mov.u64 %rd3, seen;
	add.s64 %rd4, %rd3, %rd2;
	st.global.u32 [%rd4], %r1;
	ret;
}
.visible .entry beyond(.param .u64 beyond_param_0)
{
	.reg .b64 %rd<3>;
	.loc	7 1 1
	.loc	2 40 9
	ld.param.u64 %rd1, [beyond_param_0];
	.loc	1 1 1, function_name $L_name
	.loc	1 2 1 discriminator 3
	st.global.u32 [%rd1+4096], 1;
	ret;
}
// A grid that synchronises, as cooperative_groups does it: each block adds 1, waits, and stores the sum.
.visible .entry meet()
{
	.reg .pred %p<4>;
	.reg .b32 %r<12>;
	.reg .b64 %rd<9>;
	mov.u32 %r1, %envreg2;
	cvt.u64.u32 %rd1, %r1;
	mov.u32 %r2, %envreg1;
	cvt.u64.u32 %rd2, %r2;
	bfi.b64 %rd3, %rd2, %rd1, 32, 32;
	setp.eq.s64 %p1, %rd3, 0;
	@%p1 ret;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %nctaid.x;
	mov.u64 %rd4, total;
	atom.global.add.u32 %r5, [%rd4], 1;
	bar.sync 0;
	setp.eq.u32 %p2, %r3, 0;
	sub.s32 %r6, -2147483647, %r4;
	selp.b32 %r7, %r6, 1, %p2;
	add.s64 %rd5, %rd3, 4;
	atom.add.release.gpu.u32 %r8, [%rd5], %r7;
$L_wait:
	ld.acquire.gpu.u32 %r9, [%rd5];
	xor.b32 %r10, %r9, %r8;
	setp.gt.s32 %p3, %r10, -1;
	@%p3 bra $L_wait;
	bar.sync 0;
	ld.volatile.global.u32 %r11, [%rd4];
	mul.wide.u32 %rd6, %r3, 4;
	mov.u64 %rd7, seen;
	add.s64 %rd8, %rd7, %rd6;
	st.global.u32 [%rd8], %r11;
	ret;
}
	.file	1 "FOLDER/count.cu"
	.file	2 "FOLDER" "other.cu", 1700000000, 12
	.file	3
	.file	99999999999 "too many"
	.section	.debug_str
	{
$L_name:
.b8 99,0
	}
END
sed -i "s|FOLDER|$TMP|" module.ptx
python3 - <<'END'
import struct
text = open("module.ptx", "rb").read() + b"\0"
text += bytes(-len(text) % 8)
entry = struct.pack("<HHIQIIIIQQQQ", 1, 0x101, 64, len(text), 0, 0, 0, 70, 0, 0x11, 0, 0)
open("fatbin", "wb").write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, 64 + len(text)) + entry + text)
END
cat >host.c <<'END'
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- as CUDA 13's headers declare them ---- */
struct dim3 { unsigned x, y, z; };
struct location { int type, id; };
struct edge { unsigned char from_port, to_port, type, reserved[5]; };
typedef void *object;
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFatBinaryEnd(void **);
void __cudaUnregisterFatBinary(void **);
char __cudaInitModule(void **);
int __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, void *, void *, int *);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
int __cudaGetKernel(object *, const void *);
int __cudaLaunchKernel(object, struct dim3, struct dim3, void **, size_t, object);
int cudaDeviceSynchronize(void);
int cudaLaunchCooperativeKernel(const void *, struct dim3, struct dim3, void **, size_t, object);
int cudaLaunchKernel(const void *, struct dim3, struct dim3, void **, size_t, object);
int cudaDeviceGetAttribute(int *, int, int);
int cudaGetSymbolAddress(void **, const void *);
int cudaGetDeviceProperties(void *, int);
int cudaRuntimeGetVersion(int *);
int cudaDriverGetVersion(int *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMemAdvise(const void *, size_t, int, struct location);
int cudaMemPrefetchAsync(const void *, size_t, struct location, unsigned, object);
int cudaMemPrefetchAsync_ptsz(const void *, size_t, struct location, unsigned, object);
int cudaStreamCreate(object *);
int cudaStreamBeginCapture(object, int);
int cudaStreamEndCapture(object, object *);
int cudaMemsetAsync(void *, int, size_t, object);
int cudaStreamGetCaptureInfo(object, int *, unsigned long long *, object *, object **, const struct edge **, size_t *);
int cudaStreamGetCaptureInfo_ptsz(object, int *, unsigned long long *, object *, object **, const struct edge **, size_t *);
int cudaGraphCreate(object *, unsigned);
int cudaGraphAddEmptyNode(object *, object, const object *, size_t);
int cudaGraphAddDependencies(object, const object *, const object *, const struct edge *, size_t);
int cudaGraphGetEdges(object, object *, object *, struct edge *, size_t *);
int cudaGraphNodeGetDependencies(object, object *, struct edge *, size_t *);

#define CHECK(x) do { if (!(x)) { printf("FAIL: line %d: %s\n", __LINE__, #x); return 1; } } while (0)
#define OK(call) CHECK((call) == 0)

__asm__(".section .nv_fatbin, \"a\"\n.balign 8\nimage: .incbin \"fatbin\"\n.previous");
extern const char image[];
static struct { int magic, version; const void *data; void *unused; } wrapper = {0x466243b1, 1, image, NULL};
static void **handle;
static int *total, *seen; /* nvcc's host code has pointers to managed variables */

static void count_kernel(void) {}
static void meet_kernel(void) {}
static void beyond_kernel(void) {}

__attribute__((constructor)) static void start(void)
{
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)count_kernel, "count", "count", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, (const char *)meet_kernel, "meet", "meet", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(handle, (const char *)beyond_kernel, "beyond", "beyond", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterManagedVar(handle, (void **)&total, "total", "total", 0, 4, 0, 0);
    __cudaRegisterManagedVar(handle, (void **)&seen, "seen", "seen", 0, 800, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
}

static int managed(void)
{
    object kernel;
    int amount = 3;
    void *args[] = {&amount}, *address;
    CHECK(__cudaInitModule(handle));
    CHECK(*total == 5 && seen[63] == 0);
    *total = 100;
    OK(__cudaGetKernel(&kernel, (const void *)count_kernel));
    OK(__cudaLaunchKernel(kernel, (struct dim3){1, 1, 1}, (struct dim3){64, 1, 1}, args, 0, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(*total == 100 + 64 * 3 && seen[0] == 3 && seen[63] == 3 && seen[64] == 0);
    OK(cudaGetSymbolAddress(&address, total)); /* nvcc passes the variable's own address */
    CHECK(address == total);
    return 0;
}

/* Two blocks, or one where no more are resident at once; and a launch that is not cooperative. */
static int grid_barrier(void)
{
    for (int round = 0; round < 3; round++) {
        struct dim3 blocks = {2, 1, 1};
        *total = 0;
        seen[0] = seen[1] = -1;
        if (cudaLaunchCooperativeKernel((const void *)meet_kernel, blocks, (struct dim3){1, 1, 1}, NULL, 0, NULL) != 0) {
            blocks.x = 1;
            OK(cudaLaunchCooperativeKernel((const void *)meet_kernel, blocks, (struct dim3){1, 1, 1}, NULL, 0, NULL));
        }
        OK(cudaDeviceSynchronize());
        for (unsigned i = 0; i < blocks.x; i++)
            CHECK(seen[i] == (int)blocks.x);
    }
    *total = 7;
    OK(cudaLaunchKernel((const void *)meet_kernel, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, NULL, 0, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(*total == 7);
    return 0;
}

/* Offsets and size of CUDA 13's structure. */
static int properties(void)
{
    unsigned char p[1008 + 64];
    int value, n;
    memset(p, 0xa5, sizeof p);
    OK(cudaGetDeviceProperties(p, 0));
    for (size_t i = 1008; i < sizeof p; i++)
        CHECK(p[i] == 0xa5);
    static const struct { int attribute; size_t offset; } rows[] = {
        {10, 308}, {75, 360}, {76, 364}, {16, 384}, {38, 596}, {97, 672}, {120, 748}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        memcpy(&n, p + rows[i].offset, sizeof n);
        OK(cudaDeviceGetAttribute(&value, rows[i].attribute, 0));
        CHECK(n == value);
    }
    memcpy(&n, p + 760, sizeof n);
    CHECK(n == -1);
    CHECK(cudaGetDeviceProperties(NULL, 0) != 0 && cudaGetDeviceProperties(p, 7) != 0);
    OK(cudaRuntimeGetVersion(&n));
    CHECK(n == 13000);
    OK(cudaDriverGetVersion(&n));
    CHECK(n >= 13000);
    CHECK(cudaRuntimeGetVersion(NULL) != 0 && cudaDriverGetVersion(NULL) != 0);
    return 0;
}

static int memory(void)
{
    const struct location gpu = {1, 0}, host = {2, 0}, nowhere = {0, 0};
    void *m;
    OK(cudaMallocManaged(&m, 1 << 20, 1));
    OK(cudaMemAdvise(m, 1 << 20, 3, gpu));
    OK(cudaMemPrefetchAsync(m, 1 << 20, gpu, 0, NULL));
    OK(cudaMemPrefetchAsync_ptsz(m, 1 << 20, host, 0, NULL));
    CHECK(cudaMemAdvise(m, 1 << 20, 3, nowhere) != 0);
    CHECK(cudaMemPrefetchAsync(m, 1 << 20, nowhere, 0, NULL) != 0);
    CHECK(cudaMemPrefetchAsync(m, 1 << 20, gpu, 1, NULL) != 0);
    OK(cudaDeviceSynchronize());
    return 0;
}

static int graphs(void)
{
    object graph, made, a, b, from = NULL, to = NULL, stream;
    struct edge edge, plain = {0}, early = {.from_port = 1};
    const struct edge *edges = &edge;
    size_t count = 1;
    int status;
    unsigned long long id = 0;
    void *m;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&a, graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, graph, NULL, 0));
    CHECK(cudaGraphAddDependencies(graph, &a, &b, &early, 1) == 801); /* programmatic launches */
    OK(cudaGraphAddDependencies(graph, &a, &b, &plain, 1));
    memset(&edge, 0xff, sizeof edge);
    OK(cudaGraphGetEdges(graph, &from, &to, &edge, &count));
    CHECK(count == 1 && from == a && to == b && memcmp(&edge, &plain, sizeof edge) == 0);
    memset(&edge, 0xff, sizeof edge);
    OK(cudaGraphNodeGetDependencies(b, &from, &edge, &count));
    CHECK(count == 1 && from == a && memcmp(&edge, &plain, sizeof edge) == 0);
    OK(cudaGraphNodeGetDependencies(a, NULL, NULL, &count));
    CHECK(count == 0);
    OK(cudaMallocManaged(&m, 4096, 1));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaMemsetAsync(m, 1, 4096, stream));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id, &made, NULL, &edges, NULL));
    CHECK(status == 1 && id != 0 && made != NULL && edges == NULL);
    OK(cudaStreamEndCapture(stream, &made));
    OK(cudaStreamGetCaptureInfo_ptsz(stream, &status, NULL, NULL, NULL, NULL, NULL));
    CHECK(status == 0);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1) { /* an access out of bounds */
        void *m, *args[] = {&m};
        OK(cudaMallocManaged(&m, 4096, 1));
        (void)cudaLaunchKernel((const void *)beyond_kernel, (struct dim3){1, 1, 1}, (struct dim3){1, 1, 1}, args, 0, NULL);
        return cudaDeviceSynchronize();
    }
    if (managed() != 0 || grid_barrier() != 0 || properties() != 0 || memory() != 0 || graphs() != 0) return 1;
    printf("PASS\n");
    return 0;
}
END
gcc -w -c host.c -o host.o
nm -u host.o | sed -n 's/.* \(_*cuda[A-Za-z_]*\)$/void \1() {}/p' >stand_in.c
echo "libcudart.so.13 { global: *; };" >stand_in.map
gcc -shared -w -fno-builtin stand_in.c -o stand_in.so -Wl,-soname,libcudart.so.13,--version-script=stand_in.map
gcc host.o -o host ./stand_in.so
for device in cpu sim:gtx1080ti cuda:0; do
    WARPAGE_LIBCUDA=$fake "$WARPAGE" run --device $device -- ./host >said 2>talk
    [ "$(cat said)" = PASS ] || { echo "on $device:"; cat said talk; exit 1; }
    grep -q 'count  *1  *64' talk || { echo "on $device:"; cat talk; exit 1; }
    [ $device != sim:gtx1080ti ] || grep -q 'pages migrated to the device  *6  *2 ' talk || { cat talk; exit 1; } # migrates
done
"$WARPAGE" run --check -- ./host >said 2>talk || true # leaks are findings
[ "$(cat said)" = PASS ] && ! grep -q out-of-bounds talk || { cat said talk; exit 1; }
# Lines of the source, as nvcc -lineinfo leaves them in the PTX.
"$WARPAGE" run --check -- ./host beyond >said 2>talk || true
grep -q "kernel beyond, $TMP/count.cu:2: out-of-bounds access" talk || { cat talk; exit 1; }
"$WARPAGE" run --device sim:gtx1080ti --source -- ./host >said 2>talk
grep -q 'count.cu$' talk && grep -q '^ *2 .*%.* add it' talk && grep -q '^ *3 .*%.* store it' talk || { cat said talk; exit 1; }
LD_LIBRARY_PATH=$names ./host >said
[ "$(cat said)" = PASS ] || { cat said; exit 1; }

# CUDA 11's structure is shorter, and its graphs are instantiated with other parameters.
cat >old.c <<'END'
#include <stdio.h>
#include <string.h>
int cudaGetDeviceProperties(void *, int);
int cudaRuntimeGetVersion(int *);
int cudaGraphCreate(void **, unsigned);
int cudaGraphInstantiate(void **, void *, void **, char *, size_t);
int main(void)
{
    unsigned char p[728 + 64];
    char log[8] = "unused";
    void *graph, *exec, *node = p;
    int version = 0, warp = 0;
    memset(p, 0xa5, sizeof p);
    if (cudaGetDeviceProperties(p, 0) != 0) return 1;
    for (size_t i = 728; i < sizeof p; i++)
        if (p[i] != 0xa5) return 2;
    memcpy(&warp, p + 308, sizeof warp);
    if (warp != 32 || cudaRuntimeGetVersion(&version) != 0 || version != 11080) return 3;
    if (cudaGraphCreate(&graph, 0) != 0 || cudaGraphInstantiate(&exec, graph, &node, log, sizeof log) != 0) return 4;
    if (node != NULL || log[0] != 0) return 5;
    printf("PASS\n");
    return 0;
}
END
sed 's/13/11.0/' stand_in.map >old.map
gcc -w -c old.c -o old.o
nm -u old.o | sed -n 's/.* \(cuda[A-Za-z]*\)$/void \1() {}/p' >old_stand_in.c
gcc -shared -w -fno-builtin old_stand_in.c -o old_stand_in.so -Wl,-soname,libcudart.so.11.0,--version-script=old.map
gcc old.o -o old ./old_stand_in.so
"$WARPAGE" run -- ./old >said 2>talk || { echo "exit status $?"; cat said talk; exit 1; }
[ "$(cat said)" = PASS ] || { cat said talk; exit 1; }
