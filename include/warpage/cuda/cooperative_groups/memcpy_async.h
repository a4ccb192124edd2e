/* SPDX-License-Identifier: Apache-2.0 */
/** Kept for programs that name it: cooperative_groups.h has memcpy_async and wait. */
#include "../cooperative_groups.h"
