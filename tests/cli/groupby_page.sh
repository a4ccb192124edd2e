# SPDX-License-Identifier: Apache-2.0
# A page: markup of keys is text, bars are of the first aggregate, at most 1,000 groups are shown.
printf 'item,n\n<script>alert(1)</script>,3\n"a ""b""",1\n,0\n' >t.csv
warpage groupby --key item --agg sum:n --output page.html t.csv
grep -c '<td class=bar' page.html
grep -o '&lt;script&gt;alert(1)&lt;/script&gt;' page.html
grep -o '<th scope=row>a &quot;b&quot;</th><td class=bar data-v="1">.*<rect width="[0-9.]*"' page.html | sed 's/<svg.*<rect/…/'
grep -c '<th scope=row></th>\|<th scope=row>NULL</th>' page.html
seq 1500 | sed '1s/^/k\n/' | warpage groupby --key k --format html - >page.html
grep -c '<tr><th scope=row' page.html
grep -o 'and 500 more[^<]*' page.html
