/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include it in addition to the runtime API's helpers. */
#include "helper_cuda.h"
