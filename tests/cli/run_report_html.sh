# SPDX-License-Identifier: Apache-2.0
# One page, on every device; what a program is called is not taken for markup.
warpage run --report r.html "$CASES/programs/records" 0 '<b>&' >/dev/null
head -n 1 r.html && grep -c 'title="add(float\*)">add</th>' r.html && grep -cE 'https?://|<b>' r.html
