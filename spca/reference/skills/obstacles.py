"""Obstacles: making a way past things that block it and through locked doors, and where to put what is in the way."""


class Agent:
    """Skills that get the agent to places it cannot simply walk to."""

    def _seek(self, targets, careful=False):
        """Explore until one of the places that ``targets()`` returns can be faced, make a way to it, and face it.

        Opens doors, moves things and unlocks doors whose key is known where that pays; when nothing is left to
        explore, boxes are opened for a key. A ``careful`` agent explores all open ground before it does any of that.
        Returns the place, or None when nothing is left to try.
        """
        while True:
            self._look()
            places, before = targets(), (len(self.previous_actions), dict(self._hopeless))
            route, exploring = self._next_route(places, self._tiers(places, careful), onto=False)
            if route is None:
                yield from self._open_some_box()
            elif exploring or route:
                obstacle = yield from self._follow(route, watchful=True)
                if obstacle is not None:
                    yield from self._remove(obstacle, route)
            else:
                return self._ahead()
            self._look()
            if (len(self.previous_actions), self._hopeless) == before:
                return None

    def _tiers(self, places, careful):
        """In which order to consider going to known ``places`` and exploring, and by what means."""
        doors, all_means = ("doors",), ("doors", "things", "locks")
        tiers = [("explore", all_means)]
        if careful:
            tiers.insert(0, ("explore", ()))
        if places:
            tiers = [("go", doors), *self._ways_round(), ("go", (*all_means, "hope")), *tiers]
        return tiers

    def _ways_round(self):
        """What to try before anything is moved if no other thing should be taken than the one asked for."""
        if not self._takes_one:
            return []
        ways = [("go", ("doors", "hope"))]
        if not any(word.startswith("door") for word in self._things.values()):  # in the one room another may lie free
            ways.append(("explore", ()))
        return ways

    def _remove(self, obstacle, route):
        """Unlock the door, open the box, or put the thing aside, that is ahead and bars a route."""
        word = self._seen[obstacle]
        if word.startswith("door"):
            done = yield from self._unlock(obstacle)
        else:
            if word.startswith("box") and self._takes_one:
                yield self.toggle()
                self._look()
            done = self._seen[obstacle] != word
            if not done:
                cells = [pose[:2] for pose in route]
                done = yield from self._clear_ahead(set(cells[cells.index(obstacle) :]))
        if not done:
            self._hopeless[obstacle] = len(self._seen)

    def _clear_ahead(self, keep_free):
        """Move the thing ahead to where it bars nothing, least of all the places ``keep_free``; True when done.

        Something held is put down meanwhile, and taken up again if it is needed.
        """
        obstacle, held, spot, done = self._ahead(), self.inventory, None, False
        if held is not None:
            spot = yield from self._put_aside({*keep_free, self._place}, obstacle)
            yield from self._walk(lambda: [obstacle])
        if self.inventory is None and self._ahead() == obstacle:
            yield from self._take_ahead()
            place = yield from self._put_aside({*keep_free, self._place}, obstacle)
            done = place not in (None, obstacle)
            self._cleared[obstacle] = self._cleared.get(obstacle, 0) + 1
        if spot is not None and held == self._needed:
            yield from self._fetch(lambda: [spot])
        return done

    def _take_ahead(self):
        """Pick up what is ahead, remembering where it came from."""
        place = self._ahead()
        yield self.pick_up()
        self._look()
        if self.inventory is not None:
            self._held_from = self._moved.pop(place, place)

    def _drop_ahead(self):
        """Put down what is held, remembering where it first lay."""
        place = self._ahead()
        yield self.drop()
        self._look()
        if self.inventory is None:
            self._moved[place] = self._held_from

    def _put_aside(self, keep_free=(), never=None):
        """Put what is held on the nearest place where it bars nothing; returns the place, None when there is none.

        Where it is too crowded for that any free place will do, the places ``keep_free`` after the others, and the
        place ``never`` only if there is no other.
        """
        free = [place for place, word in self._seen.items() if word == "empty"]
        others = [place for place in free if place != never]
        open_ground = [place for place in others if place not in keep_free]
        spare = [place for place in open_ground if self._is_spare(place)]
        for places in (spare, open_ground, others, free):
            route = self._route_to(places, self._costs(("doors",)))
            if route is not None:
                yield from self._follow(route)
                place = self._ahead()
                yield from self._drop_ahead()
                return place
        return None

    def _is_spare(self, place):
        """Whether a thing put at a free place leaves every door and every passage around it usable."""
        row, column = place
        ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
        words = [self._seen.get((row + down, column + right), "unseen") for down, right in ring]
        if any(word == "unseen" or word.startswith("door") for word in words[1::2]):
            return False
        open_ground = [self._entry_cost(word, ()) > 0 for word in words]
        for corner in (0, 2, 4, 6):
            open_ground[corner] = open_ground[corner] and open_ground[corner - 1] and open_ground[corner + 1]
        parts = sum(open_ground[i] and not open_ground[i - 1] for i in range(8))
        return parts <= 1

    def _fetch(self, targets):
        """Take one of the things at ``targets()`` into an empty hand; True when it is held."""
        while True:
            self._look()
            if self.inventory is not None and (yield from self._put_aside()) is None:
                return False
            place = yield from self._seek(targets)
            if place is None:
                return False
            if self.inventory is None:
                yield from self._take_ahead()
                return self.inventory is not None

    def _unlock(self, door):
        """Get the key of a locked door, go there and open it; True when it is open.

        Something else that was held is in hand again afterwards if it is needed.
        """
        key, needed, spot = "key " + self._seen[door].split()[1], self._needed, None
        if self.inventory != key:
            self._unlocking.add(door)
            if self.inventory is not None and self.inventory == needed:
                spot = yield from self._put_aside()
            yield from self._fetch(lambda: self._find(key.replace(" ", "_")))
            self._unlocking.discard(door)
        if self.inventory == key:
            self._needed = key
            place = yield from self._seek(lambda: [door])
            self._needed = needed
            if place is not None and self.inventory == key:
                yield self.toggle()
                self._look()
        if spot is not None:
            yield from self._fetch(lambda: [spot])
        return not self._seen[door].endswith("locked")

    def _open_some_box(self):
        """Open the nearest box, for the key of a locked door may be in it."""
        if not any(word.endswith("locked") for word in self._things.values()):
            return
        boxes = self._find("box_any")
        route, _ = self._next_route(boxes, [("go", ("doors",)), ("go", ("doors", "things"))], onto=False)
        if route is None:
            return
        obstacle = yield from self._follow(route)
        if obstacle is not None:
            yield from self._remove(obstacle, route)
        elif self._ahead() in boxes:
            yield self.toggle()
            self._look()
