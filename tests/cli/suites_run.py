#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench/suites/run.py on a suite of nine programs, built by a stand-in for nvcc: verdicts, tables, a second run."""
import csv
import os
import subprocess
import sys
import tempfile

RUN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "suites", "run.py")
MAKEFILE = "main: main.c\n\tnvcc -arch=$(ARCH) main.c -o main\nclean:\n\trm -f main\nrun: main\n\t./main 100 5000\n"
PROGRAMS = {   # source, and what its row must be
    "right": ('int main(int n, char **a) {puts(atoi(a[2]) == 2 ? "PASS" : "Usage: %s <size> <repeat>"); return 0;}',
              ["yes", "yes", "yes", "own check"]),
    "wrong": ('int main(void) {puts("errors: 0\\nverification FAILED"); return 0;}',
              ["yes", "yes", "no", "its own check fails: verification FAILED"]),
    "counted": ('int main(void) {puts("no of errors = 550."); return 0;}',
                ["yes", "yes", "no", "its own check fails: no of errors = 550."]),
    "silent": ("int main(void) {return 0;}", ["yes", "yes", "no", "ran, but nothing to compare with"]),
    "crashes": ("int main(void) {abort();}", ["yes", "no", "no", "run: exit -6: no message"]),
    "slow": ("int main(void) {for (;;) pause();}", ["yes", "no", "no", "not done in 1 s"]),
    "broken": ("int main(void) {return nothing;}", ["no", "no", "no", "build: "]),
    "graphics": ("#include <GL/gl.h>\nint main(void) {return 0;}", ["-", "-", "-", "needs EGL, OpenGL"]),
    "library": ("#include <absent.h>\nint main(void) {return 0;}",
                ["-", "-", "-", "needs a header that is not there: absent.h"]),
}


def main():
    with tempfile.TemporaryDirectory() as top:
        def write(path, text, mode=0o644):
            os.makedirs(os.path.dirname(os.path.join(top, path)), exist_ok=True)
            with open(os.path.join(top, path), "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(os.path.join(top, path), mode)

        write("toolkit/bin/nvcc", '#!/bin/sh\nshift\nexec gcc -w -include stdio.h -include stdlib.h -include unistd.h "$@"\n',
              0o755)
        for name, (source, _) in PROGRAMS.items():
            write(f"suite/src/{name}-cuda/main.c", source + "\n")
            write(f"suite/src/{name}-cuda/Makefile", MAKEFILE)
        os.mkdir(os.path.join(top, "out"))
        command = [sys.executable, RUN, "hecbench", "--source", os.path.join(top, "suite"), "--toolkit",
                   os.path.join(top, "toolkit"), "--out", os.path.join(top, "out"), "--seconds", "1"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(top, "out", "hecbench.csv"), encoding="utf-8") as file:
            rows = {row["program"]: row for row in csv.DictReader(file)}
        assert rows.keys() == PROGRAMS.keys(), rows.keys()
        for name, (_, expected) in PROGRAMS.items():
            row = rows[name]
            got = [row["built"], row["ran"], row["checked"], row["reason"]]
            assert got[:3] == expected[:3] and got[3].startswith(expected[3]), (name, got)
        with open(os.path.join(top, "out", "hecbench.md"), encoding="utf-8") as file:
            assert "7 programs: 6 built, 4 ran, 1 checked. 2 not counted (`-`)." in file.read()
        # Rows of today are not tried again, by any verdict; a name is.
        listed = subprocess.run(command + ["--list", "--again", "unbuilt", "--again", "silent"], check=True,
                                capture_output=True, text=True).stdout.split()
        assert listed == ["silent"], listed


if __name__ == "__main__":
    main()
