import pytest

from shardc.checkpoint.key_positions import find_key

TEXT = """{
  "note": "\\"size\\": 1",
  "vision": {"size": 2, "deep": {"heads": 3}},
  "list": [{"size": 4}, "size"],
  "text": {"size": 5, "\\u0068eads": 6},
  "size": 7
}"""


@pytest.mark.parametrize(
    ("keys", "rest"),
    [
        (["size"], '"size": 7\n}'),
        (["vision"], '"vision": {"size": 2'),
        (["vision", "size"], '"size": 2'),
        (["vision", "deep", "heads"], '"heads": 3'),
        (["text", "size"], '"size": 5'),
        (["text", "heads"], '"\\u0068eads": 6'),
    ],
)
def test_a_key_is_found_in_its_own_object(keys: list[str], rest: str) -> None:
    offset = find_key(TEXT, keys)
    assert offset is not None
    assert TEXT[offset:].startswith(rest)


@pytest.mark.parametrize(
    "keys",
    [
        ["heads"],
        ["vision", "heads"],
        ["list", "size"],
        ["note", "size"],
        ["size", "vision"],
        ["none"],
        ["text", "none"],
    ],
)
def test_a_key_elsewhere_is_not_taken_for_it(keys: list[str]) -> None:
    assert find_key(TEXT, keys) is None
