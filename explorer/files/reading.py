"""Read the rules of milestones, which have the same format in published files and in the explorer's files."""

from __future__ import annotations

from explorer.errors import UnknownNameError
from explorer.files.json_text import validate
from explorer.files.schema import PARAMS, RULES, RuleText
from explorer.milestones import Rule


def read_rule(text: RuleText, source: str, field: str) -> Rule:
    """Return the rule that a rule text describes.

    Args:
        source, field: file and field of the rule, for errors.

    Raises:
        SceneError: the type of the rule is unknown, or the parameters do not fit the type.
    """
    if text.type not in RULES:
        raise UnknownNameError("rule type", text.type, RULES, source, f"{field}.type")
    params = validate(PARAMS[text.type], text.params, source, f"{field}.params")
    values = params.model_dump()
    values.pop("coordinate_frame", None)
    return RULES[text.type](**values)
