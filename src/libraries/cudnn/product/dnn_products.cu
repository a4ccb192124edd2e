/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions as products of matrices, on GPUs. An image of its own, since devices compile whole images. */
#define EACH 4
#define RUN 1
#define ROWS 64
#define COLUMNS 64
#define SLICE 16
#define BLOCKS_WANTED 128
#define WAY(name) name
#include "libraries/cudnn/product/dnn_product_types.h"
