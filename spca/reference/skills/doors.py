"""Doors: going to them, opening and unlocking them, fetching their keys, clearing the way before them."""


class Agent:
    """Skills for doors and what opens them."""

    def go_to_door(self, agent, door):
        """Find a door, stand next to it and face it, without opening it."""
        yield from self._seek(lambda: self._find(door), careful=True)

    def open_door(self, agent, door):
        """Find a door and open it; one that stands open is closed and opened again, a locked one is unlocked."""
        place = yield from self._seek(lambda: self._doors_to_open(door), careful=True)
        if place is None:
            locked = [place for place in self._find(door) if self._seen[place].endswith("locked")]
            if locked:
                yield from self._unlock(locked[0])
        elif self._seen[place].endswith("locked"):
            yield from self._unlock(place)
        else:
            if self._seen[place].endswith("open"):
                yield self.toggle()
            yield self.toggle()

    def _doors_to_open(self, door):
        """Known doors of a name: the closed ones, else the open ones, else locked ones whose key is in sight."""
        places = self._find(door)
        for ending in ("closed", "open"):
            chosen = [place for place in places if self._seen[place].endswith(ending)]
            if chosen:
                return chosen
        return [place for place in places if self._unlocking_cost(self._seen[place])]

    def unlock_door(self, agent, door, key):
        """With the fitting key go to a locked door and open it; a closed door is opened if there is no locked one."""
        self._look()
        self._needed = self.inventory
        place = yield from self._seek(lambda: self._locked_doors(door))
        self._needed = None
        if place is not None:
            yield from self._unlock(place)
            return
        place = yield from self._seek(lambda: self._doors_to_open(door), careful=True)
        if place is not None and self._seen[place].endswith("closed"):
            yield self.toggle()

    def _locked_doors(self, door):
        """Known locked doors of a name; only those that the key in hand fits, if it fits any."""
        places = [place for place in self._find(door) if self._seen[place].endswith("locked")]
        fitting = [place for place in places if self._holds("key_" + self._seen[place].split()[1])]
        return fitting or places

    def fetch_key(self, agent, key, door):
        """Find and pick up the key that fits a door, in a box if need be.

        Where no door is to be found any key will do: it may lie in the only way there.
        """
        self._look()
        if any(self._holds(name) for name in self._fitting_keys(key, door)):
            return
        yield from self._fetch(lambda: [place for name in self._fitting_keys(key, door) for place in self._find(name)])
        if self.inventory is None and not self._fitting_keys(key, door):
            yield from self._fetch(lambda: self._find(key))

    def _fitting_keys(self, key, door):
        """Names of the keys of a name that fit a door: of the colour of either, else of the locked doors known."""
        for name in (key, door):
            colour = name.split("_")[1]
            if colour != "any":
                return ["key_" + colour]
        return ["key_" + self._seen[place].split()[1] for place in self._locked_doors(door)]

    def clear_blocker(self, agent, door):
        """Move the thing that stands directly before a door out of the way, if there is one."""
        yield from self._explore_until(lambda: self._find(door))
        if self._blockers(door):
            place = yield from self._seek(lambda: self._blockers(door))
            if place is not None:
                yield from self._clear_ahead({place for door in self._find(door) for place in self._beside(door)})

    def _blockers(self, door):
        """Places beside a door where a thing stands."""
        beside = [place for door_place in self._find(door) for place in self._beside(door_place)]
        return [place for place in beside if self._is_thing(place)]
