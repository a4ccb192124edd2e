/* SPDX-License-Identifier: Apache-2.0 */
/** The same header under the folder name that some programs use. */
#include "../host_defines.h"
