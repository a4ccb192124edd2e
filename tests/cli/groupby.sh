# SPDX-License-Identifier: Apache-2.0
# Groups by numbers and texts, NULL among them; quotes, CRLF, a BOM; in order of keys.
printf '\357\273\277user,item,price\r\n7,"a ""b"", c",2.5\r\n-3,x,\r\n7,,1.25\r\n,x,4\r\n7,"",0.1\r\n' >t.csv
warpage groupby --key user --agg count,count:price,sum:price,min:price,max:price,avg:price t.csv
warpage groupby --key item,user t.csv
warpage groupby --key item --agg count:item,count --format json - <t.csv
printf '1\tx\n2\ty\n\n1\tNA\n' >t.tsv
warpage groupby --no-header --key c1 --agg count:c2 --null NA t.tsv
warpage groupby --key user --types user:text --agg count t.csv
gzip -k t.tsv && zstd -q t.tsv && cat t.tsv.gz t.tsv.gz >two.tsv.gz
warpage groupby --no-header --key c1 t.tsv.gz
warpage groupby --no-header --key c1 t.tsv.zst
warpage groupby --no-header --key c1 two.tsv.gz
