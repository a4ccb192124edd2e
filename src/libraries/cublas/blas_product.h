/* SPDX-License-Identifier: Apache-2.0 */
/** Sizes of the tiles that a product is computed by, for the .cu files that include blas_tiles.h.
 */
#ifndef WP_LIBRARIES_BLAS_PRODUCT_H
#define WP_LIBRARIES_BLAS_PRODUCT_H

#include "libraries/cublas/blas_shared.h"

#define TILE 64
/* Of operands whose two slices take 32 KiB of shared memory. */
#define SLICE ((int)(256 / sizeof(T)))
#define EACH 8 /* a thread computes EACH x EACH elements */
#define BLOCK ((TILE / EACH) * (TILE / EACH))

#include "libraries/cublas/blas_launch.h"

#define SAME(x) (x)

#endif
