/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: cuda_fp4.h has the definitions. */
#include "cuda_fp4.h"
