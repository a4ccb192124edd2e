/* SPDX-License-Identifier: Apache-2.0 */
/** Everything of libwarpage's C interface. */
#ifndef WARPAGE_WARPAGE_H
#define WARPAGE_WARPAGE_H

#include "warpage/device.h"
#include "warpage/error.h"
#include "warpage/mapreduce.h"
#include "warpage/postpone.h"
#include "warpage/report.h"
#include "warpage/table.h"
#include "warpage/version.h"

#endif
