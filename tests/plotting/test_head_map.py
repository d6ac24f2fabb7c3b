"""What the browser draws of a map: every head once, values as shares of the color scale, and pictures as one image."""

import base64
import json
from io import BytesIO

import numpy as np
import pytest
from PIL import Image

from bertviz_core.numbers import number, p_value, quantity
from bertviz_core.plotting.head_map import picture_map, value_map, weight_map

VALUES = np.array([[0.0, 0.5, np.nan], [1.0, 0.25, 2.0]])


def test_values_are_shares_of_the_scale_and_heads_without_one_have_none():
    sent = json.loads(value_map(VALUES, "x", limits=(0.0, 2.0), unit="nats").encoded)
    assert sent["values"] == [0.0, 0.25, None, 0.5, 0.125, 1.0]
    assert (sent["limits"], sent["unit"]) == (["0", "2"], "nats")
    assert sent["hover"][1] == "1-2: x 0.500; rank 3 of 6"
    assert len(sent["hover"]) == sent["layers"] * sent["heads"] == 6


def test_values_outside_the_limits_take_the_colors_of_its_ends():
    assert json.loads(value_map(VALUES, "x", limits=(0.5, 1.0)).encoded)["values"] == [0, 0, None, 1, 0, 1]
    assert json.loads(value_map(np.zeros((1, 2)), "x", limits=(0.0, 0.0)).encoded)["values"] == [0, 0]


def test_weights_of_zero_are_in_the_middle_of_the_scale():
    described = weight_map(np.array([[-2.0, 0.0], [1.0, 0.5]]), "weight")
    assert described.limits == (-2, 2)
    assert json.loads(described.encoded)["values"] == pytest.approx([0, 0.5, 0.75, 0.625])


def test_pictures_travel_as_one_image_and_every_head_has_a_name():
    pictures = np.zeros((2, 3, 4, 5), dtype=np.uint8)
    pictures[1, 1, 2, 1] = 255
    described = picture_map(pictures, base=0)
    assert described.hover == ("Head 0-0", "Head 0-1", "Head 0-2", "Head 1-0", "Head 1-1", "Head 1-2")
    sent = json.loads(described.encoded)
    assert sent["values"] is None
    image = Image.open(BytesIO(base64.b64decode(sent["picture"].partition(",")[2])))
    assert image.size == (2 * 6, 3 * 5)
    assert image.getpixel((4, 3)) == (76, 110, 245, 18) and image.getpixel((5, 0))[3] == 0  # faint, and the gap
    assert image.getpixel((6 + 1, 5 + 2))[3] == 255


@pytest.mark.parametrize(("value", "text"), [(0.5, "0.500"), (0.00042, "0.00042"), (2e-9, "2.0e-09"), (0.0, "0.000")])
def test_a_number_has_no_exponent(value: float, text: str) -> None:
    assert number(value) == text


def test_a_quantity_ends_with_its_unit_and_a_p_value_with_its_third_decimal() -> None:
    assert quantity("entropy, nats", "4.2") == "entropy 4.2 nats"
    assert quantity("attention to [SEP]", "0.57") == "attention to [SEP] 0.57"
    assert [p_value(p) for p in (0.0412, 3e-9, float("nan"))] == ["= 0.041", "< 0.001", "–"]
