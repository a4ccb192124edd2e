# SPDX-License-Identifier: Apache-2.0
# Dependency files name the object that is made, several at once too.
echo '#define ONE 1' >one.h
echo '#include "one.h"' >a.cu
cp a.cu b.cu
wpcc -c -MMD a.cu b.cu
cat a.d b.d
wpcc -MM a.cu
wpcc -c -MMD -MF deps -MT other a.cu -o c.o
cat deps
wpcc -M a.cu | grep -c cuda_runtime.h
