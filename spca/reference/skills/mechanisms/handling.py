"""Mechanisms: keys that are walked over, switches that are stood on, gates, blocks, and what is hidden."""


class Agent:
    """Skills for tasks with keys, doors, switches, gates, blocks and teleporters."""

    def walk_to_goal(self, agent, goal):
        """Explore and walk onto the goal square, through teleporters and pushing blocks where that is the way."""
        while not (yield from self._head_for(lambda: self._onto(self._find(goal)))):
            if not (yield from self._try_switch()):
                return

    def take_key(self, agent, key):
        """Find a key and take it into an empty hand; another key in hand is put down first."""
        self._survey()
        colour, spot = "key " + key.split("_")[1], self._spot(key)
        if self.inventory == colour and self._seen.get(spot) != colour:
            return
        if self.inventory is not None:
            yield from self.put_down(agent, key)
        there = yield from self._head_for(lambda: self._at_hand(self._spot(key)))
        if there:
            places = self._roll.get(colour.replace(" ", "_"), [])
            taken = self._place if self._seen[self._place] == colour else self._ahead()
            yield self.pick_up()
            self._survey()
            if self.inventory == colour and taken in places:
                self._note_empty(taken)

    def put_down(self, agent, key):
        """Put the key in hand on a free place."""
        self._survey()
        there = yield from self._head_for(lambda: lambda state: self._free_ahead(state))
        if there:
            yield self.drop()
            self._survey()

    def use_key(self, agent, door, key):
        """Go to a locked door and open it with the key of its colour, which is fetched if it is not in hand."""
        self._survey()
        if self.inventory != "key " + key.split("_")[1]:
            yield from self.take_key(agent, key)
        there = yield from self._head_for(lambda: self._facing(self._spot(door)))
        if there and self._seen[self._ahead()].endswith("locked"):
            yield self.toggle()
            self._survey()

    def press_switch(self, agent, switch, gate):
        """Go onto a switch and turn it on, unless the gate that it is to open is open already."""
        self._survey()
        place = self._spot(switch)
        if self._is_open(gate) or self._was_on(place):
            return
        there = yield from self._head_for(lambda: self._onto([self._spot(switch)]))
        if there and not self._is_open(gate):
            yield self.toggle()
            self._survey()
        self._tried.update([place] if there else [])

    def turn_off(self, agent, switch):
        """Go onto a switch that is on and turn it off."""
        self._survey()
        there = yield from self._head_for(lambda: self._onto([self._spot(switch)]))
        if there and self._was_on(self._place):
            yield self.toggle()
            self._survey()

    def _was_on(self, place):
        """Whether a switch was on when it was last seen."""
        return self._seen.get(place, "").endswith(" on")

    def find_switch(self, agent, gate):
        """Walk over all ground to find a switch that cannot be seen, and turn it on, until a gate is open."""
        self._survey()
        tried = set()
        while not self._is_open(gate):
            found = [p for p, word in self._things.items() if word.startswith("switch") and p not in tried]
            aims = found or [place for place in self._ground() if place not in self._stood]
            passage = self._shortest(self._onto(aims))
            if passage is None:
                return
            yield from self._travel(passage)
            if found and self._place in found:
                tried.add(self._place)
                yield self.toggle()
            self._survey()

    def push_block_to(self, agent, block, place):
        """Push a block onto a target or a switch."""
        self._survey()
        for _ in range(500):
            self._survey()
            start, aim = self._spot(block), self._spot(place)
            passage = None
            if start in self._movable() and aim is not None:
                test = self._pushed(self._movable().index(start), aim)
                passage = self._passage(test, push=True, limit=60000)
            elif start != aim or aim is None:
                passage = self._lookout()
            if not passage:
                return
            yield from self._travel(passage)

    def survive(self, agent):
        """Wait until the task is over."""
        while True:
            yield self.done()

    def _onto(self, places):
        """A test of states: on one of the places; None when there is none."""
        aims = {place for place in places if place is not None}
        return (lambda state: state[:2] in aims) if aims else None

    def _pushed(self, index, place):
        """A test of states: a block, told by its index, is on the place."""
        return lambda state: state[3][index] == place

    def _facing(self, place):
        """A test of states: next to the place, facing it."""
        return None if place is None else lambda state: self._beyond(state[:2], state[2]) == place

    def _at_hand(self, place):
        """A test of states: a key at the place could be picked up; one on the own place comes before one ahead."""
        if place is None:
            return None
        keys = {key for key, word in self._things.items() if word.startswith("key")}
        facing = self._facing(place)
        return lambda state: state[:2] == place or (state[:2] not in keys and facing(state))

    def _try_switch(self):
        """Go to the nearest switch that is off and was not tried yet and toggle it; True when there was one."""
        off = [place for place, word in self._things.items() if word.startswith("switch") and word.endswith(" off")]
        aims = [place for place in off if place not in self._tried]
        if not aims or not (yield from self._head_for(lambda: self._onto(aims))):
            return False
        self._tried.add(self._place)
        yield self.toggle()
        self._survey()
        return True

    def _free_ahead(self, state):
        """Whether a thing can be put down from a state."""
        return self._seen.get(self._beyond(state[:2], state[2])) == "empty"

    def _is_open(self, gate):
        """Whether a gate is known to be open."""
        place = None if gate == "gate_any" else self._spot(gate)
        return place is not None and self._seen.get(place, "").endswith(" open")
