/* SPDX-License-Identifier: Apache-2.0 */
/** All helpers that need no device. */
#ifndef WARPAGE_CUDA_HELPER_FUNCTIONS_H
#define WARPAGE_CUDA_HELPER_FUNCTIONS_H

#ifndef COMMON_HELPER_FUNCTIONS_H_
#define COMMON_HELPER_FUNCTIONS_H_
#endif

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "exception.h"
#include "helper_image.h"
#include "helper_string.h"
#include "helper_timer.h"

#ifndef EXIT_WAIVED
#define EXIT_WAIVED 2
#endif

#endif
