/* SPDX-License-Identifier: Apache-2.0 */
/** Sizes of the tiles that a product is computed by, for the .cu files that include blas_tiles.h.
 */
#ifndef WP_LIBRARIES_BLAS_PRODUCT_H
#define WP_LIBRARIES_BLAS_PRODUCT_H

#include "libraries/cublas/blas_shared.h"

#define TILE 64
#define SLICE 16
#define BLOCK 256

#include "libraries/cublas/blas_launch.h"

#define SAME(x) (x)

#endif
