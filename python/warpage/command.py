# SPDX-License-Identifier: Apache-2.0
"""warpage.run and warpage.compare: the command `warpage`, where it is installed."""
import json
import os
import shutil
import subprocess
import tempfile
from typing import Any, Dict, List, Mapping, Sequence
from warpage import native
from warpage.native import ArgumentError, WarpageError

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


def program_words(program):
    return [os.fspath(program)] if isinstance(program, (str, os.PathLike)) else [str(word) for word in program]


def run(program: Any, **options: Any) -> Dict[str, Any]:
    """Runs a program that wpcc built, such as ["./nw", "--memory", "managed"], under `warpage run`; the options are
    the command's: device="sim:k80", oversubscribe="125%". Returns the report, as of `--report FILE.json`."""
    command = _command("run")
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        done = subprocess.run([command, "run", *_options(options), "--report", report, "--", *program_words(program)],
                              stderr=subprocess.PIPE, text=True, check=False)
        if not os.path.exists(report):
            raise WarpageError(done.stderr.strip() or "%s ended with status %d" % (program, done.returncode))
        with open(report, encoding="utf-8") as file:
            return json.load(file)


def compare_words(vary, options):
    """The options of `warpage compare`, but for the form of what it prints."""
    for key, values in vary.items():
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
            raise ArgumentError("%s is to be varied: a list of its values, not %r" % (key, values))
    varied = [word for key, values in vary.items() for word in ("--vary", "%s=%s" % (key, ",".join(map(str, values))))]
    return [*_options(options), *varied]


def compare_json(program, *words):
    """What `warpage compare` prints in JSON."""
    done = subprocess.run([_command("compare"), "compare", *words, "--", *program_words(program)], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        raise WarpageError(done.stderr.strip() or "warpage compare ended with status %d" % done.returncode)
    return json.loads(done.stdout)


def compare(program: Any, vary: Mapping[str, Sequence[Any]], **options: Any) -> List[Dict[str, Any]]:
    """Runs a program under `warpage compare`; `vary`: {"migrate": ["first-touch", "payback"]}. Returns a
    dict for each combination, as `--format json` prints them."""
    return compare_json(program, *compare_words(vary, options), "--format", "json")
