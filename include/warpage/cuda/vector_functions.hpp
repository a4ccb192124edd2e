/* SPDX-License-Identifier: Apache-2.0 */
/** The older name of vector_functions.h. */
#include "vector_functions.h"
