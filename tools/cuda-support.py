#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/guide/cuda-support.md: what of CUDA is there, from this tree's headers and sources.

    python3 tools/cuda-support.py                     write the page
    python3 tools/cuda-support.py --check LIBRARIES   is the page up to date, and true of these libraries
                                                      (lib/warpage/cuda/lib64 of a build or an installation)?

Calls are read from the headers, unsupported ones from the lists that their libraries are made of. A call
without a section or a reason is an error here, so that a new one is given one."""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/guide/cuda-support.md"
HEADERS = "include/warpage/cuda/"


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def fail(message):
    sys.exit(f"cuda-support.py: {message}")


def declared(header, prefix):
    """[(section, [names])] of a header's functions."""
    text = re.sub(r"^#.*?(?<!\\)$", "", read(HEADERS + header), flags=re.M | re.S)
    sections, section = {}, ""
    for heading, name in re.findall(rf"/\*+ ----\s*(.*?)\s*-*\s*\*/|^[\w\s*]*?\b({prefix}[A-Z]\w*)\(", text, re.M):
        if heading:
            section = heading
        elif name not in sections.setdefault(section, []):
            sections[section].append(name)
    return sections


class Library:
    """What a section of the page says about one library."""

    def __init__(self, title, prefix, file, headers, about, groups=None, missing=None, absent=()):
        self.title, self.prefix, self.file, self.about, self.absent = title, prefix, file, about, absent
        self.aliases = {}
        there = {}
        for header in headers:
            for section, names in declared(header, prefix).items():
                there.setdefault(section, []).extend(n for n in names if n not in there.get(section, []))
            for plain, real in re.findall(rf"^#define ({prefix}\w+) ({prefix}\w+)\s*$", read(HEADERS + header), re.M):
                self.aliases[real] = plain
        self.missing = missing or []     # (reason, [names]): they are there, and return "not supported"
        unsupported = {name for _, names in self.missing for name in names}
        everything = [name for names in there.values() for name in names]
        if groups:                       # by names, where the header has no sections
            there = {}
            for name in everything:
                group = next((title for title, mark in groups if re.search(mark, name)), None)
                if not group:
                    fail(f"{name} is in no group of {title}: add it to a pattern of GROUPS")
                there.setdefault(group, []).append(name)
        self.there = {section: [n for n in names if n not in unsupported] for section, names in there.items()}
        self.there = {section: names for section, names in self.there.items() if names}

    def names(self):
        return [name for names in self.there.values() for name in names]

    def plains(self, names):
        return list(dict.fromkeys(self.plain(name) for name in names))

    def plain(self, name):
        return self.aliases.get(name, re.sub(r"_v\d$", "", name))


def lists_of_missing(path, macro):
    return re.findall(rf"^{macro}\((\w+)\)", read(path), re.M)


def by_reason(names, reasons, where):
    found = {}
    for name in names:
        reason = next((text for text, mark in reasons if re.search(mark, name)), None)
        if not reason:
            fail(f"{name} of {where} is not supported and has no reason: add one to this tool")
        found.setdefault(reason, []).append(name)
    return [(text, found[text]) for text, _ in reasons if text in found]


def shorten(names):
    """`cublas[SD]gemm`, `cudaMemcpy[Async]`: names that differ in a type's letters or an ending."""
    letters, order = {}, []
    for name in names:
        at, key = len("cublas"), name
        if name.startswith("cublas") and re.match(r"(Sc|Dz|Cs|Zd|[SDCZH])[a-z]", name[at:]):
            letter = re.match(r"Sc(?=nrm|asum)|Dz(?=nrm|asum)|Cs(?=scal|rot)|Zd(?=scal|rot)|.", name[at:]).group(0)
            key = (name[:at], name[at + len(letter):])
        elif name.startswith("cublas") and re.match(r"I[sdcz]am", name[at:]):
            letter, key = name[at + 1], (name[:at] + "I", name[at + 2:])
        if key not in letters:
            order.append(key)
        letters.setdefault(key, []).append(letter if isinstance(key, tuple) else "")
    words = []
    for key in order:
        if isinstance(key, tuple):
            several = letters[key]
            kinds = several[0] if len(several) == 1 else \
                "[" + ("" if max(map(len, several)) == 1 else " ").join(several) + "]"
            words.append(key[0] + kinds + key[1])
        else:
            words.append(key)
    result, gone = [], set()
    for word in words:
        if word in gone:
            continue
        endings = [end for end in ("Async", "_ptsz", "Batched", "StridedBatched") if word + end in words]
        gone.update(word + end for end in endings)
        result.append(word + "".join(f"[{end}]" for end in endings))
    return " ".join(f"`{word}`" for word in result)


NO_SHARING = "memory of graphics interfaces and of others' libraries, pools in other processes"
RUNTIME_REASONS = [
    ("graphs have no semaphore nodes", r"cudaGraph\w*Semaphore"),
    ("objects that a graph keeps alive", r"UserObject"),
    (NO_SHARING, r"External|NvSci|MemPool(Ex|Im)port|FlushGPUDirect|EGL|cudaGL|cudaGraphics"),
    ("there are no mipmapped, sparse or planar arrays", r"Mipmapped|Sparse|Plane|MemoryRequirements"),
    ("no launch reaches several devices", r"MultiDevice"),
    ("old profilers' files", r"cudaProfilerInitialize"),
    ("no device notifies a program of a budget of memory", r"AsyncNotification"),
]
RUNTIME_ABSENT = [
    ("modules: the driver API has them", "cudaLibrary* cudaKernel* cudaGetKernel"),
    ("batches of copies (CUDA 12.8)", "cudaMemcpyBatchAsync cudaMemcpy3DBatchAsync cudaMemDiscard* cudaMemPrefetchBatchAsync"),
    ("tools: logs, tables of the driver", "cudaLogs* cudaGetExportTable"),
]
DRIVER_ABSENT = [
    ("batches of copies (CUDA 12.8)", "cuMemcpyBatchAsync cuMemcpy3DBatchAsync cuMemDiscard* cuMemPrefetchBatchAsync"),
    ("tools: checkpoints, logs, tables of the driver", "cuCheckpoint* cuLogs* cuGetExportTable"),
]
CUBLAS_REASONS = [
    ("rotations of types named by arguments", r"[Rr]ot"),
    ("products that few programs call", r"gemvBatched|gemvStridedBatched|rkx|rk|gemm3m|gemmEx|gemm"),
    ("types named by arguments, for these operations", r"Ex$"),
]
CUFFT_REASONS = [
    ("transforms are of one device", r"XtSetGPUs|XtMalloc|XtMemcpy|XtFree|XtExecDescriptor"),
    ("work areas are the plan's own", r"WorkArea|XtQueryPlan|PropertyInt64"),
]
CUSOLVER_REASONS = [
    ("eigenvalues of sparse matrices", r"cusolverSp"),
    ("random projections", r"Xgesvdr"),
    ("what Jacobi's methods report: there is one method", r"Residual|Sweeps"),
    ("others", r"."),
]
CUDNN_REASONS = [
    ("clipping of recurrent networks; descriptors read back", r"RNN"),
    ("attention, spatial transformers", r"Attn|SeqData|Spatial"),
    ("divisive normalisation", r"Divisive"),
    ("fused and general normalisation", r"Normalization"),
    ("integers in vectors of channels, and their layouts", r"Reorder|Transform|Im2Col"),
    ("fused operations; plans as CUDA graphs: capture the stream", r"Fused|CudaGraph"),
]
CUSPARSE_REASONS = [
    ("blocked and sliced formats", r"[Bb]sr|Ell"),
    ("other products of two sparse matrices, user's operations", r"SpGEMM|SpMMOp|gemm"),
    ("others", r"."),
]
NVML_REASONS = [
    ("temperatures, power, fans, errors, utilization: no device has them",
     r"Utilization|Temperature|Power|Energy|Fan|PerformanceState|Ecc|Serial|Vbios|Processes|Throttle|Violation|Retired"
     r"|Remapped|Encoder|Decoder|Accounting|Replay|Thermal|Samples|FieldValues|Bar1|ProcessName"),
    ("a program cannot change the device", r"Set|Reset|Clear|Register|Wait|Event"),
    ("devices are undivided, and their links are not listed", r"Mig|GpuInstance|Topology|NvLink|P2P|Affinity|Board|MultiGpu|Unit|Virtual|Attributes"),
    ("others", r"."),
]
CUBLASLT_GROUPS = [("products, sums", r"Matmul$|Algo|MatrixTransform$"), ("descriptions", r"Layout|Desc|Preference"), ("handles, facts", r"Create|Destroy|Get")]
CURAND_GROUPS = [("generators", r"Create|Destroy|Set|Get"), ("numbers", r"Generate|Poisson")]
CUFFT_GROUPS = [("plans", r"Plan|Create|Destroy|Estimate|GetSize|WorkArea|AutoAllocation|SetStream"),
                ("transforms", r"Exec"), ("callbacks: `-rdc=true`, `-lcufft_static`", r"Callback"), ("facts", r"Get")]
CUSOLVER_GROUPS = [("sparse systems", r"cusolverSp"), ("systems", r"potr|getr|geqrf|gqr|mqr|gesv(?!d)|gels"), ("eigenvalues and singular values", r"sye|syg|he[eg]|Xgeev|gesvd|Syevj|Gesvdj"),
                   ("handles", r".")]
CUSPARSE_GROUPS = [("products", r"SpM[VM]|SpVV|SpGEMM|SDDMM|csrm[vm]|geam|Axpby|Gather|Scatter"), ("systems and factors", r"SpS[VM]|[Cc]srs[vm]2|gtsv|ilu|ic02|Ilu|Ic02"),
                   ("conversions", r"[Dd]ense|coo|csr2|Csr2|sort|nnz|Identity"),
                   ("handles, descriptions", r".")]
NVML_GROUPS = [("start, errors, system", r"Init|Shutdown|ErrorString|System"), ("the device", r"Device")]
NVRTC_GROUPS = [("programs", r"Program|Compile|NameExpression|LoweredName"), ("results", r"PTX|CUBIN|LTOIR|NVVM|OptiXIR"),
                ("facts", r"Version|Arch|ErrorString")]


def unsupported_driver_calls():
    """(reason, [names]): in this file the comments are the reasons."""
    found = []
    for reason, name in re.findall(r"/\* (.*?) \*/ \\|\bX\((cu\w+)\)", read("src/cudart/driver/drv_unsupported.c")):
        if reason:
            found.append((reason, []))
        else:
            found[-1][1].append(name)
    return found


def libraries():
    runtime = re.findall(r"\bX\((cuda\w+)\)", read("src/cudart/unsupported_calls.c"))
    for name in sorted(os.listdir(os.path.join(ROOT, "src/cudart"))):       # and functions that do no more than that
        if name.endswith(".c"):
            runtime += re.findall(r"^WP_API cudaError_t (cuda\w+)\([^)]*\) \{\s*(?:\(void\)[^;]*;\s*)*"
                                  r"return wpi_note\(cudaErrorNotSupported\);", read("src/cudart/" + name), re.M)
    cublas = lists_of_missing(HEADERS + "wp/cublas_missing.h", "WP_CUBLAS_MISSING")
    cufft = lists_of_missing(HEADERS + "wp/cufft_missing.h", "WP_CUFFT_MISSING")
    cusolver = lists_of_missing(HEADERS + "wp/cusolver_missing.h", "WP_CUSOLVER_MISSING")
    cudnn = lists_of_missing(HEADERS + "wp/cudnn_missing.h", "WP_CUDNN_MISSING")
    cusparse = lists_of_missing(HEADERS + "wp/cusparse_missing.h", "WP_CUSPARSE_MISSING")
    nvml = lists_of_missing(HEADERS + "wp/nvml_missing.h", "WP_NVML_MISSING")
    # Declared like the others; their bodies return the same value, as one comment says of all of them.
    part = read(HEADERS + "nvml.h").split("/* What no device of Warpage has")[1].split("#define")[0]
    nvml = re.findall(r"\b(nvml[A-Z]\w*)\(", part) + nvml
    return [
        Library("Runtime API", "cuda", "libcudart.so", ["cuda_runtime_api.h", "cuda_profiler_api.h"],
                "`cuda_runtime.h`; as of CUDA 12.4. Its templates (`cudaLaunchKernelEx`, `cudaFuncSetAttribute` of a "
                "kernel, …) are in the header.", missing=by_reason(runtime, RUNTIME_REASONS, "the runtime API"),
                absent=RUNTIME_ABSENT),
        Library("Driver API", "cu", "libcuda.so", ["cuda.h", "wp/driver_graph.h", "wp/driver_words.h", "wp/driver_missing.h", "wp/driver_references.h",
                                                 "cudaProfiler.h"],
                "`cuda.h`, `-lcuda`; as of CUDA 12.4. [driver API](driver-api.md) has the differences. Most of the "
                "unsupported calls are in the library alone, for programs that look up its functions by name.",
                missing=unsupported_driver_calls(),
                absent=DRIVER_ABSENT),
        Library("NVRTC", "nvrtc", "libnvrtc.so", ["nvrtc.h"], "`nvrtc.h`, `-lnvrtc`.", NVRTC_GROUPS,
                absent=[("precompiled headers", "nvrtc*PCH*")]),
        Library("cuBLAS", "cublas", "libcublas.so", ["cublas_api.h", "cublas_v2.h", "cublas.h", "cublasXt.h"],
                "`cublas_v2.h`, `-lcublas`. A letter in brackets is the type: S float, D double, C and Z complex, "
                "H half. `cublas.h` has calls on vectors and matrices by the interface before version 4; batches and types "
                "named by arguments came later. `cublasXt.h` is for matrices in host memory.",
                missing=by_reason(cublas, CUBLAS_REASONS, "cuBLAS"),
                absent=[("cuBLASXt: other products and solutions, work of the host's processor",
                         "cublasXt*symm cublasXt*hemm cublasXt*herk cublasXt*syr2k cublasXt*trmm cublasXtSetCpu*")]),
        Library("cuBLASLt", "cublasLt", "libcublasLt.so", ["cublasLt.h"],
                "`cublasLt.h`, `-lcublasLt`: products in float, double, half, bfloat16, TF32 (not rounded) and 8-bit integers, "
                "with bias, ReLU and GELU.", CUBLASLT_GROUPS,
                absent=[("there is one algorithm", "cublasLtHeuristicsCache*"),
                        ("logs: `warpage run` reports kernels", "cublasLtLogger*"),
                        ("grouped and emulated products (CUDA 13)", "cublasLtGrouped* cublasLtEmulation*")]),
        Library("cuDNN", "cudnn", "libcudnn.so", ["cudnn.h"], "`cudnn.h`, `-lcudnn`; as of cuDNN 9, tensors of float, double, half "
                "and bfloat16. Graphs may have convolutions, pointwise operations, reductions and matrix products.",
                missing=by_reason(cudnn, CUDNN_REASONS, "cuDNN"),
                absent=[("calls that were removed in cuDNN 9", "cudnnSetRNNDescriptor_v6 cudnnRNNForwardTraining")]),
        Library("cuRAND", "curand", "libcurand.so", ["curand.h"],
                "`curand.h`, `-lcurand`: XORWOW, MRG32k3a, Philox4x32-10, which `curand_kernel.h` has in kernels, too; MT19937. "
                "A generator of another type is `CURAND_STATUS_TYPE_ERROR`.", CURAND_GROUPS,
                absent=[("quasi-random sequences need tables of direction numbers; MTGP32 needs tables of parameters",
                         "curandGetDirectionVectors* curandGetScrambleConstants* curandMakeMTGP32*")]),
        Library("cuFFT", "cufft", "libcufft.so", ["cufft.h", "cufftXt.h"], "`cufft.h`, `cufftXt.h`, `-lcufft`; single and double "
                "precision.", CUFFT_GROUPS,
                missing=by_reason(cufft, CUFFT_REASONS, "cuFFT"),
                absent=[("FFTW's interface (`cufftw.h`): link FFTW", "fftw*")]),
        Library("cuSOLVER", "cusolver", "libcusolver.so", ["cusolverDn.h", "cusolverSp.h"], "`cusolverDn.h`, `cusolverSp.h`, `-lcusolver`; matrices "
                "of float, double and their complex numbers.", CUSOLVER_GROUPS,
                missing=by_reason(cusolver, CUSOLVER_REASONS, "cuSOLVER"),
                absent=[("refactored sparse systems", "cusolverRf*"), ("several devices", "cusolverMg*")]),
        Library("cuSPARSE", "cusparse", "libcusparse.so", ["cusparse.h"], "`cusparse.h`, `-lcusparse`; CSR, CSC and COO of float, "
                "double and their complex numbers; products with dense vectors and matrices of half, bfloat16 and bytes, too.", CUSPARSE_GROUPS,
                missing=by_reason(cusparse, CUSPARSE_REASONS, "cuSPARSE")),
        Library("NVML", "nvml", "libnvidia-ml.so", ["nvml.h"], "`nvml.h`, `-lnvidia-ml`: facts about the device.",
                NVML_GROUPS, missing=by_reason(nvml, NVML_REASONS, "NVML")),
        Library("NCCL", "nccl", "libnccl.so", ["nccl.h"], "`nccl.h`, `-lnccl`; as of NCCL 2.21, for the devices of one process.",
                absent=[("windows of memory, calls by kernels (NCCL 2.27)", "ncclCommWindow* ncclDevComm*"),
                        ("names for profilers", "pnccl*")]),
    ]


OTHER_LIBRARIES = [
    ("Thrust, CUB, libcu++", "NVIDIA's own headers, which the user installs: [C++ libraries](cpp-libraries.md)"),
    ("NVTX", "its headers; calls have no effect"),
    ("NPP, nvJPEG", "not there; `wpcc` names the library when a header or "
     "`-l` is not found"),
    ("nvJitLink", "`nvJitLink.h`, `-lnvJitLink`: links texts of PTX; no LTO code"),
    ("libNVVM", "not there"),
    ("OpenGL, Direct3D, Vulkan interoperability", "headers and calls of OpenGL's only, which return "
     "`cudaErrorNotSupported`"),
]

PTX = "src/compiler/ptx/ops_*.c"
# (feature, there?, words, proof: files, a pattern that must be in them if it is there and must not be otherwise)
FEATURES = [
    ("shared memory, static and dynamic; barriers, named ones too", True, "", PTX, r'\{"bar", '),
    ("warp functions: shuffle, vote, match, reduce", True, "`--lockstep` for kernels written before Volta", PTX, r'\{"shfl", '),
    ("atomics, all scopes, 16 to 64 bits", True, "not 128 bits", PTX, r'\{"atom", '),
    ("`nvfunctional`: `nvstd::function`", True, "", HEADERS + "nvfunctional", r"class function"),
    ("half, bfloat16, FP8, FP4 types", True, "not FP6", HEADERS + "cuda_fp4.h", r"__nv_fp4_e2m1"),
    ("tensor cores: `mma.h`, `mma.sync`, `mma.sp`, `ldmatrix`, `stmatrix`", True, "[shapes and types](../rooms/tensor.md)", PTX,
     r'\{"mma", '),
    ("products of warpgroups: `wgmma`", True, "[shapes and types](../rooms/tensor.md#products-of-warpgroups)", PTX,
     r'\{"wgmma", '),
    ("sparse products of warpgroups, `tcgen05`", False, "", PTX, r'\{"tcgen05'),
    ("`cp.async`, `cuda_pipeline.h`", True, "a copy is done at once", PTX, r'\{"cp", '),
    ("`mbarrier`, `cuda_awbarrier.h`", True, "of the own block and of others of the cluster", PTX, r'\{"mbarrier", '),
    ("bulk copies: `cp.async.bulk`, `cp.reduce.async.bulk`, `st.async`", True, "of one dimension; a copy is done at once", PTX, r'"bulk"'),
    ("tensor memory access (TMA): maps, `cp.async.bulk.tensor`", True, "tile mode, not interleaved; a copy is done at once", PTX, r'"tensor"'),
    ("programmatic dependent launch", True, "a launch starts when the one ahead of it has ended", HEADERS + "wp/intrinsic.h",
     r"cudaGridDependencySynchronize"),
    ("thread-block clusters, distributed shared memory", True, "[how](wpcc.md#thread-block-clusters)", HEADERS + "cooperative_groups.h",
     r"cluster_group"),
    ("cooperative groups: block, tiles, coalesced, cluster, grid", True, "not `multi_grid_group`",
     HEADERS + "cooperative_groups.h", r"this_grid"),
    ("dynamic parallelism: launches by kernels, both forms (CUDA 11 and 12)", True,
     "on `cpu` and simulated GPUs; [how](wpcc.md#launches-by-kernels)", HEADERS + "wp/device_runtime.h", r"__wp_launch"),
    ("`printf`, `assert`, `malloc`, `new` in kernels", True, "", "src/device/cpu/printf.c", r"wp_rt_printf|printf"),
    ("textures and surfaces: 1D to 3D, layered, cube maps; objects and references", True,
     "no mipmaps; in PTX text objects only", HEADERS + "wp/texture.h", r"tex2Dgather"),
    ("inline PTX", True, "[instructions](../rooms/inline_ptx.md)", PTX, r'\{"add", '),
    ("labels and branches in inline PTX", True, "", "src/compiler/ptx/labels.c", r"wpi_ptx_labels_branch"),
    ("`call` in inline PTX", False, "in modules of PTX it is there", PTX, r'\{"call", '),
    ("DPX functions", True, "", HEADERS + "wp/dpx.h", r"WP_DPX_KIND"),
    ("managed memory", True, "on simulated GPUs with far faults and eviction", HEADERS + "cuda_runtime_api.h", r"cudaMallocManaged"),
    ("relocatable device code, device-side libraries", True, "", "src/compiler/driver/options.c", r"rdc"),
    ("several devices", True, "[peer copies and access](run.md#several-devices); no multicast", "src/cudart/rt_device.c",
     r"wpi_device_set_peer_access"),
]


def in_files(pattern, mark):
    import glob
    paths = glob.glob(os.path.join(ROOT, pattern))
    if not paths:
        fail(f"no file {pattern}")
    return any(re.search(mark, read(os.path.relpath(path, ROOT))) for path in paths)


def features():
    text = ("## Kernels\n\n| feature | supported | remarks |\n|---|---|---|\n")
    for name, there, remarks, files, mark in FEATURES:
        if in_files(files, mark) != there:
            fail(f"the page says that “{name}” is {'' if there else 'not '}there, but {files} "
                 f"{'lacks' if there else 'has'} {mark}: change the row of FEATURES")
        text += f"| {name} | {'yes' if there else 'no'} | {remarks} |\n"
    words = sorted({w for w in re.findall(r'\{"([a-z][a-z0-9]*)", emit_', "".join(
        read("src/compiler/ptx/" + f) for f in sorted(os.listdir(os.path.join(ROOT, "src/compiler/ptx")))
        if f.startswith("ops_")))})
    return text + f"\nPTX has {len(words)} instructions by their first word: " + " ".join(f"`{w}`" for w in words) + ".\n"


def page(all_libraries):
    text = """# What of CUDA is there

<!-- Generated by tools/cuda-support.py from headers and sources; do not edit. -->

Calls are counted by their plain names: `cuMemAlloc` for `cuMemAlloc_v2`. An unsupported call links,
and returns the library's "not supported". A call that is not declared neither compiles nor links. The
calls of each library follow the features of kernels.

| library | implemented calls | unsupported calls |
|---|---|---|
"""
    for lib in all_libraries:
        anchor = lib.title.lower().replace(" ", "-")
        text += (f"| [{lib.title}](#{anchor}) | {sum(len(lib.plains(names)) for names in lib.there.values())} "
                 f"| {sum(len(lib.plains(names)) for _, names in lib.missing)} |\n")
    text += "\n| other library | |\n|---|---|\n"
    text += "".join(f"| {name} | {words} |\n" for name, words in OTHER_LIBRARIES)
    text += "\n" + features()
    for lib in all_libraries:
        text += f"\n## {lib.title}\n\n{lib.about}\n\n| group | calls |\n|---|---|\n"
        for section, names in lib.there.items():
            text += f"| {section} ({len(lib.plains(names))}) | {shorten(lib.plains(names))} |\n"
        if lib.missing or lib.absent:
            text += "\n| not supported, because | calls |\n|---|---|\n"
            for reason, names in lib.missing:
                text += f"| {reason} ({len(lib.plains(names))}) | {shorten(lib.plains(names))} |\n"
            for reason, patterns in lib.absent:
                text += f"| {reason} (not declared) | {' '.join(f'`{word}`' for word in patterns.split())} |\n"
    return text


def exported(path):
    out = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def check(all_libraries, folder):
    """Errors: what the page says and the libraries do not bear out."""
    errors = []
    for lib in all_libraries:
        path = os.path.join(folder, lib.file)
        with open(path, "rb") as file:
            if file.read(4) != b"\x7fELF":      # a linker script, which names the library
                path = os.path.join(folder, "libcudart.so")
        symbols = exported(path)
        listed = {name: "there" for name in lib.names()} | {n: "unsupported" for _, names in lib.missing for n in names}
        real = {plain: name for name, plain in lib.aliases.items()}
        plain_names = {lib.plain(name) for name in listed}
        for name in listed:
            if name not in symbols and real.get(name) not in symbols:
                errors.append(f"{lib.title}: {name} is listed, but {path} does not export it")
        for _, patterns in lib.absent:
            for pattern in patterns.split():
                mark = re.compile(pattern.replace("*", r"\w*") + r"(_v\d)?$")
                errors += [f"{lib.title}: {symbol} matches {pattern}, which the page says is not declared"
                           for symbol in sorted(symbols) if mark.match(symbol) and lib.plain(symbol) not in plain_names]
        known = {re.sub(r"_(v\d|ptsz|ptds)$", "", n) for n in list(listed) + list(lib.aliases) + list(real)}
        for symbol in sorted(symbols):
            base = re.sub(r"(_v\d|_ptsz|_ptds)+$", "", symbol)
            if re.match(lib.prefix + "[A-Z]", symbol) and base not in known and base not in INTERNAL:
                errors.append(f"{lib.title}: {symbol} is exported, but neither listed nor declared")
    return errors


# Exported for programs of old compilers or the templates of headers; not declared as calls.
INTERNAL = set()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", metavar="LIBRARIES")
    parser.add_argument("--page", default=os.path.join(ROOT, PAGE), help=argparse.SUPPRESS)
    args = parser.parse_args()
    all_libraries = libraries()
    text = page(all_libraries)
    if not args.check:
        with open(args.page, "w", encoding="utf-8") as file:
            file.write(text)
        return
    errors = check(all_libraries, args.check)
    with open(args.page, encoding="utf-8") as file:
        if file.read() != text:
            errors.append(f"{PAGE} is not what the tree gives; run: python3 tools/cuda-support.py")
    if errors:
        sys.exit("\n".join(errors))


if __name__ == "__main__":
    main()
