"""Names on pictures."""

from __future__ import annotations

import string

import numpy as np

from explorer.picture.lettering import mask, write
from explorer.rules.items import ITEMS


def test_every_letter_of_a_name_is_drawn_and_differs() -> None:
    assert set("".join(ITEMS)) <= set(string.ascii_lowercase + string.digits + "_")
    letters = {letter: mask(letter).tobytes() for letter in string.ascii_lowercase + "123456789"}
    assert len(set(letters.values())) == len(letters)
    assert mask("ab_c").shape == (5, 16)
    assert not mask("_").any()


def test_a_text_is_centred_and_cut_off_at_the_edge() -> None:
    image = np.full((20, 40, 3), 90, dtype=np.uint8)
    write(image, [("lever", 20, 10)])
    rows, columns = np.nonzero((image != 90).any(axis=2))
    assert abs(rows.mean() - 9.5) < 1
    assert abs(columns.mean() - 19.5) < 1
    for column, row in ((-1, -1), (39, 19), (-50, 5), (20, 80)):
        write(image, [("lever", column, row)], 2)


def test_names_do_not_cover_earlier_ones() -> None:
    first, both = (np.full((20, 40, 3), 90, dtype=np.uint8) for _ in range(2))
    write(first, [("lever", 20, 10)])
    write(both, [("lever", 20, 10), ("chest", 22, 12)])
    assert (first == both).all()
    write(both, [("lever", 20, 10), ("a", 20, 3)])
    assert (first != both).any()
