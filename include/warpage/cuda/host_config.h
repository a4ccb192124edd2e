/* SPDX-License-Identifier: Apache-2.0 */
/** Provided for programs that include it; the compiler checks of the original are not needed. */
#ifndef WARPAGE_CUDA_HOST_CONFIG_H
#define WARPAGE_CUDA_HOST_CONFIG_H
#define __HOST_CONFIG_H__
#include "host_defines.h"
#endif
