/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: sm_61_intrinsics.h has the definitions. */
#include "sm_61_intrinsics.h"
