"""Placement: putting one thing down beside another."""


class Agent:
    """Skills that end with a drop at a chosen place."""

    def put_next_to(self, agent, thing, target):
        """Drop what is held on a free place that shares an edge with the target (a thing or a door)."""
        yield from self._put_at(agent, thing, target, [(0, 1), (1, 0), (0, -1), (-1, 0)])

    def put_near(self, agent, thing, target):
        """Drop what is held on a free place around the target, corners included."""
        around = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if (down, right) != (0, 0)]
        yield from self._put_at(agent, thing, target, around)

    def _put_at(self, agent, thing, target, offsets):
        """With a thing in hand, drop it at one of the ``offsets`` from the target; if all are taken, clear a place.

        A thing in hand from the very start is held for one step before: a drop counts only for what was being carried.
        """
        self._look()
        if not self.previous_actions:
            yield self.done()
        if not self._holds(thing):
            yield from self.pick_up_object(agent, thing)
        while self._holds(thing):
            self._needed = self.inventory
            place = yield from self._seek(lambda: self._places_around(target, offsets))
            if place is None:
                break
            if self._seen[place] == "empty":
                yield from self._drop_ahead()
            elif not (yield from self._clear_ahead({place})):
                break
        self._needed = None

    def _places_around(self, target, offsets):
        """Free places at some ``offsets`` from what a name describes; where things stand, if all are taken."""
        found = self._find(target)
        places = [(row + down, column + right) for row, column in found for down, right in offsets]
        free = [place for place in places if self._seen.get(place) == "empty"]
        return free or [place for place in places if self._is_thing(place)]
