# SPDX-License-Identifier: Apache-2.0
"""The wheel works in an empty virtual environment, without a variable, a compiler or another package."""
import os
import pathlib
import subprocess
import sys
import tempfile
import venv
import zipfile

try:
    import ensurepip  # noqa: F401: Debian has it in a package of its own, python3-venv
except ImportError:
    sys.exit(77)

build = pathlib.Path(os.environ["WARPAGE"]).parent.parent
root = pathlib.Path(__file__).resolve().parents[2]
EMPTY = {"PATH": "/nowhere", "HOME": "/nowhere"}


def run(*command, env=None, folder=None):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert done.returncode == 0, (command, done.stdout, done.stderr)
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    wheel = pathlib.Path(run(sys.executable, root / "python/build_wheel.py", "--build", build, "--out", folder).strip())
    assert wheel.name.startswith("warpage-") and wheel.name.endswith("-py3-none-manylinux_2_36_x86_64.whl"), wheel
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
        metadata = file.read([name for name in names if name.endswith("/METADATA")][0]).decode()
    assert 'Requires-Dist: pyspark[sql]>=4.0; extra == "spark"' in metadata
    for part in ("libwarpage_ops.so.0", "libwarpage.so.0", "libjansson.so.4", "libzstd.so.1", "libinih.so.1"):
        assert "warpage/lib/" + part in names, part

    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    run(python, "-m", "pip", "install", "--no-index", "--no-cache-dir", "--disable-pip-version-check", wheel)
    # Nothing of this machine's own is used: neither its libraries nor those of the build tree.
    code = """
import array, warpage
groups = warpage.groupby({"k": array.array("i", [2, 1, 2]), "t": ["a", "b", "a"], "v": array.array("d", [1, 2, 4])},
                         ["t", "k"], ["count", "sum:v"])
assert list(zip(*groups.to_dict().values())) == [("a", 2, 2, 5.0), ("b", 1, 1, 2.0)], groups.to_dict()
where = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
for name in ("libwarpage_ops", "libwarpage.so", "libjansson", "libzstd", "libinih"):
    paths = [path for path in where if name in path]
    assert paths and all("/warpage/lib/" in path and "/venv/" in path for path in paths), (name, paths)
for call in (lambda: warpage.run("./app"), lambda: warpage.compare("./app", {"migrate": ["payback"]}),
             lambda: warpage.groupby({"k": array.array("i", [1])}, "k", device="sim:k80")):
    try:
        call()
    except warpage.WarpageError as error:
        assert "wpcc" in str(error) and "make install" in str(error) and "\\n" not in str(error), error
    else:
        raise AssertionError("no error")
print(warpage.__version__)
"""
    version = run(python, "-c", code, env=EMPTY, folder=folder).strip()
    assert version == wheel.name.split("-")[1], version
    out = run(python, "-m", "warpage", env=EMPTY, folder=folder)
    assert out.startswith("warpage %s\n" % version) and "\ncpu " in out and "\nsim:<gpu> " in out and "wpcc" in out, out
