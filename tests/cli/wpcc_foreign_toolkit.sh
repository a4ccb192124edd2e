# SPDX-License-Identifier: Apache-2.0
# Headers of another CUDA toolkit, named by -I or CPATH as makefiles do, never mix with ours; other folders there count.
# A home of its own, so that no CCCL of the user's is there.
export HOME="$PWD" XDG_DATA_HOME="$PWD/none"
mkdir toolkit own
echo '#error the other toolkit' >toolkit/cuda_runtime.h
cp toolkit/cuda_runtime.h toolkit/cuda_runtime_api.h
echo '#define OWN 1' >own/own.h
printf '#include <cuda_runtime.h>\n#include "own.h"\nint x = OWN;\n' >a.cu
cp a.cu b.cpp
wpcc -c -Itoolkit -I toolkit -isystem toolkit -Iown a.cu b.cpp && ls ./*.o
CPATH=toolkit:own wpcc -c a.cu -o c.o && ls c.o
# In system folders they are hidden, links to them as well; what else is there is not.
mkdir -p system/cub linked
cp toolkit/cuda_runtime.h toolkit/cuda_runtime_api.h system
cp toolkit/cuda_runtime.h system/nvjpeg.h
cp toolkit/cuda_runtime.h system/cub/cub.cuh
cp own/own.h system
ln -s ../system/cuda_runtime_api.h ../system/nvjpeg.h ../system/cub linked
cp own/own.h linked
cat >d.cu <<'END'
#if __has_include(<nvjpeg.h>) || __has_include(<cub/cub.cuh>)
#error found
#endif
#include <own.h>
int x = OWN;
END
echo '#include <nvjpeg.h>' >e.cu
cp d.cu d.cpp
for folder in system linked; do
    CPLUS_INCLUDE_PATH=$folder wpcc -c d.cu d.cpp && ls d.o
    CPLUS_INCLUDE_PATH=$folder wpcc -c e.cu 2>&1 | grep -o "'nvjpeg.h' file not found"
done
