"""Moving: routes over poses, following them, and choosing where to look next."""

import numpy as np


class Agent:
    """Skills by which the agent gets about in a world that it sees only partly."""

    def _entry_cost(self, word, means):
        """Primitives it takes to enter a cell by given means, 0 when it cannot be entered."""
        if word in ("empty", "floor") or word.startswith("goal") or word.endswith("open"):
            return 1
        if word.endswith("closed"):
            return 2 if "doors" in means else 0
        if word.endswith("locked"):
            return self._unlocking_cost(word) if "locks" in means else 0
        if word.startswith("box") and "things" in means and self._takes_one:
            return 2
        if word.startswith(("key", "ball", "box")) and "things" in means:
            return 10 if self.inventory is None else 25
        return 0

    def _unlocking_cost(self, word):
        """Rough cost of passing a locked door: 0 when no fitting key is in hand or in sight."""
        key = "key " + word.split()[1]
        if self.inventory == key:
            return 2
        return 20 if key in self._things.values() else 0

    def _costs(self, means=()):
        """{place: primitives needed to enter it} for all places that can be entered by the given means.

        Means are any of "doors" (open closed doors), "things" (move things away), "locks" (unlock doors whose key is
        known) and "hope" (expect that places not seen yet can be entered). Lava is left out always.
        """
        prices = {word: self._entry_cost(word, means) for word in set(self._seen.values())}
        costs = {place: prices[word] for place, word in self._seen.items() if prices[word]}
        for place, known in self._hopeless.items():
            if known == len(self._seen):
                costs.pop(place, None)
        for place in self._unlocking:
            costs.pop(place, None)
        for place, times in self._cleared.items():
            if place in costs and self._is_thing(place):
                costs[place] += 20 * times
        if "hope" in means:
            top, left = -self.start_position[0], -self.start_position[1]
            height, width = self.full_grid.shape
            box = [(row, column) for row in range(top, top + height) for column in range(left, left + width)]
            costs.update((place, 3) for place in box if place not in self._seen)
        return costs

    def _routes(self, costs, goals=()):
        """Cheapest ways from the present pose, by Dijkstra's algorithm with a bucket for each cost.

        A pose is (row, column, heading). Returns {pose: (cost, pose before)}, and the first of ``goals`` reached
        (the search ends there) or None.
        """
        start = (*self._place, self._heading)
        found, buckets, cost = {start: (0, None)}, [[start]], 0
        while cost < len(buckets):
            for pose in buckets[cost]:
                if found[pose][0] < cost:
                    continue
                if pose in goals:
                    return found, pose
                row, column, heading = pose
                down, right = ((0, 1), (1, 0), (0, -1), (-1, 0))[heading]
                ahead = (row + down, column + right)
                options = [(1, (row, column, (heading + 1) % 4)), (1, (row, column, (heading - 1) % 4))]
                if ahead in costs:
                    options.append((costs[ahead], (*ahead, heading)))
                for price, after in options:
                    total = cost + price
                    if after not in found or total < found[after][0]:
                        found[after] = (total, pose)
                        if total >= len(buckets):
                            buckets.extend([] for _ in range(total + 1 - len(buckets)))
                        buckets[total].append(after)
            cost += 1
        return found, None

    def _trace(self, found, pose):
        """The poses that lead to ``pose``, the present one left out."""
        route = []
        while found[pose][1] is not None:
            route.append(pose)
            pose = found[pose][1]
        return route[::-1]

    def _route_to(self, places, costs, onto=False):
        """Cheapest route to face one of ``places`` (or to stand ``onto`` it); None when there is none."""
        if onto:
            goals = {(*place, heading) for place in places for heading in range(4)}
        else:
            goals = {(*self._beyond(place, heading - 2), heading) for place in places for heading in range(4)}
        found, pose = self._routes(costs, goals)
        return None if pose is None else self._trace(found, pose)

    def _follow(self, route, watchful=False):
        """Walk a route, opening closed doors; returns the place of anything else that is in the way.

        A ``watchful`` agent also stops as soon as it sees a place for the first time.
        """
        known = len(self._seen)
        for pose in route:
            if pose[2] != self._heading:
                yield self.turn_right() if (pose[2] - self._heading) % 4 == 1 else self.turn_left()
            else:
                word = self._seen.get(pose[:2], "unseen")
                if word.endswith("closed"):
                    yield self.toggle()
                    self._look()
                if word == "unseen" or (watchful and len(self._seen) > known):
                    return None
                if self._entry_cost(self._seen[pose[:2]], ()) == 0:
                    return pose[:2]
                yield self.move_forward()
            self._look()
            if (*self._place, self._heading) != pose or (watchful and len(self._seen) > known):
                return None
        return None

    def _best_view(self, costs):
        """Route to the pose from which most unseen places come into view for the effort; None when there is none.

        Walls are expected to run on straight. The power makes a small rest close by worth seeing before leaving.
        """
        found, _ = self._routes(costs)
        poses = list(found)
        gains = self._gains(poses, straight=True)
        spent = np.array([found[pose][0] for pose in poses])
        worth = gains**0.7 / (spent + 4.0)
        best = int(worth.argmax())
        return self._trace(found, poses[best]) if gains[best] > 0 else None

    def _gains(self, poses, size=7, straight=False):
        """How many unseen places a view of that side shows from each pose, unseen ground taken to be transparent.

        Walls that are expected to run ``straight`` on count, for a door may be in them, but are not looked through.
        """
        unseen, opaque = self._layers()
        if straight:
            opaque = self._run_on(opaque, unseen)
        top, left = 7 + self.start_position[0], 7 + self.start_position[1]
        depth, across = np.arange(7)[:, None, None], np.arange(-3, 4)[None, :, None]
        rows, columns = np.empty((2, 7, 7, len(poses)), dtype=int)
        at = np.array(poses)
        for heading, (down, right) in enumerate(((0, 1), (1, 0), (0, -1), (-1, 0))):
            mine = at[:, 2] == heading
            rows[:, :, mine] = depth * down + across * right + (at[mine, 0] + top)
            columns[:, :, mine] = depth * right - across * down + (at[mine, 1] + left)
        lit = self._lit(~opaque[rows, columns])
        shown = slice(3 - size // 2, 4 + size // 2)
        return (lit & unseen[rows, columns])[:size, shown].sum(axis=(0, 1))

    def _layers(self):
        """Which cells of the map, padded by 7 on all sides, are unseen, and which cannot be looked through."""
        height, width = self.full_grid.shape
        unseen = np.ones((height + 14, width + 14), dtype=bool)
        opaque = np.zeros((height + 14, width + 14), dtype=bool)
        unseen[7:-7, 7:-7] = self.full_grid == "unseen"
        opaque[7:-7, 7:-7] = self.full_grid == "wall"
        for (row, column), word in self._things.items():
            if word.endswith(("closed", "locked")):
                opaque[row + self.start_position[0] + 7, column + self.start_position[1] + 7] = True
        return unseen, opaque

    def _run_on(self, walls, unseen):
        """Walls, and what they would be in unseen ground if each that is two cells long ran straight on for 7 more."""
        walls = walls.copy()
        for _ in range(7):
            for axis, step in ((0, 1), (0, -1), (1, 1), (1, -1)):
                walls |= unseen & np.roll(walls, step, axis) & np.roll(walls, 2 * step, axis)
        return walls

    def _lit(self, clear):
        """Cells in view, for views of shape (depth, across, number): light spreads row by row, as far as ``clear``."""
        clear[0, 3] = True
        lit = np.zeros_like(clear)
        lit[0, 3] = True
        for depth in range(7):
            for order, step in ((range(6), 1), (range(6, 0, -1), -1)):
                for across in order:
                    spread = lit[depth, across] & clear[depth, across]
                    lit[depth, across + step] |= spread
                    if depth < 6:
                        lit[depth + 1, across + step] |= spread
                        lit[depth + 1, across] |= spread
        return lit

    def _walk(self, targets, onto=False):
        """Explore, opening closed doors, until one of the places ``targets()`` is faced (or stood ``onto``).

        Returns the place, or None when nothing is left to explore.
        """
        while True:
            self._look()
            step, places = len(self.previous_actions), targets()
            route, exploring = self._next_route(places, [("go", ("doors",)), ("explore", ("doors",))], onto)
            if route == [] and not exploring:
                return self._place if onto else self._ahead()
            yield from self._follow(route or [], watchful=exploring)
            self._look()
            if len(self.previous_actions) == step:
                return None

    def _explore_until(self, found):
        """Go where more can be seen, through closed doors too, until ``found()`` or nothing is left to explore."""
        self._look()
        while not found():
            step, route = len(self.previous_actions), self._best_view(self._costs(("doors",)))
            yield from self._follow(route or [], watchful=True)
            self._look()
            if len(self.previous_actions) == step:
                return

    def _next_route(self, places, tiers, onto):
        """The first route that one of the ``tiers`` (purpose, means) yields, and whether it only explores.

        The purpose "go" is to face or stand ``onto`` one of ``places``, "explore" to see new ones. (None, False) when
        no tier yields a route.
        """
        for purpose, means in tiers:
            costs = self._costs(means)
            if purpose == "explore":
                route = self._best_view(costs)
            else:
                route = self._route_to(places, costs, onto) if places else None
            if route is not None:
                return route, purpose == "explore"
        return None, False
