# SPDX-License-Identifier: Apache-2.0
# On a signal while it compiles, wpcc removes its temporary folder and dies of the signal.
mkdir temporary
export TMPDIR=$PWD/temporary
mkfifo slow.cu # the front end waits for a writer
for signal in INT TERM; do
    env --default-signal=INT wpcc -c slow.cu -o slow.o &
    wpcc=$!
    until ls temporary/* >/dev/null 2>&1; do sleep 0.1; done
    kill -$signal $wpcc
    wait $wpcc
    echo $?
    ls temporary
done
ls
