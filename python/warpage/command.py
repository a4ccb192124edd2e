# SPDX-License-Identifier: Apache-2.0
"""warpage.run and warpage.compare: the command `warpage`, where it is installed."""
import json
import os
import shutil
import subprocess
import tempfile
from warpage import native
from warpage.native import WarpageError

def find(program):
    """The path of "warpage" or "wpcc", beside the library or on the PATH; None."""
    beside = os.path.join(native.FOLDER, "..", "bin", program)
    return os.path.normpath(beside) if native.FOLDER and os.access(beside, os.X_OK) else shutil.which(program)


def _command(name):
    program = find("warpage")
    if program is None or find("wpcc") is None:
        raise WarpageError("warpage.%s needs %s" % (name, native.HOW))
    return program


def _options(options):
    words = []
    for name, value in options.items():
        if value is not False and value is not None:
            words.append("--" + name.replace("_", "-"))
            words += [] if value is True else [str(value)]
    return words


def _program(program):
    return [os.fspath(program)] if isinstance(program, (str, os.PathLike)) else [str(word) for word in program]


def run(program, **options):
    """Runs a program that wpcc built, such as ["./nw", "--memory", "managed"], under `warpage run`; the options are
    the command's: device="sim:k80", oversubscribe="125%". Returns the report, as of `--report FILE.json`."""
    command = _command("run")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        done = subprocess.run([command, "run", *_options(options), "--report", report, "--", *_program(program)],
                              stderr=subprocess.PIPE, text=True, check=False)
        if not os.path.exists(report):
            raise WarpageError(done.stderr.strip() or "%s ended with status %d" % (program, done.returncode))
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def compare(program, vary, **options):
    """Runs a program under `warpage compare`; `vary`: {"migrate": ["first-touch", "payback"]}. Returns a
    dict for each combination, as `--format json` prints them."""
    command = _command("compare")
    varied = [word for key, values in vary.items() for word in ("--vary", "%s=%s" % (key, ",".join(map(str, values))))]
    done = subprocess.run([command, "compare", *_options(options), *varied, "--format", "json", "--", *_program(program)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise WarpageError(done.stderr.strip() or "warpage compare ended with status %d" % done.returncode)
    return json.loads(done.stdout)
