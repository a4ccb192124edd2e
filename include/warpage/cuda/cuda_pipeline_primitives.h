/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it: cuda_pipeline.h holds the definitions. */
#include "cuda_pipeline.h"
