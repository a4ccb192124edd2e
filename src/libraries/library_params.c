/* SPDX-License-Identifier: Apache-2.0 */
/* The parameter of the libraries; libwarpage has the row, for `warpage params`, and they read it.
 */
#include "libraries/library_params.h"

const wpi_param wpi_libraries_params[] = {
    {"host-libraries", WP_UNIT_FLAG, "on", 0, 1,
     "let OpenBLAS and FFTW do the work of cuBLAS and cuFFT on the CPU device, if installed"},
    {0}};
