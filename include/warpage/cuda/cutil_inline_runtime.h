/* SPDX-License-Identifier: Apache-2.0 */
/** The older name of cutil.h. */
#include "cutil.h"
