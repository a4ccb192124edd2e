# SPDX-License-Identifier: Apache-2.0
# -dryrun in nvcc's manner, for configure scripts: folders, then commands, the link step last; the file need not exist.
mkdir temporary
export TMPDIR=$PWD/temporary
tree=$(dirname "$(command -v wpcc)")/../lib/warpage/cuda
"$tree/bin/nvcc" -dryrun bogus.cu -lm
ls . temporary
