"""Objects: going to things, taking and dropping them, opening boxes."""


class Agent:
    """Skills for keys, balls and boxes."""

    def go_to_object(self, agent, thing):
        """Find a thing, stand next to it and face it; one that is in hand is put down and faced."""
        self._look()
        if self._holds(thing) and not self._find(thing):
            yield from self._put_aside()
        else:
            yield from self._seek(lambda: self._find(thing))

    def pick_up_object(self, agent, thing):
        """Find a thing and pick it up with an empty hand, making a way to it if it is shut in.

        What is held before is put down first, even when it is the thing asked for.
        """
        self._look()
        if self._holds(thing):
            spot = yield from self._put_aside()
            if spot is not None:
                yield from self._fetch(lambda: [spot])
        else:
            yield from self._fetch(lambda: self._find(thing))

    def pick_up_alone(self, agent, thing):
        """Find a thing and pick it up, and no other unless nothing else is left: go round others, open boxes.

        Boxes in the way are lost, so this is for where nothing else is to be done with them.
        """
        self._look()
        self._takes_one = True
        yield from self.pick_up_object(agent, thing)
        self._takes_one = False

    def drop_held(self, agent, thing):
        """Put what is held on a free place where it is not in the way."""
        self._look()
        if self.inventory is not None:
            yield from self._put_aside()

    def open_box(self, agent, box):
        """Go to a box and open it."""
        place = yield from self._seek(lambda: self._find(box))
        if place is not None:
            yield self.toggle()

    def announce(self, agent, thing):
        """Declare the task done while facing a thing or a door."""
        place = yield from self._seek(lambda: self._find(thing), careful=True)
        if place is not None:
            yield self.done()
