# SPDX-License-Identifier: Apache-2.0
# Files and folders that are not there or not what they should be: one sentence each, before anything is compiled.
echo >good.cu
mkdir folder
wpcc -c absent.cu
echo $?
wpcc -c folder
echo $?
wpcc -c good.cu -o folder
echo $?
wpcc -c good.cu -o absent/good.o
echo $?
wpcc -c good.cu -odir absent
echo $?
echo text >notes.txt
wpcc notes.txt
echo $?
wpcc -c good.cu good.cu -o one.o
echo $?
ls
