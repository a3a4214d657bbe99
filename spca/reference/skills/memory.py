"""Memory: noting a cue near the start and choosing its match at the end of a hallway."""


class Agent:
    """Skills for tasks in which something seen early decides what to do late."""

    def observe_cue(self, agent, cue):
        """Look around the start until the cue is seen, and note what it is; it lies beside or behind the first pose."""
        yield from self._explore_until(lambda: self._cues(cue))
        self._cue = [self._seen[place] for place in self._cues(cue)]

    def go_to_match(self, agent, cue):
        """Go down the hallway and onto the place beside the thing there that is the same as the cue."""
        yield from self._explore_until(lambda: self._cues(cue))
        word = next((self._seen[place] for place in self._cues(cue)), None)
        while word is not None:
            self._look()
            step = len(self.previous_actions)
            ends = [place for place in self._find(cue) if self._lies_ahead(place)]
            chosen = [beside for place in ends if self._seen[place] == word for beside in self._beside(place)]
            costs = {place: cost for place, cost in self._costs().items() if place not in self._sides_of(ends)}
            if chosen:
                costs.update((place, 1) for place in chosen if self._entry_cost(self._seen.get(place, "wall"), ()))
                route = self._route_to(chosen, costs, onto=True)
            else:
                route = self._best_view(costs)
            yield from self._follow(route or [], watchful=not chosen)
            if len(self.previous_actions) == step:
                return

    def _cues(self, cue):
        """Places of the things that are not ahead of the first pose."""
        return [place for place in self._find(cue) if not self._lies_ahead(place)]

    def _lies_ahead(self, place):
        """Whether a place lies ahead of the pose in which the level began."""
        forward = self._beyond((0, 0), ("East", "South", "West", "North").index(self.start_dir))
        return place[0] * forward[0] + place[1] * forward[1] > 0

    def _sides_of(self, places):
        """All places beside some places."""
        return {beside for place in places for beside in self._beside(place)}
