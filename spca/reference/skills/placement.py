"""Placement: putting one thing down beside another."""


class Agent:
    """Skills that end with a drop at a chosen place."""

    def put_next_to(self, agent, thing, target):
        """Drop what is held on a free place that shares an edge with the target (a thing or a door)."""
        yield from self._put_at(agent, thing, lambda: self._free_around(target, [(0, 1), (1, 0), (0, -1), (-1, 0)]))

    def put_near(self, agent, thing, target):
        """Drop what is held on a free place around the target, corners included."""
        around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
        yield from self._put_at(agent, thing, lambda: self._free_around(target, around))

    def _put_at(self, agent, thing, spots):
        """Have a thing in hand, face one of the free places ``spots()`` and drop it there."""
        self._look()
        if not self._holds(thing):
            yield from self.pick_up_object(agent, thing)
        place = yield from self._seek(spots)
        if place is not None and self._holds(thing):
            yield from self._drop_ahead()

    def _free_around(self, target, offsets):
        """Free places at given offsets from what a name describes."""
        places = [(row + down, column + right) for row, column in self._find(target) for down, right in offsets]
        return [place for place in places if self._seen.get(place) == "empty"]
