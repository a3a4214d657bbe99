"""Sources that are hard to parse or to compile: the host does both, so they meet no sandbox at all.

No source may do more than fail, in about the time that any other takes.
"""

from __future__ import annotations

from typing import Final

from tests.redteam.attack import Attack, Control, Kind, Sign, agent_source

_BODIES: Final = {
    "parentheses": "x = " + "(" * 199 + "1" + ")" * 199,
    "parentheses_unclosed": "x = " + "(" * 100_000,
    "lists": "x = " + "[" * 5_000 + "]" * 5_000,
    "minus": "x = " + "-" * 100_000 + "1",
    "negations": "x = " + "not " * 40_000 + "1",
    "sums": "x = " + "1+" * 60_000 + "1",
    "powers": "x = " + "2**" * 30_000 + "1",
    "attributes": "x = self" + ".a" * 90_000,
    "calls": "x = self" + "()" * 90_000,
    "subscripts": "x = self" + "[0]" * 60_000,
    "comparisons": "x = " + "1<" * 90_000 + "1",
    "lambdas": "x = " + "lambda:" * 20_000 + "0",
    "conditions": "x = " + "1 if 1 else " * 15_000 + "1",
    "elifs": "if 0:\n    pass\n" + "elif 0:\n    pass\n" * 5_500,
    "blocks": "".join("  " * depth + "if 1:\n" for depth in range(99)) + "  " * 99 + "pass",
    "loops": "".join("  " * depth + "for i in ():\n" for depth in range(30)) + "  " * 30 + "pass",
    "functions": "".join(" " * depth + "def f():\n" for depth in range(90)) + " " * 90 + "pass",
    "comprehensions": "x = " + "[i for i in " * 150 + "()" + "]" * 150,
    "braces": "x = " + "{1:" * 190 + "1" + "}" * 190,
    "strings": "x = " + "'a' " * 45_000,
    "formatted": "x = " + "f'{1}' " * 25_000,
    "formatted_deep": "x = f'{1:{1:{1:{1}}}}'",
    "statements": "pass;" * 35_000,
    "names": "global " + ",".join(f"v{n}" for n in range(20_000)),
    "targets": "=".join(f"v{n}" for n in range(20_000)) + "=0",
    "arguments": "f(" + ",".join(f"k{n}=0" for n in range(22_000)) + ")",
    "attribute_patterns": "match 0:\n    case A(" + ",".join(f"k{n}=0" for n in range(20_000)) + "):\n        pass",
    "many_functions": "def f(): pass\n" * 8_000,
    "many_comprehensions": "[a for a in ()]\n" * 7_500,
    "formatted_long": "x = f'" + "{1}" * 58_000 + "'",
    "patterns": "match 0:\n    case " + "|".join(str(n) for n in range(20_000)) + ":\n        pass",
    "patterns_deep": "match 0:\n    case " + "[" * 190 + "]" * 190 + ":\n        pass",
    "stars": "x = [" + "*[]," * 40_000 + "]",
    "folded_text": "x = ('a' * 4096) * 4096 * 4096",
    "folded_number": "x = 1 << 10 ** 9",
    "folded_tuple": "x = ((((0,) * 255) * 255) * 255) * 255",
    "digits": "x = " + "9" * 150_000,
    "hexadecimal": "x = 0x" + "f" * 190_000,
    "indents": "\n".join(" " * (depth % 99 + 1) + "pass" for depth in range(3_000)),
    "continued": "x = 1 + \\\n" * 9_000 + "1",
    "types": "def f(" + ",".join(f"a{n}: 'b{n}'" for n in range(9_000)) + "): pass",
    "escapes": "x = '" + r"\N{LATIN SMALL LETTER A}" * 7_000 + "'",
    "nul": "x = 'a\0b'",
    "form_feed": "\f\f\f\nx = 1",
}
_ENDS: Final = Control((Sign.ENDED, Sign.FAILED), "compiling is no attack where it ends")

NESTED: tuple[Attack, ...] = tuple(
    Attack(f"source_{name}", Kind.NEST, agent_source(body), _ENDS) for name, body in _BODIES.items()
)
