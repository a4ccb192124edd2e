/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: cuda_runtime.h has the definitions. */
#include "cuda_runtime.h"
