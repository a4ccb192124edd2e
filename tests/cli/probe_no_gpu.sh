# SPDX-License-Identifier: Apache-2.0
# No driver.
WARPAGE_LIBCUDA=/nonexistent/libcuda.so warpage probe --device cuda:0
