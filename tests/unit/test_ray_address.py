"""The address of a Ray cluster: four forms, and one sentence for everything else."""

import pytest

from specviz.core.errors import InputError
from specviz.core.ray_address import parse_ray_address


@pytest.mark.parametrize(
    ("text", "starts_one", "is_client"),
    [
        ("local", True, False),
        ("auto", False, False),
        ("10.0.0.5:6379", False, False),
        ("head.cluster.example:6379", False, False),
        ("[fe80::1]:6379", False, False),
        ("ray://head:10001", False, True),
    ],
)
def test_every_form_of_an_address_is_read(text: str, starts_one: bool, is_client: bool) -> None:
    address = parse_ray_address(text)
    assert (address.text, address.starts_one, address.is_client) == (text, starts_one, is_client)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "Local", "head", "head:", ":6379", "head:0", "head:65536", "head:1234567", "head:port"),
        *("http://head:6379", "ray://", "ray://head", "ray://ray://head:1", "head:6379/", "a b:6379", "head:6379\n"),
        "head:٣",
    ],
)
def test_anything_else_is_one_sentence_that_names_the_forms(text: str) -> None:
    with pytest.raises(InputError) as error:
        parse_ray_address(text)
    sentence = str(error.value)
    assert all(form in sentence for form in ("local", "auto", "HOST:PORT", "ray://HOST:PORT"))
    assert "\n" not in sentence


def test_a_very_long_address_does_not_fill_the_screen() -> None:
    with pytest.raises(InputError) as error:
        parse_ray_address("x" * 10_000)
    assert len(str(error.value)) < 500
