# SPDX-License-Identifier: Apache-2.0
# The files between the steps stay where -keep and --keep-dir say.
echo '__global__ void k(int *p) { *p = 1; }' >a.cu
wpcc -c -keep --keep-dir steps a.cu
ls . steps
