/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: sm_32_atomic_functions.h has the definitions. */
#include "sm_32_atomic_functions.h"
