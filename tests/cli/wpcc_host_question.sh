# SPDX-License-Identifier: Apache-2.0
# Facts that CMake projects ask of the host side's compiler, with a file that does not exist.
cat >ccbin <<'END'
#!/bin/sh
echo "host compiler: $*"
END
chmod +x ccbin
wpcc a.cu -Xcompiler --version | sed 's/.*\(clang version\).*/\1/; 1q'
wpcc -c -Xcompiler "-dumpfullversion -dumpversion" a.cpp | sed 's/[0-9.]*/number/'
wpcc .c -ccbin ./ccbin -arch=sm_80 -Xcompiler "-dumpfullversion -dumpversion"
wpcc a.cu -ccbin ./ccbin -Xcompiler -dumpmachine
