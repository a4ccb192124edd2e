/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/source/known_names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/must.h"

/* Beginnings of the names of headers and of libraries ("-l" left out), separated by blanks, and
 * what they belong to. The first row that fits counts. */
typedef struct row {
    const char *headers, *libraries, *what, *remedy;
} row;

#define NOT_PROVIDED "Warpage does not provide it"
#define GET_CCCL "run: warpage doctor --install cccl, or name a folder that has it: --cuda-path DIR"

static const row rows[] = {
    {"cublas nvblas", "cublas nvblas", "cuBLAS, dense linear algebra",
     "Warpage has cublas.h, cublas_v2.h, cublasXt.h and -lcublas, but not this part"},
    {"curand", "curand", "cuRAND, random numbers",
     "Warpage has curand.h, curand_kernel.h and -lcurand, but not this part"},
    {"cufft cudalibxt", "cufftw", "cuFFT, Fourier transforms",
     "Warpage has cufft.h and -lcufft, but not this part"},
    {"cusparse", "cusparse", "cuSPARSE, sparse linear algebra",
     "Warpage has cusparse.h and -lcusparse, but not this part"},
    {"cusolver", "cusolver", "cuSOLVER, solvers of linear algebra",
     "Warpage has cusolverDn.h, cusolverSp.h and -lcusolver, but not this part"},
    {"cutensor", "cutensor", "cuTENSOR, tensor algebra", NOT_PROVIDED},
    {"cudnn", "cudnn", "cuDNN, neural networks",
     "Warpage has cudnn.h and -lcudnn, but not this part"},
    {"nvPTXCompiler nvfatbin", "nvptxcompiler nvfatbin", "NVIDIA's compilers at run time",
     NOT_PROVIDED},
    {"nvjpeg", "nvjpeg", "nvJPEG, pictures", NOT_PROVIDED},
    {"npp", "npp", "NPP, image processing", NOT_PROVIDED},
    {"nccl", "nccl", "NCCL, communication between GPUs",
     "Warpage has nccl.h and -lnccl, but not this part"},
    {"cupti nvperf_ generated_cuda", "cupti nvperf_host",
     "CUPTI, which profiles programs on NVIDIA GPUs", "use warpage run instead"},
    {"cufile cudla nvvm", "cufile cudla nvvm", "NVIDIA's toolkit", NOT_PROVIDED},
    {"cudnn nvshmem", "nvshmem", "NVSHMEM, communication between GPUs", NOT_PROVIDED},
    {"thrust/", NULL, "Thrust, one of NVIDIA's C++ libraries (CCCL)", GET_CCCL},
    {"cub/", NULL, "CUB, one of NVIDIA's C++ libraries (CCCL)", GET_CCCL},
    {"cuda/ nv/target", NULL, "libcu++, one of NVIDIA's C++ libraries (CCCL)", GET_CCCL},
    {"cutlass/ cute/", NULL, "CUTLASS, headers of NVIDIA's for matrix products",
     "add -I with the include folder of a copy"},
    {"cooperative_groups/", NULL, "cooperative groups",
     "Warpage has its groups, reduce.h, scan.h and memcpy_async.h, but not this part"},
    {"nvtx3/", NULL, "NVTX, marks for profilers",
     "Warpage has nvtx3/nvToolsExt.h, but not this part"},
    {"cuda_d3d cuda_vdpau cudaGL cudaEGL cuda_egl cudaVDPAU cudaD3D", NULL,
     "CUDA's sharing with graphics", NOT_PROVIDED},
    {"device_ cuda sm_ texture_ surface_ library_types driver_functions fatbinary", NULL,
     "NVIDIA's toolkit", NOT_PROVIDED},
};

static bool has_beginning(const char *list, const char *name) {
    while (list && *list) {
        const size_t length = strcspn(list, " ");
        if (strncmp(list, name, length) == 0) return true;
        list += length + strspn(list + length, " ");
    }
    return false;
}

/* Adds the sentence about `name`, unless it is there. */
static void explain(wpi_text *out, const char *name, bool is_library, bool has_libraries) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const row *r = &rows[i];
        if (!has_beginning(is_library ? r->libraries : r->headers, name)) continue;
        const bool is_there = has_libraries && strcmp(r->remedy, GET_CCCL) == 0;
        char *line = wpi_format(
            "wpcc: note: %s%s belongs to %s; %s\n", is_library ? "-l" : "", name, r->what,
            is_there ? "the version at hand does not have this header" : r->remedy);
        if (!strstr(wpi_text_string(out), line)) wpi_text_append(out, line);
        wpi_free(line);
        return;
    }
}

void wpi_known_headers_explain(const char *talk, bool has_libraries, wpi_text *out) {
    static const char end[] = "' file not found";
    for (const char *at = strstr(talk, end); at; at = strstr(at + 1, end)) {
        const char *begin = at;
        while (begin > talk && begin[-1] != '\'' && begin[-1] != '\n')
            begin--;
        char *name = wpi_must_strndup(begin, (size_t)(at - begin));
        explain(out, name, false, has_libraries);
        wpi_free(name);
    }
}

void wpi_known_libraries_explain(const char *talk, wpi_text *out) {
    static const char begin[] = "cannot find -l", other[] = "unable to find library -l";
    for (const char *at = talk; *at; at++) {
        size_t length = strncmp(at, begin, strlen(begin)) == 0   ? strlen(begin)
                        : strncmp(at, other, strlen(other)) == 0 ? strlen(other)
                                                                 : 0;
        if (length == 0) continue;
        char *name = wpi_must_strndup(at + length, strcspn(at + length, ": \n"));
        explain(out, name, true, false);
        wpi_free(name);
    }
}
