"""Passages: getting about among keys, gates, blocks and teleporters, pushing blocks where that is the way."""

import collections


class Agent:
    """Skills by which the agent gets about in a world whose things are walked over, pushed and stepped through."""

    def _survey(self):
        """Bring the remembered world up to date with the whole map, for much of it may change at a distance.

        Besides what ``_look`` keeps: ``_roll`` lists for each kind and colour the places of what was known so far, in
        the order in which things alike are numbered; ``_blind`` holds the poses from which nothing new was seen
        since a passage was opened; ``_span`` is the side of the view as far as it was noticed.
        """
        self._look()
        try:
            if self._noted == self._looked:
                return
        except AttributeError:
            self._roll, self._blind, self._passable, self._span, self._noted = {}, set(), 0, 7, -1
            self._began_at, self._stood, self._tried = self._place, set(), set()
        known = len(self._seen)
        self._note(self.full_grid, -self.start_position[0], -self.start_position[1])
        if self._seen[self._place].startswith("block"):
            self._note_empty(self._place)
        for place, word in sorted(self._things.items()):
            places = self._roll.setdefault("_".join(word.split()[:2]), [])
            if place not in places and not word.startswith("key"):
                places.append(place)
        for word in {word for word in self._things.values() if word.startswith("key")}:
            places = self._roll.setdefault("_".join(word.split()), [])
            places.extend(place for place in sorted(self._find(word.replace(" ", "_"))) if place not in places)
        passable = sum(word.endswith(" open") for word in self._things.values())
        if passable != self._passable:
            self._passable, self._blind = passable, set()
        if self._noted < 0:
            rows, columns = zip(*self._seen, strict=True)
            self._corner = (min(rows), min(columns))
        if self._noted < 0 or len(self._seen) == known:
            self._blind.add((*self._place, self._heading))
        self._stood.add(self._place)
        self._noted = self._looked

    def _note_empty(self, place):
        """Remember that nothing stands at a place any more."""
        self._seen[place] = "empty"
        self._things.pop(place, None)

    def _spot(self, name):
        """The place of what a name like "key_blue" or "gate_grey_2" (the second one alike) tells; None if unknown.

        A name like "cell_3_5" tells a row and column of what was known of the map when the plan began, and one like
        "key_blue_here" what the agent then stood on, which hides it.
        """
        parts = name.split("_")
        if parts[0] == "cell":
            return self._corner[0] + int(parts[1]), self._corner[1] + int(parts[2])
        if parts[-1] == "here":
            return self._began_at
        count = int(parts.pop()) if parts[-1].isdigit() else 1
        places = self._roll.get("_".join(parts), [])
        return places[count - 1] if count <= len(places) else None

    def _ground(self):
        """Places that can be walked on, those of blocks left out."""
        solid = ("wall", "lava", "pit", "spike", "block", "ball", "box")
        return {
            place
            for place, word in self._seen.items()
            if not word.startswith(solid) and not word.endswith(("closed", "locked")) and place not in self._hopeless
        }

    def _leads(self):
        """{entrance: other end} of the teleporters of which both ends are known."""
        ends = {}
        for place, word in self._things.items():
            if word.startswith(("teleporter", "exit")):
                ends.setdefault(word.split()[1], []).append(place)
        pairs = [pair for pair in ends.values() if len(pair) == 2]
        routes = [way for one, other in pairs for way in ((one, other), (other, one))]
        return {here: there for here, there in routes if self._things[here].startswith("teleporter")}

    def _passage(self, arrived, push=False, limit=30000):
        """The shortest passage to a state (row, column, heading, blocks) of which ``arrived`` is true, as its states.

        ``blocks`` are the places of the blocks that can be pushed, which is done only if ``push``. None when there
        is no such passage, or none within ``limit`` states.
        """
        found, goal = self._reachable(arrived, push, limit)
        return None if goal is None else self._trace(found, goal)

    def _reachable(self, arrived=None, push=False, limit=30000):
        """{state: (primitives, state before)} of what can be reached, up to the first state that has ``arrived``."""
        ground, leads = self._ground(), self._leads()
        # Where an unexplored teleporter leads cannot be planned with.
        ground -= {p for p, word in self._things.items() if word.startswith("teleporter") and p not in leads}
        blocks = tuple(self._movable()) if push else ()
        free = {place for place in ground if self._seen[place].startswith(("empty", "floor", "switch", "target"))}
        ground.update(self._movable() if push else ())
        free.update(blocks)
        start = (*self._place, self._heading, blocks)
        found, border = {start: (0, None)}, collections.deque([start])
        while border and len(found) < limit:
            state = border.popleft()
            if arrived is not None and arrived(state):
                return found, state
            row, column, heading, blocks = state
            after = [(row, column, (heading + 1) % 4, blocks), (row, column, (heading - 1) % 4, blocks)]
            ahead = self._beyond((row, column), heading)
            if ahead in blocks:
                beyond = self._beyond(ahead, heading)
                if beyond in free and beyond not in blocks:
                    moved = tuple(beyond if place == ahead else place for place in blocks)
                    after.append((*leads.get(ahead, ahead), heading, moved))
            elif ahead in ground:
                after.append((*leads.get(ahead, ahead), heading, blocks))
            for state_after in after:
                if state_after not in found:
                    found[state_after] = (found[state][0] + 1, state)
                    border.append(state_after)
        return found, None

    def _movable(self):
        """Places of the blocks that can be pushed."""
        return [p for p, word in self._things.items() if word.startswith("block") and not word.endswith("fixed")]

    def _shortest(self, arrived):
        """The shortest passage without pushing; where there is none, one that pushes blocks."""
        passage = self._passage(arrived)
        return self._passage(arrived, push=True) if passage is None and self._movable() else passage

    def _travel(self, passage):
        """Walk a passage; ends early where something new is seen or something is not as expected."""
        for state in passage:
            known, ahead = len(self._seen), self._ahead()
            if state[2] != self._heading:
                yield self.turn_right() if (state[2] - self._heading) % 4 == 1 else self.turn_left()
            else:
                pushed = ahead in self._movable()
                yield self.move_forward()
                if pushed:
                    self._shift(ahead, self._beyond(ahead, state[2]))
            self._survey()
            if (*self._place, self._heading) != state[:3]:
                if ahead in self._ground() and self._heading == state[2] and ahead not in self._leads():
                    self._hopeless[ahead] = 0  # something there that cannot be seen
                return
            if len(self._seen) > known:
                return

    def _shift(self, place, beyond):
        """Remember that a block was pushed."""
        for places in self._roll.values():
            if place in places:
                places[places.index(place)] = beyond

    def _head_for(self, arrived):
        """Walk until ``arrived()`` (a test of states, None while the aim is unknown) holds, exploring where need be.

        True when it holds, False when nothing is left to try.
        """
        for _ in range(2000):
            self._survey()
            test = arrived()
            passage = self._shortest(test) if test else None
            if passage == []:
                return True
            if passage is None:
                passage = self._lookout()
            if not passage:
                return False
            yield from self._travel(passage)
        return False

    def _lookout(self):
        """Passage to where most that is unseen comes into view for the effort, else through a teleporter; or None."""
        found, _ = self._reachable()
        states = [state for state in found if state[:3] not in self._blind]
        if states:
            gains = self._gains([state[:3] for state in states], self._span)
            worth = [gain / (found[state][0] + 15.0) for state, gain in zip(states, gains.tolist(), strict=True)]
            best = max(range(len(states)), key=lambda index: worth[index])
            if worth[best] > 0:
                return self._trace(found, states[best])
        return self._untried_teleporter(found)

    def _untried_teleporter(self, found):
        """Passage onto the nearest teleporter of which the other end is unknown; None if there is none."""
        leads = self._leads()
        for state in found:
            ahead = self._beyond(state[:2], state[2])
            if self._things.get(ahead, "").startswith("teleporter") and ahead not in leads:
                return [*self._trace(found, state), (*ahead, state[2], ())]
        return None
