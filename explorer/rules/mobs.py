"""Animals and monsters (mobs), which stand still, bar no way, and matter only for their drops."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from explorer.errors import find_known
from explorer.scene import Stack


@dataclass(frozen=True, slots=True)
class MobKind:
    """A kind of mob.

    Attributes:
        drop: the stack that the agent gets for an attack; its count is fixed, although most counts are random in
            vanilla.
        tall: whether the mob fills two cells, one above the other.
    """

    name: str
    drop: Stack
    tall: bool = False


MOBS: Final[dict[str, MobKind]] = {
    kind.name: kind
    for kind in (
        MobKind("chicken", Stack("feather")),
        MobKind("cow", Stack("leather"), tall=True),
        MobKind("pig", Stack("porkchop")),
        MobKind("rabbit", Stack("rabbit_hide")),
        MobKind("sheep", Stack("white_wool"), tall=True),
        MobKind("skeleton", Stack("bone"), tall=True),
        MobKind("spider", Stack("string")),
        MobKind("squid", Stack("ink_sac")),
        MobKind("zombie", Stack("rotten_flesh"), tall=True),
    )
}


def mob_kind(name: str) -> MobKind:
    """Return the kind of mob called ``name``; the name may begin with ``minecraft:``.

    Raises:
        UnknownNameError: no kind of mob has this name.
    """
    return find_known("mob", name, MOBS)
