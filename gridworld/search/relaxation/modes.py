"""The reachable modes of a projection (pure)."""

from __future__ import annotations

from math import prod

import numpy as np

from gridworld.rules.layout import State
from gridworld.search.relaxation.events import Crossing, Event, crossings, events
from gridworld.search.relaxation.numbering import Numbering, TooLargeError
from gridworld.search.relaxation.places import Mask, Numbers


class Modes:
    """The modes that the agent can reach.

    The computation assumes that the agent can go anywhere within a connected component, and that blocks can be
    anywhere.

    Args:
        numbering: the numbering of the modes.
        start: the state from which all other states are reached.
        limit: limit of the number of modes x poses.

    Attributes:
        codes: codes of all reachable modes, ascending.
        events: all events that change the mode.

    Raises:
        TooLargeError: the number of modes x poses would exceed the limit.
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
        """Return whether a mechanism is tracked."""
        return name in self.numbering

    def row(self, state: State) -> int:
        """Return the index of a state's mode in ``codes``; -1 if the mode is not reachable."""
        code = self.numbering.code(state)
        row = int(np.searchsorted(self.codes, code))
        exists = row < len(self.codes) and self.codes[row] == code
        return row if exists else -1

    def rows(self, codes: Numbers) -> Numbers:
        """Return the index of each code in ``self.codes``; -1 for a code that is not reachable."""
        rows = self._nearest(codes)
        return np.where(self.codes[rows] == codes, rows, -1)

    def has_digit(self, name: str, digit: int) -> Mask:
        """Return for each mode whether the mechanism ``name`` has the digit ``digit``, shape (modes, 1)."""
        return self.numbering.has_digit(self.codes, name, digit)[:, None]

    def changes(self, event: Event) -> tuple[Numbers, Numbers]:
        """Return (rows of the modes that allow an event, rows of the modes after the event)."""
        rows = np.flatnonzero(self.numbering.allows(self.codes, event.equal, event.other))
        codes = self.numbering.settle(self.codes[rows] + event.delta)
        after = self._nearest(codes)
        is_reachable = self.codes[after] == codes
        return rows[is_reachable], after[is_reachable]

    def _nearest(self, codes: Numbers) -> Numbers:
        """Return for each code the only index at which ``self.codes`` can have this code, if it has the code at all."""
        return np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)

    def _find_reachable(self, start: State, most: int) -> Numbers:
        """Return the codes of the reachable modes; the digits of all blocks are 0.

        The search runs over pairs (code, component of the agent). A pair is represented by the number code x width +
        component; ``width`` is the number of poses.

        Args:
            start: the first state.
            most: greatest number of codes.

        Raises:
            TooLargeError: more than ``most`` codes are reachable.
        """
        width = len(self.places)
        events_with_components = [(event, self._components(event)) for event in self.events]
        all_crossings = crossings(self.numbering)
        component = self.places.component[self.places.pose(start)]
        first = self.numbering.code(start, blocks=False) * width + component
        known = fresh = np.array([first], dtype=np.int64)
        codes = known // width
        while len(fresh):
            fresh_codes = fresh // width
            components = fresh % width
            reached: list[Numbers] = []
            for event, where in events_with_components:
                reached.append(self._apply_event(event, fresh_codes, components, where))
            for crossing in all_crossings:
                reached.append(self._apply_crossing(crossing, fresh_codes, components))
            fresh = np.setdiff1d(np.concatenate(reached), known) if reached else fresh[:0]
            known = np.union1d(known, fresh)
            codes = np.unique(known // width)
            if len(codes) > most:
                break
        if len(codes) > most:
            raise TooLargeError
        return codes

    def _components(self, event: Event) -> Mask:
        """Return for each component whether an event is possible in the component."""
        where = np.zeros(len(self.places), dtype=np.bool_)
        where[self.places.component[event.poses]] = True
        return where

    def _apply_event(self, event: Event, codes: Numbers, components: Numbers, where: Mask) -> Numbers:
        """Return the pairs after an event, as numbers (code x width + component).

        Pairs that do not permit the event are left out.

        Args:
            codes, components: the pairs before the event.
            where: whether the event is possible in each component.
        """
        is_possible = self.numbering.allows(codes, event.equal, event.other) & where[components]
        after = self.numbering.settle(codes[is_possible] + event.delta)
        return after * len(self.places) + components[is_possible]

    def _apply_crossing(self, crossing: Crossing, codes: Numbers, components: Numbers) -> Numbers:
        """Return the pairs after a crossing, as numbers (code x width + component).

        Pairs that do not permit the crossing are left out.

        Args:
            codes, components: the pairs before the crossing.
        """
        is_allowed = self.numbering.allows(codes, crossing.equal, ())
        is_possible = np.equal(components, crossing.origin) & is_allowed
        return codes[is_possible] * len(self.places) + crossing.target
