# SPDX-License-Identifier: Apache-2.0
# Wrong command lines of wpcc: one sentence that names the thing, exit status 2 (usage) or 1 (failed), nothing half written.
cd "$TMP" || exit 1
echo 'int main(void) { return 0; }' >good.cu
failures=0
refuse() { # status, pattern, then the command line
    status=$1 pattern=$2
    shift 2
    "$WPCC" "$@" >stdout 2>stderr
    got=$?
    if [ $got -ne "$status" ] || ! grep -Eq -- "$pattern" stderr || [ "$(wc -l <stderr)" -gt 3 ]; then
        echo "wpcc $*: expected exit status $status and /$pattern/, got $got and:"
        cat stderr
        failures=1
    fi
    if [ -e out ]; then
        echo "wpcc $*: left an output behind"
        failures=1
        rm -rf out
    fi
}
refuse 2 'unknown option --frobnicate' --frobnicate good.cu -o out
refuse 2 'unknown option --use_fast_maths; did you mean --use_fast_math' --use_fast_maths good.cu -o out
refuse 2 'no input files?' -o out
refuse 2 'no input files?' 
refuse 2 '-o' good.cu -o
refuse 1 'absent\.cu: no such file|absent\.cu.*No such file' absent.cu -o out
refuse 1 'absent\.o' good.cu absent.o -o out
refuse 1 'no/such/folder/out' good.cu -o no/such/folder/out
refuse 1 'no/such/folder/out\.o' -c good.cu -o no/such/folder/out.o
refuse 2 '-m32' -m32 good.cu -o out
refuse 2 'good\.cu|-o' -c good.cu good.cu -o out
refuse 1 'absent_library' good.cu -labsent_library -o out
refuse 2 'nonsense' --stop-after=nonsense good.cu -o out
printf 'not an object' >broken.o
refuse 1 'broken\.o' good.cu broken.o -o out
printf '\177ELF' >cut.o
refuse 1 'cut\.o' good.cu cut.o -o out
mkdir -p folder
refuse 1 'folder' good.cu -o folder
[ -d folder ] || { echo "the folder is gone"; failures=1; }
exit $failures
