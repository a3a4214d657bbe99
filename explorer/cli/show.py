"""``show``: a scene in words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from explorer.cli.parser import Settings
from explorer.errors import SceneError
from explorer.files import Loaded, load_scene
from explorer.play.screen import map_text
from explorer.worlds.voxel import VoxelWorld
from spca.common.command import EXIT_FINISHED
from spca.common.text import counted, one_line


def run(settings: Settings) -> int:
    """Print a scene."""
    loaded = load_scene(settings.scene or Path())
    for line in lines(loaded):
        print(one_line(line))
    print()
    print(plan(loaded))
    if settings.picture is not None:
        _write_picture(loaded, settings.picture)
    return EXIT_FINISHED


def lines(loaded: Loaded) -> Iterator[str]:
    """Yield what is known of a scene but its map."""
    scene, certificate = loaded.scene, loaded.certificate
    yield f"{scene.name}: {counted(loaded.hops, 'hop')}, {' x '.join(map(str, scene.size))} cells"
    yield f"Task: {loaded.text}"
    yield ""
    nodes = {node.id: node for node in loaded.graph.nodes}
    proofs = {proof.milestone_id: proof for proof in certificate.milestones} if certificate else {}
    for number, milestone in enumerate(loaded.milestones, start=1):
        node, proof = nodes.get(milestone.milestone_id), proofs.get(milestone.milestone_id)
        yield f"{number}. {milestone.milestone_id}: {milestone.description} ({milestone.task})"
        if node is not None and node.gate:
            yield f"   behind a {node.gate}, which {node.key or 'nothing'} opens"
        for edge in loaded.graph.edges:
            if edge.after == milestone.milestone_id:
                yield f"   after {edge.before}: {edge.reason}"
        if proof is not None:
            yield f"   {'proven necessary' if proof.necessary else 'NOT proven necessary'}, step {proof.at_step}"
    yield ""
    if certificate is None:
        yield "no certificate"
    else:
        ratio = certificate.witness.steps / max(1, certificate.lower_bound)
        yield (
            f"certificate (rules {certificate.rules}): wins in {certificate.witness.steps} steps, no way takes fewer "
            f"than {certificate.lower_bound} ({ratio:.1f} times), at most {certificate.max_steps} are played"
        )
        if certificate.seen_at_start:
            yield f"in sight at the spawn: {', '.join(certificate.seen_at_start)}"
    yield from (f"note: {note}" for note in loaded.notes)
    yield from (f"fault: {fault}" for fault in loaded.faults)


def plan(loaded: Loaded) -> str:
    """Return the true map at the height of the spawn, with its legend."""
    view = VoxelWorld().reset(loaded.scene)
    view.known[:] = loaded.scene.blocks
    width, _, depth = loaded.scene.size
    text, legend = map_text(view, width, depth, middle=(width // 2, depth // 2))
    signs = "  ".join(f"{sign.text} {sign.means}" for sign in legend.values())
    return f"{text.plain.rstrip()}\n{one_line(signs)}"


def _write_picture(loaded: Loaded, path: Path) -> None:
    raise SceneError(f"no picture of {loaded.scene.name} can be drawn", str(path))
