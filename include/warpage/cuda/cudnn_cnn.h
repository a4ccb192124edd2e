/* SPDX-License-Identifier: Apache-2.0 */
/** A part of cudnn.h by the name that programs include. */
#include "cudnn.h"
