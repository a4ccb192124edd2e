/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header: device_atomic_functions.h has the definitions. */
#include "device_atomic_functions.h"
