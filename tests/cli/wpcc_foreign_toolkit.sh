# SPDX-License-Identifier: Apache-2.0
# Headers of another CUDA toolkit, named by -I or CPATH as makefiles do, never mix with ours; other folders there count.
mkdir toolkit own
echo '#error the other toolkit' >toolkit/cuda_runtime.h
cp toolkit/cuda_runtime.h toolkit/cuda_runtime_api.h
echo '#define OWN 1' >own/own.h
printf '#include <cuda_runtime.h>\n#include "own.h"\nint x = OWN;\n' >a.cu
cp a.cu b.cpp
wpcc -c -Itoolkit -I toolkit -isystem toolkit -Iown a.cu b.cpp && ls ./*.o
CPATH=toolkit:own wpcc -c a.cu -o c.o && ls c.o
