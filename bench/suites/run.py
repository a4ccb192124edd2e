#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs other people's CUDA programs, and writes bench/suites/results/SUITE.{csv,md}.

    git clone --branch v12.9 https://github.com/NVIDIA/cuda-samples
    python3 bench/suites/run.py cuda-samples --source cuda-samples --toolkit build/release/lib/warpage/cuda

SUITE is one of those that --help lists; SOURCE is a clone of its repository. Programs that are not in
the table are tried; --again tries more of them. A row is written when its program ends, with the date, and
--again leaves out rows of the same date: a run that was stopped is continued by the same command.

What counts: built, the suite's own build ends with status 0, with unmodified sources; ran, the program ends
with status 0; checked, it says that its own check passed, or its source compares results and ends with another
status where they differ. A program that needs what is not there (graphics, a library, a file) is not counted."""
import argparse
import atexit
import csv
import datetime
import glob
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import inputs

FIELDS = ["suite", "program", "built", "ran", "checked", "reason"]
HERE = os.path.dirname(os.path.abspath(__file__))

# What the sources of a program say about what it needs. First match of each; the words of the tables.
NEEDS = [
    ("EGL, OpenGL", r"#\s*include\s*[<\"](GL/|GLES|EGL/|helper_gl|rendercheck_gl|GLFW|X11/|(\.\./)*common/(cpu_bitmap|cpu_anim|gpu_anim|gl_helper))|find_package\(\s*(OpenGL|EGL|GLUT)"),
    ("Vulkan", r"#\s*include\s*[<\"]vulkan/|find_package\(\s*Vulkan"),
    ("Direct3D", r"#\s*include\s*[<\"](d3d\d|dxgi|DirectX)"),
    ("MPI", r"#\s*include\s*[<\"]mpi\.h"),
    ("NCCL", r"#\s*include\s*[<\"]nccl\.h"),
    ("NVSHMEM", r"#\s*include\s*[<\"]nvshmem"),
    ("NPP", r"#\s*include\s*[<\"](npp|Exceptions\.h)"),
    ("FreeImage", r"#\s*include\s*[<\"]FreeImage"),
    ("cuSPARSELt", r"#\s*include\s*[<\"]cusparseLt"),
    ("sparse cuSOLVER", r"#\s*include\s*[<\"]cusolver(Sp|Rf|Mg)"),
    ("cuDNN", r"#\s*include\s*[<\"]cudnn"),
    ("nvJPEG", r"#\s*include\s*[<\"]nvjpeg\.h"),
    ("nvJitLink", r"#\s*include\s*[<\"]nvJitLink"),
    ("libNVVM", r"#\s*include\s*[<\"]nvvm\.h"),
    ("cuDLA", r"#\s*include\s*[<\"]cudla"),
    ("NvSci", r"#\s*include\s*[<\"]nvsci"),
    ("PyTorch", r"#\s*include\s*[<\"](torch/|ATen/)"),
]
NOT_THERE = {"nvvm": "libNVVM", "npp": "NPP", "nvjpeg": "nvJPEG",
             "nvJitLink": "nvJitLink"}

FAILED = re.compile(r"\b(FAIL(ED|URE|S)?|mismatch(es)?|incorrect|not correct|wrong result|(do|does) not match|errors? detected)\b", re.I)
NO_FAILURE = re.compile(r"\b(0|no|without|zero)\s+(\w+\s+){0,2}(fail|mismatch|error|incorrect)|(fail\w*|mismatch\w*|errors?)"
                        r"( count)?\s*[:=]\s*(0|no|none)\b", re.I)
PASSED = re.compile(r"\b(PASS(ED|ES)?|passed|test succeeded|results? (is |are )?correct|verified|verification success\w*|"
                    r"(results?|arrays?) match\w*|success(ful|fully)?|Test (is )?OK|Status\s*:\s*OK|SUCCESS)\b", re.I)
COUNTED = re.compile(r"\b(no|number)\.? of (errors|mismatches|failures)\s*[:=]\s*[1-9]", re.I)
COMPARES = re.compile(r"EXIT_SUCCESS\s*:\s*EXIT_FAILURE|sdkCompare|compareData|[bB]?[tT]est_?[rR]esult|[L]2 ?norm|assert\(|"
                      r"AssertEquals|exit\(1\)|return 1;|abort\(\)|\bpass(ed)? = (false|true)")
# What a source has that says so where results differ, and nothing otherwise.
TELLS = re.compile(r'"(Test failed!|Validation failure|Arrays do not match|Error! data)')
# What a program prints of an error of a CUDA call, and goes on.
PRINTS_ERROR = re.compile(r"^Error: \S+\.cu:\d+, code: (?!600\b)\d+", re.M)  # 600: not ready


# What wpcc says where a kernel launches kernels.
LAUNCHES_IN_KERNEL = re.compile(r"reference to __global__ function|'cuda(GetParameterBuffer|LaunchDevice)|"
                                r"no matching function for call to 'cuda(Stream|Event|Device|Malloc)\w*'")


def processor_seconds(session):
    """Processor time of a session's processes, and of those that they have waited for."""
    ticks = 0
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                words = file.read().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(words[3]) == session:
            ticks += sum(int(word) for word in words[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def run_limited(command, cwd, seconds, env):
    """Status (None: time is up) and output of a command, whose whole process group ends with it. Time is up when it has
    run so long and had a processor so long, so that other work on the machine does not count; at ten times that in any
    case."""
    with tempfile.TemporaryFile() as out:
        try:
            process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:  # such as a script without the right to be run
            return 126, str(error)
        status, start = None, time.monotonic()
        while status is None and time.monotonic() - start < 10 * seconds:
            passed = time.monotonic() - start
            try:
                status = process.wait(timeout=max(0.5, seconds - passed))
            except subprocess.TimeoutExpired:
                if processor_seconds(process.pid) >= seconds:
                    break
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out.seek(0, os.SEEK_END)
        out.seek(max(0, out.tell() - 2000000))
        return status, out.read().decode("utf-8", "replace")


def clean(line):
    line = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
    return re.sub(r"(\.\./)+|/\S*/(?=[^/\s]+)", "", line)[:160]


def first_error(text):
    """The line that says why, without the folders in it."""
    lines = [line for line in text.splitlines() if line.strip()]
    for mark in (r"\berror:|\bundefined (symbol|reference)", r"wpcc:|warpage:", r"\*\*\*|[Ee]rror|not (found|supported)"):
        for line in lines:
            if re.search(mark, line):
                return clean(line)
    return clean(lines[-1]) if lines else "no message"


def sources_text(folder):
    text = ""
    for base, folders, files in os.walk(folder):
        folders[:] = [f for f in folders if f not in ("build", "doc")]
        for name in files:
            if re.search(r"\.(cu|cuh|h|hpp|c|cc|cpp|cxx|inl)$|^(CMakeLists\.txt|Makefile)$", name):
                with open(os.path.join(base, name), encoding="utf-8", errors="replace") as file:
                    text += file.read() + "\n"
    return text


def missing_in(text, names):
    return ", ".join(name for name, mark in NEEDS if name in names and re.search(mark, text, re.I))


def judge(output, source):
    """Whether a program that ended well was checked, and how."""
    if re.search(r"^\[run_demo\] PASS", output, re.M):
        return "yes", "own check"
    compared = re.search(r"^\[compared\] (.*)", output, re.M)
    if compared:
        return "yes", "compared " + compared.group(1)
    differing = re.search(r"^Non-Matching CPU-GPU Outputs.*: (\d+)", output, re.M)
    if differing:
        return ("yes", "own check") if differing.group(1) == "0" else ("no", "its own check fails: " + clean(differing.group(0)))
    for line in output.splitlines():
        failed = (PRINTS_ERROR.search(line) or FAILED.search(line)) and not NO_FAILURE.search(line) and not re.search(r"ssertion `|as expected", line)
        if failed or COUNTED.search(line):
            return "no", "its own check fails: " + clean(line)
    if PASSED.search(output) or any(NO_FAILURE.search(line) for line in output.splitlines()):
        return "yes", "own check"
    if COMPARES.search(source):
        return "yes", "own comparison, by exit status"
    if TELLS.search(source):
        return "yes", "own check, which prints nothing"
    return "no", "ran, but nothing to compare with"


class Suite:
    """A suite's programs as (name, folder), how one is built, and the commands that run it."""
    title = build_note = ""
    needs = {name for name, _ in NEEDS}

    def __init__(self, args, env):
        self.args, self.env = args, env

    def prepare(self):
        """What all programs need, before the first; an error's text."""
        return ""

    def sources(self, folder):
        return sources_text(folder)

    def build(self, name, folder, work):
        """(status, output) of the build."""
        raise NotImplementedError

    def runs(self, name, folder, work):
        """(commands, folder to run them in)"""
        raise NotImplementedError

    def command(self, line, folder):
        return run_limited(line, folder, self.args.build_seconds, self.env)


class CudaSamples(Suite):
    title = "CUDA samples"
    build_note = "by its CMakeLists.txt"

    def __init__(self, args, env):
        super().__init__(args, env)
        with open(os.path.join(args.source, "test_args.json"), encoding="utf-8") as file:
            self.test_args = json.load(file)

    def programs(self):
        found = []
        for listing in glob.glob(os.path.join(self.args.source, "Samples", "*", "**", "CMakeLists.txt"), recursive=True):
            folder = os.path.dirname(listing)
            with open(listing, encoding="utf-8") as file:
                if re.search(r"^\s*add_executable", file.read(), re.M):
                    found.append((os.path.basename(folder), folder))
        return sorted(found, key=lambda f: f[1])

    def prepare(self):
        """What CMake finds out about the compilers, once for all programs."""
        project = tempfile.mkdtemp(prefix="suite-cmake-")
        atexit.register(shutil.rmtree, project, ignore_errors=True)
        with open(os.path.join(project, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write("cmake_minimum_required(VERSION 3.20)\nproject(any LANGUAGES C CXX CUDA)\n")
        status, text = self.command(["cmake", "-S", project, "-B", project, "-DCMAKE_BUILD_TYPE=Release",
                                     f"-DCMAKE_CUDA_COMPILER={self.args.toolkit}/bin/nvcc"], project)
        self.compilers = glob.glob(os.path.join(project, "CMakeFiles", "[0-9]*"))
        return "" if status == 0 else first_error(text)

    def build(self, name, folder, work):
        toolkit = self.args.toolkit
        for found in self.compilers:
            shutil.copytree(found, os.path.join(work, "CMakeFiles", os.path.basename(found)))
        status, text = self.command(["cmake", "-S", folder, "-B", work, "-DCMAKE_BUILD_TYPE=Release",
                                     f"-DCMAKE_CUDA_COMPILER={toolkit}/bin/nvcc", f"-DCUDAToolkit_ROOT={toolkit}"], folder)
        if status == 0:
            status, text = self.command(["cmake", "--build", work], folder)
        return status, text

    def runs(self, name, folder, work):
        # Where the programs look for their inputs when they are run from the build folder.
        for data in glob.glob(os.path.join(folder, "data")):
            if not os.path.exists(os.path.join(work, "data")):
                os.symlink(data, os.path.join(work, "data"))
        entry = self.test_args.get(name, {})
        lists = [run.get("args", []) for run in entry["runs"]] if "runs" in entry else [entry.get("args", [])]
        smaller = SMALLER.get((self.args.suite, name))
        return [["./" + name] + args for args in ([smaller] if smaller is not None else lists)], work


# Arguments for programs whose own problem is sized for a GPU, or that ask for a size.
SMALLER = {
    ("cuda-samples", "matrixMul"): ["-wA=64", "-hA=64", "-wB=64", "-hB=64"],
    ("cuda-samples", "eigenvalues"): ["-matrix-size=256"],
    ("cuda-samples", "matrixMulCUBLAS"): ["-sizemult=1"],
    ("cuda-samples", "batchCUBLAS"): ["-m32", "-n32", "-k32", "-N4"],
    ("cuda-programming", "05-prerequisites-for-speedup/arithmetic2gpu"): ["10000"],
    ("cuda-programming", "07-global-memory/matrix"): ["1024"],
    ("cuda-programming", "08-shared-memory/bank"): ["1024"],
    ("learn-cuda", "Chapter03/03_cuda_thread_programming/01_warp_and_thread_block/cuda_thread_block"): ["4", "128"],
    ("learn-cuda", "Chapter04/04_kernel_execution/08_openmp_cuda/openmp_gpus"): ["4"],
    ("professional-cuda", "solutions/chapter04/memTransfer"): ["8"],
    ("professional-cuda", "solutions/chapter04/pinMemTransfer"): ["8"],
    ("professional-cuda", "solutions/chapter05/reduceInteger"): ["128", "20"],
}

# Programs for several devices, whose number they do not ask for.
DEVICES = {
    ("cuda-training-series", "hw7/multi"): 4,
    ("cuda-training-series", "hw7/multi_solution"): 4,
    ("learn-cuda", "Chapter06/06_multigpu/02_gaussian_multi_gpu/gaussian_multi_gpu_p2p"): 4,
    ("professional-cuda", "examples/chapter08/cufft-multi"): 2,
    ("professional-cuda", "examples/chapter09/simple2DFD"): 2,
    ("professional-cuda", "examples/chapter09/simpleMultiGPU"): 2,
    ("professional-cuda", "examples/chapter09/simpleP2P_PingPong"): 2,
    ("professional-cuda", "solutions/chapter09/simple2DFDModified"): 2,
    ("professional-cuda", "solutions/chapter09/simpleMultiGPUEvents"): 2,
    ("professional-cuda", "solutions/chapter09/simpleMultiGPUEvents-initial"): 2,
    ("professional-cuda", "solutions/chapter09/simpleP2P_PingPong"): 2,
    ("professional-cuda", "solutions/chapter09/simpleP2P_PingPongDefault"): 2,
}

# Inputs that programs name themselves; they are not run where the repository does not have these.
INPUTS = {
    ("hecbench", "bsw"): "test-data",
    ("hecbench", "cc"): "delaunay_n24.egr",
    ("hecbench", "cm"): "queries",
    ("hecbench", "diamond"): "long.fastq.gz",
    ("hecbench", "floydwarshall2"): "CollegeMsg.egr",
    ("hecbench", "gd"): "gisette_scale",
    ("hecbench", "gmm"): "data",
    ("hecbench", "heartwall"): "../data/heartwall/test.avi",
    ("hecbench", "kmc"): "gisette_scale",
    ("hecbench", "lzss"): "QCLOUDf48.bin.f32.errctrl.1e-3",
    ("hecbench", "lr"): "../lr-sycl/assets/temperature.txt",
    ("hecbench", "minibude"): "../minibude-sycl/data/bm1",
    ("hecbench", "multimaterial"): "volfrac.dat",
    ("hecbench", "nn"): "../data/nn/cane4_0.db",
    ("hecbench", "tonemapping"): "../tonemapping-sycl/input.hdr",
    ("moderngpu", "demo/bfs"): "demo/coPapersCiteseer/coPapersCiteseer.mtx",
    ("moderngpu", "demo/bfs2"): "demo/coPapersCiteseer/coPapersCiteseer.mtx",
    ("moderngpu", "demo/bfs3"): "demo/coPapersCiteseer/coPapersCiteseer.mtx",
    ("various", "LonestarGPU: dmr"): "mesh",
    ("various", "LonestarGPU: pta"): "constraints",
}

# Programs that show an error, and end with another status than 0 where CUDA works as documented.
SHOW_AN_ERROR = {
    ("cuda-programming", "04-error-check/check1api"): "copies in the wrong direction",
    ("cuda-programming", "04-error-check/check2kernel"): "a block of 1280 threads",
    ("learn-cuda", "Chapter05/05_debug_profiling/03_cuda_error/sgemm"): "a kernel gets a NULL pointer",
    ("professional-cuda", "solutions/chapter02/sumMatrixOnGPU-2D-grid-2D-block-integer"): "a block of 2048 threads",
    ("professional-cuda", "examples/chapter10/debug-hazards"): "barriers are missing",
    ("professional-cuda", "examples/chapter10/debug-segfault"): "a kernel gets an array of NULL pointers",
}


class Shoc(Suite):
    title = "SHOC"
    build_note = "by its configure and makefiles"
    levels = {"level0": ["BusSpeedDownload", "BusSpeedReadback", "DeviceMemory", "MaxFlops"],
              "level1": ["BFS", "FFT", "GEMM", "MD", "MD5Hash", "NeuralNet", "Reduction", "Scan", "Sort", "Spmv",
                         "Stencil2D", "Triad"],
              "level2": ["QTC", "S3D"]}
    folders = {"QTC": "qtclustering", "BusSpeedDownload": "", "BusSpeedReadback": "", "DeviceMemory": "", "MaxFlops": ""}

    def programs(self):
        return [(name, os.path.join(self.args.source, "src", "cuda", level, self.folders.get(name, name.lower())))
                for level, names in self.levels.items() for name in names]

    def prepare(self):
        source = self.args.source
        if not os.path.exists(os.path.join(source, "Makefile")):
            status, text = run_limited(["sh", "configure", "--without-mpi", "--without-opencl", "--disable-stability",
                                        "CUDA_CPPFLAGS=-gencode=arch=compute_70,code=sm_70"], source, 900, self.env)
            if status != 0:
                return first_error(text)
        for part in "common", "cuda/common":
            if not os.path.exists(os.path.join(source, "src", part, "Makefile")):
                continue  # releases differ
            status, text = run_limited(["make", "-C", os.path.join(source, "src", part)], source, 900, self.env)
            if status != 0:
                return first_error(text)
        return ""

    def build(self, name, folder, work):
        return self.command(["make", "-C", folder], folder)

    def runs(self, name, folder, work):
        program = os.path.join(folder, name)
        return [[program, "-s", "1", "-n", "1", "--passes", "1"]], work


class HecBench(Suite):
    title = "HeCBench"
    build_note = "by its makefile"

    def programs(self):
        return [(os.path.basename(folder)[:-len("-cuda")], folder)
                for folder in sorted(glob.glob(os.path.join(self.args.source, "src", "*-cuda")))
                if glob.glob(os.path.join(folder, "Makefile"))]

    def architecture(self, folder):
        """ARCH as the makefile writes it: sm_70, or 70 alone. 80 where the kernels assert that it is no less."""
        with open(os.path.join(folder, "Makefile"), encoding="utf-8", errors="replace") as file:
            own = re.search(r"^ARCH\s*[:?]?=\s*(\S+)", file.read(), re.M)
        number = 80 if re.search(r"__CUDA_ARCH__\)?\s*<\s*800\s*\n\s*assert", self.sources(folder)) else 70
        return f"ARCH={'' if own and own.group(1).isdigit() else 'sm_'}{number}"

    def build(self, name, folder, work):
        self.command(["make", "clean"], folder)
        return self.command(["make", self.architecture(folder)], folder)

    def runs(self, name, folder, work):
        _, text = run_limited(["make", "-n", self.architecture(folder), "run"], folder, 60, self.env)
        lines = [line.strip() for line in text.splitlines() if re.match(r"\s*(\S*/)?\./\S+|\s*\./", line)]
        source = self.sources(folder)
        usage = re.search(r"[Uu]sage:[^\n]*?%s([^\n\"]*)", source)
        words = re.findall(r"<[^>]*>", usage.group(1)) if usage else []
        commands = []
        for line in lines:
            command = shlex.split(line)
            for at, word in enumerate(words):
                if re.search(r"repeat|iterations?|repetition|times", word) and at + 1 < len(command) \
                        and command[at + 1].isdigit():
                    command[at + 1] = str(min(int(command[at + 1]), 2))
            commands.append(command)
        return commands, folder


class Cccl(Suite):
    title = "CCCL's examples"
    build_note = "by one command"
    needs = set()

    def programs(self):
        found = []
        for part in "cub", "thrust":
            base = os.path.join(self.args.source, part, "examples")
            for source in glob.glob(os.path.join(base, "**", "*.cu"), recursive=True):
                found.append((f"{part}/{os.path.relpath(source, base)[:-3]}", source))
        return sorted(found)

    def sources(self, folder):
        with open(folder, encoding="utf-8") as file:
            return file.read()

    def build(self, name, folder, work):
        command = ["nvcc", "-std=c++20", "-extended-lambda", "-w", folder, "-o", os.path.join(work, "program")]
        for part in "thrust/examples", "cub/examples", "c2h/include":
            command += ["-I", os.path.join(self.args.source, part)]
        if self.args.cuda_path:
            command += ["--cuda-path", self.args.cuda_path]
        return self.command(command, work)

    def runs(self, name, folder, work):
        return [[os.path.join(work, "program")]], work


class Projects(Suite):
    """Folders with a CMakeLists.txt, and a script that runs the program and compares its output with a file."""
    title = "CUDA C++ healthcare projects"
    build_note = "by its CMakeLists.txt"

    def programs(self):
        return sorted((os.path.basename(folder), folder)
                      for folder in glob.glob(os.path.join(self.args.source, "projects", "*", "*"))
                      if os.path.exists(os.path.join(folder, "CMakeLists.txt")))

    prepare = CudaSamples.prepare

    def build(self, name, folder, work):
        toolkit, build = self.args.toolkit, os.path.join(folder, "build", "cmake")
        shutil.rmtree(build, ignore_errors=True)
        for found in self.compilers:
            shutil.copytree(found, os.path.join(build, "CMakeFiles", os.path.basename(found)))
        status, text = self.command(["cmake", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                                     "-DCMAKE_CUDA_ARCHITECTURES=75",
                                     f"-DCMAKE_CUDA_COMPILER={toolkit}/bin/nvcc", f"-DCUDAToolkit_ROOT={toolkit}"], folder)
        if status == 0:
            status, text = self.command(["cmake", "--build", build], folder)
        return status, text

    def runs(self, name, folder, work):
        return [["bash", "demo/run_demo.sh"]], folder


class LibrarySamples(Suite):
    """Folders with a CMakeLists.txt, whose programs are all run without arguments."""
    title = "CUDA library samples"
    build_note = "by its CMakeLists.txt"
    parts = ["cuBLAS", "cuBLASLt", "cuFFT", "cuRAND", "cuSOLVER", "cuSPARSE"]

    def programs(self):
        found = []
        for part in self.parts:
            for listing in glob.glob(os.path.join(self.args.source, part, "**", "CMakeLists.txt"), recursive=True):
                folder = os.path.dirname(listing)
                with open(listing, encoding="utf-8") as file:
                    if re.search(r"^\s*project\s*\(", file.read(), re.M):
                        found.append((os.path.relpath(folder, self.args.source), folder))
        return sorted(found)

    prepare = CudaSamples.prepare
    build = CudaSamples.build

    def runs(self, name, folder, work):
        programs = [path for path in glob.glob(os.path.join(work, "**", "*"), recursive=True)
                    if os.path.isfile(path) and os.access(path, os.X_OK) and "CMakeFiles" not in path
                    and not re.search(r"\.(so|sh|py)\b", path)]
        return [[path] for path in sorted(programs)], work


class Beaver(Suite):
    """Folders with a reference solution and a test of it, built by the command that the folder names."""
    title = "CUDABeaver's references"
    build_note = "by the command of the task"

    def programs(self):
        return sorted((os.path.basename(folder), folder) for folder in glob.glob(os.path.join(self.args.source, "data", "*"))
                      if os.path.exists(os.path.join(folder, "testbench", "test")))

    def build(self, name, folder, work):
        shutil.copytree(os.path.join(folder, "testbench"), work, dirs_exist_ok=True)
        with open(os.path.join(folder, "input.json"), encoding="utf-8") as file:
            self.task = json.load(file)
        shutil.copy(os.path.join(folder, "reference.cu"), os.path.join(work, self.task["solution_file"]))
        return self.command(["sh", "-c", self.task["build_command"]], work)

    def runs(self, name, folder, work):
        # Some tests run it under NVIDIA's sanitizer.
        return [["sh", "-c", re.sub(r"^python\S* test/run_sanitizer.py ", "", self.task["test_command"])]], work


# Libraries that a program is linked with because it includes their header.
LIBRARIES = [("cublas", r"cublas(_v2|Xt)?\.h|cublasLt\.h"), ("cublasLt", r"cublasLt\.h"), ("cufft", r"cufft\.h"),
             ("curand", r"curand(_kernel)?\.h"), ("cusolver", r"cusolver\w+\.h"), ("cusparse", r"cusparse"),
             ("nvrtc", r"nvrtc\.h"), ("cuda", r"cuda\.h"), ("nvidia-ml", r"nvml\.h"),
             ("nvToolsExt", r"nvToolsExt\w*\.h")]


class Files(Suite):
    """Files that are a program each, built by one nvcc command as their authors say."""
    build_note = "by one command"
    folder, flags, includes, libraries = "", [], [], []
    left_out = "$^"  # files that are no program of their own
    has_parts = False  # a folder is one program: its files without main are parts of it
    other_parts = []  # (names, words of the command): programs with files elsewhere, {} is the suite's folder

    def __init__(self, args, env):
        super().__init__(args, env)
        self.root = os.path.join(args.source, self.folder)

    def programs(self):
        found = []
        for source in glob.glob(os.path.join(self.root, "**", "*.cu"), recursive=True):
            name = os.path.relpath(source, self.root)[:-3]
            text = self.sources(source)
            is_exercise = re.search(r"^[^/\n]*\bFIXME\b", text, re.M)  # that the reader completes
            if re.search(r"\bmain\s*\(", text) and not is_exercise and not re.search(self.left_out, name):
                found.append((name, source))
        return sorted(found)

    def sources(self, folder):
        with open(folder, encoding="utf-8", errors="replace") as file:
            return file.read()

    def build(self, name, folder, work):
        text = self.sources(folder)
        command = ["nvcc", "-O2", "-w"] + self.flags + [folder, "-o", os.path.join(work, "program")]
        if self.has_parts:
            others = [path for ending in ("cu", "cpp", "c") for path in glob.glob(os.path.join(os.path.dirname(folder), "*." + ending))]
            included = re.findall(r'#\s*include\s*"([^"]+)"', "".join(map(self.sources, [folder] + others)))
            command += sorted(path for path in others if not re.search(r"\bmain\s*\(", self.sources(path))
                              and os.path.basename(path) not in included)
        for names, words in self.other_parts:
            if re.search(names, name):
                command += [word.replace("{}", self.root) for word in words]
        for part in self.includes:
            command += ["-I", os.path.join(self.args.source, part)]
        for part in self.args.include:
            command += ["-I", part]
        command += ["-l" + library for library, mark in LIBRARIES
                    if library in self.libraries or re.search(r"include\s*[<\"]" + mark, text)]
        return self.command(command, work)

    def runs(self, name, folder, work):
        return [[os.path.join(work, "program")] + SMALLER.get((self.args.suite, name), [])], os.path.dirname(folder)


class CudaProgramming(Files):
    title = "CUDA Programming (a book's programs)"
    folder = "src"
    flags = ["-arch=sm_75"]
    left_out = r"^13-md/whole|^13-md/force|-cpp|/cpp/"


class LearnCuda(Files):
    title = "Learn CUDA Programming (a book's programs)"
    flags = ["-arch=sm_70", "-Xcompiler", "-fopenmp", "-lnvToolsExt", "-rdc=true"]
    left_out = r"cuda_thread_programming/03|simpleMPI"
    has_parts = True


class Freshman(Files):
    title = "CUDA Freshman"
    flags = ["-arch=sm_70", "-Xcompiler", "-fopenmp", "-rdc=true"]
    includes = ["include"]


class TrainingSeries(Files):
    title = "CUDA training series"
    folder = "exercises"
    flags = ["-arch=sm_70", "-Xcompiler", "-fopenmp"]


class CudaCourse(Files):
    title = "CUDA course"
    flags = ["-arch=sm_80"]


class LlmC(Files):
    title = "llm.c's kernels"
    folder = "dev/cuda"
    flags = ["-arch=sm_80", "--use_fast_math", "-Xcompiler", "-fopenmp", "-std=c++17"]
    libraries = ["cublas", "cublasLt"]


class PolybenchAcc(Files):
    title = "PolyBench-ACC"
    folder = "CUDA"
    flags = ["-arch=sm_70", "-DPOLYBENCH_TIME", "-DMINI_DATASET", "-DRUN_ON_CPU"]
    includes = ["CUDA/utilities"]


class ProfessionalCuda(Files):
    title = "Professional CUDA C Programming (a book's programs)"
    flags = ["-arch=sm_70", "-Xcompiler", "-fopenmp", "-rdc=true"]
    crypt_arguments = {"config": "128", "flexible": "128", "openmp": "128 2 0.25"}

    def runs(self, name, folder, work):
        found = re.search(r"/crypt\.(\w+)$", name)
        if not found:
            return super().runs(name, folder, work)
        # As the book runs it; the host's version says what is right.
        more = self.crypt_arguments.get(found.group(1), "")
        script = f'''set -e; cd {work}
            for c in crypt generate_data generate_userkey; do gcc -O2 -w -o $c {os.path.dirname(folder)}/$c.c; done
            ./generate_data data 65536; ./generate_userkey key; ./crypt encrypt data host key
            ./program encrypt data secret key {more}; ./program decrypt secret back key {more}
            cmp secret host; cmp back data; echo "[compared] with the host's version, and back"'''
        return [["sh", "-c", script]], work


class CudaByExample(Files):
    title = "CUDA by Example (a book's programs)"
    folder = "src"
    flags = ["-arch=sm_70"]


class CrashCourse(Files):
    title = "CUDA crash course"
    flags = ["-arch=sm_70"]


class DeveloperBlog(Files):
    title = "NVIDIA's developer blog"
    flags = ["-arch=sm_70", "-std=c++17"]


class Enccs(Files):
    title = "ENCCS CUDA training"
    folder = "examples"
    flags = ["-arch=sm_70"]
    other_parts = [("heat_equation_gpu", ["{}/2.04_HeatEquation/pngwriter.cpp", "-lpng"])]


class HowToOptimize(Files):
    title = "How to optimize in GPU"
    flags = ["-arch=sm_80"]


class CudaForEngineers(Suite):
    """Folders with a makefile; those without CUDA are left out."""
    title = "CUDA for Engineers (a book's programs)"
    build_note = "by its makefile"

    def programs(self):
        return [(os.path.basename(os.path.dirname(makefile)), os.path.dirname(makefile))
                for makefile in sorted(glob.glob(os.path.join(self.args.source, "*", "Makefile")))
                if glob.glob(os.path.join(os.path.dirname(makefile), "*.cu")) or "npp" in makefile]

    def sources(self, folder):
        text = ""
        for path in sorted(glob.glob(os.path.join(folder, "*"))):
            if re.search(r"\.(cu|cuh|cpp)$|/(kernel|interactions|aux_functions)\.h$", path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    text += file.read() + "\n"
        return text

    def build(self, name, folder, work):
        shutil.copytree(folder, work, dirs_exist_ok=True)
        return self.command(["make", f"NVCC={self.args.toolkit}/bin/nvcc"], work)

    def runs(self, name, folder, work):
        return [["./main.exe"]], work


class ModernGpu(Files):
    title = "moderngpu's tests, demos and tutorial"
    flags = ["-arch=sm_70", "-std=c++14", "--expt-extended-lambda", "--expt-relaxed-constexpr"]
    includes = ["src"]
    left_out = "^src/"
    other_parts = [("^demo/bfs", ["{}/demo/graph.cxx"])]

    def runs(self, name, folder, work):
        return super().runs(name, folder, work)[0], self.root


class OptimCuda(Files):
    title = "Optimised kernels"
    flags = ["-arch=sm_80", "-std=c++17"]
    left_out = "^cutlass/|^large|Triton"


class Various(Suite):
    """Programs of various.txt, in clones of many repositories."""
    title = "Programs of many repositories"
    build_note = "by its makefile, or by one command"

    def __init__(self, args, env):
        super().__init__(args, env)
        with open(os.path.join(HERE, "various.txt"), encoding="utf-8") as file:
            rows = [line.strip().split(" | ", 3) for line in file if not line.startswith("#")]
        self.rows = {name: (os.path.join(args.source, folder), build, run) for name, folder, build, run in rows}
        self.inputs = ""

    def programs(self):
        return [(name, folder) for name, (folder, _, _) in self.rows.items() if os.path.exists(folder)]

    def prepare(self):
        self.inputs = tempfile.mkdtemp(prefix="suite-inputs-")
        atexit.register(shutil.rmtree, self.inputs, ignore_errors=True)
        inputs.write(self.inputs)
        return ""

    def build(self, name, folder, work):
        return self.command(["sh", "-c", self.rows[name][1]], folder)

    def runs(self, name, folder, work):
        run = self.rows[name][2]
        return [["sh", "-c", "{ " + run.replace("{inputs}", self.inputs) + "; }"]], folder


SUITES = {"cuda-samples": CudaSamples, "shoc": Shoc, "hecbench": HecBench, "cccl": Cccl, "healthcare": Projects,
          "cuda-programming": CudaProgramming, "learn-cuda": LearnCuda, "cuda-freshman": Freshman,
          "cuda-training-series": TrainingSeries, "cuda-course": CudaCourse, "llm.c": LlmC,
          "polybench-acc": PolybenchAcc, "optim-cuda": OptimCuda, "library-samples": LibrarySamples, "beaver": Beaver,
          "professional-cuda": ProfessionalCuda, "cuda-by-example": CudaByExample, "crash-course": CrashCourse,
          "developer-blog": DeveloperBlog, "enccs": Enccs, "how-to-optimize": HowToOptimize,
          "cuda-for-engineers": CudaForEngineers, "moderngpu": ModernGpu, "various": Various}


def attempt(suite, name, folder, work):
    """The row of a program."""
    def row(built, ran, checked, reason):
        return dict(zip(FIELDS, (suite.args.suite, name, built, ran, checked, reason)))

    source = suite.sources(folder)
    missing = missing_in(source, suite.needs)
    if missing:
        return row("-", "-", "-", "needs " + missing)
    status, text = suite.build(name, folder, work)
    if status is None:
        return row("no", "no", "no", f"not built in {suite.args.build_seconds} s")
    if status != 0:
        header = re.search(r"fatal error: '?([^'\s:]+)'?:? (file not found|No such file)", text)
        compiler = re.search(r"\b(nvc|nvc\+\+|mpicc|mpicxx): (command |No such |not )", text)
        library = re.search(r"(cannot find -l:?(?:lib)?|links to:?\s+CUDA::)([\w-]+)", text)
        if header:
            return row("-", "-", "-", f"needs a header that is not there: {header.group(1)}")
        if compiler:
            return row("-", "-", "-", "needs the compiler " + compiler.group(1))
        if library:
            return row("-", "-", "-", "needs " + NOT_THERE.get(library.group(2), library.group(2)))
        why = "launches from kernels: " if LAUNCHES_IN_KERNEL.search(text) else ""
        return row("no", "no", "no", f"build: {why}{first_error(text)}")
    commands, folder = suite.runs(name, folder, work)
    if not commands:
        return row("yes", "no", "no", "no command that runs it")
    named = INPUTS.get((suite.args.suite, name))
    if named and not os.path.exists(os.path.join(folder, named)):
        return row("-", "-", "-", "input missing in the clone: " + named)
    for pointer in sorted(glob.glob(os.path.join(folder, "*.dvc"))):  # data kept elsewhere, by dvc
        if not os.path.exists(pointer[:-4]):
            return row("-", "-", "-", "input missing in the clone: " + os.path.basename(pointer)[:-4])
    output = ""
    for command in commands:
        for argument in command[1:]:
            if re.search(r"/.*\.\w{1,5}$|^[\w.-]+\.(txt|bin|dat|bmp|ppm|pgm|mtx|csv|gr)$", argument) \
                    and not os.path.exists(os.path.join(folder, argument)):
                return row("-", "-", "-", "input missing in the clone: " + argument)
        devices = DEVICES.get((suite.args.suite, name))
        env = dict(suite.env, WARPAGE_DEVICE=",".join(["cpu"] * devices)) if devices else suite.env
        # By lines, so that the output of a program that is stopped is not lost.
        status, text = run_limited(["stdbuf", "-oL"] + command, folder, suite.args.seconds, env)
        output += text
        waived = re.search(r"^.*\b(waiv\w+|not supported on this (GPU|device)|requires? (at least )?(two|2|more than one)|"
                           r"No CUDA devices support).*$",
                           text, re.I | re.M)
        if status is None:
            passed = PASSED.search(text) and not FAILED.search(text)
            more = ", though its own check has passed" if passed else ""
            return row("yes", "no", "no", f"not done in {suite.args.seconds} s{more}")
        if waived and status in (0, 2):
            return row("-", "-", "-", "waives itself: " + clean(waived.group(0)))
        shown = SHOW_AN_ERROR.get((suite.args.suite, name))
        if shown and (status > 0 or PRINTS_ERROR.search(text)):
            return row("yes", "yes", "yes", f"shows an error, which is found: {shown}")
        absent = re.search(r"^File (\S+\.\w+) is not available", text, re.M)
        if absent and status != 0 and not os.path.exists(os.path.join(folder, absent.group(1))):
            return row("-", "-", "-", "input missing in the clone: " + absent.group(1))
        if status != 0:
            return row("yes", "no", "no", f"run: exit {status}: {first_error(text)}")
    checked, reason = judge(output, source)
    return row("yes", "yes", checked, reason)


def read_rows(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(suite, rows, out):
    path = os.path.join(out, suite.args.suite)
    with open(path + ".csv.new", "w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIELDS, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    os.replace(path + ".csv.new", path + ".csv")
    counted = [row for row in rows if row["built"] != "-"]
    count = {field: sum(row[field] == "yes" for row in counted) for field in ("built", "ran", "checked")}
    note = suite.args.note + " " if suite.args.note else ""
    with open(path + ".md.new", "w", encoding="utf-8") as file:
        file.write(f"# {suite.title}\n\n{note}{len(counted)} programs: {count['built']} built, {count['ran']} ran, "
                   f"{count['checked']} checked. {len(rows) - len(counted)} not counted (`-`).\n\n"
                   "| program | built | ran | checked | how checked, or why not |\n|---|---|---|---|---|\n")
        for row in rows:
            reason = row["reason"].replace("|", "\\|")
            file.write(f"| {row['program']} | {row['built']} | {row['ran']} | {row['checked']} | {reason} |\n")
    os.replace(path + ".md.new", path + ".md")


def wanted(row, again, today):
    """Whether a program that has a row is tried again."""
    if row["program"] in again:
        return True
    if row["reason"].endswith(today):
        return False
    unbuilt, unran = row["built"] == "no", row["built"] == "yes" and row["ran"] == "no"
    return ("missing" in again and row["built"] == "-" and row["reason"].startswith(("needs", "waives"))) \
        or ("unbuilt" in again and unbuilt) or ("unran" in again and unran) or "all" in again


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=sorted(SUITES))
    parser.add_argument("--source", required=True, help="folder of the suite's repository")
    parser.add_argument("--toolkit", required=True, help="lib/warpage/cuda of an installation or a build tree")
    parser.add_argument("--out", default=os.path.join(HERE, "results"), help="folder of the tables (default: results)")
    parser.add_argument("--again", action="append", default=[], metavar="WHAT",
                        help="a program's name; missing, unbuilt, unran: programs with that verdict; all")
    parser.add_argument("--only", metavar="REGEX", help="names to try")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try a sample: every Nth program by name (default: 1)")
    parser.add_argument("--seconds", type=int, default=60, help="limit of one run, of wall-clock and processor time (default: 60)")
    parser.add_argument("--build-seconds", type=int, default=600, help="limit of one build (default: 600)")
    parser.add_argument("--cuda-path", help="cccl: folder of the libraries (default: where nvcc finds them)")
    parser.add_argument("--include", action="append", default=[], metavar="FOLDER",
                        help="programs that are a file each: folder of headers, such as the CUDA samples' Common")
    parser.add_argument("--note", default="", help="words at the top of the table, such as the versions")
    parser.add_argument("--list", action="store_true", help="print what would be tried")
    args = parser.parse_args()
    args.source, args.toolkit = os.path.abspath(args.source), os.path.abspath(args.toolkit)
    if not os.path.exists(os.path.join(args.toolkit, "bin", "nvcc")):
        sys.exit(f"run.py: {args.toolkit} has no bin/nvcc; build Warpage, and name build/release/lib/warpage/cuda")
    toolkit, old = args.toolkit, os.environ
    env = dict(old, PATH=f"{toolkit}/bin:{old['PATH']}", LD_LIBRARY_PATH=f"{toolkit}/lib64", LIBRARY_PATH=f"{toolkit}/lib64",
               CPATH=f"{toolkit}/include", CUDA_PATH=toolkit, CUDA_HOME=toolkit)
    suite = SUITES[args.suite](args, env)
    found = suite.programs()[::max(1, args.every)]
    if not found:
        sys.exit(f"run.py: {args.source} has no programs of {args.suite}; clone its repository there")
    rows = read_rows(os.path.join(args.out, args.suite + ".csv"))
    known = {row["program"]: row for row in rows}
    today = f"{datetime.date.today():%-d %B}"
    tried = [(name, folder) for name, folder in found
             if (name not in known or wanted(known[name], args.again, today))
             and (not args.only or re.search(args.only, name))]
    if args.list:
        print("\n".join(name for name, _ in tried))
        return
    error = suite.prepare() if tried else ""
    if error:
        sys.exit(f"run.py: {suite.title} cannot be prepared: {error}")
    for name, folder in tried:
        work = tempfile.mkdtemp(prefix="suite-")
        try:
            row = attempt(suite, name, folder, work)
        finally:
            shutil.rmtree(work, ignore_errors=True)
        row["reason"] += ", " + today
        print(name, row["built"], row["ran"], row["checked"], row["reason"], flush=True)
        rows = read_rows(os.path.join(args.out, args.suite + ".csv"))
        if any(old_row["program"] == name for old_row in rows):
            rows = [row if old_row["program"] == name else old_row for old_row in rows]
        else:
            rows.append(row)
        write_rows(suite, rows, args.out)
    write_rows(suite, read_rows(os.path.join(args.out, args.suite + ".csv")), args.out)


if __name__ == "__main__":
    main()
