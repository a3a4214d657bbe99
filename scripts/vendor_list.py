"""Print what each vendored library is, as JSON: ``scripts/vendor`` runs this file in the folder of the copies."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final

FILES: Final = {
    "preact.umd.js": ["preact"],
    "hooks.umd.js": ["preact"],
    "chart.umd.js": ["chart.js", "@kurkle/color"],
    "diff.umd.js": ["diff"],
}
"""Copied file -> the packages in it."""


def describe_file(file: str, names: list[str], locked: dict[str, Any]) -> dict[str, Any]:
    """Return name, hash and packages of a copied file; ``locked`` holds the packages of ``package-lock.json``."""
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    packages = []
    for name in names:
        entry = locked[f"node_modules/{name}"]
        short_name = name.split("/")[-1].removesuffix(".js")
        package = {"name": name, "version": entry["version"], "licence": entry["license"]}
        packages.append(package | {"licence_file": f"{short_name}.LICENSE.txt"})
    return {"file": file, "sha256": digest, "packages": packages}


def main() -> None:
    """Print the list."""
    locked = json.loads(Path("package-lock.json").read_text(encoding="utf-8"))["packages"]
    files = [describe_file(file, names, locked) for file, names in FILES.items()]
    print(json.dumps(files, indent=1))


if __name__ == "__main__":
    main()
