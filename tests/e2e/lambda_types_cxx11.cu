// FLAGS: --extended-lambda -std=c++11
/* SPDX-License-Identifier: Apache-2.0 */
/* The same in C++11, for which Thrust up to CCCL 2.8 asks, too. */
#include "lambda_types.cu"
