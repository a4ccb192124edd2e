/* SPDX-License-Identifier: Apache-2.0 */
/** The version of cuDNN whose interface cudnn.h has. */
#ifndef WARPAGE_CUDA_CUDNN_VERSION_H
#define WARPAGE_CUDA_CUDNN_VERSION_H

#define CUDNN_VERSION_H_

/* Programs refuse a library whose minor version is below that of the headers which they were
 * compiled with: no version of NVIDIA's is above this one. */
#define CUDNN_MAJOR 9
#define CUDNN_MINOR 99
#define CUDNN_PATCHLEVEL 0
#define CUDNN_VERSION (CUDNN_MAJOR * 10000 + CUDNN_MINOR * 100 + CUDNN_PATCHLEVEL)

#endif
