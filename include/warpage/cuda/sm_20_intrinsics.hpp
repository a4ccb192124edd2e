/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: sm_20_intrinsics.h has the definitions. */
#include "sm_20_intrinsics.h"
