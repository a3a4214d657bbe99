"""A run as an example that ships: its calls in one file, and what is to be known of them."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from spca.common.encoding import json_text
from spca.common.files import MAX_RUN_FILE_BYTES, make_folder, read_text, write_atomic
from spca.common.installation import applications
from spca.errors import ReportError
from spca.llm.calls.packed import PACKED, pack, strip_path
from spca.llm.calls.transcripts import FOLDER, read_all
from spca.runs.recording.folder import CURRICULUM, RunFolder
from spca.runs.settings import ABLATIONS, MAY_CHANGE_ON_RESUME, MODELS, OF_THIS_SESSION, Settings

ABOUT: Final = "about.json"
_ABLATING: Final = {name: flag for flag, (name, _) in ABLATIONS.items()}
_OF_THE_MACHINE: Final = (
    (MAY_CHANGE_ON_RESUME - {"max_output_tokens"})
    | OF_THIS_SESSION.keys()
    | MODELS
    | {"curriculum", "workspace", "unsafe_no_sandbox"}
)


def pack_run(run: Path, name: str, answered_by: str | None = None) -> dict[str, Any]:
    """Make a folder whose answers ``replay/FOLDER`` gives again, and return what its ``about.json`` says.

    Args:
        name: the folder, relative to the current one: so a curriculum of one's own, which is kept there, is named.
        answered_by: who answered, where the names of the models do not say it.

    Raises:
        ReportError: the run has not ended or asked nobody, or the folder holds something else.
        ResumeError, SettingsError: a file cannot be read or written.
    """
    folder = RunFolder(run)
    target = Path.cwd() / name
    if not (run / "summary.json").is_file():
        raise ReportError(f"{run}: the run has not ended: go on with it first")
    calls = [json.loads(read_text(run / call.name, MAX_RUN_FILE_BYTES)) for call in read_all(run / FOLDER)]
    if not calls:
        raise ReportError(f"{run}: no model was asked anything: there is nothing to pack")
    _check_free(target, run.name)
    said = describe_calls(folder.info(), folder.read_json("summary.json"), calls)
    said |= {"answered_by": answered_by} if answered_by else {}
    make_folder(target)
    levels = read_text(run / CURRICULUM)
    if json.loads(levels) != json.loads(read_text(applications() / "merged_curriculum2.json")):
        write_atomic(target / "curriculum.json", levels)
        said["flags"] += ["--curriculum", str(Path(name) / "curriculum.json")]
    write_atomic(target / PACKED, pack(calls))
    write_atomic(target / ABOUT, json_text(said, indent=1) + "\n")
    return said


def _check_free(target: Path, run_id: str) -> None:
    """Refuse a folder that holds anything but an example of the same run."""
    if not target.is_dir() or not any(target.iterdir()):
        return
    if not (target / ABOUT).is_file():
        raise ReportError(f"{target}: the folder is not empty: give one that is new")
    if (packed := RunFolder(target).read_json(ABOUT).get("run")) != run_id:
        of = f"run {packed!a:.80}" if packed else "another run"
        raise ReportError(f"{target}: the folder holds an example of {of}: give one that is new, or remove it first")


def describe_calls(info: Mapping[str, Any], summary: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    """What is to be known of recorded calls.

    Args:
        info: the run's ``run.json``.
        summary: its ``summary.json``.
    """
    models = {role: strip_path(model) for role, model in info["models"].items()}
    return {
        "run": info["run_id"],
        "recorded": time.strftime("%Y-%m-%d", time.strptime(info["run_id"].partition("-")[0], "%Y%m%d")),
        "answered_by": ", ".join(dict.fromkeys(models.values())),
        "models": models,
        "flags": list(flags(info["settings"])),
        "calls": dict(Counter(call["phase"] for call in calls)),
        **{name: summary[name] for name in ("levels", "finished", "solved")},
        "usage": {name: total for name, total in summary["usage"].items() if name != "categories"},
        "versions": info["versions"],
        **{name: info[name] for name in ("git_commit", "git_dirty", "hashes") if name in info},
    }


def flags(settings: Mapping[str, Any]) -> Iterator[str]:
    """The flags that make a run with these settings, without those of models and of the machine."""
    for name, default in Settings("", "", "").record().items():
        value = settings.get(name, default)  # absent in runs of earlier versions
        flag = "only" if name == "levels" else name.replace("_", "-")
        if name in _OF_THE_MACHINE or value == default:
            continue
        if isinstance(value, bool):
            yield _ABLATING.get(name, f"--{flag}")
        else:
            yield from (f"--{flag}", str(value))
