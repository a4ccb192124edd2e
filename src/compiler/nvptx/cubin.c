/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NVIDIA's assembler, if installed: cubins save programs the driver's time to assemble their PTX at
 * start. Programs still contain the PTX.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "compiler/nvptx/nvptx.h"

char *wpi_ptxas_find(bool *is_asked_for) {
    const char *named = getenv("WARPAGE_PTXAS");
    *is_asked_for = named != NULL && named[0] != '\0';
    char *found = *is_asked_for ? wpi_must_strdup(named) : wpi_program_find("ptxas");
    if (found == NULL || *is_asked_for || !wpi_ptxas_is_ours(found)) return found;
    wpi_free(found);
    return NULL;
}

wp_status wpi_cubin_assemble(const char *ptxas, const char *ptx_path, uint32_t arch,
                             const char *cubin_path, wp_error *err) {
    char target[32], *ptx = NULL;
    size_t ptx_bytes = 0;
    WP_TRY(wpi_file_read(ptx_path, &ptx, &ptx_bytes, err));
    const bool is_specific = strstr(ptx, "\n.target sm_90a") != NULL;
    wpi_free(ptx);
    (void)snprintf(target, sizeof target, "-arch=sm_%u%s", arch, is_specific ? "a" : "");
    const char *const argv[] = {ptxas, target, ptx_path, "-o", cubin_path, NULL};
    wpi_text talk = {0};
    const wpi_subprocess_options options = {
        .stdin_path = "/dev/null", .stdout_text = &talk, .stderr_text = &talk};
    int exit_code = 1;
    wp_status status = wpi_subprocess_run(argv, &options, &exit_code, err);
    if (status == WP_STATUS_OK && exit_code != 0) {
        const char *said = wpi_text_string(&talk);
        status =
            WP_FAIL(err, TOOLCHAIN, "%s sm_%u: %.*s", ptxas, arch, (int)strcspn(said, "\n"), said);
    }
    wpi_text_deinit(&talk);
    return status;
}
