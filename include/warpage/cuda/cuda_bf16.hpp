/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it: cuda_bf16.h holds the definitions. */
#include "cuda_bf16.h"
