# SPDX-License-Identifier: Apache-2.0
# wpcc --policy: mistakes in C come as clang's diagnostics with exit status 1; nothing is written.
example=$CASES/../../examples/policies/migrate/cautious.c
try() { # what is replaced in the example, by what
    sed "s/$1/$2/" "$example" >mine.c
    wpcc --policy mine.c -o mine.so >said 2>&1
    echo "exit $?"
    grep -o '[^ ]*: \(error\|warning\): .*' said | sed 's|^/[^ ]*/||; s|^[0-9]*-table|table|'
    [ -e mine.so ] && echo "mine.so was written" && rm mine.so
}
try 'return 1' 'return one'
try 'return 1' 'return wpi_migrate_nothing()'
try 'const wpi_policy wpi_policy_migrate_cautious' 'extern const wpi_policy mine; const wpi_policy mine'
try 'const wpi_policy wpi_policy_migrate_cautious' \
    'const char wpi_policy_migrate_mine[] = ""; const wpi_policy wpi_policy_migrate_cautious'
try 'if (question->taken_frames' 'int unused; if (question->taken_frames'
echo >mine.cu
wpcc --policy mine.cu -o mine.so 2>&1; echo "exit $?"
wpcc --policy mine.c 2>&1; echo "exit $?"
wpcc --policy none.c -o mine.so 2>&1; echo "exit $?"
ls
