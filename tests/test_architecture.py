"""The rules of the house, checked on the source: who may import whom, sizes, documentation.

Only files that git tracks count.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.layout import AGAINST_THE_ORDER, ORDER, TWIN_CLASSES, TWIN_MODULES

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("spca", "gridworld", "robot_bridge", "explorer")
PHASES = ("minigridenv", "plannerLLM", "coderLLM")
LAZY = (
    *("openai", "anthropic", "google", "ollama", "xllamacpp", "unified_planning", "duckdb", "PIL", "av"),
    *("genai_prices", "pytest"),
    *("mujoco", "cv2", "pyastar2d", "scipy", "cyclonedds", "mcap", "rosbags", "yaml"),
)
"""Libraries that are slow to import, or not needed by most runs."""

SHARED = ("spca.body", "spca.common", "spca.contracts", "spca.errors", "spca.protocols")

ALLOWED = {
    "spca": ("spca",),
    "spca.contracts": (),
    "spca.body": ("spca.contracts",),
    "spca.protocols": ("spca.body", "spca.contracts"),
    "spca.common": ("spca.common",),
    "gridworld": ("gridworld", "spca.common"),
    "gridworld.adapters": ("gridworld", *SHARED, "spca.llm", "spca.plugins"),
    "explorer": ("explorer", *SHARED),
    "robot_bridge": ("robot_bridge", *SHARED),
    "robot_bridge.cli": ("robot_bridge", *SHARED, "spca.llm", "spca.plan", "spca.plugins", "spca.runs", "spca.sandbox"),
    "robot_bridge.agent": (
        *("robot_bridge", *SHARED, "spca.act", "spca.bodies", "spca.code", "spca.plan", "spca.sandbox", "spca.sense"),
    ),
}
"""What a module or the modules of a package may import of ours; the longest matching name decides."""


@dataclass(frozen=True)
class Module:
    """A source file: dotted name, path relative to the checkout, text and syntax tree."""

    name: str
    path: str
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The top-level package, "" for an application."""
        return self.path.split("/")[0] if "/" in self.path else ""


@cache
def tracked() -> tuple[str, ...]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(path for path in listed.splitlines() if (ROOT / path).is_file())


def sources() -> tuple[str, ...]:
    return tuple(path for path in tracked() if path.endswith(".py"))


@cache
def module_at(path: str) -> Module:
    text = (ROOT / path).read_text(encoding="utf-8")
    name = path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    return Module(name, path, text, ast.parse(text, path))


def modules() -> Iterator[Module]:
    return map(module_at, sources())


@cache
def product() -> tuple[Module, ...]:
    return tuple(module for module in modules() if module.package in ("", *PACKAGES, "adapters"))


def names_imported(statement: ast.AST, module: Module) -> Iterator[str]:
    if isinstance(statement, ast.Import):
        yield from (alias.name for alias in statement.names)
    elif isinstance(statement, ast.ImportFrom):
        base = statement.module or ""
        if statement.level:
            here = module.name if module.path.endswith("__init__.py") else module.name.rpartition(".")[0]
            parents = here.split(".")[: len(here.split(".")) - statement.level + 1]
            base = ".".join(filter(None, (*parents, base)))
        yield from (f"{base}.{alias.name}" for alias in statement.names)


def imports(module: Module) -> frozenset[str]:
    """Every dotted name that a module imports, wherever in it."""
    return _imports(module.path)


@cache
def _imports(path: str) -> frozenset[str]:
    module = module_at(path)
    return frozenset(name for node in statements(module) for name in names_imported(node, module))


def imports_on_load(module: Module) -> set[str]:
    """Dotted names that are imported when the module is: not in functions, not for the type checker only."""
    found: set[str] = set()
    pending: list[ast.AST] = [module.tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
            continue
        found.update(names_imported(node, module))
        pending.extend(ast.iter_child_nodes(node))
    return found


def within(name: str, parents: tuple[str, ...]) -> bool:
    return any(name == parent or name.startswith(f"{parent}.") for parent in parents)


def statements(module: Module) -> tuple[ast.AST, ...]:
    """All statements of a module and handlers of exceptions, wherever in it; to look into expressions takes longer."""
    return _statements(module.path)


@cache
def _statements(path: str) -> tuple[ast.AST, ...]:
    found: list[ast.AST] = [module_at(path).tree]
    for node in found:
        inner = ast.iter_child_nodes(node)
        found += [each for each in inner if isinstance(each, ast.stmt | ast.ExceptHandler | ast.match_case)]
    return tuple(found)


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in statements(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    assert function.end_lineno is not None
    return function.end_lineno - function.lineno + 1


def lines(module: Module) -> int:
    return module.text.count("\n")


def comments(text: str) -> dict[int, str]:
    """Comments by line number."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}


@cache
def top_level() -> set[str]:
    return {module.name for module in modules() if module.package == ""}


def allowed(module: Module) -> tuple[str, ...]:
    names = [name for name in ALLOWED if within(module.name, (name,))]
    return ALLOWED[max(names, key=len)]


def test_packages_import_only_what_they_may() -> None:
    wrong = [
        f"{module.path} imports {name}"
        for module in product()
        if module.package in PACKAGES
        for name in imports(module)
        if within(name, (*PACKAGES, "adapters", *top_level())) and not within(name, allowed(module))
    ]
    assert not wrong


def part(name: str) -> str:
    """The part of ``spca`` that a dotted name lies in: a folder or a module of its top level."""
    return name.split(".")[1] if name.count(".") else ""


def test_parts_of_spca_import_downwards_only() -> None:
    level = {name: number for number, line in enumerate(ORDER) for name in line}
    ours = [module for module in product() if module.package == "spca" and part(module.name)]
    assert {part(module.name) for module in ours} == level.keys()
    against = {
        (module.name, part(name))
        for module in ours
        for name in imports(module)
        if within(name, ("spca",)) and level.get(part(name), -1) >= max(1, level[part(module.name)])
        if part(name) != part(module.name)
    }
    assert against == AGAINST_THE_ORDER.keys()


def arrows() -> dict[str, set[str]]:
    """Modules of the product -> those that they import, wherever in them."""
    known = {module.name for module in product()}

    def module_of(name: str) -> str:
        while name and name not in known:
            name = name.rpartition(".")[0]
        return name

    return {module.name: {module_of(name) for name in imports(module)} - {"", module.name} for module in product()}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that reach each other: what is left when those without arrows to or from the rest are taken away."""
    rest = {name: set(targets) for name, targets in graph.items()}
    while ends := {name for name, targets in rest.items() if not targets & rest.keys()}:
        rest = {name: targets for name, targets in rest.items() if name not in ends}
    reached = {name: reachable(rest, name) for name in rest}
    found = {name: frozenset(other for other in reached[name] if name in reached[other]) for name in rest}
    return sorted(sorted(circle) for circle in set(found.values()) if circle)


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    pending = list(graph[start])
    while pending:
        name = pending.pop()
        if name in graph and name not in seen:
            seen.add(name)
            pending.extend(graph[name])
    return seen


def test_no_imports_go_in_circles() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a"}}) == [["b", "c"]]
    assert circles(arrows()) == []


def test_a_folder_has_at_most_15_modules() -> None:
    paths = [module.path for module in product()] + [path for path in sources() if path.startswith("tests/support/")]
    full = {path.rpartition("/")[0] for path in paths} - {""}
    sizes = {folder: sum(path.rpartition("/")[0] == folder for path in paths if has_code(path)) for folder in full}
    assert {folder: size for folder, size in sizes.items() if size > 15} == {}


def has_code(path: str) -> bool:
    """Whether a file counts as a module: an ``__init__`` that only says what its folder is for does not."""
    return not path.endswith("__init__.py") or len(module_at(path).tree.body) > 1


def generated(module: Module) -> bool:
    return within(module.name, ("spca.reference.skills", "spca.reference.writers"))


@pytest.mark.parametrize("package", TWIN_MODULES)
def test_names_that_occur_twice_in_a_package_have_a_reason(package: str) -> None:
    ours = [module for module in product() if module.package == package and not generated(module)]
    stems = Counter(m.path.rpartition("/")[2].removesuffix(".py") for m in ours if not m.path.endswith("__init__.py"))
    assert {name for name, times in stems.items() if times > 1} == TWIN_MODULES[package].keys()
    classes = Counter(
        node.name
        for module in ours
        for node in module.tree.body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, times in classes.items() if times > 1} == TWIN_CLASSES[package].keys()


def test_product_does_not_import_its_tests() -> None:
    assert not [module.path for module in product() for name in imports(module) if within(name, ("tests",))]


def test_only_main_joins_the_phases() -> None:
    wrong = [
        f"{module.path} imports {name}"
        for module in product()
        if module.name != "main"
        for name in imports(module)
        if within(name, PHASES)
    ]
    assert not wrong


def test_main_loads_no_slow_library() -> None:
    by_name = {module.name: module for module in product()}
    seen: set[str] = set()
    pending = ["main"]
    wrong = []
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        for imported in imports_on_load(by_name[name]):
            if within(imported, LAZY):
                wrong.append(f"{by_name[name].path} imports {imported} when it is loaded")
            parts = imported.split(".")
            prefixes = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
            pending.extend(prefix for prefix in prefixes if prefix in by_name)
    assert not wrong


def test_loading_main_is_quiet_and_light(tmp_path: Path) -> None:
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); import main; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert done.stdout.count("\n") == 1, "importing main prints"
    assert not {name for name in done.stdout.split() if within(name, LAZY)}
    assert not list(tmp_path.iterdir()), "importing main writes files"


def test_size_and_documentation() -> None:
    assert not [f"{module.path}: {fault}" for module in modules() for fault in size_faults(module)]


def size_faults(module: Module) -> Iterator[str]:
    if lines(module) > 600:
        yield f"it has {lines(module)} lines"
    yield from (f"{node.name} has {length(node)} lines" for node in functions(module) if length(node) > 80)
    if module.text.strip() and "skills" not in module.path.split("/") and not ast.get_docstring(module.tree):
        yield "a module says what it is for"


WORD_FOR_WORD = ("spca/reference/skills/", "spca/reference/writers/", "agent.py")
"""What is copied into runs as it is written."""


def package_modules(package: str) -> list[Module]:
    return [each for each in product() if each.package == package and not each.path.startswith(WORD_FOR_WORD)]


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_few_statements_are_heavy(package: str) -> None:
    """A statement with more than 15 expression nodes has to be read twice, and no formatter changes that."""
    weights = [weight for module in package_modules(package) for weight in statement_weights(module.tree.body)]
    heavy = sum(weight > 15 for weight in weights)
    assert heavy < 0.05 * len(weights), f"{heavy} of {len(weights)} statements hold more than 15 expression nodes"


@pytest.mark.parametrize("package", ["", *PACKAGES])
def test_unrelated_values_have_a_line_each(package: str) -> None:
    """``a, b = x, y`` is for swaps, and for values that depend on each other."""
    modules_ = package_modules(package)
    found = [
        f"{module.path}: {ast.unparse(node)}" for module in modules_ for node in statements(module) if pairs_up(node)
    ]
    assert len(found) < 0.003 * sum(map(lines, modules_)), "\n".join(found)


def pairs_up(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def statement_weights(body: list[ast.stmt], inside: bool = False) -> Iterator[int]:
    """Yield the expression nodes of each simple statement, and of each head of a compound one, inside functions."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from statement_weights(statement.body, not isinstance(statement, ast.ClassDef))
            continue
        heads = heads_of(statement)
        if inside and heads and not is_docstring(statement):
            yield sum(isinstance(node, ast.expr) for head in heads for node in ast.walk(head))
        for part in blocks_of(statement):
            yield from statement_weights(part, inside)


def is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def heads_of(statement: ast.stmt) -> list[ast.AST]:
    match statement:
        case ast.If() | ast.While():
            return [statement.test]
        case ast.For() | ast.AsyncFor():
            return [statement.target, statement.iter]
        case ast.With() | ast.AsyncWith():
            return list(statement.items)
        case ast.Match():
            return [statement.subject]
        case ast.Try():
            return []
        case _:
            return [statement]


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(statement, field, [])
    for part in (*getattr(statement, "handlers", []), *getattr(statement, "cases", [])):
        yield part.body


PLACES = re.compile(r"^\| .*\? \| (.*) \|$", re.MULTILINE)


def test_the_places_to_change_exist() -> None:
    named = PLACES.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    assert len(named) >= 10
    for place in named:
        quoted = re.findall(r"`([^`]+)`", place)
        paths = [text for text in quoted if re.search(r"/|\.py$", text)]
        assert all((ROOT / path).exists() for path in paths), place
        text = (ROOT / paths[0]).read_text(encoding="utf-8")
        assert all(name in text for name in quoted if name not in paths and not name.startswith("--")), place


def test_catching_everything_gives_its_reason() -> None:
    wrong = []
    for module in modules():
        found = [n for n in statements(module) if isinstance(n, ast.ExceptHandler) and catches_everything(n)]
        said = comments(module.text) if found else {}
        for node in found:
            beside = (said.get(line, "") for line in range(node.lineno, node.body[0].lineno + 1))
            if not any(re.sub(r"noqa(: ?[A-Z0-9, ]+)?", "", comment).strip("# -:") for comment in beside):
                wrong.append(f"{module.path}:{node.lineno}")
    assert not wrong


def catches_everything(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(isinstance(each, ast.Name) and each.id in ("Exception", "BaseException") for each in caught)


def test_errors_keep_their_cause() -> None:
    """Without it ``--debug`` shows where an error was translated, not where it came from."""
    wrong = [
        f"{module.path}:{node.lineno}"
        for module in product()
        for node in statements(module)
        if isinstance(node, ast.Raise) and isinstance(node.cause, ast.Constant)
    ]
    assert not wrong


def test_parts_log_nothing_that_python_prints_by_itself() -> None:
    """Where no log is set up, as in a worker process, warnings reach the terminal."""
    above = re.compile(r"\b_?(LOG|log|logger|logging)\.(warning|error|exception|critical)\(")
    texts = {module.path: module.text for module in product() if module.name != "spca.common.debug_log"}
    assert not [path for path, text in texts.items() if "getLogger" in text and above.search(text)]


def test_nothing_is_left_for_later() -> None:
    unfinished = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    texts = (path for path in tracked() if path.endswith((".py", ".md", ".toml", ".jinja", ".sh")) or "." not in path)
    assert not [path for path in texts if unfinished.search((ROOT / path).read_text(encoding="utf-8"))]


def test_readme_has_a_line_for_every_top_level_file_and_package() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    starts = [
        re.split(r"[^\w./-]", re.sub(r"^[\s|*`\[-]+", "", line), maxsplit=1)[0].rstrip("/")
        for line in readme.splitlines()
    ]
    applications = {path for path in tracked() if "/" not in path and path.endswith((".py", ".json"))}
    packages = {path.split("/")[0] for path in tracked() if path.count("/") == 1 and path.endswith("/__init__.py")}
    assert {name: starts.count(name) for name in applications | packages} == dict.fromkeys(applications | packages, 1)
