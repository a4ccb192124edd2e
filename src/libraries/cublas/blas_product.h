/* SPDX-License-Identifier: Apache-2.0 */
/** Sizes of the tiles that a product is computed by, for the .cu files that include blas_tiles.h.
 */
#ifndef WP_LIBRARIES_BLAS_PRODUCT_H
#define WP_LIBRARIES_BLAS_PRODUCT_H

#include "libraries/cublas/blas_shared.h"

#define TILE 64
/* A thread computes EACH x EACH elements; SLICE is how many columns of an operand a slice has. */
#ifndef EACH
#define EACH 4
#define SLICE 16
#endif
#define BLOCK ((TILE / EACH) * (TILE / EACH))

#include "libraries/cublas/blas_launch.h"

#define SAME(x) (x)

#endif
