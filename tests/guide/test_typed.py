#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What typed.py accepts and what it does not, on small pages, with a prefix that has nothing but a `warpage`."""

import os
import subprocess
import sys
import tempfile
import unittest

TYPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "typed.py")


class Typed(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.prefix = os.path.join(self.folder.name, "prefix")
        os.makedirs(os.path.join(self.prefix, "bin"))
        warpage = os.path.join(self.prefix, "bin", "warpage")
        with open(warpage, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "warpage $*"\n')
        os.chmod(warpage, 0o755)
        self.path = os.path.join(self.folder.name, "page.md")

    def tearDown(self):
        self.folder.cleanup()

    def typed(self, page, *options):
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(page)
        done = subprocess.run([sys.executable, TYPED, "--prefix", self.prefix, *options, self.path],
                              capture_output=True, text=True, check=False)
        self.said = done.stdout + done.stderr
        return done.returncode

    def accept(self, page):
        self.assertEqual(self.typed(page), 0, self.said)

    def refuse(self, page):
        self.assertEqual(self.typed(page), 1, self.said)

    def update(self, page):
        self.assertEqual(self.typed(page, "--update"), 0, self.said)
        with open(self.path, encoding="utf-8") as file:
            text = file.read()
        self.accept(text)
        return text

    def test_output_is_compared(self):
        self.accept("text\n\n    $ warpage a b\n    warpage a b\n\ntext\n")
        self.refuse("    $ warpage a b\n    warpage a c\n")
        self.refuse("    $ warpage a b\n")
        self.refuse("    $ warpage a b\n    warpage a b\n    more\n")
        self.accept("```console\n$ warpage a\nwarpage a\n```\n")

    def test_stderr_is_shown_in_its_place(self):
        self.accept("    $ echo 1; echo 2 >&2; echo 3\n    1\n    2\n    3\n")

    def test_output_goes_to_a_terminal_of_180_columns(self):
        self.accept("    $ test -t 1 && test -t 2 && stty size <&1\n    50 180\n")

    def test_terminal_control_is_carried_out(self):
        self.accept("    $ printf '1 of 2\\r\\033[K2 of 2\\r\\033[Kdone\\n\\033[1mbold\\033[0m\\n'\n    done\n    bold\n")

    def test_elided_lines(self):
        self.accept("    $ seq 9\n    1\n    …\n    8\n    9\n")
        self.accept("    $ seq 9\n    ...\n    9\n")
        self.accept("    $ seq 2\n    1\n    …\n    2\n")
        self.refuse("    $ seq 9\n    1\n    …\n    8\n")
        self.refuse("    $ seq 9\n    …\n    10\n    …\n")

    def test_ellipsis_within_a_line(self):
        self.accept("    $ echo one two three\n    one … three\n")
        self.refuse("    $ echo one two three\n    one … four\n")
        self.accept("    $ echo '  … far faults  1 %'\n      … far faults  1 %\n")
        self.refuse("    $ echo '  some far faults  1 %'\n      … far faults  1 %\n")

    def test_numbers_are_exact_unless_the_block_varies(self):
        self.refuse("    $ echo took 2 ms\n    took 1 ms\n")
        self.accept("<!-- varies -->\n\n    $ echo took 2.5 ms\n    took 800 us\n")
        self.refuse("<!-- varies -->\n\n    $ echo took 2 KiB\n    took 1 ms\n")
        self.refuse("<!-- varies -->\n\n    $ echo took some ms\n    took 1 ms\n")
        self.accept("<!-- varies: took; rate -->\n    $ echo took 2 ms; echo rate 5 GB/s\n    took 1 ms\n    rate 3 MB/s\n")
        self.refuse("<!-- varies: took -->\n\n    $ echo took 2 ms; echo has 2 B\n    took 1 ms\n    has 1 B\n")
        self.refuse("<!-- varies -->\n\n    text\n\n    $ echo 2\n    1\n\nmore\n\n    $ echo 2\n    1\n")

    def test_wall_time_always_varies(self):
        self.accept("    $ echo 'wall time   12 ms'\n    wall time  3.00 s\n")

    def test_a_report_of_the_cpu_varies(self):
        page = "    $ echo '  run of x on cpu (This one)'; echo '  add  3.1 us  {}'\n      run of x on cpu (Another)\n      add  12 ms   {}\n"
        self.accept(page.format("0 wrong", "1 wrong"))
        self.refuse(page.format("0 wrong", "0 bad"))
        self.refuse(page.replace("on cpu", "on sim:k80").format("0 wrong", "0 wrong"))

    def test_folder_exports_and_status_go_on(self):
        self.accept("    $ mkdir d && cd d && export A=1\n    $ basename $PWD; echo $A; false\n    d\n    1\n"
                    "    $ echo $?\n    1\n")

    def test_long_commands_go_on(self):
        self.accept("    $ echo a \\\n        b\n    a b\n    $ cat >f <<END\n    > x\n    > y\n    > END\n    $ cat f\n    x\n    y\n")

    def test_files_shown_are_made(self):
        self.accept("    $ cat new.txt\n    one\n\n    two\n    $ wc -l <new.txt\n    3\n")
        self.accept("<!-- file: a.txt -->\n\n    one\n\ntext\n\n    $ cat a.txt\n    one\n")

    def test_the_prefix_is_usr_local(self):
        self.accept("    $ ls /usr/local/bin/warpage\n    /usr/local/bin/warpage\n")

    def test_the_prefix_may_be_in_the_home_folder(self):
        self.accept("    $ make install PREFIX=$HOME/warpage   # once\n    $ ls ~/warpage/bin/warpage\n    /home/you/warpage/bin/warpage\n")
        self.assertIn("not typed (installs Warpage): make install", self.said)
        self.accept("    $ git clone x y && cd y\n\n    $ make demo\n\n    $ make -f mine 2>/dev/null; echo $?\n    2\n")

    def test_what_is_not_typed_is_listed_with_a_known_reason(self):
        self.accept("<!-- not typed: needs a GPU -->\n\n    $ false; echo no\n    yes\n")
        self.assertIn("not typed (needs a GPU): false", self.said)
        self.refuse("<!-- not typed: no time -->\n\n    $ false\n")
        self.refuse("<!-- not typed: needs a GPU -->\n\ntext\n")
        self.accept("<!-- needs: no-such-program -->\n\n    $ echo 1\n    2\n")
        self.assertIn("no-such-program is not installed", self.said)

    def test_a_command_that_does_not_end_fails(self):
        self.assertEqual(self.typed("    $ sleep 60\n", "--limit", "1"), 1, self.said)

    def test_update_writes_what_is_printed(self):
        self.assertEqual(self.update("a\n\n    $ warpage x\n    warpage y\n    old\n\n    $ seq 2\n\nb\n"),
                         "a\n\n    $ warpage x\n    warpage x\n\n    $ seq 2\n    1\n    2\n\nb\n")
        page = "    $ printf '\\na\\n'\n\n    a\n"
        self.assertEqual(self.update(page), page)

    def test_update_keeps_elisions(self):
        command = "printf 'head\\nfaults 5\\nx\\ny\\npages moved 7\\nlast 1\\nend\\n'"
        page = "    $ " + command + "\n    …\n    faults {}\n    …\n    pages {} {}\n    …\n"
        self.assertEqual(self.update(page.format(3, "moved", 9)), page.format(5, "moved", 7))
        self.assertEqual(self.update(page.format(3, "transferred", 9)), page.format(5, "moved", 7))
        page = "    $ " + command + "\n    head\n    {}\n    …\n    end\n"
        self.assertEqual(self.update(page.format("errors 3")), page.format("faults 5"))
        page = "    $ echo 'no driver: xyz; install 5'\n    no driver: …; install {}\n"
        self.assertEqual(self.update(page.format(4)), page.format(5))

    def test_update_leaves_a_page_whose_program_is_missing(self):
        page = "    $ no-such-program x\n    1\n"
        self.assertEqual(self.typed(page, "--update"), 1, self.said)
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(file.read(), page)

    def test_update_leaves_what_agrees(self):
        page = "<!-- varies -->\n\n    $ date +%s\n    1\n"
        self.assertEqual(self.update(page), page)


if __name__ == "__main__":
    unittest.main()
