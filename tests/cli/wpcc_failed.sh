# SPDX-License-Identifier: Apache-2.0
# A compilation that fails leaves nothing behind and what was there untouched.
mkdir temporary
export TMPDIR=$PWD/temporary
echo '__global__ void k(int *p) { *p = 1 }' >bad.cu
echo old >bad.o
wpcc -c bad.cu
status=$?
ls . temporary
cat bad.o
exit $status
