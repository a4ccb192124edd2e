#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types every command of a Markdown page, in order, and compares what is printed with the page.

    typed.py --prefix PREFIX [--apps DIR] [--update] PAGE.md...

A command is a line of an indented or fenced block that begins with "$ "; the lines up to the next
command or the end of the block are what it prints. Commands run in bash, one page after the other, in a
new folder per page, on a pseudo-terminal of 180 columns. The folder, exported variables and $? are
kept from one command to the next. PREFIX is an installed Warpage; pages call it /usr/local, or
~/warpage. Commands that install Warpage (make install, git clone, apt-get) are not typed.

Continuation: a command line ends in a backslash, or the lines that follow begin with "> ".
Files: `$ cat NAME` of a file that does not exist yet creates it from the lines shown, as a reader would.
Apps: a page that names lib/warpage/apps gets them from there; in any other page, ./NAME is the app NAME.
The folders apps, examples and repro of the source tree are there, too.

Comparison. Trailing spaces and empty lines at the end do not count. A line "…" or "..." stands for any
number of lines; "…" inside a line stands for any text, except as the line's first word (rows of reports
begin with it). All else, numbers included, must be equal. Exceptions are lines about this
machine's clock (CLOCK below), reports of the device cpu, and what a comment before the block says:

    <!-- varies -->                  numbers of all lines may differ; words and units may not
    <!-- varies: TEXT; TEXT -->      ... only of lines that contain one of these texts
    <!-- needs: jq; python3:polars --> typed only where this program or Python package is installed
    <!-- needs: cccl -->             typed only where `warpage doctor --install cccl` has been run
    <!-- not typed: REASON -->       not typed; REASON is one of REASONS below
    <!-- file: NAME -->              a block without commands: a file that the page's commands use
    <!-- setup: COMMAND -->          runs silently: input that a reader would bring; $SOURCE is the tree

Where numbers may differ, units may differ in scale (us, ms) but not in kind. Lines of progress that a
terminal gets ("warpage compare: 3 of 8") do not count.

--update writes what is printed now into the page where it differs. "…" lines stay where the lines
around them are still printed. A page with a command that is not found stays as it is.
"""

import argparse
import difflib
import fcntl
import importlib.util
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

SKIPPED = 77
COLUMNS = 180
ELISIONS = ("…", "...")
REASONS = (
    "needs a GPU",
    "takes long",
    "needs data from elsewhere",
    "builds Warpage",
    "describes one machine",
)
# Commands that make or install what PREFIX has already.
INSTALLS = re.compile(r"(sudo |cd \S+ && )*(make( -\S+)*( (all|demo|test|install|clean))?( \w+=\S+)*( *#.*)?$|git clone |"
                      r"apt(-get)? |tools/setup\.sh|cmake --(preset|build|workflow|install) )")
# Lines about this machine's clock, in any report: numbers may differ.
CLOCK = re.compile(r"\bwall[- ](?:clock|time)\b|\bsimulat(?:or|ion)(?:'s)? speed\b|^ran for\b", re.I)

# The processor's model in a report of the CPU device, whose times are the clock's: all of such a report may vary.
MODEL = re.compile(r"\bon cpu \(.*\)")  # of Intel(R) names, too
# What compare and advise tell a terminal while they run, in whatever order runs end: left out.
PROGRESS = re.compile(r"^warpage \w+: \d+ of \d+\b")

COMMENT = re.compile(r"^<!--\s*(varies|needs|not typed|file|setup)\s*(?::\s*(.*?))?\s*-->$")
NUMBER = re.compile(r"(?<![\w.])[+-]?\d(?:[\d,]*\d)?(?:\.\d+)?(?:[eE][+-]?\d+)?")
UNITS = (
    (re.compile(r"# ?(?:[kMGT]i?B|B)/s\b"), "#rate"),
    (re.compile(r"# ?(?:[KMGT]iB|[kMGT]?B)\b"), "#bytes"),
    (re.compile(r"# ?(?:ns|us|µs|ms|s|min)\b"), "#time"),
    (re.compile(r"# ?[kMG]?Hz\b"), "#frequency"),
    (re.compile(r"# ?[kMG](?= )"), "# "),
)


class Command:
    """One command of a page: text, the lines shown after it, and where these are in the file."""

    def __init__(self, line, text, block):
        self.line = line  # number of its first line, from 0
        self.text = text
        self.block = block
        self.first = self.outer = 0  # half-open range of lines of the file with what it prints
        self.shown = []


class Block:
    """What comments before it say, its indentation, and its commands."""

    def __init__(self):
        self.varies = None  # None, or a list of texts; an empty list: all lines
        self.needs = []
        self.not_typed = None
        self.file = None
        self.indent = ""
        self.lines = []  # (number, text without indentation)
        self.commands = []


class Setup:
    def __init__(self, line, text):
        self.line = line
        self.text = text


class PageError(Exception):
    pass


def parse(path, lines):
    """The page's blocks with commands or files, and its setups, in order."""
    steps, pending, i = [], Block(), 0
    while i < len(lines):
        text = lines[i]
        comment = COMMENT.match(text.strip())
        if comment:
            note(path, i, comment, pending, steps)
            i += 1
            continue
        fence = re.match(r"^( {0,3})(```+|~~~+)", text)
        if fence:
            i += 1
            pending.indent = fence.group(1)
            while i < len(lines) and not lines[i].strip().startswith(fence.group(2)):
                pending.lines.append((i, lines[i][len(pending.indent):]))
                i += 1
            i += 1
        elif text.startswith("    ") and (i == 0 or not lines[i - 1].strip() or COMMENT.match(lines[i - 1].strip())):
            pending.indent = "    "
            while i < len(lines) and (lines[i].startswith("    ") or not lines[i].strip()):
                pending.lines.append((i, lines[i][4:] if lines[i].strip() else ""))
                i += 1
        else:
            if text.strip():
                unused(path, i, pending)
            i += 1
            continue
        while pending.lines and not pending.lines[-1][1].strip():
            pending.lines.pop()
        split(path, pending)
        if pending.commands or pending.file:
            steps.append(pending)
        else:
            unused(path, i, pending)
        pending = Block()
    unused(path, len(lines), pending)
    return steps


def note(path, i, comment, block, steps):
    kind, value = comment.group(1), comment.group(2) or ""
    words = [word.strip() for word in value.split(";") if word.strip()]
    if kind == "varies":
        block.varies = words
    elif kind == "needs":
        block.needs = words
    elif kind == "file":
        block.file = value
    elif kind == "setup":
        steps.append(Setup(i, value))
    else:
        if value not in REASONS:
            raise PageError(f"{path}:{i + 1}: not typed: '{value}' is none of: {'; '.join(REASONS)}")
        block.not_typed = value


def unused(path, i, block):
    if block.varies is not None or block.needs or block.not_typed or block.file:
        raise PageError(f"{path}:{i + 1}: a comment stands before a block without commands")


def split(path, block):
    """The block's commands and what is shown after each."""
    lines, i = block.lines, 0
    while i < len(lines):
        number, text = lines[i]
        if not text.startswith("$ "):
            i += 1
            continue
        command = Command(number, text[2:], block)
        i += 1
        while i < len(lines):
            if command.text.endswith("\\"):
                command.text += "\n" + lines[i][1].removeprefix("> ")
            elif lines[i][1].startswith("> ") and not re.match(r"cat \S+$", command.text):
                command.text += "\n" + lines[i][1][2:]
            else:
                break
            i += 1
        start = i
        while i < len(lines) and not lines[i][1].startswith("$ "):
            i += 1
        end = i
        while end > start and not lines[end - 1][1].strip():
            end -= 1
        command.first = lines[start][0] if start < len(lines) else lines[-1][0] + 1
        command.outer = command.first + (end - start)
        command.shown = [text for _, text in lines[start:end]]
        block.commands.append(command)
    if block.commands and block.file:
        raise PageError(f"{path}:{lines[0][0] + 1}: a file's block has no commands")


def screen(data):
    """The lines that a terminal shows of these bytes: carriage returns, cursor movement within a
    line and erasing are carried out, colours left out."""
    rows, row, column = [[]], 0, 0
    text = data.decode("utf-8", "replace")
    i = 0
    while i < len(text):
        char = text[i]
        escape = re.match(r"\x1b\[([0-9;?]*)([A-Za-z])", text[i : i + 32]) if char == "\x1b" else None
        if escape:
            i += escape.end()
            count = int(escape.group(1)) if escape.group(1).isdigit() else 1
            if escape.group(2) == "K":
                if escape.group(1) == "2":
                    rows[row] = []
                elif escape.group(1) in ("", "0"):
                    del rows[row][column:]
            elif escape.group(2) == "A":
                row = max(0, row - count)
            elif escape.group(2) == "J":
                del rows[row][column:]
                del rows[row + 1 :]
            continue
        i += 1
        if char == "\n":
            row, column = row + 1, 0
            if row == len(rows):
                rows.append([])
        elif char == "\r":
            column = 0
        elif char == "\b":
            column = max(0, column - 1)
        elif char != "\x1b":
            line = rows[row]
            line.extend(" " * (column - len(line)))
            line[column : column + 1] = [char]
            column += 1
    lines = ["".join(line).rstrip() for line in rows]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def run(command, state, environment, folder, limit_s):
    """What the command prints on a terminal, and whether a program was missing. Its folder, exports and
    status go on in `state`."""
    script = (
        f'[ -r "$TYPED_STATE" ] && . "$TYPED_STATE"\n{command}\n'
        '__status=$?\n'
        '{ printf "cd %q\\n" "$PWD"; export -p; echo "(exit $__status)"; } >"$TYPED_STATE"\n'
        'exit $__status\n'
    )
    primary, secondary = pty.openpty()
    fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    attributes = termios.tcgetattr(secondary)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(secondary, termios.TCSANOW, attributes)
    process = subprocess.Popen(
        ["bash", "-c", script], stdin=subprocess.DEVNULL, stdout=secondary, stderr=secondary, cwd=folder,
        env=dict(environment, TYPED_STATE=state), start_new_session=True,
    )
    os.close(secondary)
    data, end, is_late = b"", time.monotonic() + limit_s, False
    while True:
        left_s = end - time.monotonic()
        if left_s <= 0:
            is_late = True
            break
        ready, _, _ = select.select([primary], [], [], min(left_s, 0.2))
        if ready:
            try:
                more = os.read(primary, 65536)
            except OSError:  # EIO: nothing has the terminal open any more
                break
            if not more:
                break
            data += more
        elif process.poll() is not None:
            break  # something in the background keeps the terminal open
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    os.close(primary)
    if is_late:
        data += f"\n(ended after {limit_s} s)".encode()
    return screen(data), process.returncode in (126, 127)


def is_elision(line):
    return line.strip() in ELISIONS


def free_numbers(line):
    """The line with its numbers, the scale of their units, and the processor's model left out."""
    line = MODEL.sub("on cpu", line)
    line = NUMBER.sub("#", line)
    for unit, kind in UNITS:
        line = unit.sub(kind, line)
    return " ".join(line.split())


def may_vary(line, varies):
    if CLOCK.search(line):
        return True
    return varies is not None and (not varies or any(text in line for text in varies))


def pattern(line):
    """A regular expression of a line as shown: "…" is any text, but not as the first word."""
    lead = re.match(r"\s*… ", line)
    start = lead.end() if lead else 0
    parts = [re.escape(part) for part in line[start:].split("…")]
    return re.compile(re.escape(line[:start]) + "(.*)".join(parts))


def line_agrees(shown, printed, varies):
    shown = shown.rstrip()
    if shown == printed:
        return True
    if may_vary(shown, varies) and may_vary(printed, varies):
        shown, printed = free_numbers(shown), free_numbers(printed)
        if shown == printed:
            return True
    return pattern(shown).fullmatch(printed) is not None


def agree(shown, printed, varies):
    """Whether all lines agree, with elisions: which prefixes of `printed` each prefix of `shown` can be."""
    ends = {0}
    for line in shown:
        if is_elision(line):
            ends = set(range(min(ends), len(printed) + 1)) if ends else ends
        else:
            ends = {end + 1 for end in ends if end < len(printed) and line_agrees(line, printed[end], varies)}
    return len(printed) in ends


def label(line):
    """What stays of a line when its numbers change."""
    return free_numbers(line).replace("#", " ").strip() or free_numbers(line)


def anchors(shown, printed):
    """For each line shown the line that is printed in its place now, or None: same label first, then
    similar lines between two such, then neighbours of lines that were found."""
    where = [None] * len(shown)
    old = [f"\0{i}" if is_elision(line) else label(line) for i, line in enumerate(shown)]
    new = [label(line) for line in printed]
    for block in difflib.SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for k in range(block.size):
            where[block.a + k] = block.b + k

    def gap(i):
        before = max((w for w in where[:i] if w is not None), default=-1)
        after = min((w for w in where[i + 1 :] if w is not None), default=len(printed))
        return range(before + 1, after)

    for i, line in enumerate(shown):
        if where[i] is None and not is_elision(line):
            score, best = max(((difflib.SequenceMatcher(None, old[i], new[j]).ratio(), -j) for j in gap(i)),
                              default=(0, 0))
            if score > 0.5:
                where[i] = -best
    for order in (range(1, len(shown)), range(len(shown) - 2, -1, -1)):
        step = order.step
        for i in order:
            if where[i] is None and not is_elision(shown[i]) and where[i - step] is not None:
                if where[i - step] + step in gap(i):
                    where[i] = where[i - step] + step
    return where


def keep_ellipsis(shown, printed):
    """The printed line with the "…" that the shown one has in the same place."""
    if "…" not in shown.lstrip().removeprefix("…"):
        return printed
    numbers = r"[+-]?\d[\d,.]*"
    lead = re.match(r"\s*… ", shown)
    start = lead.end() if lead else 0
    parts = []
    for part in shown[start:].split("…"):
        words = [re.sub(r"(?:\\ )+", r"\\s+", re.escape(word)) for word in NUMBER.split(part)]
        parts.append(numbers.join(words))
    match = re.fullmatch(re.escape(shown[:start]) + "(.*?)".join(parts), printed)
    if not match:
        return printed
    for group in range(match.re.groups, 0, -1):
        printed = printed[: match.start(group)] + "…" + printed[match.end(group) :]
    return printed


def updated(shown, printed):
    """`printed` with the elisions of `shown`."""
    if not any(is_elision(line) for line in shown):
        where = anchors(shown, printed)
        old_of = {w: shown[i] for i, w in enumerate(where) if w is not None}
        return [keep_ellipsis(old_of.get(j, ""), line) for j, line in enumerate(printed)]
    where = anchors(shown, printed)
    result, last, elided = [], -1, None
    for i, line in enumerate(shown + [None]):
        if line is not None and is_elision(line):
            elided = line
            continue
        index = len(printed) if line is None else where[i]
        if index is None:
            continue
        if index > last + 1:
            if elided:
                result.append(elided)
            else:
                result.extend(printed[last + 1 : index])
        if line is not None:
            result.append(keep_ellipsis(line, printed[index]))
        last, elided = index, None
    return result


class Typist:
    def __init__(self, options):
        self.options = options
        self.source = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
        self.prefix = os.path.abspath(options.prefix)
        self.apps = os.path.join(self.prefix, "lib", "warpage", "apps")
        self.data = os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share")
        if not os.path.isdir(self.apps) and options.apps:
            try:
                os.symlink(os.path.abspath(options.apps), self.apps)
            except FileExistsError:
                pass  # by the test of another page

    def environment(self, home):
        kept = {name: value for name, value in os.environ.items()
                if not re.match(r"WARPAGE_|COMPILED$|CASES$|XDG_|MAKE|MFLAGS$|PAGER$|CDPATH$|BASH_ENV$|ENV$", name)}
        path = f"{self.prefix}/bin:" + kept.get("PATH", "/usr/bin:/bin")
        kept.update(PATH=path, HOME=home, TERM="dumb", NO_COLOR="1", PAGER="cat", LC_ALL="C.UTF-8",
                    SOURCE=self.source)
        if os.path.isdir(os.path.join(self.data, "warpage", "cccl")):
            kept["XDG_DATA_HOME"] = self.data  # what the user installed
        return kept

    def names(self, line, folder, home):
        """The line with this run's folders as pages name them."""
        for path, name in ((folder, "/home/you/tour"), (self.prefix, self.prefix_name), (home, "/home/you")):
            line = line.replace(os.path.realpath(path), name).replace(path, name)
        return line

    def missing(self, needs):
        for need in needs:
            if need == "cccl":
                if not os.path.isdir(os.path.join(self.data, "warpage", "cccl")):
                    return need
                continue
            program, _, package = need.partition(":")
            if not shutil.which(program, path=f"{self.prefix}/bin:{os.environ['PATH']}"):
                return program
            if package and subprocess.run([program, "-c", f"import {package}"], stderr=subprocess.DEVNULL,
                                          check=False).returncode:
                return need
        return None

    def page(self, path):
        """Types one page. Returns how many commands were typed, how many differ, and what was left out."""
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        steps = parse(path, lines)
        home = os.path.abspath(self.options.home) if self.options.home else tempfile.mkdtemp(prefix="typed-home-")
        os.makedirs(home, exist_ok=True)
        scratch = tempfile.mkdtemp(prefix="typed-")
        folder = os.path.join(scratch, "here")
        os.mkdir(folder)
        try:
            return self.type_all(path, lines, steps, folder, scratch, home)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
            if not self.options.home:
                shutil.rmtree(home, ignore_errors=True)

    def type_all(self, path, lines, steps, folder, scratch, home):
        self.prefix_name = "/usr/local"
        if any(re.search(r"(~|\$HOME)/warpage\b", line) for line in lines):
            self.prefix_name = "/home/you/warpage"
            if os.path.realpath(os.path.join(home, "warpage")) != os.path.realpath(self.prefix):
                link = os.path.join(home, f"warpage.{os.getpid()}")
                os.symlink(self.prefix, link)
                os.replace(link, os.path.join(home, "warpage"))
        self.lay_out(lines, steps, folder)
        state, environment = os.path.join(scratch, "state"), self.environment(home)
        typed, differing, edits, left_out = 0, 0, [], []
        for step in steps:
            if isinstance(step, Setup):
                done = subprocess.run(["bash", "-c", step.text], cwd=folder, env=environment, check=False)
                if done.returncode:
                    raise PageError(f"{path}:{step.line + 1}: setup ended with {done.returncode}: {step.text}")
                print(f"     {path}:{step.line + 1}: set up: {step.text}")
                continue
            if step.file:
                with open(os.path.join(folder, step.file), "w", encoding="utf-8") as file:
                    file.writelines(text + "\n" for _, text in step.lines)
                continue
            gone = self.missing(step.needs)
            reason_of_block = step.not_typed or (gone and f"{gone} is not installed")
            for command in step.commands:
                where = f"{path}:{command.line + 1}"
                reason = reason_of_block or (INSTALLS.match(command.text) and "installs Warpage")
                if reason:
                    left_out.append(f"{where}: not typed ({reason}): {command.text}")
                    continue
                typed += 1
                printed, is_missing, seconds = self.type_one(command, state, environment, folder, home)
                shown = [line.rstrip() for line in command.shown]
                varies = step.varies
                if varies is None and any(MODEL.search(line) for line in printed):
                    varies = []
                if agree(shown, printed, varies):
                    print(f"ok   {where} ({seconds:.1f} s): {command.text}")
                    continue
                differing += 1
                if self.options.update and is_missing:
                    raise PageError(f"{where}: not updated: {' '.join(printed)}")
                print(f"{'new ' if self.options.update else 'FAIL'} {where} ({seconds:.1f} s): {command.text}")
                for line in difflib.unified_diff(shown, printed, "on the page", "printed", lineterm="", n=1):
                    print("     " + line)
                edits.append((command, updated(shown, printed)))
        if self.options.update and edits:
            self.write(path, lines, edits)
        return typed, differing, left_out

    def lay_out(self, lines, steps, folder):
        """The folder as a reader has it: examples and apps' sources, and the apps that the page takes as given."""
        for name in ("apps", "examples", "repro"):
            os.symlink(os.path.join(self.source, name), os.path.join(folder, name))
        if any("lib/warpage/apps" in line for line in lines):
            return
        for step in steps:
            for command in getattr(step, "commands", []):
                for name in re.findall(r"(?<![\w.])\./([\w-]+)", command.text):
                    app, link = os.path.join(self.apps, name), os.path.join(folder, name)
                    if os.path.isfile(app) and not os.path.lexists(link):
                        os.symlink(app, link)

    def type_one(self, command, state, environment, folder, home):
        text = re.sub(r"/usr/local(?=/(?:lib|bin|share|include)\b)", self.prefix, command.text)
        shown = re.fullmatch(r"cat ([\w.-]+)", text)
        if shown and not os.path.exists(os.path.join(folder, shown.group(1))):
            with open(os.path.join(folder, shown.group(1)), "w", encoding="utf-8") as file:
                file.writelines(line + "\n" for line in command.shown)
        start = time.monotonic()
        printed, is_missing = run(text, state, environment, folder, self.options.limit)
        printed = [re.sub(r"^bash: line \d+: ", "bash: ", line) for line in printed if not PROGRESS.match(line)]
        printed = [self.names(line, folder, home) for line in printed]
        return printed, is_missing, time.monotonic() - start

    @staticmethod
    def write(path, lines, edits):
        for command, new in reversed(edits):
            indent = command.block.indent
            lines[command.first : command.outer] = [indent + line if line else "" for line in new]
        text = "\n".join(lines)
        temporary = path + ".new"
        with open(temporary, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", required=True, help="an installed Warpage")
    parser.add_argument("--apps", help="linked as PREFIX/lib/warpage/apps where that does not exist")
    parser.add_argument("--home", help="home folder, kept between runs with its cache (default: a new one)")
    parser.add_argument("--limit", type=int, default=300, help="seconds that a command may take (default: 300)")
    parser.add_argument("--update", action="store_true", help="write what is printed now into the pages")
    parser.add_argument("page", nargs="+")
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    if not os.access(os.path.join(options.prefix, "bin", "warpage"), os.X_OK):
        sys.exit(f"typed: {options.prefix}/bin/warpage does not exist: cmake --install BUILD --prefix {options.prefix}")
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as error:
        print(f"typed: no pseudo-terminal ({error}): mount /dev/pts")
        sys.exit(SKIPPED)
    typist, failed = Typist(options), False
    for path in options.page:
        try:
            typed, differing, left_out = typist.page(path)
        except PageError as error:
            print(f"FAIL {error}")
            failed = True
            continue
        for line in left_out:
            print("     " + line)
        print(f"{path}: {typed} typed, {differing} differ, {len(left_out)} not typed")
        failed |= differing > 0 and not options.update
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
