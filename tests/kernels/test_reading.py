"""What a reader of the kernels must keep in mind at once: few arguments a function, few words of the kernels' own."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNELS = ROOT / "src/leastaction/kernels"
MANY, SHARE = 7, 0.05
WORDS = 12


def arguments():
    """Yield the number of arguments of every function of the kernels; the machine is nothing to be read."""
    for path in KERNELS.rglob("*.py"):
        if "machine" not in path.relative_to(KERNELS).parts:
            for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(function, ast.FunctionDef):
                    given = function.args
                    yield len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def test_few_functions_have_many_arguments():
    counts = list(arguments())
    many = sum(count >= MANY for count in counts)
    assert len(counts) > 500 and many <= SHARE * len(counts), f"{many} of {len(counts)} have {MANY} arguments or more"


def test_the_kernels_have_few_words_of_their_own():
    """In the first table of that section; what arguments and docstrings mean stands under a heading of its own."""
    _, section = (ROOT / "docs/notation.md").read_text(encoding="utf-8").split("## Words of the kernels\n")
    first = section.partition("\n#")[0]
    rows = [line for line in first.splitlines() if line.startswith("|")][2:]
    assert 5 < len(rows) <= WORDS
