#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels, compiled with wpcc --cache: the cached forms leave the bytes that the plain ones leave.

    cache_property.py BUILD [--seeds 1-6] [--devices cpu,sim:titan-black] [--kernels 2] [--keep FOLDER]

A seed is a program of several kernels. It runs with WARPAGE_SOFTWARE_CACHE=off and on, and on with everything cached that hits
once, and prints a hash of all arrays after each launch. Kernels have parameters of 1 to 16 bytes, with and without __restrict__, several for the same memory;
loops in loops, early returns, branches on threads and on data; fences, barriers, volatile accesses, atomic operations,
pointers from memory and in structures, accesses that are not aligned, recursion; loops over consecutive elements, from any
offset, to memory that other parameters name, with ways out that depend on data. A thread writes only bytes of its own, which
share lines with its neighbours' bytes, so that results do not depend on the order of threads. Lines have
8, 16, 24 or 32 bytes, an array has 1, 2 or 4. Launches make no turn, one, about as many as are monitored (64; every other seed: 20)
and more, with and without dynamic shared memory. A failure prints the seed.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

TYPES = {"u8": 1, "i8": 1, "u16": 2, "u32": 4, "f32": 4, "u64": 8, "f64": 8, "vec": 16, "pair": 8, "odd": 5}

HEAD = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#define ALIAS __attribute__((may_alias)) // parameters of different types are for the same memory
typedef unsigned char u8; typedef signed char i8; typedef unsigned short ALIAS u16; typedef unsigned ALIAS u32;
typedef unsigned long long ALIAS u64; typedef float ALIAS f32; typedef double ALIAS f64;
struct ALIAS __attribute__((aligned(16))) vec { u32 x, y, z, w; };
struct areas { u32 first; u8 *area[3]; };
__device__ u8 row[64] = {3, 1, 4, 1, 5, 9, 2, 6};
struct ALIAS pair { u32 a; u16 b, c; };
struct ALIAS __attribute__((packed)) odd { u8 a; u32 b; };
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { printf("%s: %s\\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)
__device__ static u64 get(u8 v) { return v; }
__device__ static u64 get(i8 v) { return (u64)(long long)v; }
__device__ static u64 get(u16 v) { return v; }
__device__ static u64 get(u32 v) { return v; }
__device__ static u64 get(u64 v) { return v; }
__device__ static u64 get(f32 v) { return __float_as_uint(v); }
__device__ static u64 get(f64 v) { return (u64)__double_as_longlong(v); }
__device__ static u64 get(vec v) { return v.x + 3ull * v.y + 5ull * v.z + 7ull * v.w; }
__device__ static u64 get(const pair &v) { return v.a + 3ull * v.b + 5ull * v.c; }
__device__ static u64 get(const odd &v) { return v.a + 3ull * v.b; }
__device__ static void put(u8 &p, u64 v) { p = (u8)v; }
__device__ static void put(i8 &p, u64 v) { p = (i8)v; }
__device__ static void put(u16 &p, u64 v) { p = (u16)v; }
__device__ static void put(u32 &p, u64 v) { p = (u32)v; }
__device__ static void put(u64 &p, u64 v) { p = v; }
__device__ static void put(f32 &p, u64 v) { p = (f32)(v & 0xffff); }
__device__ static void put(f64 &p, u64 v) { p = (f64)(v & 0xffff); }
__device__ static void put(vec &p, u64 v) { p = vec{(u32)v, (u32)(v >> 7), (u32)(v >> 32), (u32)(v * 9)}; }
__device__ static void put(pair &p, u64 v) { p.a = (u32)v; if (v & 1) p.c = (u16)(v >> 9); }
__device__ static void put(odd &p, u64 v) { p.b = (u32)v; if (v & 2) p.a = (u8)(v >> 9); }
__device__ static u64 mix(u64 a, u64 b) { return (a ^ b >> 3) * 0x9e3779b97f4a7c15ull + (b << 5); }
__device__ __noinline__ u64 deep(const u8 *p, int n) { return n <= 0 ? 1 : p[n] + 3 * deep(p, n / 2); }
static u64 hash(const u8 *p, size_t n) { u64 h = 14695981039346656037ull; for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211ull; return h; }
"""


class Kernel:
    def __init__(self, rng, name):
        self.rng, self.name, self.lines, self.loop_names = rng, name, [], 0
        # Memory: areas of `own` bytes a thread. A view is a parameter that points to an area as some type.
        self.own = rng.choice([40, 56, 64, 72, 104, 240, 256, 296, 520])
        # An area that is written through __restrict__ is reached in no other way.
        self.areas = [{"written": rng.random() < 0.6, "shown": rng.random() < 0.6} for _ in range(rng.choice([1, 2, 2, 3]))]
        if not any(a["written"] for a in self.areas):
            self.areas[0]["written"] = True
        self.areas[0]["shown"] = self.areas[0]["written"]
        self.views = []
        for area in range(len(self.areas)):
            for _ in range(rng.choice([1, 1, 2])):
                self.add_view(area)
        self.uniform = rng.random() < 0.4  # no early returns: barriers are allowed
        self.body()

    def add_view(self, area):
        fitting = [t for t, size in TYPES.items() if self.own % size == 0 or t == "odd"]
        view = {"area": area, "type": self.rng.choice(fitting), "name": f"p{len(self.views)}", "restrict": False}
        self.views.append(view)
        alone = [v for v in self.views if v["area"] == area]
        can_be = not self.areas[area]["written"] or not self.areas[area]["shown"]
        alone[0]["restrict"] = can_be and len(alone) == 1 and self.rng.random() < 0.7
        if len(alone) > 1:
            for v in alone:
                v["restrict"] = False

    def elements(self, view):
        return self.own // TYPES[view["type"]]

    def index(self, view, loops, write):
        """Within the thread's own area; of a read-only area, anywhere."""
        rng, count = self.rng, self.elements(view)
        step = rng.choice([1, 1, 1, 2, 3, 7])
        local = rng.choice([f"(u32)(i * {step} + {rng.randrange(9)}) % {count}u",
                            f"(u32)({rng.choice(loops)} + i) % {count}u", f"(u32)(acc >> 3) % {count}u",
                            f"{rng.randrange(count)}u"])
        if self.areas[view["area"]]["written"] or rng.random() < 0.5:
            return f"t * {count}u + {local}"
        return f"(t * {rng.randint(1, 9)}u + {local}) % (total * {count}u)"

    def place(self, view, loops, write=False):
        if view["type"] == "odd":  # at any byte: structures of 5 bytes, packed in the thread's area
            return f"((odd *)((u8 *){view['name']} + (size_t)t * {self.own}))[{self.rng.choice(loops)} % {self.own // 5}]"
        return f"{view['name']}[{self.index(view, loops, write)}]"

    def statement(self, pad, loops, depth, in_branch):
        rng = self.rng
        view = rng.choice(self.views)
        written = [v for v in self.views if self.areas[v["area"]]["written"]]
        shown = [v for v in self.views if self.areas[v["area"]]["shown"]]
        both = [v for v in written if v in shown]
        kind = rng.randrange(27)
        if kind < 6:
            self.lines.append(f"{pad}acc = mix(acc, get({self.place(view, loops)}));")
        elif kind < 11:
            target = rng.choice(written)
            self.lines.append(f"{pad}put({self.place(target, loops, True)}, acc + {rng.randrange(99)});")
        elif kind < 13 and depth < 3:
            self.loop_names += 1
            var = f"j{self.loop_names}"
            bound = rng.choice(["3", "9", "(int)(acc % 5)", "(int)(t % 4) + 1", "n / 40"])
            self.lines.append(f"{pad}for (int {var} = 0; {var} < {bound}; {var}++) {{")
            self.block(pad + "    ", loops + [var], depth + 1, in_branch or "acc" in bound or "t" in bound)
            self.lines.append(f"{pad}}}")
        elif kind < 15 and depth < 3:
            condition = rng.choice(["acc % 3 == 0", "t % 2 == 0", "i % 5 < 2", "acc & 16"])
            self.lines.append(f"{pad}if ({condition}) {{")
            self.block(pad + "    ", loops, depth + 1, True)
            self.lines.append(f"{pad}}}")
        elif kind == 15:
            self.lines.append(f"{pad}__threadfence{rng.choice(['', '_block'])}();")
        elif kind == 16 and self.uniform and not in_branch:
            self.lines.append(f"{pad}__syncthreads();")
        elif kind == 17:
            self.lines.append(f"{pad}atomicAdd(sums + (u32)(acc % 8), (u32)acc & 255);")
        elif kind == 18 and view["type"] in ("u8", "u16", "u32", "u64"):
            self.lines.append(f"{pad}acc += *(volatile {view['type']} *)&{self.place(view, loops)};")
        elif kind == 19 and shown:  # through a pointer from memory
            other = rng.choice(shown)
            self.lines.append(f"{pad}acc += ((const u8 *)pointers[{other['area']}])[(size_t)t * {self.own} + i % {self.own}];")
        elif kind == 20 and both:
            other = rng.choice(both)
            self.lines.append(f"{pad}((u8 *)pointers[{other['area']}])[(size_t)t * {self.own} + (u32)acc % {self.own}] += 3;")
        elif kind == 21 and both:  # one of two parameters
            a, b = rng.choice(both), rng.choice(both)
            self.lines.append(f"{pad}{{ u8 *q = acc & 1 ? (u8 *){a['name']} : (u8 *){b['name']}; q[(size_t)t * {self.own} + i % {self.own}] ^= (u8)i; }}")
        elif kind == 23 and shown:  # through a structure that is a parameter
            other = rng.choice(shown)
            self.lines.append(f"{pad}acc = mix(acc, set.area[{other['area']}][(size_t)t * {self.own} + (u32)(acc >> 5) % {self.own}]);")
        elif kind == 24 and both:
            other = rng.choice(both)
            self.lines.append(f"{pad}set.area[{other['area']}][(size_t)t * {self.own} + i % {self.own}] += (u8)(acc + row[i % 64]);")
        elif kind >= 25 and depth < 3:
            self.run_loop(pad, loops)
        elif kind == 22:
            self.lines.append(f"{pad}acc += deep((const u8 *){view['name']} + (size_t)t * {self.own}, {rng.randrange(self.own)});")
        else:
            self.lines.append(f"{pad}acc = mix(acc, i);")

    def block(self, pad, loops, depth, in_branch):
        for _ in range(self.rng.randint(1, 4 if depth == 1 else 3)):
            self.statement(pad, loops, depth, in_branch)

    def run_loop(self, pad, loops):
        """Consecutive elements of some views: the same offset, or others, so that runs meet."""
        rng = self.rng
        scalar = [v for v in self.views if TYPES[v["type"]] <= 8 and v["type"] not in ("odd", "pair")]
        if not scalar:
            return
        self.loop_names += 1
        var, offset = f"r{self.loop_names}", rng.randrange(20)
        runs = [(rng.choice(scalar), rng.choice([offset, offset, 0, rng.randrange(20), 16])) for _ in range(rng.choice([1, 2, 2, 3]))]
        most = min(self.elements(v) - o for v, o in runs)
        if most <= 0:
            return
        trips = rng.choice([f"{most}", f"{most}", f"(int)(n % {most + 1})", f"{most} - (int)(t % {min(most, 3)})", f"(int)(acc % {most + 1})"])
        head, index = rng.choice([
            (f"for (int {var} = 0; {var} < {trips}; {var}++)", var), (f"for (u32 {var} = 0, e = {trips}; {var} != e; {var}++)", var),
            (f"for (size_t {var} = t * 3, e = t * 3 + {trips}; {var} < e; {var}++)", f"({var} - t * 3)"),
            (f"for (int {var} = {trips}; {var} > 0; {var}--)", f"({most} - {var})"),
            (f"for (u32 {var} = 1, e = {trips}; {var} <= e; {var}++)", f"({var} - 1)")])
        self.lines.append(f"{pad}{head} {{")
        for v, o in runs:
            place = f"{v['name']}[t * {self.elements(v)}u + {index} + {o}]"
            if self.areas[v["area"]]["written"] and rng.random() < 0.5:
                self.lines.append(f"{pad}    put({place}, {rng.choice(['acc', 'acc + ' + var, var])});")
            else:
                self.lines.append(f"{pad}    acc = mix(acc, get({place}));")
        extra = rng.randrange(9)
        if extra == 0:
            self.lines.append(f"{pad}    if (acc % 89 == 3) break;")
        elif extra == 1:
            self.lines.append(f"{pad}    if (acc % 7 == 3) continue;\n{pad}    acc += {var};")
        elif extra == 2:
            self.statement(pad + "    ", loops, 3, True)
        elif extra == 3 and not self.uniform:
            self.lines.append(f"{pad}    if (acc % 499 == 3) return;")
        self.lines.append(f"{pad}}}")

    def loop(self):
        rng = self.rng
        trips = "n" if self.uniform else rng.choice(["n", "n + (int)(t % 3)", "(int)(t * 37 % 5) * n / 2"])
        self.lines.append(f"    for (int i = 0; i < {trips}; i++) {{")
        self.block("        ", ["i"], 1, False)
        if not self.uniform:
            ends = [None, None, "if (acc % 997 == 3) return;", "if (acc % 499 == 3) break;", "if (acc % 7 == 3) continue;"]
            end = rng.choice(ends)
            if end:
                self.lines.append(f"        {end}")
                self.statement("        ", ["i"], 2, True)
        self.lines.append("    }")

    def body(self):
        for _ in range(self.rng.choice([1, 1, 2])):
            self.loop()
            if self.rng.random() < 0.7:
                self.lines.append("    for (int i = 1; i < 3; i++) {")
                self.run_loop("        ", ["i"])
                self.lines.append("    }")

    def parameters(self):
        out = []
        for v in self.views:
            const = "" if self.areas[v["area"]]["written"] else "const "
            out.append(f"{const}{v['type']} *{'__restrict__ ' if v['restrict'] else ''}{v['name']}")
        return out

    def source(self):
        shared = self.rng.random() < 0.3
        lines = [f"__global__ void {self.name}({', '.join(self.parameters() + ['u32 *sums', 'void **pointers', 'areas set', 'int n'])}) {{"]
        if shared:
            lines.append("    extern __shared__ u32 part[];")
        lines += ["    const u32 t = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x;",
                  "    u64 acc = t; (void)total;"]
        if shared:
            lines.append("    part[threadIdx.x] = t * 7;")
        lines += self.lines
        if shared:
            lines.append("    acc += part[threadIdx.x];")
        lines += ["    atomicAdd(sums + 8, (u32)acc);", "}"]
        return "\n".join(lines), shared

    def calls(self, has_shared, threshold):
        rng, out = self.rng, []
        for n in [0, 1, threshold + rng.choice([-1, 0, 1]), rng.randint(threshold + 2, 2 * threshold + 40)]:
            blocks, threads = rng.choice([(1, 1), (1, 33), (2, 7), (2, 64), (3, 40)])
            names = ", ".join([f"({'' if self.areas[v['area']]['written'] else 'const '}{v['type']} *)area[{v['area']}]" for v in self.views] + ["sums", "pointers", "set", str(n)])
            out.append(f"""    {{
        const size_t bytes = (size_t){self.own} * {blocks * threads}; u8 *area[{len(self.areas)}]; areas set = {{}}; void *host[{len(self.areas)}];
        u8 *h = (u8 *)malloc(bytes); u32 *sums, got[9]; void **pointers;
        CK(cudaMalloc(&sums, sizeof got)); CK(cudaMemset(sums, 0, sizeof got)); CK(cudaMalloc(&pointers, sizeof host));
        for (int a = 0; a < {len(self.areas)}; a++) {{
            CK(cudaMalloc(&area[a], bytes)); host[a] = area[a]; set.area[a] = area[a];
            for (size_t b = 0; b < bytes; b++) h[b] = (u8)((b + 1) * 2654435761u >> 11 ^ a * 91 ^ {n});
            CK(cudaMemcpy(area[a], h, bytes, cudaMemcpyHostToDevice));
        }}
        CK(cudaMemcpy(pointers, host, sizeof host, cudaMemcpyHostToDevice));
        {self.name}<<<{blocks}, {threads}, {threads * 4 if has_shared else 0}>>>({names});
        CK(cudaGetLastError()); CK(cudaDeviceSynchronize());
        printf("{self.name} n {n} {blocks}x{threads}:");
        for (int a = 0; a < {len(self.areas)}; a++) {{ CK(cudaMemcpy(h, area[a], bytes, cudaMemcpyDeviceToHost)); printf(" %llx", hash(h, bytes)); CK(cudaFree(area[a])); }}
        CK(cudaMemcpy(got, sums, sizeof got, cudaMemcpyDeviceToHost)); printf(" %llx\\n", hash((u8 *)got, sizeof got));
        CK(cudaFree(sums)); CK(cudaFree(pointers)); free(h);
    }}""")
        return out


def threshold_of(seed):
    return 64 if seed % 2 else 20


def make_program(seed, kernels):
    rng = random.Random(seed)
    sources, calls = [HEAD], []
    for k in range(kernels):
        kernel = Kernel(rng, f"k{k}")
        source, has_shared = kernel.source()
        sources.append(source)
        calls += kernel.calls(has_shared, threshold_of(seed))
    return "\n".join(sources + ["int main() {"] + calls + ["    return 0;", "}"]) + "\n"


def run(build, program, device, is_cached, hits_pct=50, threshold=64):
    environment = dict(os.environ, WARPAGE_DEVICE=device, WARPAGE_SOFTWARE_CACHE="on" if is_cached else "off",
                       WARPAGE_SOFTWARE_CACHE_HITS_PCT=str(hits_pct), WARPAGE_SOFTWARE_CACHE_THRESHOLD=str(threshold))
    if hits_pct == 0:  # all that can be cached is, and by lines only
        environment.update(WARPAGE_SOFTWARE_CACHE_DATA_EXITS="on", WARPAGE_SOFTWARE_CACHE_RUNS="off")
    if device.startswith("cuda"):  # the stand-in for the driver, which executes the PTX
        environment["WARPAGE_LIBCUDA"] = os.path.join(build, "tests/libfake_cuda.so")
        environment["FAKE_CUDA_ROUNDED"] = "1"  # lines of 24 bytes are read where the driver rounds allocations up
    done = subprocess.run([program], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def check_seed(build, seed, devices, kernels, folder):
    source, program = os.path.join(folder, f"seed{seed}.cu"), os.path.join(folder, f"seed{seed}")
    with open(source, "w") as out:
        out.write(make_program(seed, kernels))
    options = [["--cache"], ["--cache-line=8"], ["--cache-line=24", "--cache-lines=2"], ["--cache-line=32"],
               ["--cache-lines=4", "--cache-layout=padded"], ["--cache-line=24"]][seed % 6]
    made = subprocess.run([os.path.join(build, "bin/wpcc"), *options, "-w", source, "-o", program], capture_output=True,
                          text=True)
    if made.returncode != 0:
        return f"seed {seed}: wpcc failed:\n{made.stderr}"
    code, expected, errors = run(build, program, "cpu", False)
    if code != 0:
        return f"seed {seed}: the plain program fails: {expected}{errors}"
    for device, hits_pct in [(d, h) for d in devices for h in (50, 0)]:
        code, found, errors = run(build, program, device, True, hits_pct, threshold_of(seed))
        device = f"{device} with WARPAGE_SOFTWARE_CACHE_HITS_PCT={hits_pct}"
        if code != 0:
            return f"seed {seed} on {device}: {found}{errors}"
        for want, got in zip(expected.splitlines(), found.splitlines()):
            if want != got:
                return f"seed {seed} on {device}:\n  plain  {want}\n  cached {got}"
        if found.count("\n") != expected.count("\n"):
            return f"seed {seed} on {device}: output is incomplete"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seeds", default="1-6")
    parser.add_argument("--devices", default="cpu,sim:titan-black")
    parser.add_argument("--kernels", type=int, default=2)
    parser.add_argument("--keep")
    args = parser.parse_args()
    first, _, last = args.seeds.partition("-")
    failures = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        for seed in range(int(first), int(last or first) + 1):
            problem = check_seed(args.build, seed, args.devices.split(","), args.kernels, folder)
            if problem:
                print(problem)
                failures += 1
    print(f"seeds {args.seeds}: {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
