#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of the Python package, from a build tree of Warpage:

    build_wheel.py [--build build/release] [--out build/release/wheel]

Also a build backend for pip (PEP 517), which takes the build tree from WARPAGE_BUILD. Uses CMake, ldd and strip.
"""
import argparse
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TAG = "py3-none-manylinux_2_36_x86_64"
OURS = ["libwarpage.so.0", "libwarpage_ops.so.0"]
SYSTEM = re.compile(r"^(libc|libm|libdl|librt|libpthread|libgcc_s|ld-linux-x86-64|linux-vdso)\.so\.\d$")
TIME = (2020, 1, 1, 0, 0, 0)  # the same files make the same wheel

METADATA = """Metadata-Version: 2.1
Name: warpage
Version: {version}
Summary: Group-by that keeps its speed past the TLB, on the processor and on GPUs
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: spark
Requires-Dist: pyspark[sql]>=4.0; extra == "spark"
Description-Content-Type: text/markdown

`warpage.groupby(table, keys, aggs)` groups tables in memory: of pyarrow, Polars, DuckDB and pandas, or arrays of
NumPy and of Python. `python -m warpage` prints the version and the devices. `warpage.run`, `warpage.compare` and
devices `sim:<gpu>` need Warpage's compiler `wpcc`, which is not in this package: build Warpage from its source and
install it with `make install PREFIX=$HOME/warpage`, then put `$HOME/warpage/bin` on the PATH.
"""


class WheelError(Exception):
    """An error, described in one sentence."""


def version():
    header = (ROOT / "include/warpage/version.h").read_text(encoding="utf-8")
    return re.search(r'WP_VERSION_STRING "(.*)"', header).group(1)


def run(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise WheelError("%s is missing; tools/setup.sh installs it" % command[0]) from None
    if done.returncode != 0:
        raise WheelError("%s: %s" % (" ".join(map(str, command)), (done.stderr or done.stdout).strip()))
    return done.stdout


def loaded_by(path):
    """The libraries that a library loads, by name; those of the system's C library are left out."""
    found = {}
    for line in run("ldd", str(path)).splitlines():
        name, _, where = line.strip().partition(" => ")
        if not where or SYSTEM.match(name):
            continue
        if where.startswith("not found"):
            raise WheelError("%s loads %s, which is not installed" % (path.name, name))
        found[name] = pathlib.Path(where.rsplit(" (", 1)[0])
    return found


def licences(path):
    """The licence of a library of Debian's, or None."""
    package = None
    for name in (path.resolve(), path, str(path.resolve()).replace("/usr/", "/", 1)):
        try:
            package = run("dpkg-query", "-S", str(name)).split(":")[0]
            break
        except WheelError:
            continue
    if package is None:
        return None
    file = pathlib.Path("/usr/share/doc", package, "copyright")
    return (package, file.read_bytes()) if file.exists() else None


def libraries(build, folder):
    """Our libraries and those that they load, without symbols, in `folder`; names in order of loading; licences."""
    if not (build / "lib/libwarpage_ops.so.0").exists():
        raise WheelError("%s has no libwarpage_ops.so.0; build it first: cmake --workflow --preset release" % build)
    run("cmake", "--install", str(build), "--component", "libraries", "--prefix", str(folder / "installed"))
    # Others first. None of them loads another but the C library's.
    names, texts = [], {}
    for name, path in sorted(loaded_by(folder / "installed/lib" / OURS[0]).items()):
        run("strip", "--strip-unneeded", "-o", str(folder / name), str(path))
        names.append(name)
        licence = licences(path)
        if licence:
            texts[licence[0]] = licence[1]
    for name in OURS:
        run("strip", "--strip-unneeded", "-o", str(folder / name), str(folder / "installed/lib" / name))
    return names + OURS, texts


class Wheel:
    def __init__(self, path):
        self._file = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self._record = []

    def add(self, name, data, mode=0o644):
        info = zipfile.ZipInfo(name, TIME)
        info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, (0o100000 | mode) << 16
        self._file.writestr(info, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append("%s,sha256=%s,%d" % (name, digest, len(data)))

    def close(self, info):
        self._record.append("%s/RECORD,," % info)
        self._file.writestr(zipfile.ZipInfo(info + "/RECORD", TIME), "\n".join(self._record) + "\n")
        self._file.close()


def metadata_files():
    return {"METADATA": METADATA.format(version=version()).encode(),
            "WHEEL": ("Wheel-Version: 1.0\nGenerator: warpage\nRoot-Is-Purelib: false\nTag: %s\n" % TAG).encode(),
            "top_level.txt": b"warpage\n"}


def make(build, out):
    """The wheel's path."""
    name = "warpage-%s-%s.whl" % (version(), TAG)
    info = "warpage-%s.dist-info" % version()
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        names, texts = libraries(build, folder)
        wheel = Wheel(folder / name)
        for file in [*sorted((HERE / "warpage").glob("*.py")), HERE / "warpage/py.typed"]:
            wheel.add("warpage/" + file.name, file.read_bytes())
        wheel.add("warpage/bundled.py", ("# Libraries in lib/, each after those that it loads.\nLIBRARIES = %r\n"
                                         "VERSION = %r\n" % (names, version())).encode())
        for library in names:
            wheel.add("warpage/lib/" + library, (folder / library).read_bytes(), 0o755)
        for file in sorted((ROOT / "configs").rglob("*.ini")):
            wheel.add("warpage/lib/warpage/configs/%s" % file.relative_to(ROOT / "configs"), file.read_bytes())
        for file, data in metadata_files().items():
            wheel.add("%s/%s" % (info, file), data)
        wheel.add(info + "/licenses/LICENSE", (ROOT / "LICENSE").read_bytes())
        for package, data in sorted(texts.items()):
            wheel.add("%s/licenses/%s" % (info, package), data)
        wheel.close(info)
        (out / name).write_bytes((folder / name).read_bytes())
    return out / name


# ---- the backend of pip ----------------------------------------------------------------------------------------

def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return make(pathlib.Path(os.environ.get("WARPAGE_BUILD", ROOT / "build/release")), pathlib.Path(wheel_directory)).name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build tree (build/release)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the wheel (wheel in the build tree)")
    args = parser.parse_args()
    try:
        print(make(args.build, args.out or args.build / "wheel"))
    except (WheelError, OSError) as error:
        sys.exit("build_wheel: %s" % error)


if __name__ == "__main__":
    main()
