"""Which model was probably meant by a name that nobody knows (pure)."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from spca.llm.calls import published
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.addresses import is_providers_own
from spca.llm.providers.model_names import ModelName

_LEAST_LIKENESS: Final = 0.8
_MAX_NAME: Final = 100
_SHORT_WORD: Final = 4


def nearest_model(model: str, table: ModelTable, *, has_prefix: bool = True) -> str:
    """Return the known model that ``model`` nearly is, with its effort; "" if it is known itself or like none.

    Args:
        has_prefix: of a provider; else one may be missing or misspelled.
    """
    asked = ModelName.parse(model)
    names = sorted({*table.names(), *published.names()})
    if asked.model in names or len(model) > _MAX_NAME:
        return ""
    if has_prefix:
        given = asked.name
        forms = {name.partition("/")[2]: name for name in names if name.startswith(f"{asked.prefix}/")}
    elif "/" in model:
        given = asked.model
        forms = {name: name for name in names}
    else:
        given = model
        forms = {name.partition("/")[2]: name for name in names}
    near = get_close_matches(given.casefold(), forms, 1, _LEAST_LIKENESS)
    effort = f"@{asked.effort}" if asked.effort else ""
    return f"{forms[near[0]]}{effort}" if near else ""


def suggest_model(model: str, table: ModelTable, url: str | None = None) -> str:
    """Return `` (did you mean X?)``, "" where no other name can be meant.

    Args:
        url: where the models of the prefix are asked for; a server of the user's own may have any names.
    """
    prefix = ModelName.parse(model).prefix
    if prefix not in published.PROVIDERS or not is_providers_own(prefix, url):
        return ""
    near = nearest_model(model, table)
    return f" (did you mean {near}?)" if near else ""


def misspelled_model(model: str, table: ModelTable) -> str:
    """Return the model that is certainly meant by a misspelled name, "" where the name may be that of a new model.

    Certain is what differs by a letter or two of one word: other digits or more words are how new models are named.
    """
    near = nearest_model(model, table)
    if not near:
        return ""
    words, meant = (ModelName.parse(name).model.replace(":", "-").split("-") for name in (model, near))
    changed = [pair for pair in zip(words, meant, strict=False) if pair[0] != pair[1]]
    if len(words) != len(meant) or len(changed) != 1:
        return ""
    given, true = changed[0]
    is_word = given.isalpha() and true.isalpha()
    most = 1 if len(true) <= _SHORT_WORD else 2
    return near if is_word and count_changes(given, true) <= most else ""


def count_changes(given: str, meant: str) -> int:
    """Return how many letters are left out, added, replaced or swapped with the next one: the edit distance.

    It is the optimal string alignment distance (Damerau 1964, without editing a part twice).
    """
    before: list[int] = []
    last = list(range(len(meant) + 1))
    for row, letter in enumerate(given, 1):
        line = [row]
        for column, other in enumerate(meant, 1):
            cost = min(last[column] + 1, line[-1] + 1, last[column - 1] + (letter != other))
            if row > 1 and column > 1 and (letter, given[row - 2]) == (meant[column - 2], other):
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before = last
        last = line
    return last[-1]
