"""Memory: noting a cue near the start and choosing its match at the end of a hallway."""


class Agent:
    """Skills for tasks in which something seen early decides what to do late."""

    def observe_cue(self, agent, cue):
        """Look around the start until the cue, a thing beside or behind the first pose, is seen; note what it is."""
        yield from self._explore_until(lambda: self._cues(cue))
        for place in self._cues(cue):
            self._cue = self._seen[place]

    def go_to_match(self, agent, cue):
        """Go down the hallway and onto the place beside the thing there that is the same as the cue.

        The places beside other things are never entered.
        """
        self._look()
        if self._cue is None:
            yield from self.observe_cue(agent, cue)
        route = self._route_to_match(cue)
        while route:
            yield from self._follow(route, watchful=True)
            self._look()
            route = self._route_to_match(cue)

    def _route_to_match(self, cue):
        """Route onto a place beside the match of the cue, or to a better view until that is seen; None if none."""
        ends = [place for place in self._find(cue) if self._lies_ahead(place)]
        right = {beside for place in ends if self._seen[place] == self._cue for beside in self._beside(place)}
        wrong = {beside for place in ends if self._seen[place] != self._cue for beside in self._beside(place)}
        costs = {place: cost for place, cost in self._costs().items() if place not in wrong}
        if right:
            return self._route_to(right, costs, onto=True)
        return self._best_view(costs)

    def _cues(self, cue):
        """Places of the things that are not ahead of the first pose."""
        return [place for place in self._find(cue) if not self._lies_ahead(place)]

    def _lies_ahead(self, place):
        """Whether a place lies ahead of the pose in which the level began."""
        forward = self._beyond((0, 0), ("East", "South", "West", "North").index(self.start_dir))
        return place[0] * forward[0] + place[1] * forward[1] > 0
