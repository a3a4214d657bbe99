"""Texts for ``scripts/soak fuzz``: from grammars, then spoiled by characters, lines and bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from tests.support.spca.doubles import pddl

HEX = f"0x{'f' * 3600}"
LARGEST = 100_000
"""Characters that a text is blown up to, now and then."""

_HOSTILE = (
    *("\0", "\ufeff", "\ud800", "\u2028", "\x0c", "\x1b[2J", "\u202e", "\\", "\\\n", "\r", "\t", "\x85", "é" * 40, "🗝"),
    *(
        "{{ 7*7 }}",
        "</task>",
        "```",
        "```python\n",
        "'''",
        '"""',
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "#",
        ";",
        ":",
        "=",
        ",",
    ),
    *("lambda ", "yield ", "await ", "def ", "class Agent:\n", "import os\n", "    ", "\n", "return", "import numpy\n"),
    *(
        HEX,
        "9" * 5000,
        "1e999",
        "-0.0",
        "NaN",
        "Infinity",
        "null",
        "0",
        "-1",
        "(((((",
        "{{{{",
        "$" * 300,
        "f'{x!r:{y}}'",
    ),
    *(
        "(:action a :parameters (?x))",
        "(define",
        "then ",
        "after you ",
        "the red ball",
        '{"',
        "\\ud800",
        "\\u0000",
        "%s%n",
    ),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 2**63, -(2**64), 10**400, 1.5, -0.0, 1e308, float("nan"), float("inf")),
    *(
        "",
        " ",
        "\0",
        "\ud800",
        "\x1b[31m",
        "../../etc/passwd",
        "a" * 5000,
        "NaN",
        "MiniGrid-Empty-5x5-v0",
        "reference/x",
    ),
    *([], {}, [[]], {"": {}}, [None] * 50, {"x": [1, 2, {"y": None}]}, ["a", 1, None], [0, 0], [[0, 0]]),
)
_LEAVES = (
    "x",
    "1",
    "self.mission",
    "self.full_grid",
    "None",
    "'a'",
    "-1",
    "0.5",
    "b''",
    "True",
    "self.inventory",
    "()",
)
_TERMS = (
    *(
        "({} + {})",
        "[{}, {}]",
        "{{{}: {}}}",
        "({} if {} else {})",
        "len({})",
        "f'{{{}}} {{{}!r:>{{{}}}}}'",
        "({} or {})",
    ),
    *(
        "(lambda a, b={}: {})",
        "[a for a in {} if {}]",
        "{{a: {} for a in {}}}",
        "{}[{}]",
        "{}.shape",
        "not {}",
        "{} == {}",
    ),
    *(
        "'{{}} {{x}}'.format({}, x={})",
        "self.helper({})",
        "(yield {})",
        "*{},",
        "{}({}, k={})",
        "(w := {})",
        "{}[{}:{}]",
    ),
    *(
        "{} < {} < {}",
        "math.sqrt({})",
        "sorted({}, key=lambda q: {})",
        "getattr({}, 'x')",
        "open({})",
        "-{}",
        "{} in {}",
    ),
)
_LINES = (
    *(
        "x = {}",
        "x += {}",
        "yield self.move_forward()",
        "yield from self.helper({})",
        "return {}",
        "assert {}, {}",
        "pass",
    ),
    *(
        "del x",
        "x, y = {}, {}",
        "import math",
        "global x",
        "nonlocal x",
        "raise ValueError({})",
        "'''doc\n  text'''",
        "{}",
    ),
    *("# comment", "x: int = {}", "yield 2", "break", "continue", "x = {};  y = {}  # both", "print({})", "yield {}"),
)
_BLOCKS = (
    *("if {}:", "for a in {}:", "while {}:", "with {} as w:", "def inner(a, *b, c={}):", "class Inner({}):", "try:"),
    *("match {}:\n{m}    case [a, *_] if {}:", "async def inner():", "for a, (b, c) in {}:"),
)
_WORDS = ("go to the {}", "pick up a {}", "open the {}", "put the {} next to the {}", "unlock the {}", "get the {}")
_THINGS = (
    "red ball",
    "door",
    "grey key behind you",
    "box on your left",
    "purple object",
    "yellow door in front of you",
)
_ERRANDS = (
    "survive 9 steps",
    "push the blue block onto the 2nd target",
    "turn on the red switch",
    "carry the blue key",
)
_AND = (" then ", ", then ", " and ", " after you ", ", ", " and then ")


def text(rng: random.Random, made: str) -> str:
    """The text as it is, or spoiled in a few places, or blown up."""
    if rng.random() < 0.35:
        return made
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        made = _spoiled(rng, made)
    return _blown_up(rng, made) if rng.random() < 0.02 else made


def data(rng: random.Random, made: str) -> bytes:
    """The same as bytes, which may not be UTF-8."""
    raw = bytearray(text(rng, made).encode("utf-8", rng.choice(("replace", "surrogatepass"))))
    if rng.random() < 0.15:
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(raw) + 1)
            raw[at : at + rng.choice((0, 1, 1, 2))] = bytes([rng.randrange(256)])
    if rng.random() < 0.02:
        return (
            bytes(raw).decode(errors="replace").encode(rng.choice(("utf-16", "latin-1", "utf-32", "cp037")), "replace")
        )
    return bytes(raw)


def json_data(rng: random.Random, sample: Any) -> bytes:
    """A file of JSON: often whole JSON of another form, else spoiled JSON."""
    written = json_text(rng, sample)
    return written.encode(errors="replace") if rng.random() < 0.7 else data(rng, written)


def json_text(rng: random.Random, sample: Any) -> str:
    """JSON of a sample with some of its values replaced, left out or repeated."""
    made = json.loads(json.dumps(sample))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 6))):
        made = _changed(rng, made)
    written = json.dumps(made, ensure_ascii=rng.random() < 0.5)
    if rng.random() < 0.03:
        deep = rng.choice((50, 900, 3000, 20_000))
        written = written.replace(rng.choice(("null", "1", '"')), "[" * deep + "]" * deep, 1)
    return written


def python(rng: random.Random, *, alone: bool = False) -> str:
    """An answer of a coder: methods, and what models put around them unless they stand ``alone``."""
    methods = [
        _method(rng, rng.choice(("go", "go", "helper", "_inner", "move_forward"))) for _ in range(rng.choice((0, 1, 2)))
    ]
    methods.append(_method(rng, "go", plain=rng.random() < 0.6))
    rng.shuffle(methods)
    above = rng.choice(
        ("", "", "import math\n", f"LIMIT = {_expression(rng, 2)}\n", "B = 2  # two\n", "from math import pi as p\n")
    )
    code = f"{above}\n" + "\n\n".join(dict.fromkeys(methods))
    if alone:
        return "\n\n".join(dict.fromkeys(methods))
    form = rng.randrange(6)
    if form == 0:
        return f"Here is the code:\n\n```python\n{code}\n```\nIt works = always."
    if form == 1:
        return f"I think x = 3 is it.\n{code}\nThat is all."
    if form == 2:
        return "class Agent:\n" + "".join(f"    {line}\n" for line in code.split("\n"))
    if form == 3:
        return "\n".join(f"```\n{method}\n```" for method in methods)
    return code


def planner(rng: random.Random) -> str:
    """An answer of a planner: JSON of a domain and a problem, and what models put around it."""
    names = [rng.choice(("go", "Pick-Up", "open_door", "done", "lambda", "a1", "é")) for _ in range(rng.randint(1, 3))]
    domain, problem = pddl(*(names if rng.random() < 0.3 else ["go", "open_door"][: rng.randint(1, 2)]))
    if rng.random() < 0.5:
        domain, problem = text(rng, domain), text(rng, problem)
    extra = {"note": rng.choice(_VALUES)} if rng.random() < 0.1 else {}
    written = json_text(rng, {"domain": domain, "problem": problem} | extra) if rng.random() < 0.2 else None
    written = written or json.dumps({"domain": domain, "problem": problem}, ensure_ascii=False)
    around = rng.choice(
        ("{}", "{}", "{}", "```json\n{}\n```", "<think>hm</think>{}", "Sure: {} Done.", "{} {}", "[{}]")
    )
    return around.replace("{}", written)


def mission(rng: random.Random) -> str:
    """A mission: BabyAI's grammar, beyond it now and then."""
    clauses = []
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        phrase = rng.choice((*_WORDS, "get to the green goal square", "use the key to open the {}", *_ERRANDS))
        while "{}" in phrase:
            phrase = phrase.replace("{}", rng.choice(_THINGS), 1)
        clauses.append(phrase)
    said = clauses[0] + "".join(rng.choice(_AND) + clause for clause in clauses[1:])
    return said * (300 if rng.random() < 0.003 else 1)


def environment(rng: random.Random) -> str:
    """A ``.env``."""
    lines = (
        *(
            "OPENAI_API_KEY=sk-1",
            "export A='b'",
            "# comment",
            "A=${B}",
            'Q="a\nb"',
            "=",
            "A",
            "A = b # c",
            "é=1",
            "\\",
            "A=\\n",
        ),
        *("SPCA_ENGINE=tamer", "A='", 'A="', "A=${A", "A=${A:-${B}}", "a b=c", "A=" + "x" * 500),
    )
    return "\n".join(rng.choice(lines) for _ in range(rng.randint(0, 8)))


def _method(rng: random.Random, name: str, *, plain: bool = False) -> str:
    above = rng.choice(("", "", "", "@staticmethod\n", "# above\n"))
    if plain:
        signature, above = "(self, x)", ""
    else:
        signature = rng.choice(
            ("(self, x)", "(self, x)", f"(self, x, y={_expression(rng, 1)}, *z, k=1)", "(self)", "()")
        )
    doc = rng.choice(("", '    """Go \\ud800 there.\n\n    More."""\n', "    '''a\n  b'''\n", '    r"""x"""\n'))
    body = "".join(_statement(rng, "    ", 2, plain=plain) for _ in range(rng.randint(1, 4)))
    return f"{above}def {name}{signature}:\n{doc}{body}    yield 2\n"


def _statement(rng: random.Random, margin: str, depth: int, *, plain: bool = False) -> str:
    if depth and rng.random() < 0.3:
        head = _filled(rng, rng.choice(_BLOCKS[: 3 if plain else len(_BLOCKS)]), depth, plain).replace("{m}", margin)
        inner = margin + "    " * (2 if head.startswith("match") else 1)
        block = "".join(_statement(rng, inner, depth - 1, plain=plain) for _ in range(rng.randint(1, 3)))
        if head == "try:":
            block += f"{margin}{rng.choice(('except ValueError as e:', 'finally:', 'except* OSError:'))}\n{inner}pass\n"
        return f"{margin}{head}\n{block}"
    line = rng.choice(_LINES[:5] if plain else _LINES)
    return f"{margin}{_filled(rng, line, depth, plain)}\n"


def _filled(rng: random.Random, form: str, depth: int, plain: bool) -> str:
    parts = form.split("{}")
    return parts[0] + "".join(_expression(rng, depth, plain=plain) + part for part in parts[1:])


def _expression(rng: random.Random, depth: int, *, plain: bool = False) -> str:
    if not depth or rng.random() < 0.4:
        return HEX if not plain and rng.random() < 0.002 else rng.choice(_LEAVES)
    parts = rng.choice(_TERMS[:5] if plain else _TERMS).replace("{{", "\1").replace("}}", "\2").split("{}")
    made = parts[0] + "".join(_expression(rng, depth - 1, plain=plain) + part for part in parts[1:])
    return made.replace("\1", "{").replace("\2", "}")


def _spoiled(rng: random.Random, made: str) -> str:
    at, size = rng.randrange(len(made) + 1), rng.choice((1, 1, 2, 5, 20, 80))
    cut, rest = made[at : at + size], made[at + size :]
    how: Sequence[Callable[[], str]] = (
        lambda: made[:at] + rest,
        lambda: made[:at] + cut * rng.choice((2, 2, 3, 40, 400)) + rest,
        lambda: made[:at] + rng.choice(_HOSTILE) + cut + rest,
        lambda: made[:at] + rng.choice(_HOSTILE) * rng.choice((1, 2, 90, 250)) + rest,
        lambda: made[:at] + cut[::-1] + rest,
        lambda: _with_lines(rng, made),
    )
    return rng.choice(how)()


def _with_lines(rng: random.Random, made: str) -> str:
    lines = made.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    change = rng.randrange(5)
    if change == 0:
        lines[i], lines[j] = lines[j], lines[i]
    elif change == 1:
        lines.insert(i, lines[j])
    elif change == 2:
        lines[i] = rng.choice(("\t", " ", "    ", "\\", "\x0c")) + lines[i]
    elif change == 3:
        lines.insert(i, rng.choice(("\\", "    \\", "  \\", "#", "\t", "        \\")))
    else:
        del lines[i]
    return "\n".join(lines)


def _blown_up(rng: random.Random, made: str) -> str:
    """Some part of the text as often as it fits into :data:`LARGEST` characters."""
    at = rng.randrange(len(made) + 1)
    end = rng.choice((at + rng.randint(1, 6), made.find("\n", at) + 1, len(made)))
    unit = made[at:end] or rng.choice(_HOSTILE)
    size = rng.choice((LARGEST, LARGEST, LARGEST // 2, 3 * LARGEST)) - len(made)
    return made[:at] + unit * max(1, size // len(unit)) + made[at:]


def _changed(rng: random.Random, made: Any) -> Any:
    """The value with one place in it changed."""
    if rng.random() < 0.1 or not isinstance(made, dict | list) or not made:
        return rng.choice(_VALUES)
    if isinstance(made, list):
        i = rng.randrange(len(made))
        return rng.choice((made[:i], made[i:], made + made[i:], [*made[:i], _changed(rng, made[i]), *made[i + 1 :]]))
    key = rng.choice(list(made))
    if rng.random() < 0.15:
        return {k: v for k, v in made.items() if k != key}
    if rng.random() < 0.1:
        return made | {rng.choice(("x", "", "\ud800", "__proto__", f"{key}s", key.upper())): rng.choice(_VALUES)}
    return made | {key: _changed(rng, made[key])}
