"""What the mission names is not in sight, but its likes are; or two things are alike, or one is named twice."""

from __future__ import annotations

from typing import Final

from tests.support.prompts.wording import DOORS, FIND, PLACE, STEPS, drawn, go_to, open_it, planned, put, take, then

TWO_ROOMS = """
##############
#.....#......#
#..A..#......#
#.>...D...C..#
#..B..#......#
#.....#......#
##############
"""

BLUE_BALL: Final = drawn(
    "pick up the blue ball",
    TWO_ROOMS,
    lambda: take("ball blue", strict=True),
    A="ball red",
    B="ball green",
    C="ball blue",
    D="door grey",
)
UNSEEN: Final = (
    planned(
        "unseen_door",
        DOORS,
        drawn(
            "open the purple door",
            """
            ###############
            #.....#.......#
            #.....A..####.#
            #.>...#..#..#.#
            #.....B..C..#.#
            #........####.#
            ###############
            """,
            lambda: open_it("door purple", strict=True),
            A="door red",
            B="door yellow",
            C="door purple",
        ),
        "open_door(a1, door_purple)",
        "open_door(a1, door_red), open_door(a1, door_purple)",
    ),
    planned(
        "unseen_key",
        FIND,
        drawn(
            "pick up the green key",
            """
            ################
            #......#.......#
            #..A...#.......#
            #......E...C...#
            #.>....#.......#
            #..B...#.......#
            ####F###########
            ################
            """,
            lambda: take("key green", strict=True),
            A="box green",
            B="key yellow",
            C="key green",
            E="door grey",
            F="door yellow locked",
        ),
        "pick_up_object(a1, key_green)",
        "pick_up_object(a1, key_yellow), unlock_door(a1, door_yellow, key_yellow), pick_up_object(a1, key_green)",
    ),
    planned(
        "unseen_target",
        PLACE,
        drawn(
            "put the red ball next to the purple box",
            TWO_ROOMS,
            lambda: put("ball red", "box purple"),
            A="ball red",
            B="box grey",
            C="box purple",
            D="door grey",
        ),
        "pick_up_object(a1, ball_red), put_next_to(a1, ball_red, box_purple)",
        "pick_up_object(a1, ball_red), put_next_to(a1, ball_red, box_grey)",
    ),
)

ALIKE: Final = (
    planned(
        "alike_one_box",
        STEPS,
        drawn(
            "pick up the box, then put the box next to the ball",
            TWO_ROOMS,
            lambda: then(take("box"), put("box", "ball")),
            A="box yellow",
            B="key red",
            C="ball grey",
            D="door grey",
        ),
        "pick_up_object(a1, box_any), put_next_to(a1, box_any, ball_any)",
        "pick_up_object(a1, box_any), put_down(a1, box_any), pick_up_object(a1, box_any_2),"
        " put_next_to(a1, box_any_2, ball_any)",
    ),
    planned(
        "alike_go_and_take",
        STEPS,
        drawn(
            "go to the blue ball, then pick up the blue ball",
            TWO_ROOMS,
            lambda: then(go_to("ball blue"), take("ball blue")),
            A="ball red",
            B="box blue",
            C="ball blue",
            D="door grey",
        ),
        "go_to_object(a1, ball_blue), pick_up_object(a1, ball_blue)",
        "go_to_object(a1, ball_blue), pick_up_object(a1, ball_blue_2)",
    ),
    planned(
        "alike_two_balls",
        PLACE,
        drawn(
            "put a red ball next to a red ball",
            TWO_ROOMS,
            lambda: put("ball red", "ball red"),
            A="ball red",
            B="ball green",
            C="ball red",
            D="door grey",
        ),
        "pick_up_object(a1, ball_red), put_next_to(a1, ball_red, ball_red_2)",
        "pick_up_object(a1, ball_red), put_next_to(a1, ball_red, ball_green)",
    ),
    planned(
        "alike_one_door",
        STEPS,
        drawn(
            "open the door, then put the key next to the door",
            TWO_ROOMS,
            lambda: then(open_it("door"), put("key", "door")),
            A="key red",
            B="ball green",
            C="box red",
            D="door grey",
        ),
        "open_door(a1, door_any), pick_up_object(a1, key_any), put_next_to(a1, key_any, door_any)",
        "open_door(a1, door_any), pick_up_object(a1, key_any), put_next_to(a1, key_any, door_any_2)",
    ),
)
