"""The curriculum file: what is in the shipped one, what is refused and how, what can be chosen."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import FileError
from spca.contracts import LevelSpec
from spca.errors import CurriculumError
from spca.runs import curriculum
from spca.runs.curriculum import Category, Config, Curriculum, Level, split_names

SHIPPED = Path(__file__).parents[3] / "merged_curriculum2.json"

names = st.text("abcdefgh_ -XYZ0123456789", min_size=1, max_size=12).filter(str.strip)
ids = st.from_regex(r"[A-Z][a-z]{1,3}-[A-Z0-9]{1,4}-v0", fullmatch=True)
specs = st.builds(
    LevelSpec,
    ids,
    st.dictionaries(st.text("abc_", min_size=1, max_size=4), st.integers() | st.booleans() | st.text(), max_size=2),
    st.just("") | names,
)
configs_of = st.builds(Config, specs, st.none() | st.integers(0, curriculum.MAX_SEED - 1))
levels_of = st.lists(
    st.builds(Level, names, st.lists(configs_of, min_size=1, max_size=4).map(tuple)),
    min_size=1,
    max_size=4,
)
curricula = st.lists(
    st.builds(Category, names, names, levels_of.map(tuple)),
    min_size=1,
    max_size=4,
    unique_by=lambda category: category.name.casefold(),
).map(lambda categories: Curriculum("c.json", tuple(categories)))


@pytest.fixture(scope="module")
def shipped() -> Curriculum:
    return curriculum.load(SHIPPED)


def small() -> list[dict[str, Any]]:
    return [
        {"category_name": "walk", "skill": "Walk", "levels": [{"name": "Empty", "configs": ["A-v0", "B-v0"]}]},
        {"category_name": "pick", "skill": "Pick", "levels": [{"name": "Key", "configs": ["C-v0"]}]},
    ]


def refusal(data: object) -> str:
    with pytest.raises(CurriculumError) as caught:
        curriculum.parse(data if isinstance(data, str) else json.dumps(data), "c.json")
    message = str(caught.value)
    assert message.isprintable()
    return message


def test_shipped_curriculum_has_the_published_size(shipped: Curriculum) -> None:
    levels = [level for category in shipped.categories for level in category.levels]
    assert len(shipped.categories) == 12
    assert len(levels) == 59
    assert sum(len(level.configs) for level in levels) == 151


def test_shipped_curriculum_runs_each_configuration_once(shipped: Curriculum) -> None:
    tasks = shipped.tasks()
    assert len(tasks) == len({task.env_id for task in tasks}) == 150
    assert [task.index for task in tasks] == list(range(150))
    assert tasks[0].env_id == "MiniGrid-Empty-5x5-v0"
    assert (tasks[0].category, tasks[0].level) == ("goal_navigation", "Empty")


@pytest.mark.long
@given(curricula)
def test_what_is_written_is_loaded(wanted: Curriculum) -> None:
    assert curriculum.parse(json.dumps(wanted.to_json()), wanted.source) == wanted


@pytest.mark.long
@given(curricula)
def test_tasks_are_the_distinct_ids_in_order_of_first_listing(chosen: Curriculum) -> None:
    listed = [config.name for category in chosen.categories for level in category.levels for config in level.configs]
    assert [task.name for task in chosen.tasks()] == list(dict.fromkeys(listed))


@pytest.mark.long
@given(curricula, st.data())
def test_selecting_one_category_from_its_start_is_that_category(chosen: Curriculum, data: st.DataObject) -> None:
    category = data.draw(st.sampled_from(chosen.categories))
    selected = chosen.select(start_category=category.name.upper(), only=(category.name.lower(),))
    assert selected.categories == (category,)


@pytest.mark.long
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_any_other_json_is_refused_in_one_line(data: object) -> None:
    assert refusal(data).startswith("c.json: ")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ((0, "category_name"), 3, 'c.json: categories[0]: "category_name" must be a non-empty line of text'),
        ((0, "category_name"), "a/b", 'c.json: categories[0]: "category_name" becomes part of file names'),
        ((1, "category_name"), "Walk", 'c.json: the category "Walk" is there twice'),
        ((1, "skill"), "", 'c.json: categories[1] "pick": "skill" must be a non-empty line of text'),
        ((1, "levels"), [], 'c.json: categories[1] "pick": "levels" must be a non-empty list of levels'),
        ((1, "levels", 0), "Key", 'c.json: categories[1] "pick" levels[0]: must be an object with "name", "configs"'),
        (
            (1, "levels", 0, "configs"),
            [],
            'categories[1] "pick" levels[0] "Key": "configs" must be a non-empty list of ids',
        ),
        ((1, "levels", 0, "configs", 0), 7, 'levels[0] "Key": configs[0] must be an environment id, not 7'),
        ((1, "levels", 0, "confgs"), [], 'levels[0]: unknown key "confgs"; did you mean "configs"?'),
        ((1,), [], 'c.json: categories[1]: must be an object with "category_name", "skill", "levels"'),
    ],
)
def test_refusal_names_the_entry(path: tuple[str | int, ...], value: object, message: str) -> None:
    data: Any = small()
    entry = data
    for key in path[:-1]:
        entry = entry[key]
    entry[path[-1]] = value
    assert message in refusal(data)


@pytest.mark.parametrize("key", ["category_name", "skill", "levels"])
def test_missing_key_is_named(key: str) -> None:
    data = small()
    del data[1][key]
    assert f'"{key}" must be' in refusal(data)


def test_bad_json_is_placed() -> None:
    assert refusal('[\n {"category_name": }\n]').startswith("c.json: line 2 column 20: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.json: line 1 column 1: "),
        ("{}", "c.json: must be a non-empty list of categories"),
        ("[]", "c.json: must be a non-empty list of categories"),
        ('[{"skill": "a", "skill": "b"}]', 'c.json: an object has the key "skill" twice'),
        ("[" * 100_000, "c.json: "),
        ("9" * 5_000, "c.json: "),
    ],
)
def test_other_unusable_text(text: str, message: str) -> None:
    assert message in refusal(text)


def test_control_characters_never_reach_the_terminal() -> None:
    data = small()
    data[0]["levels"][0]["configs"][0] = "\x1b[2J\n" * 50
    assert "\\u001b" in refusal(data)


def test_unreadable_files(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        curriculum.load(tmp_path / "none.json")
    with pytest.raises(FileError, match="directory"):
        curriculum.load(tmp_path)


@pytest.mark.parametrize("long", ["category_name", "name", "configs"])
def test_a_name_that_makes_no_file_name_is_refused(long: str) -> None:
    data = small()
    level = data[0]["levels"][0]
    (data[0] if long == "category_name" else level)[long] = ["é" * 51] if long == "configs" else "é" * 51
    assert "becomes part of file names: at most 100 bytes" in refusal(data)
    (data[0] if long == "category_name" else level)[long] = ["é" * 50] if long == "configs" else "é" * 50
    curriculum.parse(json.dumps(data), "c.json")


def test_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(small()), encoding="utf-8-sig")
    assert len(curriculum.load(path).tasks()) == 3


def test_start_category_keeps_the_rest(shipped: Curriculum) -> None:
    rest = shipped.select(start_category=shipped.categories[3].name.upper())
    assert rest.categories == shipped.categories[3:]
    assert rest.tasks()[0].index == 0


@pytest.mark.parametrize("choice", [{"start_category": "goal_navigaton"}, {"only": ("goal_navigaton",)}])
def test_unknown_category_gets_the_near_ones(shipped: Curriculum, choice: dict[str, Any]) -> None:
    with pytest.raises(
        CurriculumError, match=r'no category "goal_navigaton"; did you mean "goal_navigation"'
    ) as caught:
        shipped.select(**choice)
    assert "\n" not in str(caught.value)


def test_unknown_category_without_near_ones_gets_all(shipped: Curriculum) -> None:
    with pytest.raises(CurriculumError, match="there are ") as caught:
        shipped.select(only=("zzz",))
    assert all(category.name in str(caught.value) for category in shipped.categories)


def test_several_categories_are_kept_in_their_order(shipped: Curriculum) -> None:
    first, second, third = (category.name for category in shipped.categories[:3])
    selected = shipped.select(only=(f"{third}, {first.upper()}",))
    assert [category.name for category in selected.categories] == [first, third]
    with pytest.raises(CurriculumError, match='no category "zzz"'):
        shipped.select(only=(f"{second},zzz",))


def test_a_category_may_have_a_comma_in_its_name(shipped: Curriculum) -> None:
    odd = replace(shipped, categories=(replace(shipped.categories[0], name="a,b"), *shipped.categories[1:]))
    assert [category.name for category in odd.select(only=("A,B",)).categories] == ["a,b"]


def test_only_before_the_start_is_refused(shipped: Curriculum) -> None:
    first, second = (category.name for category in shipped.categories[:2])
    with pytest.raises(CurriculumError, match="lies before the start category"):
        shipped.select(start_category=second, only=(first,))


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("Empty", ["A-v0", "B-v0"]),
        ("empty", ["A-v0", "B-v0"]),
        ("b-v0", ["B-v0"]),
        ("pick/*", ["C-v0"]),
        ("walk/empty", ["A-v0", "B-v0"]),
        ("[ac]-v0", ["A-v0", "C-v0"]),
        ("*", ["A-v0", "B-v0", "C-v0"]),
    ],
)
def test_levels_glob(glob: str, expected: list[str]) -> None:
    chosen = curriculum.parse(json.dumps(small()), "c.json").select(only=(glob,))
    assert [task.env_id for task in chosen.tasks()] == expected


def test_levels_that_match_nothing_get_the_near_ones(shipped: Curriculum) -> None:
    with pytest.raises(CurriculumError, match=r'matches "MiniGrid-Emtpy-5x5-v0"; did you mean "MiniGrid-Empty-5x5-v0"'):
        shipped.select(only=("MiniGrid-Emtpy-5x5-v0",))


def test_level_outside_the_chosen_category_is_unknown() -> None:
    with pytest.raises(CurriculumError, match="no level or environment id"):
        curriculum.parse(json.dumps(small()), "c.json").select(only=("walk", "[K]ey"))


def test_known_names_may_have_commas() -> None:
    assert split_names(" c, A,b ,d", ["a", "a,b", "C"]) == ("C", "a,b", "d")
    assert split_names("", []) == ("",)


# Arguments, seeds and missions ----------------------------------------------------------------------------------------


def one_level(*configs: object) -> list[dict[str, Any]]:
    return [{"category_name": "walk", "skill": "Walk", "levels": [{"name": "Empty", "configs": list(configs)}]}]


def names_of(*configs: object) -> list[str]:
    return [task.name for task in curriculum.parse(json.dumps(one_level(*configs)), "c.json").tasks()]


def test_a_plain_id_is_called_as_it_is() -> None:
    (task,) = curriculum.parse(json.dumps(one_level({"id": "A-v0"})), "c.json").tasks()
    assert (task.name, task.env_id, task.seed, task.spec) == ("A-v0", "A-v0", None, LevelSpec("A-v0"))
    assert task.place(3) == {"level_name": "A-v0", "lvl_group": "Empty", "category": "walk", "seed": 3}


def test_other_arguments_seeds_and_missions_are_other_levels() -> None:
    small = {"id": "A-v0", "kwargs": {"size": 5, "lava": True}}
    names = names_of("A-v0", small, {"id": "A-v0", "seed": 1}, small | {"seed": 1}, {"id": "A-v0", "mission": "go"})
    assert len(set(names)) == 5
    assert names[0] == "A-v0"
    assert names[2] == "A-v0#1"
    assert names[3] == f"{names[1]}#1"
    assert names[1] == names_of({"id": "A-v0", "kwargs": {"lava": True, "size": 5}})[0], "whatever the order"
    assert names[1] != names_of({"id": "A-v0", "kwargs": {"size": 5, "lava": 1}})[0]


def test_a_level_that_is_listed_again_is_no_second_one() -> None:
    level = {"id": "A-v0", "kwargs": {"size": 5}, "seed": 2}
    assert len(names_of("A-v0", level, "A-v0", dict(reversed(level.items())), {"id": "A-v0"})) == 2


def test_many_seeds_are_many_levels() -> None:
    assert names_of({"id": "A-v0", "seeds": [3, 1]}) == ["A-v0#3", "A-v0#1"]
    assert names_of({"id": "A-v0", "seeds": "0:66"}) == [f"A-v0#{seed}" for seed in range(66)]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"seed": 1}, '"id" must be an environment id, not null'),
        ({"id": "a b"}, '"id" must be an environment id, not "a b"'),
        ({"id": "A-v0", "kwargs": [1]}, '"kwargs" must be an object of arguments, not [1]'),
        ({"id": "A-v0", "seed": -1}, '"seed" must be a whole number from 0 to 2147483647, not -1'),
        ({"id": "A-v0", "seed": True}, '"seed" must be a whole number from 0 to 2147483647, not true'),
        ({"id": "A-v0", "seed": 2**31}, '"seed" must be a whole number'),
        ({"id": "A-v0", "seeds": []}, '"seeds" must be a non-empty list of numbers, or a range "FIRST:END"'),
        ({"id": "A-v0", "seeds": [1, "2"]}, '"seeds"[1] must be a whole number from 0 to 2147483647, not "2"'),
        ({"id": "A-v0", "seeds": "5"}, '"seeds" must be a range such as "0:66", not "5"'),
        ({"id": "A-v0", "seeds": "5:5"}, '"seeds" must be a range such as "0:66", not "5:5"'),
        ({"id": "A-v0", "seeds": f"0:{'9' * 5000}"}, '"seeds" must be a range such as "0:66"'),
        ({"id": "A-v0", "seeds": "0:100001"}, '"seeds" must have at most 100,000 seeds, not 100,001'),
        ({"id": "A-v0", "seed": 1, "seeds": "0:2"}, 'has "seed" and "seeds": give one of them'),
        ({"id": "A-v0", "mission": " "}, '"mission" must be a non-empty line of text'),
        ({"id": "A-v0", "seedz": 1}, 'unknown key "seedz"'),
        ({"id": "A" * 95, "seed": 12345}, "becomes part of file names: at most 100 bytes of UTF-8"),
        (7, "must be an environment id, not 7"),
    ],
)
def test_a_faulty_config_is_named(config: object, words: str) -> None:
    where = 'c.json: categories[0] "walk" levels[0] "Empty": configs[1]'
    line = refusal(one_level("A-v0", config))
    assert line.startswith(where)
    assert words in line
    assert "\n" not in line


def test_a_glob_selects_ids_whatever_their_arguments_and_seeds() -> None:
    data = one_level("A-v0", {"id": "B-v0", "seeds": "0:2"}, {"id": "B-v0", "kwargs": {"size": 5}})
    chosen = curriculum.parse(json.dumps(data), "c.json").select(only=("b-*",))
    assert [task.env_id for task in chosen.tasks()] == ["B-v0"] * 3


def test_the_file_may_name_its_world() -> None:
    parsed = curriculum.parse(json.dumps({"world": "minigrid", "categories": small()}), "c.json")
    assert parsed == replace(curriculum.parse(json.dumps(small()), "c.json"), world="minigrid")
    assert refusal({"world": "", "categories": small()}) == 'c.json: "world" must be a non-empty line of text'
    assert refusal({"worlds": "x", "categories": small()}).startswith('c.json: unknown key "worlds"')
    assert refusal({"world": "x"}) == "c.json: must be a non-empty list of categories"
