"""Op scripts that tests make."""

import os
import pathlib
import tempfile

import cutune

LUA = """return op {{
    name = "{name}", problem = {{ {sizes} }}, types = {{ T = {{ {types} }} }}, args = {{ {args}, value "n" }},
    work = {{ bytes = "n * sizeof(T)" }}, shapes = {{ {{ n = 1000 }} }}, check = "exact",
    reference = {{ template = "{name}.cu", launch = {{ kernel = "kernel_of", block = 64, grid = "ceildiv(n, 64)" }} }},
    variants = {{ {{ name = "only", template = "{name}.cu", launch = {{ kernel = "kernel_of", block = 64, grid = "ceildiv(n, 64)" }} }} }},
    defaults = {{ {{ variant = "only" }} }},
}}"""
CU = """KERNEL void __launch_bounds__(64) kernel_of({parameters}, int64 n)
{{
    int64 i = (int64)blockIdx.x * 64 + threadIdx.x;
    if (i < n)
        {body};
}}"""


def load(name, args, parameters, body, types=("f32",), sizes='size "n"'):
    """The function of an op of one axis, whose kernel does `body` for each i."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name + ".lua")
        types = ", ".join(f'"{type}"' for type in types)
        pathlib.Path(path).write_text(LUA.format(name=name, args=args, types=types, sizes=sizes))
        pathlib.Path(folder, name + ".cu").write_text(CU.format(parameters=parameters, body=body))
        return cutune.load(path)
