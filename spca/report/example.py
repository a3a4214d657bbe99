"""Packing of a run into an example that ships with the program: all calls in one file, and a description."""

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
from spca.common.plugins.plugin_records import list_plugin_flags
from spca.errors import ReportError
from spca.llm.calls.packed import PACKED, pack, strip_path
from spca.llm.calls.transcripts import FOLDER, read_all
from spca.runs.recording.folder import CURRICULUM, RunFolder
from spca.runs.settings import ABLATIONS, MAY_CHANGE_ON_RESUME, MODELS, OF_THIS_SESSION, Settings

ABOUT: Final = "about.json"
"""Name of the file with the description of an example."""
_ABLATING: Final = {name: flag for flag, (name, _) in ABLATIONS.items()}
"""Flags of the ablations, by name of the setting that the flag changes."""
_OF_THE_MACHINE: Final = (
    (MAY_CHANGE_ON_RESUME - {"max_output_tokens"})
    | OF_THIS_SESSION.keys()
    | MODELS
    | {"curriculum", "workspace", "unsafe_no_sandbox", "prompts"}
)
"""Settings that depend on the machine or on the models, so that their flags are not part of an example."""


def pack_run(run: Path, name: str, answered_by: str | None = None) -> dict[str, Any]:
    """Make a folder from which the model ``replay/FOLDER`` repeats the answers of a run.

    Args:
        run: the run's folder.
        name: path of the new folder, relative to the working folder. If the run's curriculum is not the default, the
            folder gets a copy of the curriculum. A flag in the description then names the copy by this path.
        answered_by: who gave the answers; None for the names of the models.

    Returns:
        The content of the new folder's ``about.json``.

    Raises:
        ReportError: the run has not ended or has no calls, or the new folder holds anything but an example of this run.
        ResumeError, SettingsError: a file cannot be read or written.
    """
    folder = RunFolder(run)
    target = Path.cwd() / name
    if not (run / "summary.json").is_file():
        raise ReportError(f"{run}: the run has not ended: go on with it first")
    calls = []
    for transcript in read_all(run / FOLDER):
        calls.append(json.loads(read_text(run / transcript.name, MAX_RUN_FILE_BYTES)))
    if not calls:
        raise ReportError(f"{run}: no model was asked anything: there is nothing to pack")
    _check_free(target, run.name)
    description = describe_calls(folder.info(), folder.read_json("summary.json"), calls)
    description["flags"] += list_plugin_flags(folder.info())
    if answered_by:
        description["answered_by"] = answered_by
    make_folder(target)
    levels = read_text(run / CURRICULUM)
    default_levels = read_text(applications() / "merged_curriculum2.json")
    if json.loads(levels) != json.loads(default_levels):
        write_atomic(target / "curriculum.json", levels)
        description["flags"] += ["--curriculum", str(Path(name) / "curriculum.json")]
    write_atomic(target / PACKED, pack(calls))
    write_atomic(target / ABOUT, json_text(description, indent=1) + "\n")
    return description


def _check_free(target: Path, run_id: str) -> None:
    """Check that a folder can be written: it does not exist, it is empty, or it holds an example of the same run.

    Raises:
        ReportError: the folder holds something else.
    """
    if not target.is_dir() or not any(target.iterdir()):
        return
    if not (target / ABOUT).is_file():
        raise ReportError(f"{target}: the folder is not empty: give one that is new")
    packed = RunFolder(target).read_json(ABOUT).get("run")
    if packed != run_id:
        owner = f"run {packed!a:.80}" if packed else "another run"
        raise ReportError(f"{target}: the folder holds an example of {owner}: give one that is new, or remove it first")


def describe_calls(info: Mapping[str, Any], summary: Mapping[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a description of the recorded calls of a run, as JSON-compatible data.

    Args:
        info: content of the run's ``run.json``.
        summary: content of the run's ``summary.json``.
        calls: transcripts of the calls.
    """
    date, _, _ = info["run_id"].partition("-")
    models = {role: strip_path(model) for role, model in info["models"].items()}
    description: dict[str, Any] = {"run": info["run_id"]}
    description["recorded"] = time.strftime("%Y-%m-%d", time.strptime(date, "%Y%m%d"))
    description["answered_by"] = ", ".join(dict.fromkeys(models.values()))
    description["models"] = models
    description["flags"] = list(flags(info["settings"]))
    description["calls"] = dict(Counter(call["phase"] for call in calls))
    for name in ("levels", "finished", "solved"):
        description[name] = summary[name]
    description["usage"] = {name: total for name, total in summary["usage"].items() if name != "categories"}
    description["versions"] = info["versions"]
    for name in ("git_commit", "git_dirty", "hashes"):
        if name in info:
            description[name] = info[name]
    return description


def flags(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the flags that give a run these settings. A default value needs no flag.

    Settings that depend on the models or on the machine are left out.
    """
    for name, default in Settings("", "", "").record().items():
        value = settings.get(name, default)  # runs of earlier versions lack settings
        flag = "only" if name == "levels" else name.replace("_", "-")
        if name in _OF_THE_MACHINE or value == default:
            continue
        if isinstance(value, bool):
            yield _ABLATING.get(name, f"--{flag}")
        else:
            yield f"--{flag}"
            yield str(value)
