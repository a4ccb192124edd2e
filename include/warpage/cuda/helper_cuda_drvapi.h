/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it beside the runtime API's helpers. */
#include "helper_cuda.h"
