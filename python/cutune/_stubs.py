"""python3 -m cutune._stubs [SCRIPT.lua...]: type stubs of the module's ops, behind those of the rest, or of the scripts'. __init__.pyi is
what it prints."""

import inspect
import json
import keyword
import subprocess
import sys
from pathlib import Path

from . import _program


def stub(function):
    """One line: the function with its types."""
    told = function.__self__.describe()
    if keyword.iskeyword(told["name"]):
        return f"# {told['name']} is a word of Python: cutune.op('{told['name']}')\n"
    kinds = {a["parameter"]: a["kind"] for a in told["args"]}
    params, outputs = [], [a for a in told["args"] if a["kind"] == "output"] or [a for a in told["args"] if a["kind"] == "inout"]
    for p in inspect.signature(function).parameters.values():
        kind = kinds.get(p.name)
        if p.kind is p.KEYWORD_ONLY and "*" not in params:
            params.append("*")
        type = {"scalar": "complex", "output": "Array | None", None: "int | None"}.get(kind, "Array")
        params.append(f"{p.name}: {type}" + ("" if p.default is p.empty else " = None"))
    returned = "Array" if len(outputs) == 1 else f"tuple[{', '.join('Array' for _ in outputs)}]"
    return f"def {told['name']}({', '.join(params)}) -> {returned}: ...\n"


def text(scripts=()):
    import cutune

    if scripts:
        return 'from typing import TypeVar\n\nArray = TypeVar("Array")\n\n' + "".join(stub(cutune.load(s)) for s in scripts)
    shipped = json.loads(subprocess.run([_program.program(), "ops", "--json"], capture_output=True, check=True).stdout)
    rest, blank, _ = Path(__file__).with_name("__init__.pyi").read_text().rpartition("\n\n")  # behind which are the ops
    return rest + blank + "".join(stub(cutune.op(op["op"])) for op in shipped)


if __name__ == "__main__":
    print(text(sys.argv[1:]), end="")
