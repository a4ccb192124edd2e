# tools/ci.sh: a build that fails ends its own stage only, what was skipped is run again with the optional packages, and
# the sum of all is the last line. CMake and CTest are scripts here.
mkdir -p tools bin
cp "$CASES/../../tools/ci.sh" "$CASES/../../tools/ci-summary.py" tools/
script() { { echo '#!/bin/sh'; cat; } >"$1" && chmod +x "$1"; } # file
echo : | script tools/setup.sh
echo : | script tools/ptxas.sh
echo 'echo /optional/python3' | script tools/optional.sh
script bin/cmake <<'END'
[ "$*" != "--build --preset asan -j 2" ]
END
script bin/ctest <<'END'
echo "ctest $*" | sed "s|$PWD|.|"
shift
preset=$1
until [ "$1" = --output-junit ]; do shift; done
skipped='<skipped message="SKIP_RETURN_CODE=77"/>'
{
    echo '<testsuite>'
    case "$preset ${WARPAGE_PYTHON:-python3}" in
    'tsan '*) echo '<testcase name="unit.race" status="fail"><failure message=""/></testcase>' ;;
    'release python3') echo '<testcase name="unit.a" status="run"/><testcase name="cli.python" status="notrun">'"$skipped</testcase>" ;;
    'release /optional/python3') echo '<testcase name="cli.python" status="run"/>' ;;
    esac
    echo '</testsuite>'
} >"$2"
[ "$preset" != tsan ]
END
unset WARPAGE_PYTHON
export WARPAGE_JOBS=2 WARPAGE_CI_NOTE='A bare system was not tried.' PATH="$PWD/bin:$PATH"
tools/ci.sh test optional | sed -E 's/^([a-z]+( +[0-9]+){3}) +[0-9]+/\1/' # without seconds
echo : | script bin/cmake
tools/ci.sh asan release | grep ^ctest # the tests of passes once
echo 'exit 1' | script tools/setup.sh
tools/ci.sh test
