/* SPDX-License-Identifier: Apache-2.0 */
/** The newer place of the same header. */
#include "../nvToolsExtCudaRt.h"
