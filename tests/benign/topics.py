"""The corpus: harmless methods as coder LLMs write them, one file of raw ``def`` blocks per topic.

A file is a patch as it stands. Every method is also a patch of its own, together with the methods, imports and
constants it needs. The files are text and not modules: their style is the point, no formatter may touch it. The
reference skills are one more topic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

from spca.code.agent_source import is_generator, parse, positional
from spca.reference import coder

CORPUS = Path(__file__).parent / "corpus"
REFERENCE = "reference_skills"


@dataclass(frozen=True, slots=True)
class Method:
    """A method of the corpus; ``needs`` are the names it refers to, with and without ``self``."""

    name: str
    source: str
    parameters: tuple[str, ...]
    generates: bool
    needs: frozenset[str]

    @property
    def is_action(self) -> bool:
        return self.generates and not self.name.startswith("_")


@dataclass(frozen=True, slots=True)
class Topic:
    """Methods that belong together; ``header`` maps a name to the import or constant that binds it."""

    name: str
    text: str
    header: Mapping[str, str]
    methods: Mapping[str, Method]

    @property
    def actions(self) -> tuple[Method, ...]:
        return tuple(method for method in self.methods.values() if method.is_action)

    def patch(self, names: Iterable[str]) -> str:
        """The named methods and all they need, ``__init__`` included, as one patch."""
        chosen = [*names, *({"__init__"} & self.methods.keys())]
        for name in chosen:
            chosen += (need for need in sorted(self.methods[name].needs & self.methods.keys()) if need not in chosen)
        needs = frozenset[str]().union(*(self.methods[name].needs for name in chosen))
        bound = dict.fromkeys(line for name, line in self.header.items() if name in needs or name == "annotations")
        return "\n".join([*bound, "", *(self.methods[name].source for name in dict.fromkeys(chosen))])


@lru_cache(maxsize=1)
def topics() -> Mapping[str, Topic]:
    """Every topic by name, the reference skills last."""
    texts = {path.name.removesuffix(".py.txt"): path.read_text("utf-8") for path in sorted(CORPUS.glob("*.py.txt"))}
    folder = resources.files("spca.reference") / "skills" / "mechanisms"
    # Those for gridworld tasks have nothing to do on the stages, which are MiniGrid's.
    elsewhere = "".join(entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(".py"))
    names = [name for name in coder.library() if f"    def {name}(self" not in elsewhere]
    skills = coder.write(name for name in names if not name.startswith("_"))
    return {name: _topic(name, text) for name, text in {**texts, REFERENCE: skills}.items()}


def _topic(name: str, text: str) -> Topic:
    tree = parse(text)
    lines = text.splitlines()
    header: dict[str, str] = {}
    for node in tree.body:
        header |= dict.fromkeys(_bound(node), "\n".join(lines[node.lineno - 1 : node.end_lineno]))
    methods = {node.name: _method(lines, node) for node in tree.body if isinstance(node, ast.FunctionDef)}
    return Topic(name, text, header, methods)


def _bound(node: ast.stmt) -> list[str]:
    """Names that an import or constant of the header binds."""
    match node:
        case ast.Import(names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
        case ast.Assign(targets=[ast.Name(name)]) | ast.AnnAssign(target=ast.Name(name)):
            return [name]
        case _:
            return []


def _method(lines: Sequence[str], node: ast.FunctionDef) -> Method:
    needs: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
                needs.add(name)
            case _:
                pass
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
    source = "\n".join(lines[first : node.end_lineno]) + "\n"
    parameters = positional(node)[0 if _is_static(node) else 1 :]
    return Method(node.name, source, parameters, is_generator(node), frozenset(needs) - {node.name})


def _is_static(node: ast.FunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "staticmethod" for decorator in node.decorator_list)
