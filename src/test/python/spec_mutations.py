#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says which off-by-ones the vectors of docs/spec would let pass.

Changes the functions of spec_check.py's modules in one place at a time (a comparison, an operator, a constant, min to
max, the last number of a key, a condition), and runs the module's check: a change that no vector finds is printed.
Those that are left must be changes that mean the same. Takes some minutes.

    python3 src/test/python/spec_mutations.py docs/spec/vectors [samplers|mixtures|packing …]
"""

import ast
import concurrent.futures
import copy
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SECONDS = 30
COMPARISONS = {ast.Lt: [ast.LtE], ast.LtE: [ast.Lt], ast.Gt: [ast.GtE], ast.GtE: [ast.Gt], ast.Eq: [ast.NotEq],
               ast.NotEq: [ast.Eq], ast.In: [ast.NotIn], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is]}
OPERATORS = {ast.Add: [ast.Sub], ast.Sub: [ast.Add], ast.Mult: [ast.FloorDiv], ast.FloorDiv: [ast.Mult, ast.Mod],
             ast.Mod: [ast.FloorDiv], ast.LShift: [ast.RShift], ast.RShift: [ast.LShift], ast.Div: [ast.Mult],
             ast.Pow: [ast.Mult], ast.BitAnd: [ast.BitOr]}


def mutations_of(node):
    """Functions that change a node in place."""
    if isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            for other in COMPARISONS.get(type(op), []):
                yield lambda n, i=i, other=other: n.ops.__setitem__(i, other())
    if isinstance(node, (ast.BinOp, ast.AugAssign)):
        for other in OPERATORS.get(type(node.op), []):
            yield lambda n, other=other: setattr(n, "op", other())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield lambda n: setattr(n, "op", ast.UAdd())
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        for step in (-1, 1):
            yield lambda n, step=step: setattr(n, "value", n.value + step)
    if isinstance(node, ast.Name) and node.id in ("min", "max"):
        yield lambda n: setattr(n, "id", "max" if n.id == "min" else "min")
    if isinstance(node, ast.Tuple) and isinstance(node.ctx, ast.Load):  # the last of them breaks ties in keys
        yield lambda n: n.elts.__setitem__(-1, ast.UnaryOp(ast.USub(), n.elts[-1]))
    if isinstance(node, ast.IfExp):
        yield lambda n: setattr(n, "test", ast.Constant(True))
        yield lambda n: setattr(n, "test", ast.Constant(False))


def mutants(module):
    """Line, and source, of each change of the module's functions but for its check."""
    with open(os.path.join(HERE, "spec_%s.py" % module), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    nodes = [at for at, node in enumerate(ast.walk(tree))]
    checks = {id(inner) for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("check_")
              for inner in ast.walk(node)}
    walked = list(ast.walk(tree))
    for at in nodes:
        if id(walked[at]) in checks:
            continue
        for number, _ in enumerate(mutations_of(walked[at])):
            changed = copy.deepcopy(tree)
            node = list(ast.walk(changed))[at]
            before = ast.unparse(node)
            list(mutations_of(node))[number](node)
            yield walked[at].lineno if hasattr(walked[at], "lineno") else 0, before, ast.unparse(node), ast.unparse(
                changed)


RUN = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
names = {"__name__": "mutant"}
exec(compile(sys.stdin.read(), "mutant", "exec"), names)
def check(what, found, expected):
    if found != expected:
        raise AssertionError
names["check_" + sys.argv[2]](json.load(open(sys.argv[3])), check)
"""


def survives(module, source, vectors):
    try:
        run = subprocess.run([sys.executable, "-c", RUN, HERE, module, vectors], input=source, text=True,
                             timeout=SECONDS, stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0


def main():
    folder = sys.argv[1]
    for module in sys.argv[2:] or ("samplers", "mixtures", "packing"):
        vectors = os.path.join(folder, module + ".json")
        tried = list(mutants(module))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            left = list(pool.map(lambda mutant: survives(module, mutant[3], vectors), tried))
        print("%s: %d changes, %d pass" % (module, len(tried), sum(left)))
        for mutant, passes in zip(tried, left):
            if passes:
                print("    line %d: %s -> %s" % mutant[:3])


main()
