"""The modes of a projection that can come about (pure)."""

from __future__ import annotations

from math import prod

import numpy as np

from gridworld.rules.layout import State
from gridworld.search.relaxation.events import Crossing, Event, crossings, events
from gridworld.search.relaxation.numbering import Numbering, TooLargeError
from gridworld.search.relaxation.places import Mask, Numbers


class Modes:
    """The modes that can come about if blocks do not matter, nor the way within a connected component.

    Args:
        numbering: of the modes.
        start: the state that every other one is reached from.
        limit: of the number of modes x poses.

    Attributes:
        codes: of all modes, ascending.
        events: all that changes the mode, but for moves.

    Raises:
        TooLargeError: there would be more.
    """

    def __init__(self, numbering: Numbering, start: State, limit: int) -> None:
        self.numbering = numbering
        self.places = numbering.places
        self.events = tuple(events(numbering))
        blocks = [(name, numbering.radices[name]) for name in numbering.cells]
        most = limit // (len(self.places) * prod(radix for _, radix in blocks))
        self.codes = self._closure(start, most)
        for name, radix in blocks:
            self.codes = (self.codes + np.arange(radix)[:, None] * numbering.strides[name]).ravel()
        self.codes.sort()

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, name: object) -> bool:
        """Whether a thing is tracked."""
        return name in self.numbering

    def row(self, state: State) -> int:
        """Index of a state's mode in ``codes``; -1 if it cannot come about."""
        code = self.numbering.code(state)
        row = int(np.searchsorted(self.codes, code))
        return row if row < len(self.codes) and self.codes[row] == code else -1

    def rows(self, codes: Numbers) -> Numbers:
        """Indices of codes in ``codes``; -1 for those that cannot come about."""
        rows = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[rows] == codes, rows, -1)

    def having(self, name: str, digit: int) -> Mask:
        """Which modes have a digit; shape (modes, 1)."""
        return self.numbering.having(self.codes, name, digit)[:, None]

    def changes(self, event: Event) -> tuple[Numbers, Numbers]:
        """Rows of the modes that allow an event, and of the modes after it."""
        rows = np.flatnonzero(self.numbering.allowing(self.codes, event.equal, event.other))
        codes = self.numbering.settled(self.codes[rows] + event.delta)
        after = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        known = self.codes[after] == codes
        return rows[known], after[known]

    def _closure(self, start: State, most: int) -> Numbers:
        """Modes with blocks' digits 0; found with the component where the agent then is: code x width + component."""
        width = len(self.places)
        where = [(event, self._components(event)) for event in self.events]
        between = crossings(self.numbering)
        first = self.numbering.code(start, blocks=False) * width + self.places.component[self.places.pose(start)]
        known = fresh = np.array([first], dtype=np.int64)
        codes = known // width
        while len(fresh):
            codes_there = fresh // width
            components = fresh % width
            found = [self._happened(event, codes_there, components, cells) for event, cells in where]
            found += [self._crossed(crossing, codes_there, components) for crossing in between]
            fresh = np.setdiff1d(np.concatenate(found), known) if found else fresh[:0]
            known = np.union1d(known, fresh)
            codes = np.unique(known // width)
            if len(codes) > most:
                break
        if len(codes) > most:
            raise TooLargeError
        return codes

    def _components(self, event: Event) -> Mask:
        """In which components an event can happen."""
        found = np.zeros(len(self.places), dtype=np.bool_)
        found[self.places.component[event.poses]] = True
        return found

    def _happened(self, event: Event, codes: Numbers, components: Numbers, where: Mask) -> Numbers:
        there = self.numbering.allowing(codes, event.equal, event.other) & where[components]
        after = self.numbering.settled(codes[there] + event.delta)
        return after * len(self.places) + components[there]

    def _crossed(self, crossing: Crossing, codes: Numbers, components: Numbers) -> Numbers:
        there = np.equal(components, crossing.origin) & self.numbering.allowing(codes, crossing.equal, ())
        return codes[there] * len(self.places) + crossing.target
