"""Navigation: reaching the goal square in rooms, among lava and among moving obstacles."""


class Agent:
    """Skills that end on the goal square."""

    def reach_goal(self, agent, goal):
        """Explore and walk onto the goal square, around walls and things, through unlocked doors."""
        yield from self._walk(lambda: self._find(goal), onto=True)

    def cross_hazard(self, agent, goal):
        """Explore and walk onto the goal square without ever stepping on lava."""
        yield from self._walk(lambda: self._find(goal), onto=True)

    def traverse_rooms(self, agent, goal):
        """Walk from room to room, opening the doors between them, until the goal square is reached."""
        yield from self._walk(lambda: self._find(goal), onto=True)

    def cross_moving_obstacles(self, agent, goal):
        """Walk onto the goal square among moving balls; turns on the spot while they bar the way, two turns at most."""
        self._look()
        waited = 0
        while waited < 8 and self._place not in self._find(goal):
            route = self._route_among(self._balls_in_view(), self._find(goal))
            waited = 0 if route else waited + 1
            if not route:
                yield self.turn_left()
            elif route[0][2] != self._heading:
                yield self.turn_right() if (route[0][2] - self._heading) % 4 == 1 else self.turn_left()
            else:
                yield self.move_forward()
            self._look()

    def _balls_in_view(self):
        """Places of the balls that are in view now; those seen earlier have moved on."""
        above, left = ((3, 0), (0, 3), (3, 6), (6, 3))[self._heading]
        top, left = self._place[0] - above, self._place[1] - left
        view = [(row, column) for row in range(top, top + 7) for column in range(left, left + 7)]
        words = [word for line in self.current_observation.tolist() for word in line]
        return {place for place, word in zip(view, words, strict=True) if word.startswith("ball")}

    def _route_among(self, balls, goals):
        """Route onto a goal, or to a better view while none is known, that keeps away from the ``balls`` in view."""
        costs = self._costs()
        for place, word in self._things.items():
            if word.startswith("ball") and place not in balls:
                costs[place] = 1
        for ball in balls:
            for place in self._beside(ball):
                if place in costs and place not in goals:
                    costs[place] += 1
        return self._route_to(goals, costs, onto=True) if goals else self._best_view(costs)
