/* SPDX-License-Identifier: Apache-2.0 */
/** Texture fetches in kernels. */
#ifndef WARPAGE_CUDA_WP_TEXTURE_H
#define WARPAGE_CUDA_WP_TEXTURE_H
#endif
