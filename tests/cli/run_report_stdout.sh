# SPDX-License-Identifier: Apache-2.0
# --report -: the report is on stdout behind the program's own output, as text, JSON or CSV.
warpage run --report - "$CASES/programs/records" 7 >text
echo "status $?"
head -n 2 text
grep -c 'run of records' text
warpage run --report -.csv "$CASES/programs/records" | sed -n 3p | tr -d '\r'
warpage run --report=-.json "$CASES/programs/records" | sed 1,2d | python3 -c 'import json, sys; print(json.load(sys.stdin)["schema"])'
warpage run --report -.html "$CASES/programs/records"
echo "status $?"
warpage run --report - "$CASES/programs/records" >/dev/full 2>failed
echo "status $?"
tail -n 1 failed
