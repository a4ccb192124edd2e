#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random kernels, streamed and on plain device memory: both leave the same bytes.

    stream_property.py BUILD [--seeds 1-8] [--devices cpu,sim:gtx680] [--kernels 6] [--cache] [--keep FOLDER]

A seed is a program of several kernels, each launched in several shapes, once or twice in a row, with nothing, some or all
of its data kept on the device. Where --devices has several lists, separated
by slashes, seeds take them in turn. Kernels have loops in loops,
strides, records of mixed widths, several arrays that are read, written or both, reads through arrays of
indices, branches on indices and on data, early returns, and calls of device functions. A failure prints the seed, and with --keep
the program stays in FOLDER.
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

# Type, bytes, expression of a value as u64, expression of a value made from one.
SCALARS = [
    ("u8", 1, "(u64){}", "(u8)({})"),
    ("signed char", 1, "(u64)(long){}", "(signed char)({})"),
    ("u16", 2, "(u64){}", "(u16)({})"),
    ("short", 2, "(u64)(long){}", "(short)({})"),
    ("u32", 4, "(u64){}", "(u32)({})"),
    ("int", 4, "(u64)(long){}", "(int)({})"),
    ("float", 4, "(u64)__float_as_uint({})", "(float)(({}) & 0xffff)"),
    ("u64", 8, "{}", "({})"),
    ("double", 8, "(u64)__double_as_longlong({})", "(double)(({}) & 0xffffffff)"),
    ("wide4", 16, "wide_value({})", "wide_of({})"),
    ("float4", 16, "float4_value({})", "float4_of({})"),
]

HELPERS = """
__device__ static u64 wide_value(wide4 v) { return v.x + 3ull * v.y + 5ull * v.z + 7ull * v.w; }
__device__ static wide4 wide_of(u64 v) { return (wide4){(u32)v, (u32)(v >> 7), (u32)(v >> 32), (u32)(v * 9)}; }
__device__ static u64 float4_value(float4 v) {
    return __float_as_uint(v.x) + 3ull * __float_as_uint(v.y) + 5ull * __float_as_uint(v.z) + 7ull * __float_as_uint(v.w);
}
__device__ static float4 float4_of(u64 v) { return make_float4(v & 255, v >> 8 & 255, v >> 16 & 255, v >> 24 & 255); }
__device__ __noinline__ static u64 stir(u64 a, u64 b) { return (a ^ b >> 3) * 0x9e3779b97f4a7c15ull + (b << 5); }
__device__ static u64 twist(u64 a, int turns) {
    for (int t = 0; t < turns; t++) a = a >> 7 ^ a * 33;
    return a;
}
"""


STREAMED = collections.Counter()


class Kernel:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.structs, self.arrays, self.lines = [], [], []
        self.names = 0
        self.follows_data = rng.random() < 0.3  # addresses and branches depend on what was read
        for number in range(rng.choice([1, 1, 2, 2, 3, 4])):
            self.add_array(number)
        self.indices = []  # arrays of numbers below n
        for number in range(rng.choice([0, 0, 1, 2])):
            self.add_indices(number)
        if not any(f[2] == "r" for a in self.arrays for f in a["fields"]):
            self.arrays[0]["fields"] = [(f[0], f[1], "r") for f in self.arrays[0]["fields"]]
        self.make()

    def add_array(self, number):
        rng = self.rng
        per = rng.choice([1, 1, 1, 2, 3, 5])
        if rng.random() < 0.5:
            scalar = rng.choice(SCALARS)
            fields, element = [("", scalar, rng.choice("rrw"))], scalar[0]
        else:
            count = rng.randint(2, 6)
            fields = [(f".f{i}", rng.choice(SCALARS), rng.choice("rrrw-")) for i in range(count)]
            element = f"{self.name}_{number}"
            body = " ".join(f"{s[0]} {n[1:]};" for n, s, _ in fields)
            self.structs.append(f"struct {element} {{ {body} }};")
        self.arrays.append({"name": f"a{number}", "element": element, "fields": fields, "per": per})

    def add_indices(self, number):
        scalar = self.rng.choice([s for s in SCALARS if s[0] not in ("float", "double", "wide4", "float4")])
        array = {"name": f"x{number}", "element": scalar[0], "fields": [("", scalar, "x")], "per": self.rng.choice([1, 1, 2])}
        self.arrays.append(array)
        self.indices.append(array)

    def new(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    # ---- expressions ----

    def read_index(self, array, loops):
        """Loops: (variable, its values are below). The index `i` is below n."""
        rng, per = self.rng, array["per"]
        if self.indices and rng.random() < 0.4:
            return self.index_of(per)
        kind = rng.randrange(8)
        fitting = [v for v, most in loops if most <= per]
        if self.follows_data and kind in (0, 7):
            return f"(long)((acc >> {rng.randrange(9)}) % (u64)(n * {per}))"
        if kind <= 2:
            return f"i * {per} + {rng.choice(fitting) if fitting else rng.randrange(per)}"
        if kind == 3 and loops:
            var = rng.choice(loops)[0]
            return f"(i * {rng.randint(1, 7)} + {var} * {rng.randint(1, 9)} + {rng.randrange(50)}) % (n * {per})"
        if kind == 4:
            return f"n * {per} - 1 - i"
        if kind == 5:
            return f"(i >> {rng.randint(1, 3)})"
        if kind == 6:
            return f"table[i % TABLE] % (n * {per})"
        return f"i * {per}"

    def index_of(self, per):
        """An index that is read: of one array, or of one through another."""
        rng = self.rng
        array = rng.choice(self.indices)
        place = f"{array['name']}[i * {array['per']} + {rng.randrange(array['per'])}]"
        if rng.random() < 0.3:
            place = f"{rng.choice(self.indices)['name']}[{place}]"
        return rng.choice([place, place, f"{place} * {per} + {rng.randrange(per)}", f"n - 1 - {place}", f"{place} * one"])

    def read(self, loops):
        choices = [(a, f) for a in self.arrays for f in a["fields"] if f[2] == "r"]
        array, field = self.rng.choice(choices)
        place = f"{array['name']}[{self.read_index(array, loops)}]{field[0]}"
        return field[1][2].format(place)

    def own(self):
        """What this thread may have written, or None: only kernels that follow their data read it."""
        choices = [(a, f) for a in self.arrays for f in a["fields"] if f[2] == "w"]
        if not self.follows_data or not choices:
            return None
        array, field = self.rng.choice(choices)
        place = f"{array['name']}[i * {array['per']} + {self.rng.randrange(array['per'])}]{field[0]}"
        return field[1][2].format(place)

    def value(self, loops, has_reads=True):
        rng = self.rng
        kind = rng.randrange(9)
        own = self.own() if has_reads and kind == 8 else None
        if own:
            return own
        if has_reads and kind <= 4:
            return self.read(loops)
        if kind == 5:
            return f"stir(acc, {rng.randrange(1000)})"
        if kind == 6:
            return f"twist(acc, {rng.randint(1, 3)})"
        if kind == 7 and loops:
            return f"(u64){rng.choice(loops)[0]}"
        return "(u64)i"

    def index_condition(self, loops):
        rng = self.rng
        var = rng.choice(["i"] + [v for v, _ in loops])
        return rng.choice([f"{var} % {rng.randint(2, 5)} == {rng.randrange(2)}", f"({var} & {rng.randint(1, 7)}) != 0",
                           f"{var} > {rng.randint(0, 20)}", f"table[{var} % TABLE] % 3 == 0"])

    # ---- statements ----

    def write(self, pad, loops):
        choices = [(a, f) for a in self.arrays for f in a["fields"] if f[2] == "w"]
        if not choices:
            return
        array, field = self.rng.choice(choices)
        per = array["per"]
        fitting = [v for v, most in loops if most <= per]
        inner = self.rng.choice(fitting) if fitting else self.rng.randrange(per)
        value = field[1][3].format(self.rng.choice(["acc", "acc ^ i", "acc * 3 + 1"]))
        self.lines.append(f"{pad}{array['name']}[i * {per} + {inner}]{field[0]} = {value};")

    def statements(self, pad, loops, depth, has_reads=True, can_leave=False):
        most = 2 if self.follows_data else 4  # each read of such a kernel is much code
        for _ in range(self.rng.randint(1, most)):
            self.statement(pad, loops, depth, has_reads, can_leave)

    def statement(self, pad, loops, depth, has_reads, can_leave):
        rng = self.rng
        kind = rng.randrange(12)
        if kind <= 3 or depth == 0:
            operator = rng.choice(["+", "^", "+", "*17 +", "-"])
            self.lines.append(f"{pad}acc = acc {operator} {self.value(loops, has_reads)};")
        elif kind == 4:
            self.write(pad, loops)
        elif kind in (5, 6) and has_reads:
            self.lines.append(f"{pad}if ({self.index_condition(loops)}) {{")
            self.statements(pad + "    ", loops, depth - 1, True, can_leave)
            if rng.random() < 0.5:
                self.lines.append(f"{pad}}} else {{")
                self.statements(pad + "    ", loops, depth - 1, True, can_leave)
            self.lines.append(pad + "}")
        elif kind in (7, 8):
            self.lines.append(f"{pad}if ((acc >> {rng.randrange(40)} & {rng.randint(1, 3)}) == 0) {{")
            for _ in range(rng.randint(1, 2)):
                if rng.random() < 0.5:
                    self.write(pad + "    ", loops)
                else:
                    self.lines.append(f"{pad}    acc += {self.value(loops, self.follows_data)};")
            self.lines.append(pad + "}")
        elif kind in (9, 10) and has_reads and len(loops) < 2:
            var, most = self.new("j"), rng.randint(1, 5)
            outer = rng.choice([str(most), f"1 + (int)(i % {most})", f"1 + (int)(table[i % TABLE] % {most})"])
            self.lines.append(f"{pad}for (int {var} = 0; {var} < {outer}; {var}++) {{")
            inside = loops + [(var, most)]
            if rng.random() < 0.3:
                word = rng.choice(["break", "continue"])
                self.lines.append(f"{pad}    if ({self.index_condition(inside)}) {word};")
            self.statements(pad + "    ", inside, depth - 1, True, True)
            self.lines.append(pad + "}")
        elif kind == 11 and can_leave and has_reads:
            self.lines.append(f"{pad}if ({self.index_condition(loops)}) {rng.choice(['break', 'continue'])};")
        else:
            self.lines.append(f"{pad}acc += {self.value(loops, has_reads)};")

    # ---- the whole ----

    def make(self):
        rng, put = self.rng, self.lines.append
        wide = rng.random() < 0.3  # two- or three-dimensional launches
        put("    const long block = blockIdx.x + (long)gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);" if wide else
            "    const long block = blockIdx.x;")
        if wide:
            put("    const int size = blockDim.x * blockDim.y * blockDim.z;")
            put("    const long t = block * size + threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);")
            put("    const long threads = (long)size * gridDim.x * gridDim.y * gridDim.z;")
        else:
            put("    const long t = block * blockDim.x + threadIdx.x, threads = (long)gridDim.x * blockDim.x;")
        self.share = rng.randrange(5)
        put("    u64 acc = t * 7 + 1;")
        if self.indices:
            put("    const long one = (n >> 40) + 1;")
        if rng.random() < 0.2:
            put("    if (threadIdx.x % 3 == 2) acc += 5;")
        for _ in range(rng.choice([1, 1, 1, 2])):
            self.sweep()
        put("    atomicAdd(sum, stir(acc, 1));")
        self.wide = wide

    def sweep(self):
        rng, put = self.rng, self.lines.append
        # Who writes an element is the same in all loops: threads do not race.
        writes = any(f[2] == "w" for a in self.arrays for f in a["fields"])
        kind = self.share if writes else rng.randrange(5)
        if writes and kind != 1:
            kind = rng.choice([0, 2, 3, 4])
        if kind == 0:
            put("    for (long i = t; i < n; i += threads) {")
        elif kind == 1:
            put("    for (long i = t * ((n + threads - 1) / threads), end = i + (n + threads - 1) / threads; "
                "i < end && i < n; i++) {")
        elif kind == 2:
            put("    for (int i = (int)t; i < (int)n; i += (int)threads) {")
        elif kind == 3:
            put("    if (t >= n) return;\n    for (long i = t;; i += threads) {\n        if (i >= n) break;")
        else:
            put("    for (unsigned i = (unsigned)t; i < (unsigned)n; i += (unsigned)threads) {")
        self.statements("        ", [], 3)
        if rng.random() < 0.8:
            self.write("        ", [])
        if rng.random() < 0.3:
            put("        acc = acc * 3 + " + self.read([]) + ";")
        put("    }")

    def text(self):
        params = ", ".join(f"{self.constness(a)}{a['element']} *{a['name']}" for a in self.arrays)
        return "\n".join(self.structs + [
            f"__global__ void {self.name}({params}, long n, const u32 *table, u64 *sum) {{", *self.lines, "}"]) + "\n"

    @staticmethod
    def constness(array):
        return "" if any(f[2] == "w" for f in array["fields"]) else "const "

    def case(self):
        arrays = ", ".join(f"{{sizeof({a['element']}), {a['per']}, {str(a in self.indices).lower()}}}" for a in self.arrays)
        return f"{{\"{self.name}\", (const void *){self.name}, {len(self.arrays)}, {{{arrays}}}}}"

    def option(self):
        return f"--stream={self.name}:" + ",".join(a["name"] for a in self.arrays)

    def shape(self):
        rng = self.rng
        blocks = rng.choice([1, 2, 3, 5])
        if self.wide:
            grid = rng.choice([(blocks, 1, 1), (blocks, 2, 1), (2, 1, 2)])
            block = rng.choice([(8, 5, 1), (4, 3, 2), (1, 1, 3), (16, 2, 1), (3, 1, 31)])
        else:
            grid, block = (blocks, 1, 1), (rng.choice([1, 7, 31, 32, 33, 64, 100, 160]), 1, 1)
        n = rng.choice([1, 2, 3, 31, 97, 200, 331])
        slots, active = rng.choice([0, 1, 1, 2, 3, 7, 20]), rng.choice([0, 1, 1, 2])
        triple = "dim3({}, {}, {})".format
        rng = random.Random(f"{n} {grid} {block} {slots} {active}")  # the program stays as it is
        without_patterns, variant = rng.choice([0, 0, 1]), rng.choice(["Full", "Full", "Volume"])
        fetches, flags, threads = rng.choice([0, 0, 1]), rng.choice([0, 1]), rng.choice([0, 0, 1, 2, 3])
        addresses = rng.choice([0, 1])
        options = (f"{{0, {slots}, {without_patterns}, {active}, streaming{variant}, 0, 0, 0, {addresses}, 0, "
                   f"{fetches}, {flags}, {threads}}}")
        return f"{{{n}, {triple(*grid)}, {triple(*block)}, {options}}}"


def program(seed, count, launches):
    rng = random.Random(seed)
    kernels = [Kernel(rng, f"k{seed}_{i}") for i in range(count)]
    runs = [k for k in kernels for _ in range(launches)]
    cases = ",\n    ".join(k.case() for k in runs)
    shapes = ",\n    ".join(k.shape() for k in runs)
    text = (f"#include \"stream_property.h\"\n{HELPERS}\n" + "\n".join(k.text() for k in kernels) +
            f"\nint main(void) {{\n    seed = {seed * 7919 + 17}ull;\n"
            f"    static const test_case cases[] = {{\n    {cases}}};\n"
            f"    const test_shape shapes[] = {{\n    {shapes}}};\n"
            f"    return run_all(cases, shapes, {len(runs)});\n}}\n")
    return text, [k.option() for k in kernels]


def run(command, limit_s, **more):
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                timeout=limit_s, errors="replace", text=True, check=False, **more)
        return result.returncode, result.stdout
    except subprocess.TimeoutExpired as end:
        return "timeout", (end.stdout or b"").decode("utf-8", "replace")


def check(seed, options, folder):
    """The devices on which this seed fails."""
    text, streams = program(seed, options.kernels, options.launches)
    source, binary = os.path.join(folder, f"s{seed}.cu"), os.path.join(folder, f"s{seed}")
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    wpcc = os.path.join(options.build, "bin/wpcc")
    # Every second program leaves it to the runtime to make the streamed kernels; a GPU needs them in the program.
    failed = []
    lists = options.devices.split("/")
    for device in lists[(seed - 1) % len(lists)].split(","):
        cached = ["--cache"] if options.cache else []
        is_gpu = device.startswith("cuda")
        inside = streams if is_gpu or seed % 2 == 0 else []
        program_path = binary + ("_in" if inside else "")
        if not os.path.exists(program_path):
            code, talk = run([wpcc, "-w", *cached, "-I", HERE, source, *inside, "-o", program_path], options.limit)
            # Where the optimiser has made branches on indices follow branches on data, wpcc refuses.
            while code == 1 and (refused := re.search(r"kernel (\w+)\(.* cannot be streamed", talk)):
                inside = [i for i in inside if not i.startswith(f"--stream={refused[1]}:")]
                code, talk = run([wpcc, "-w", *cached, "-I", HERE, source, *inside, "-o", program_path], options.limit)
            if code != 0:
                print(f"seed {seed}: wpcc: {code}\n{talk}")
                return [device]
        # Everything is cached that hits once, after few accesses; else hardly a thread would in such short loops.
        more = {"WARPAGE_SOFTWARE_CACHE_DATA_EXITS": "on", "WARPAGE_SOFTWARE_CACHE_HITS_PCT": "0",
                "WARPAGE_SOFTWARE_CACHE_THRESHOLD": "4"} if options.cache else {}
        environment = dict(os.environ, WARPAGE_DEVICE=device, **more)
        if is_gpu:
            environment["WARPAGE_LIBCUDA"] = os.path.join(options.build, "tests/libfake_cuda.so")
        code, talk = run([program_path], options.limit, env=environment)
        counted = re.search(r"(\d+) streamed, (\d+) refused\nPASS\n$", talk)
        if counted:
            STREAMED.update(done=int(counted[1]), refused=int(counted[2]))
        if code != 0 or not counted:
            failed.append(device)
            print(f"seed {seed} on {device}: exit status {code}\n{talk[-2000:]}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--seeds", default="1-4")
    parser.add_argument("--devices", default="cpu,sim:gtx680,sim:gtx680@xeon-e5-quad,sim:gtx1080ti,cuda:0")
    parser.add_argument("--kernels", type=int, default=6)
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--limit", type=float, default=500, help="seconds, of each compilation and run")
    parser.add_argument("--cache", action="store_true", help="compile with wpcc --cache, and cache what hits once")
    parser.add_argument("--keep")
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    first, _, last = options.seeds.partition("-")
    failed, count = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or temporary
        os.makedirs(folder, exist_ok=True)
        os.environ.setdefault("WARPAGE_CACHE", os.path.join(folder, "cache"))
        for seed in range(int(first), int(last or first) + 1):
            count += 1
            devices = check(seed, options, folder)
            if devices:
                failed.append(f"{seed} ({', '.join(devices)})")
    total = STREAMED.total()
    print(f"{STREAMED['done']} of {total} launches streamed, {STREAMED['refused']} refused")
    if STREAMED["done"] < total * 2 // 3:
        failed.append("too many refusals")
    print(f"{count} seeds, {len(failed)} failed" + ("".join(f"\n    {text}" for text in failed)))
    return 1 if failed else 0


sys.exit(main())
