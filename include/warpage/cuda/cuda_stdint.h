/* SPDX-License-Identifier: Apache-2.0 */
/** For programs that include this header. */
#include <stdint.h>
