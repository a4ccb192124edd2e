# SPDX-License-Identifier: Apache-2.0
# NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS, options files, and plain C beside CUDA.
echo '#if FIRST + LAST + FILE_OPTION != 6
#error macros
#endif' >a.cu
echo '-DFILE_OPTION=3 -c' >options
NVCC_PREPEND_FLAGS=-DFIRST=1 NVCC_APPEND_FLAGS='-DLAST=2' wpcc a.cu @options
ls
