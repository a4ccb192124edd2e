/* SPDX-License-Identifier: Apache-2.0 */
/** The older name of helper_math.h. */
#include "helper_math.h"
