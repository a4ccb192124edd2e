#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels with long and odd C++ names: every form of the report stays readable by its parser.
set -eu
cd "$TMP"
cat >names.cu <<'END'
#include <cstdio>
template <int... numbers> struct pack {};
template <char c> struct sign {};
struct less {
    bool operator<(const less &) const { return true; }
};
template <class T> __global__ void take(int *x) { atomicAdd(x, 1); }
template <bool (less::*compare)(const less &) const> __global__ void by_operator(int *x) { atomicAdd(x, 1); }
template <class F> __global__ void call(F f, int *x) { f(x); }
namespace a { namespace { __global__ void hidden(int *x) { atomicAdd(x, 1); } } }
#define TEN(n) n##0, n##1, n##2, n##3, n##4, n##5, n##6, n##7, n##8, n##9
#define HUNDRED(n) TEN(n##0), TEN(n##1), TEN(n##2), TEN(n##3), TEN(n##4), TEN(n##5), TEN(n##6), TEN(n##7), TEN(n##8), TEN(n##9)
int main()
{
    int *x;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    take<sign<'<'>><<<1, 1>>>(x);
    take<sign<'&'>><<<1, 1>>>(x);
    take<sign<'"'>><<<1, 1>>>(x);
    take<sign<'\n'>><<<1, 1>>>(x);
    take<pack<HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4), HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9),
              HUNDRED(10), HUNDRED(11), HUNDRED(12), HUNDRED(13), HUNDRED(14), HUNDRED(15), HUNDRED(16)>><<<1, 1>>>(x);
    by_operator<&less::operator<><<<1, 1>>>(x);
    call<<<1, 1>>>([] __device__(int *y) { atomicAdd(y, 1); }, x);
    a::hidden<<<1, 1>>>(x);
    int count = 0;
    cudaMemcpy(&count, x, sizeof count, cudaMemcpyDeviceToHost);
    return count == 8 ? 0 : 1;
}
END
"$WPCC" --extended-lambda names.cu -o names
for device in cpu sim:k80; do
    rm -rf out
    "$WARPAGE" run --device $device --output out --timeline time.json -- ./names
    python3 - $device <<'END'
import csv, json, pathlib, sys
from html.parser import HTMLParser
from xml.etree import ElementTree
out, simulated = pathlib.Path("out"), sys.argv[1] != "cpu"
report = json.loads((out / "report.json").read_text())
names = [kernel["name"] for kernel in report["kernels"]]
assert len(names) == 8 and max(map(len, names)) > 10000, (len(names), max(map(len, names)))
rows = list(csv.reader((out / "report.csv").open(newline="")))
assert all(name in (cell for row in rows for cell in row) or
           any(kernel["display_name"] in row for row in rows)
           for name, kernel in zip(names, report["kernels"])), rows[:3]
assert len({len(row) for row in rows if row}) <= 2, {len(row) for row in rows}
json.loads(pathlib.Path("time.json").read_text())
for plot in out.glob("*.svg"):
    ElementTree.parse(plot)
class Page(HTMLParser):
    opened, titles = [], []
    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "img", "link", "hr", "input", "col"):
            self.opened.append(tag)
        self.titles += [value for name, value in attributes if name == "title"]
    def handle_endtag(self, tag):
        while self.opened and self.opened[-1] != tag:
            assert self.opened[-1] in ("p", "tr", "td", "th", "li"), (self.opened, tag)
            self.opened.pop()
        assert self.opened, tag
        self.opened.pop()
page = Page()
page.feed((out / "index.html").read_text())
full = [title for title in page.titles if "pack<" in title or "take" in title]
assert full, page.titles
text = (out / "report.txt").read_text()
widest = max(len(line) for line in text.splitlines() if not line.lstrip().startswith("run of"))
assert widest < 400, widest
END
done
