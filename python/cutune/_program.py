"""Where the program and the shipped tables are: in the package, or where the environment says."""

import os
import shutil
from pathlib import Path

_here = Path(__file__).parent


def tables():
    """The shipped tables of the package; None where the library finds its own."""
    path = _here / "share" / "cutune" / "tables.db"
    return str(path) if path.exists() and not os.environ.get("CUTUNE_TABLES") else None


def options(given):
    given = dict(given)
    given.setdefault("tables", tables())
    return given


def program():
    """The program `cutune`: $CUTUNE_PROGRAM, the package's own, else the one in PATH. A script there has to exec it (`--parent`)."""
    named = os.environ.get("CUTUNE_PROGRAM")
    own = _here / "bin" / "cutune"
    found = named or (str(own) if own.exists() else shutil.which("cutune"))
    if not found:
        raise FileNotFoundError("no program `cutune`: neither in the package nor in PATH; $CUTUNE_PROGRAM names one")
    return found


def main():
    """The command `cutune`: the package's program in the place of this process."""
    import signal
    import sys

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # which Python ignores: `cutune list | head` is to end without a word
    own = program()
    os.execv(own, [own, *sys.argv[1:]])
