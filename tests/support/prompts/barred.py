"""Ways that stay open beside a locked door, things before doors, and keys that do not fit."""

from __future__ import annotations

from typing import Final

from tests.support.prompts.wording import (
    BEYOND,
    BLOCKED,
    GOAL,
    STEPS,
    UNLOCK,
    drawn,
    go_to,
    open_it,
    planned,
    put,
    take,
)

OPEN_WAYS: Final = (
    planned(
        "open_way_to_goal",
        GOAL,
        drawn(
            "get to the green goal square",
            """
            #############
            #....#......#
            #.>..L......#
            #....#......#
            #....####.###
            #...........#
            #.......#.G.#
            #############
            """,
            L="door red locked",
        ),
        "reach_goal(a1, goal_green)",
        "pick_up_object(a1, key_red), unlock_door(a1, door_red, key_red), reach_goal(a1, goal_green)",
    ),
    planned(
        "open_way_to_box",
        BEYOND,
        drawn(
            "pick up the grey box",
            """
            ##############
            #~~~.....#...#
            #~k~.....#...#
            #~~~.>...L...#
            #........#...#
            #........#####
            ####.####....#
            #............#
            #......#..x..#
            ##############
            """,
            lambda: take("box grey"),
            k="key blue",
            L="door blue locked",
            x="box grey",
        ),
        "pick_up_object(a1, box_grey)",
        "pick_up_object(a1, key_blue), unlock_door(a1, door_blue, key_blue), put_down(a1, key_blue),"
        " pick_up_object(a1, box_grey)",
    ),
    planned(
        "open_way_to_ball",
        UNLOCK,
        drawn(
            "go to the ball",
            """
            ##############
            #....P...#...#
            #....#...#.b.#
            #.>..#...D...#
            #....L...#...#
            #....#...#...#
            #....#...#...#
            #........#...#
            ##############
            """,
            lambda: go_to("ball"),
            P="door purple locked",
            L="door red locked",
            D="door green",
            b="ball yellow",
        ),
        "go_to_object(a1, ball_any)",
        "pick_up_object(a1, key_purple), unlock_door(a1, door_purple, key_purple), go_to_object(a1, ball_any)",
    ),
    planned(
        "open_way_to_key",
        STEPS,
        drawn(
            "pick up the yellow key and put the yellow key next to the grey ball",
            """
            #############
            #b....#.....#
            #.>...L.....#
            #.....#.....#
            #.....#######
            #...........#
            ##########..#
            #........k..#
            #############
            """,
            lambda: put("key yellow", "ball grey"),
            L="door purple locked",
            k="key yellow",
            b="ball grey",
        ),
        "pick_up_object(a1, key_yellow), put_next_to(a1, key_yellow, ball_grey)",
        "pick_up_object(a1, key_purple), unlock_door(a1, door_purple, key_purple), put_down(a1, key_purple),"
        " pick_up_object(a1, key_yellow), put_next_to(a1, key_yellow, ball_grey)",
    ),
)

BLOCKERS: Final = (
    planned(
        "blocker_in_corridor",
        BLOCKED,
        drawn(
            "get to the green goal square",
            """
            ################
            ###..###########
            ###>......b.D.G#
            ###..###########
            ################
            """,
            b="ball grey",
            D="door blue",
        ),
        "pick_up_object(a1, ball_grey), put_down(a1, ball_grey), reach_goal(a1, goal_green)",
        "reach_goal(a1, goal_green)",
    ),
    planned(
        "blocker_hides_lock",
        BLOCKED,
        drawn(
            "unlock the red door",
            """
            ###############
            ##....#########
            ##....#########
            ##.>.....b.L..#
            ##...k#########
            ###############
            """,
            lambda: open_it("door red"),
            k="key red",
            b="box green",
            L="door red locked",
        ),
        "pick_up_object(a1, box_green), put_down(a1, box_green), pick_up_object(a1, key_red),"
        " unlock_door(a1, door_red, key_red)",
        "pick_up_object(a1, key_red), unlock_door(a1, door_red, key_red)",
    ),
    planned(
        "blocker_before_lock",
        BLOCKED,
        drawn(
            "pick up the purple ball",
            """
            ############
            #.....#....#
            #..k..#....#
            #>...bL..p.#
            #.....#....#
            ############
            """,
            lambda: take("ball purple"),
            k="key yellow",
            b="box grey",
            L="door yellow locked",
            p="ball purple",
        ),
        "clear_blocker(a1, door_yellow), pick_up_object(a1, key_yellow), unlock_door(a1, door_yellow, key_yellow),"
        " put_down(a1, key_yellow), pick_up_object(a1, ball_purple)",
        "pick_up_object(a1, key_yellow), unlock_door(a1, door_yellow, key_yellow), put_down(a1, key_yellow),"
        " pick_up_object(a1, ball_purple)",
    ),
    planned(
        "blocker_with_key_in_hand",
        BLOCKED,
        drawn(
            "pick up the green box",
            """
            ############
            #.....#....#
            #.....#....#
            #>...bL..x.#
            #.....#....#
            ############
            """,
            lambda: take("box green"),
            held="key blue",
            b="ball red",
            L="door blue locked",
            x="box green",
        ),
        "put_down(a1, key_blue), clear_blocker(a1, door_blue), pick_up_object(a1, key_blue),"
        " unlock_door(a1, door_blue, key_blue), put_down(a1, key_blue), pick_up_object(a1, box_green)",
        "clear_blocker(a1, door_blue), unlock_door(a1, door_blue, key_blue), pick_up_object(a1, box_green)",
    ),
)

KEYS: Final = (
    planned(
        "keys_of_other_colours",
        BEYOND,
        drawn(
            "pick up the box",
            """
            ############
            #.r...#....#
            #.y...#....#
            #.>...L..x.#
            #.....#....#
            #....k#....#
            ############
            """,
            lambda: take("box"),
            r="key red",
            y="key yellow",
            k="key blue",
            L="door blue locked",
            x="box grey",
        ),
        "pick_up_object(a1, key_blue), unlock_door(a1, door_blue, key_blue), put_down(a1, key_blue),"
        " pick_up_object(a1, box_any)",
        "pick_up_object(a1, key_red), unlock_door(a1, door_blue, key_red), put_down(a1, key_red),"
        " pick_up_object(a1, box_any)",
    ),
    planned(
        "key_of_an_unseen_door",
        UNLOCK,
        drawn(
            "unlock the door",
            """
            #############
            #.g.......###
            #.>.......###
            #.r.......###
            #########.###
            #.........###
            ####L########
            ####.########
            #############
            """,
            lambda: open_it("door"),
            r="key red",
            g="key green",
            L="door green locked",
        ),
        "pick_up_object(a1, key_any), unlock_door(a1, door_any, key_any)",
        "pick_up_object(a1, key_red), unlock_door(a1, door_any, key_red)",
    ),
    planned(
        "key_in_hand_does_not_fit",
        UNLOCK,
        drawn(
            "use the key to open the door and then get to the goal",
            """
            ############
            #.....#....#
            #..k..#....#
            #.>...L...G#
            #.....#....#
            ############
            """,
            held="key yellow",
            k="key purple",
            L="door purple locked",
        ),
        "put_down(a1, key_yellow), pick_up_object(a1, key_purple), unlock_door(a1, door_purple, key_purple),"
        " reach_goal(a1, goal_green)",
        "unlock_door(a1, door_purple, key_yellow), reach_goal(a1, goal_green)",
    ),
)
