/* SPDX-License-Identifier: Apache-2.0 */
/* QR factors of batches for the four element types, from one text. */
#include <cuda_runtime.h>
#include <math.h>

#include "libraries/cublas/factors/factors_shared.h"

#define BLOCK 128
#include "libraries/cublas/blas_launch.h"

#define TEXT "libraries/cublas/factors/factors_element.h"
#include "libraries/cublas/blas_types.h"

extern "C" const wpi_qr_launch wpi_blas_qr[WPI_BLAS_TYPES] = {qr_s, qr_d, qr_c, qr_z};
