"""``show``: describe a scene in words, and print its map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from explorer.cli.options import ShowOptions
from explorer.files import Loaded
from explorer.files.listing import scene_at
from explorer.play.screen import map_text
from explorer.tasks.wording import one
from explorer.view import Thing
from explorer.worlds.voxel import VoxelWorld
from spca.common.command import EXIT_FINISHED
from spca.common.files import write_atomic
from spca.common.text import counted, one_line


def show_scene(scene: Path, /, options: ShowOptions = ShowOptions()) -> int:
    """Print a scene.

    Args:
        scene: folder of a scene, or a line of a file or released set, as FILE:1 or test:1
    """
    loaded = scene_at(scene)
    for line in lines(loaded):
        print(one_line(line))
    print()
    print(plan(loaded))
    if options.picture is not None:
        _write_picture(loaded, options.picture)
    return EXIT_FINISHED


def lines(loaded: Loaded) -> Iterator[str]:
    """Yield the description of a scene, without its map."""
    scene = loaded.scene
    certificate = loaded.certificate
    yield f"{scene.name}: {counted(loaded.hops, 'hop')}, {' x '.join(map(str, scene.size))} cells"
    yield f"Task: {loaded.text}"
    yield ""
    nodes = {node.id: node for node in loaded.graph.nodes}
    proofs = {proof.milestone_id: proof for proof in certificate.milestones} if certificate else {}
    for number, milestone in enumerate(loaded.milestones, start=1):
        node = nodes.get(milestone.milestone_id)
        proof = proofs.get(milestone.milestone_id)
        yield f"{number}. {milestone.milestone_id}: {milestone.description} ({milestone.task})"
        if node is not None and node.gate:
            yield f"   behind {one(node.gate)}{_opened(node.key)}"
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
            f"certificate (rules {certificate.rules}): wins in {certificate.witness.steps} steps, no plan takes fewer "
            f"than {certificate.lower_bound} (ratio {ratio:.1f}), an episode ends after {certificate.max_steps}"
        )
        if certificate.seen_at_start:
            yield f"in view at the spawn: {', '.join(certificate.seen_at_start)}"
    yield from (f"note: {note}" for note in loaded.notes)
    yield from (f"fault: {fault}" for fault in loaded.faults)


def _opened(key: str | None) -> str:
    """Return what opens a gate, in words, or "" if nothing does."""
    kinds = list(dict.fromkeys(key.split(" and "))) if key else []
    return f", opened with {' and '.join(map(one, kinds))}" if kinds else ""


def plan(loaded: Loaded) -> str:
    """Return the true map at the height of the spawn, with its legend."""
    scene = loaded.scene
    things = [Thing(mob.name, mob.kind, "", mob.cell, 0, True) for mob in scene.mobs]
    for cell, stacks in scene.items.items():
        things += [Thing(stack.item, stack.item, str(stack.count), cell, 0, True) for stack in stacks]
    view = replace(VoxelWorld().reset(scene), known=scene.blocks, things=tuple(things))
    width, _, depth = scene.size
    text, legend = map_text(view, width, depth, middle=(width // 2, depth // 2))
    signs = "  ".join(f"{sign.text} {sign.means}" for sign in legend.values())
    return f"{text.plain.rstrip()}\n{one_line(signs)}"


def _write_picture(loaded: Loaded, path: Path) -> None:
    from explorer.picture.first_person import render
    from spca.common.images import png

    view = VoxelWorld().reset(loaded.scene)
    write_atomic(path, png(render(view.known, view.pose, view.things, 640, 480)))
    print(one_line(f"first view: {path}"))
