/* SPDX-License-Identifier: Apache-2.0 */
/** The kernels of blas_kernels.cu of one element type: vectors, and matrices stored as a whole. */
#include "libraries/cublas/blas_operand.h"
#include "libraries/cublas/blas_vector.h"
#include "libraries/cublas/blas_matrix.h"
