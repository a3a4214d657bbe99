"""Three rooms behind two locked doors: a minigrid environment with a kind of objects and a colour of its own."""

import gymnasium
from minigrid.core import constants
from minigrid.core.grid import Grid
from minigrid.core.mission import MissionSpace
from minigrid.core.world_object import Door, Goal, Key, WorldObj
from minigrid.minigrid_env import MiniGridEnv
from minigrid.utils.rendering import fill_coords, point_in_rect

constants.OBJECT_TO_IDX["statue"] = 12
constants.COLORS["amber"] = constants.COLORS["yellow"] // 2
constants.COLOR_TO_IDX["amber"] = 7

MISSION = "get to the green goal square"


class Statue(WorldObj):
    """Stands in the way."""

    def __init__(self):
        super().__init__("statue", "grey")

    def render(self, img):
        fill_coords(img, point_in_rect(0.3, 0.7, 0.1, 0.9), constants.COLORS[self.color])


class TwoKeys(MiniGridEnv):
    """The key of each door lies in the room before it."""

    def __init__(self, statues=2, max_steps=400, **options):
        self.statues = statues
        super().__init__(MissionSpace(lambda: MISSION), width=13, height=7, max_steps=max_steps, **options)

    def _gen_grid(self, width, height):
        self.grid = Grid(width, height)
        self.grid.wall_rect(0, 0, width, height)
        for wall, colour in ((4, "yellow"), (8, "amber")):
            self.grid.vert_wall(wall, 0)
            self.put_obj(Door(colour, is_locked=True), wall, self._rand_int(1, height - 1))
            self.place_obj(Key(colour), top=(wall - 3, 1), size=(2, height - 2))
        for _ in range(self.statues):
            self.place_obj(Statue(), top=(6, 1), size=(1, height - 2))
        self.put_obj(Goal(), 11, 3)
        self.place_agent(top=(1, 1), size=(3, height - 2))
        self.mission = MISSION


gymnasium.register("MyLab-TwoKeys-v0", TwoKeys)


def register(registry):
    registry.object_kind("statue", "m")
    registry.colour("amber")
