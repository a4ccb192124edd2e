/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions as products of matrices on the CPU device: eight by eight elements a thread fill its vector registers, and
 * neighbouring elements are gathered eight at a time. GPUs need more threads than that leaves (dnn_products.cu). */
#define EACH 8
#define RUN 8
#define ROWS 64
#define COLUMNS 128
#define SLICE ((int)(128 / sizeof(REAL)))
#define BLOCKS_WANTED 32
#define WAY(name) name##_wide
#include "libraries/cudnn/product/dnn_product_types.h"
