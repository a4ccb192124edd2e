/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"

/* Adds to a list in the environment whose elements are separated by ':'. */
static void add_to(const char *variable, const char *element, bool is_first) {
    const char *old = getenv(variable);
    char *list = NULL;
    if (old != NULL && strstr(old, element) != NULL) return; /* one `warpage` started another */
    if (old != NULL && old[0] != '\0')
        list = is_first ? wpi_format("%s:%s", element, old) : wpi_format("%s:%s", old, element);
    (void)setenv(variable, list != NULL ? list : element, 1);
    wpi_free(list);
}

/* XLA searches a toolkit for an assembler and LLVM code of mathematics: ours, unless the user names
 * another one, by a flag or, with JAX, CUDA_ROOT, without which it takes NVIDIA's Python package. */
static void name_to_xla(const char *toolkit) {
    static const char option[] = "--xla_gpu_cuda_data_dir=";
    const char *old = getenv("XLA_FLAGS");
    if ((old != NULL && strstr(old, option) != NULL) || strpbrk(toolkit, " \t") != NULL)
        return; /* blanks separate flags */
    char *flags =
        wpi_format("%s%s%s%s", old != NULL ? old : "", old != NULL ? " " : "", option, toolkit);
    (void)setenv("XLA_FLAGS", flags, 1);
    (void)setenv("CUDA_ROOT", toolkit, 0);
    wpi_free(flags);
}

/* Triton has NVIDIA's assembler in its package: ours instead, which leaves the PTX as it is. */
static void name_to_triton(const char *toolkit) {
    char *ptxas = wpi_path_join(toolkit, "bin/ptxas");
    (void)setenv("TRITON_PTXAS_PATH", ptxas, 0);
    (void)setenv("TRITON_PTXAS_BLACKWELL_PATH", ptxas, 0);
    wpi_free(ptxas);
}

static void name_toolkit(const char *bin) {
    char *folder = wpi_path_join(bin, "../lib/warpage/cuda");
    if (wpi_dir_exists(folder)) {
        name_to_xla(folder);
        name_to_triton(folder);
    }
    wpi_free(folder);
}

void wpi_nvidia_names_use(void) {
    char *self = NULL;
    if (wpi_self_path(&self, NULL) != WP_STATUS_OK) return;
    char *bin = wpi_path_dir(self), *folder = wpi_path_join(bin, "../lib/warpage/nvidia");
    char *preloaded = wpi_path_join(folder, "libcudart_static.so");
    if (wpi_dir_exists(folder)) add_to("LD_LIBRARY_PATH", folder, true);
    name_toolkit(bin);
    if (wpi_file_exists(preloaded) && strpbrk(preloaded, " :") == NULL) { /* these separate names */
        add_to("LD_PRELOAD", preloaded, false);
        /* The address sanitizer refuses to start behind a preloaded library otherwise. */
        add_to("ASAN_OPTIONS", "verify_asan_link_order=0", true);
    }
    wpi_free(preloaded);
    wpi_free(folder);
    wpi_free(bin);
    wpi_free(self);
}
