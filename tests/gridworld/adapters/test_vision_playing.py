"""Both adapters play tasks, and talk to servers that others wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter
from gridworld.backends import get_backend
from gridworld.errors import ModelError
from gridworld.evaluation import cli
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.rules.layout import Layout
from gridworld.search.solver import solve
from gridworld.task_spec import TaskSpecification
from tests.fakes import peers
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.serving import MODEL, PROTOCOLS, Protocol, ScriptedServer, heard, nobody, seen, shades
from tests.support.spca.tiny_gguf import write_tiny_gguf


class TestPeers:
    """Servers written by others read what is sent, and their answers are read."""

    def test_aimock(self, protocol: Protocol) -> None:
        with peers.aimock() as peer:
            model = protocol.model(peer.url)
            assert model.predict(seen(text_prompt="Count the tokens.")).action == 6  # "Done."
            (entry,) = peer.journal()
        assert entry["body"]["model"] == MODEL
        if protocol is PROTOCOLS["lmstudio"]:  # of Ollama's protocol aimock does not count
            details = model.episode_details()
            assert (details["input_tokens"], details["output_tokens"]) == (21, 13)

    def test_llmock(self) -> None:
        with peers.llmock() as peer:
            model = LMStudioVLMAdapter(MODEL, peer.base_url("openai"), request_retries=0)
            output = model.predict(seen())
        assert output.raw_output
        assert model.episode_details()["output_tokens"]

    def test_llama_cpp(self, tmp_path: Path) -> None:
        """A real server with a real, if tiny, model, which sees no images."""
        library = pytest.importorskip("xllamacpp")
        parameters = library.CommonParams()
        parameters.model.path = str(write_tiny_gguf(tmp_path / "tiny.gguf"))
        parameters.n_ctx, parameters.n_parallel, parameters.cpuparams.n_threads = 4096, 1, 1
        parameters.warmup, parameters.verbosity = False, -1
        server = library.Server(parameters)
        with pytest.raises(ModelError, match=r"does not list 'tiny'; it has .*tiny\.gguf"):
            LMStudioVLMAdapter("tiny", server.listening_address).setup()
        model = LMStudioVLMAdapter(parameters.model.path, server.listening_address)
        model.setup()
        with pytest.raises(ModelError, match="sees no images"):
            model.predict(seen())
        assert model.episode_details()["retries"] == 0


TASK = "#####\n#A..#\n###.#\n###G#\n#####"


class TestPlaying:
    def test_an_episode(self, server: ScriptedServer, protocol: Protocol) -> None:
        spec = drawn(TASK)
        server.replies = [f"Step {n}.\nAction: {int(a)}" for n, a in enumerate(solve(Layout(spec)).actions)]
        harness = EvaluationHarness(protocol.model(server.url), get_backend("multigrid"))
        episode = harness.evaluate_task(spec)
        harness.close()
        assert episode.success
        assert episode.info["details"]["requests"] == episode.steps_taken == len(server.asked)
        assert len(shades(heard(server))) == 3
        assert "Last steps" in "\n".join(message.text for message in heard(server).messages)

    def test_the_command_without_a_server(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        spec: TaskSpecification = drawn(TASK)
        spec.to_json(tmp_path / "t.json")
        arguments = ["--benchmark", "directory", "--task-dir", str(tmp_path), "--output", str(tmp_path / "r")]
        for name, fix in (("ollama", "ollama serve"), ("lmstudio", "lms server start")):
            assert cli.main([*arguments, "--model", name, f"--{name}-url", nobody()]) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert fix in line
