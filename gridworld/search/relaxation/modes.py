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
        combinations = prod(radix for _, radix in blocks)
        most = limit // (len(self.places) * combinations)
        self.codes = self._find_reachable(start, most)
        for name, radix in blocks:
            offsets = np.arange(radix)[:, None] * numbering.strides[name]
            self.codes = (self.codes + offsets).ravel()
        self.codes.sort()

    def __len__(self) -> int:
        return len(self.codes)

    def __contains__(self, name: object) -> bool:
        """Return whether a thing is tracked."""
        return name in self.numbering

    def row(self, state: State) -> int:
        """Return index of a state's mode in ``codes``; -1 if it cannot come about."""
        code = self.numbering.code(state)
        row = int(np.searchsorted(self.codes, code))
        exists = row < len(self.codes) and self.codes[row] == code
        return row if exists else -1

    def rows(self, codes: Numbers) -> Numbers:
        """Return the indices of codes in ``codes``; -1 for those that cannot come about."""
        rows = self._nearest(codes)
        return np.where(self.codes[rows] == codes, rows, -1)

    def has_digit(self, name: str, digit: int) -> Mask:
        """Return which modes have a digit; shape (modes, 1)."""
        return self.numbering.has_digit(self.codes, name, digit)[:, None]

    def changes(self, event: Event) -> tuple[Numbers, Numbers]:
        """Return the rows of the modes that allow an event, and of the modes after it."""
        rows = np.flatnonzero(self.numbering.allows(self.codes, event.equal, event.other))
        codes = self.numbering.settle(self.codes[rows] + event.delta)
        after = self._nearest(codes)
        known = self.codes[after] == codes
        return rows[known], after[known]

    def _nearest(self, codes: Numbers) -> Numbers:
        """Return the only rows that codes can have."""
        return np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)

    def _find_reachable(self, start: State, most: int) -> Numbers:
        """Return the reachable modes with blocks' digits 0; each is found as code x width + the agent's component."""
        width = len(self.places)
        where = [(event, self._components(event)) for event in self.events]
        between = crossings(self.numbering)
        component = self.places.component[self.places.pose(start)]
        first = self.numbering.code(start, blocks=False) * width + component
        known = fresh = np.array([first], dtype=np.int64)
        codes = known // width
        while len(fresh):
            codes_there = fresh // width
            components = fresh % width
            found = [self._apply_event(event, codes_there, components, cells) for event, cells in where]
            found += [self._apply_crossing(crossing, codes_there, components) for crossing in between]
            fresh = np.setdiff1d(np.concatenate(found), known) if found else fresh[:0]
            known = np.union1d(known, fresh)
            codes = np.unique(known // width)
            if len(codes) > most:
                break
        if len(codes) > most:
            raise TooLargeError
        return codes

    def _components(self, event: Event) -> Mask:
        """Return in which components an event can happen."""
        found = np.zeros(len(self.places), dtype=np.bool_)
        found[self.places.component[event.poses]] = True
        return found

    def _apply_event(self, event: Event, codes: Numbers, components: Numbers, where: Mask) -> Numbers:
        there = self.numbering.allows(codes, event.equal, event.other) & where[components]
        after = self.numbering.settle(codes[there] + event.delta)
        return after * len(self.places) + components[there]

    def _apply_crossing(self, crossing: Crossing, codes: Numbers, components: Numbers) -> Numbers:
        allowed = self.numbering.allows(codes, crossing.equal, ())
        there = np.equal(components, crossing.origin) & allowed
        return codes[there] * len(self.places) + crossing.target
