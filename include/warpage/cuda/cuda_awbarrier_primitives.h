/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: cuda_awbarrier.h has the definitions. */
#include "cuda_awbarrier.h"
