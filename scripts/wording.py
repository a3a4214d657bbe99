"""Find phrases that a reader has to read twice: python scripts/wording.py

Looks through the docstrings, comments and messages of the product and through the documentation. Prints each find
with its plain form; the exit code is 1 if there are any.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAIN = {
    r"[Ww]ho(m)?ever": "name the person or the part",
    r"(can|could|cannot|may|must)( not)? be had": "say what is available, or what fails",
    r"had beforehand": "say when it is computed",
    r"goes? before": "has priority over, comes first",
    r"that which|those which": "the X that",
    r"(?<!there )(is|are|was|were) none(?= ?[.,;:)])": "is invalid, is not a number, has no X",
    r"what it makes": "name the result",
    r"^of what (is|was|has|the)": "put the subject first",
    r"[Bb]e it": "whether",
    r"lest": "so that not",
    r"[Ww]hereof|[Ww]hereupon|[Tt]hereof|[Tt]herein|[Tt]hereby": "so, of the X, in the X",
    r"leads? nowhere": "say what happens instead",
}
"""Regular expressions of whole words, each with advice."""
SKIPPED = (
    "tests/",
    "examples/",
    "scripts/wording.py",
    # Copied into runs word for word.
    "agent.py",
    "spca/reference/skills/",
    "spca/reference/writers/",
    # Part of generated tasks and of prompts: other words would be other tasks.
    "explorer/generating/reasons.py",
    "gridworld/adapters/prompting.py",
    "gridworld/generating/decoys.py",
)

# From Python 3.12 on the text between the braces of an f-string is a token of its own.
_PROSE_TOKENS = {tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
_PATTERNS = [(re.compile(rf"\b(?:{pattern})\b"), advice) for pattern, advice in PLAIN.items()]


def list_prose_files() -> Iterator[Path]:
    """Yield the Python and Markdown files whose prose is checked."""
    listed = subprocess.run(["git", "ls-files", "*.py", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in listed.stdout.splitlines():
        if not name.startswith(SKIPPED) and (ROOT / name).is_file():
            yield ROOT / name


def iterate_passages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the prose of a file with the number of its first line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield from enumerate(text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in _PROSE_TOKENS:
            yield token.start[0], token.string


def find_phrases(path: Path) -> Iterator[str]:
    """Yield a line of output for each find in a file."""
    for first_line, prose in iterate_passages(path):
        for pattern, advice in _PATTERNS:
            for match in pattern.finditer(prose):
                line = first_line + prose.count("\n", 0, match.start())
                phrase = " ".join(match[0].split())
                yield f'{path.relative_to(ROOT)}:{line}: "{phrase}": {advice}'


def main() -> int:
    """Print all finds; return the exit code."""
    finds = [find for path in list_prose_files() for find in find_phrases(path)]
    for find in finds:
        print(find)
    return 1 if finds else 0


if __name__ == "__main__":
    sys.exit(main())
