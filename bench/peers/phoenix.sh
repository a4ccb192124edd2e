#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Word Count of Phoenix++, a MapReduce library for processors, outside of the source tree.
#     phoenix.sh FOLDER [REPOSITORY]
# clones the repository (by default the authors' successor on GitHub) into FOLDER and leaves the program
# FOLDER/word_count. It needs git and g++. The sources are of 2011: names of base classes' members are looked up as
# g++ did then, hence -fpermissive.
set -eu
[ $# -ge 1 ] || { echo "usage: phoenix.sh FOLDER [REPOSITORY]" >&2; exit 2; }
folder=$1
repository=${2:-https://github.com/kozyraki/phoenix}
mkdir -p "$folder"
[ -d "$folder/phoenix" ] || git clone -q "$repository" "$folder/phoenix"
sources=$folder/phoenix/phoenix++-1.0
g++ -std=gnu++98 -fpermissive -w -O3 -march=x86-64-v3 -D_LINUX_ -DMMAP_POPULATE -I "$sources/include" \
    "$sources/tests/word_count/word_count.cpp" "$sources"/src/*.cpp -lpthread -lrt -o "$folder/word_count"
