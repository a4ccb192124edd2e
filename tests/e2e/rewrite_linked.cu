/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --rewrite=counted -rdc=true
/* With relocatable device code the linked program is rewritten. */
#include "rewrite_counted.cu"
