"""``show``: describe a scene in words, and print its map."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from explorer.certificate import Certificate
from explorer.cli.options import ShowOptions
from explorer.files import Loaded
from explorer.files.listing import scene_at
from explorer.play.screen import map_text
from explorer.tasks.wording import one
from explorer.view import Thing
from explorer.worlds.voxel import VoxelWorld
from spca.common.command import EXIT_FINISHED
from spca.common.files import write_atomic
from spca.common.text import format_count, one_line


def show_scene(scene: Path, /, options: ShowOptions = ShowOptions()) -> int:
    """Print a scene.

    Args:
        scene: folder of a scene, or a line of a file or released set, as FILE:1 or test:1
    """
    loaded = scene_at(scene)
    for line in describe_scene(loaded):
        print(one_line(line))
    print()
    print(draw_map(loaded))
    if options.picture is not None:
        _write_picture(loaded, options.picture)
    return EXIT_FINISHED


def describe_scene(loaded: Loaded) -> Iterator[str]:
    """Yield the description of a scene, without its map."""
    scene = loaded.scene
    size = " x ".join(map(str, scene.size))
    yield f"{scene.name}: {format_count(loaded.hops, 'hop')}, {size} cells"
    yield f"Task: {loaded.text}"
    yield ""
    yield from _hop_lines(loaded)
    yield ""
    yield from _certificate_lines(loaded.certificate)
    for note in loaded.notes:
        yield f"note: {note}"
    for fault in loaded.faults:
        yield f"fault: {fault}"


def _hop_lines(loaded: Loaded) -> Iterator[str]:
    """Yield lines for each hop: its gate, the hops that must come first, and whether the hop is proven necessary."""
    certificate = loaded.certificate
    nodes = {node.id: node for node in loaded.graph.nodes}
    proofs = {proof.milestone_id: proof for proof in certificate.milestones} if certificate else {}
    for number, milestone in enumerate(loaded.milestones, start=1):
        name = milestone.milestone_id
        yield f"{number}. {name}: {milestone.description} ({milestone.task})"

        node = nodes.get(name)
        if node is not None and node.gate:
            yield f"   behind {one(node.gate)}{_key_words(node.key)}"
        for edge in loaded.graph.edges:
            if edge.after == name:
                yield f"   after {edge.before}: {edge.reason}"
        proof = proofs.get(name)
        if proof is not None:
            necessity = "proven necessary" if proof.necessary else "NOT proven necessary"
            yield f"   {necessity}, step {proof.at_step}"


def _certificate_lines(certificate: Certificate | None) -> Iterator[str]:
    """Yield the facts of a certificate in words, or "no certificate" if the certificate is None.

    The ratio in the text is the number of steps of the witness, divided by the lower bound of steps.
    """
    if certificate is None:
        yield "no certificate"
        return
    steps = certificate.witness.steps
    bound = certificate.lower_bound
    ratio = steps / max(1, bound)
    yield (
        f"certificate (rules {certificate.rules}): wins in {steps} steps, no plan takes fewer than {bound} "
        f"(ratio {ratio:.1f}), an episode ends after {certificate.max_steps}"
    )
    if certificate.seen_at_start:
        yield f"in view at the spawn: {', '.join(certificate.seen_at_start)}"


def _key_words(key: str | None) -> str:
    """Return the words ", opened with KEY", or "" if there is no key.

    A key may name several things, joined by "and".
    """
    if not key:
        return ""
    kinds = dict.fromkeys(key.split(" and "))
    return ", opened with " + " and ".join(map(one, kinds))


def draw_map(loaded: Loaded) -> str:
    """Return the map at the height of the spawn, followed by the legend.

    The map also shows what the agent has not seen.
    """
    scene = loaded.scene
    things = [Thing(mob.name, mob.kind, "", mob.cell, seen_at=0, in_view=True) for mob in scene.mobs]
    for cell, stacks in scene.items.items():
        for stack in stacks:
            things.append(Thing(stack.item, stack.item, str(stack.count), cell, seen_at=0, in_view=True))
    true_view = replace(VoxelWorld().reset(scene), known=scene.blocks, things=tuple(things))

    width, _, depth = scene.size
    middle = (width // 2, depth // 2)
    text, legend = map_text(true_view, width, depth, middle=middle)
    signs = "  ".join(f"{sign.text} {sign.means}" for sign in legend.values())
    return f"{text.plain.rstrip()}\n{one_line(signs)}"


def _write_picture(loaded: Loaded, path: Path) -> None:
    from explorer.picture.first_person import render
    from spca.common.images import png

    view = VoxelWorld().reset(loaded.scene)
    picture = render(view.known, view.pose, view.things, 640, 480)
    write_atomic(path, png(picture))
    print(one_line(f"first view: {path}"))
