/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it: the compiler checks that it once made are not needed here. */
#ifndef WARPAGE_CUDA_HOST_CONFIG_H
#define WARPAGE_CUDA_HOST_CONFIG_H
#define __HOST_CONFIG_H__
#include "host_defines.h"
#endif
