# SPDX-License-Identifier: Apache-2.0
# A GPU that is not there is an answer before the program starts.
WARPAGE_LIBCUDA=/nowhere/libcuda.so.1 warpage run --device cuda:0 "$CASES/programs/records"
