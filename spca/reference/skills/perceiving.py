"""Perceiving: the remembered world, the agent's pose in it, and what a name like "ball_red_left" may mean."""

import numpy as np


class Agent:
    """Skills by which the agent knows what is where."""

    def _look(self):
        """Bring the remembered world up to date; cheap when nothing was done since the last look.

        Places are (row, column) relative to the cell where the level began, so they stay valid while the map grows.
        ``_seen`` maps places to the word last seen there, ``_things`` is the part of it that is not ground or wall;
        ``_place`` and ``_heading`` (0 east, 1 south, 2 west, 3 north) are the agent's pose.

        What actions remember besides: ``_moved`` and ``_held_from`` (where things first lay), ``_needed`` (what must
        stay in hand), ``_cleared`` (how often a place was cleared), ``_hopeless`` (obstacles that could not be removed
        while so many places were known), ``_unlocking`` (doors whose key is being fetched), ``_cue``; ``_takes_one`` is
        whether nothing but the thing to be taken should be.
        """
        step = len(self.previous_actions)
        try:
            first, fresh = False, self._looked == step
        except AttributeError:
            first, fresh = True, False
        if fresh:
            return
        if first:
            self._seen, self._things, self._moved, self._hopeless, self._cleared = {}, {}, {}, {}, {}
            self._held_from, self._needed, self._cue, self._unlocking = None, None, None, set()
            self._takes_one = False
        row, column = np.argwhere(self.full_grid == "agent")[0].tolist()
        self._looked = step
        self._place = (row - self.start_position[0], column - self.start_position[1])
        self._heading = ("East", "South", "West", "North").index(self.current_dir)
        if first:
            self._note(self.full_grid, -self.start_position[0], -self.start_position[1])
        else:
            above, left = ((3, 0), (0, 3), (3, 6), (6, 3))[self._heading]
            self._note(self.current_observation, self._place[0] - above, self._place[1] - left)
        self._seen.setdefault(self._place, "empty")

    def _note(self, words, top, left):
        """Remember a rectangle of words whose first cell lies at place (top, left)."""
        for row, line in enumerate(words.tolist(), top):
            for column, word in enumerate(line, left):
                place = (row, column)
                if word in ("unseen", "agent") or self._seen.get(place) == word:
                    continue
                self._seen[place] = word
                if word in ("empty", "wall", "floor", "lava"):
                    self._things.pop(place, None)
                else:
                    self._things[place] = word

    def _beyond(self, place, heading):
        """The place next to ``place`` in a heading."""
        down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[heading]
        return place[0] + down, place[1] + right

    def _ahead(self):
        """The place in front of the agent."""
        return self._beyond(self._place, self._heading)

    def _beside(self, place):
        """The four places that share an edge with ``place``."""
        return [self._beyond(place, heading) for heading in range(4)]

    def _is_thing(self, place):
        """Whether a key, ball or box was last seen at a place."""
        return self._seen.get(place, "").startswith(("key", "ball", "box"))

    def _fits(self, word, name):
        """Whether a cell word ("door red open") is of the kind and colour of a name ("door_red_left")."""
        kind, colour = name.split("_")[:2]
        parts = word.split()
        kinds = ("key", "ball", "box") if kind == "object" else (kind,)
        return parts[0] in kinds and len(parts) > 1 and colour in ("any", parts[1])

    def _find(self, name):
        """Places, as far as known, of everything that a name describes: <kind>_<colour>[_<where at the start>]."""
        places = [place for place, word in self._things.items() if self._fits(word, name)]
        return [place for place in places if self._began_where(self._moved.get(place, place), name)]

    def _holds(self, name):
        """Whether what the name describes is in hand."""
        return (
            self.inventory is not None and self._fits(self.inventory, name) and self._began_where(self._held_from, name)
        )

    def _began_where(self, origin, name):
        """Whether a thing that lay at ``origin`` at the start was at the side a name tells, if it tells one.

        Sides are left, right, front and behind of the agent's first pose, within the room where it began.
        """
        where = name.split("_")[2:]
        if not where or origin is None:
            return True
        if origin not in self._home_room():
            return False
        forward = self._beyond((0, 0), ("East", "South", "West", "North").index(self.start_dir))
        ahead = origin[0] * forward[0] + origin[1] * forward[1]
        right = origin[0] * forward[1] - origin[1] * forward[0]
        return {"front": ahead > 0, "behind": ahead < 0, "right": right > 0, "left": right < 0}[where[0]]

    def _home_room(self):
        """Known places of the room where the level began, its walls and doors included."""
        room, border = {(0, 0)}, [(0, 0)]
        while border:
            for place in self._beside(border.pop()):
                word = self._seen.get(place)
                if word is None or place in room:
                    continue
                room.add(place)
                if word != "wall" and not word.startswith("door"):
                    border.append(place)
        return room
