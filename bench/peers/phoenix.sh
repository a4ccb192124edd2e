#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds programs of Phoenix++, a MapReduce library for processors, outside of the source tree.
#     phoenix.sh FOLDER [REPOSITORY]
# clones the repository (by default the authors' successor on GitHub) into FOLDER and leaves there the programs
#     word_count      Phoenix++'s own
#     phoenix_group   Patent Citation and Geo Location (phoenix_group.cpp), which read input and places as the apps do
# with tcmalloc, where libgoogle-perftools-dev is installed: Phoenix++ allocates as it maps. It needs git, g++, and
# Warpage built in build/release (or BUILD=folder). The sources are of 2011: names of base classes' members are looked
# up as g++ did then, hence -fpermissive.
set -eu
[ $# -ge 1 ] || { echo "usage: phoenix.sh FOLDER [REPOSITORY]" >&2; exit 2; }
folder=$1
repository=${2:-https://github.com/kozyraki/phoenix}
mkdir -p "$folder"
[ -d "$folder/phoenix" ] || git clone -q "$repository" "$folder/phoenix"
sources=$folder/phoenix/phoenix++-1.0
here=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$here/build/release}
malloc=
echo 'int main(void) { return 0; }' >"$folder/empty.c"
! gcc "$folder/empty.c" -ltcmalloc -o "$folder/empty" 2>/dev/null || malloc=-ltcmalloc
rm -f "$folder/empty" "$folder/empty.c"
compile() { # program, sources and libraries...
    program=$1
    shift
    g++ -std=gnu++98 -fpermissive -w -O3 -march=x86-64-v3 -D_LINUX_ -DMMAP_POPULATE -I "$sources/include" \
        "$@" $malloc -lpthread -lrt -o "$folder/$program"
}
compile word_count "$sources/tests/word_count/word_count.cpp" "$sources"/src/*.cpp
objects=$build/objects/apps
compile phoenix_group -I "$here/apps" -I "$here/include/warpage/cuda" -I "$here/include" \
    "$here/bench/peers/phoenix_group.cpp" "$sources"/src/*.cpp "$objects/geo-location_places.cu.o" \
    "$objects"/common_*.o "$objects/streaming_words.cu.o" "$objects/streaming_growth.cu.o" -L "$build/lib" "-Wl,-rpath,$build/lib" -lwarpage -lm
