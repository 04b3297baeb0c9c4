"""Calls that LiteRT survives: tensors of every kind, resized, dynamic, moving, remembered."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.interpreter.dropin_shop import F4, call, complaint


@call
def odd_memory_layouts(shop: Any) -> Any:
    value = np.arange(144, dtype=F4).reshape(1, 8, 6, 3) - 70
    wide = np.repeat(value, 2, axis=-1)
    interpreter = shop.open("image")
    given = [np.asfortranarray(value), wide[..., ::2], value[:, ::-1], value.transpose(0, 1, 2, 3)]
    return [shop.run(interpreter, one) for one in given]


@call
def not_numbers_and_infinities(shop: Any) -> Any:
    return shop.run(shop.open("relu"), np.array([[np.nan, np.inf, -np.inf, -0.0]], F4))


@complaint
def list_of_floats(shop: Any) -> Any:
    shop.open("relu").set_tensor(0, [[1.0, 2.0, 3.0, 4.0]])


@call
def list_of_truths(shop: Any) -> Any:
    return shop.run(shop.open("truth"), [True, False, True])


@call
def scalars(shop: Any) -> Any:
    interpreter = shop.open("scalar")
    given = (np.array(-3, F4), np.array(4, F4), F4(5))
    return [interpreter.get_input_details(), [shop.run(interpreter, one) for one in given]]


@call
def scalar_strings(shop: Any) -> Any:
    interpreter = shop.open("text")
    interpreter.set_tensor(0, np.array(["a", "bb", "ccc", ""], dtype=object))
    interpreter.set_tensor(1, np.array(2, np.int32))
    interpreter.set_tensor(3, np.array(b"alone"))
    interpreter.invoke()
    found = [interpreter.get_tensor(index) for index in (2, 3)]
    return [[type(one).__name__, one.dtype.str, one.shape, one[()]] for one in found]


@call
def views_that_are_held(shop: Any) -> Any:
    interpreter = shop.open("relu")
    before = interpreter._safe_to_run()
    view = interpreter.tensor(0)()
    during = interpreter._safe_to_run()
    del view
    return [before, during, interpreter._safe_to_run()]


@call
def nothing_at_all(shop: Any) -> Any:
    return shop.run(shop.open("nothing"), np.zeros((0, 3), F4))


@call
def half_floats(shop: Any) -> Any:
    return shop.run(shop.open("half"), np.array([0.5, -1, 65504], np.float16))


@call
def large_whole_numbers(shop: Any) -> Any:
    return shop.run(shop.open("whole"), np.array([2**62, -(2**62), 3], np.int64))


@call
def sizes_in_a_row(shop: Any) -> Any:
    interpreter = shop.open("ranged")
    seen = []
    for limit in (5, 2, 9, 70, 1, 5):
        results = shop.run(interpreter, np.int32(0), np.int32(limit), np.int32(1))
        seen.append((results, interpreter.get_output_details()))
    interpreter.allocate_tensors()
    for limit in (3, 8):
        seen.append(shop.run(interpreter, np.int32(0), np.int32(limit), np.int32(1)))
    return seen


@call
def no_size_among_sizes(shop: Any) -> Any:
    interpreter = shop.open("ranged")
    sizes = [[np.int32(0), np.int32(limit), np.int32(1)] for limit in (3, 0, 4)]
    return [shop.outcome(lambda shop, size=size: shop.run(interpreter, *size)) for size in sizes]


@call
def a_failed_run_heals(shop: Any) -> Any:
    interpreter = shop.open("ranged")
    first = shop.outcome(lambda shop: shop.run(interpreter, np.int32(0), np.int32(5), np.int32(-1)))
    return first, shop.run(interpreter, np.int32(0), np.int32(5), np.int32(1))


@call
def tensors_that_move(shop: Any) -> Any:
    interpreter = shop.open("moving")
    row = np.arange(4, dtype=np.int32)
    seen = []
    for size in (3, 5000, 1, 100_000, 7, 7):
        seen += shop.run(interpreter, np.int32(size), row + size)
        seen.append(interpreter.get_output_details())
    return seen


@call
def shapes_that_an_input_says(shop: Any) -> Any:
    seen = []
    for name in ("reshaped", "reshaped_open"):
        interpreter = shop.open(name)
        for shape in ((2, 3), (3, 2), (6, 1), (1, 6), (2, 3)):
            seen += shop.run(interpreter, np.arange(6, dtype=F4).reshape(2, 3), np.array(shape, np.int32))
            seen.append(interpreter.get_output_details())
    return seen


@call
def input_that_is_an_output(shop: Any) -> Any:
    interpreter = shop.open("passing")
    return [shop.run(interpreter, np.array([-1, k, 2], F4)) for k in range(3)]


@call
def texts_in_all_forms(shop: Any) -> Any:
    interpreter = shop.open("texts")
    forms = (
        np.array([b"a", b"", b"c\0d", "\u00e9".encode()], dtype=object),
        np.array(["a", "\u00e9", "\u4e16", ""], dtype=object),
        np.array([b"one", b"two", b"three", b"4"]),
        np.array(["one", "two", "\u00fcber", "4"]),
    )
    return [shop.outcome(lambda shop, form=form: shop.run(interpreter, form)) for form in forms]


@call
def text_is_read_back(shop: Any) -> Any:
    interpreter = shop.open("texts")
    interpreter.set_tensor(0, np.array([b"a", b"b", b"c", b"d"], dtype=object))
    return interpreter.get_tensor(0)


@complaint
def none_among_texts(shop: Any) -> Any:
    shop.open("texts").set_tensor(0, np.array([b"a", None, b"c", b"d"], dtype=object))


@complaint
def number_among_texts(shop: Any) -> Any:
    shop.open("texts").set_tensor(0, np.array([b"a", 7, b"c", b"d"], dtype=object))


@call
def resized(shop: Any) -> Any:
    interpreter = shop.open("open")
    seen = []
    for rows in (3, 1, 0, 5):
        interpreter.resize_tensor_input(0, [rows, 4])
        interpreter.allocate_tensors()
        seen += shop.run(interpreter, np.arange(rows * 4, dtype=F4).reshape(rows, 4) - 3)
        seen.append(interpreter.get_input_details())
    return seen


@call
def resized_strictly(shop: Any) -> Any:
    interpreter = shop.open("open")
    interpreter.resize_tensor_input(0, [2, 4], strict=True)
    interpreter.allocate_tensors()
    return shop.run(interpreter, np.ones((2, 4), F4))


@complaint
def resized_too_strictly(shop: Any) -> Any:
    shop.open("open").resize_tensor_input(0, [2, 5], strict=True)


@complaint
def resized_where_there_is_nothing(shop: Any) -> Any:
    shop.open("open").resize_tensor_input(99, [2, 5])


@call
def resized_and_not_allocated(shop: Any) -> Any:
    interpreter = shop.open("open")
    interpreter.resize_tensor_input(0, [2, 4])
    told = interpreter.get_input_details()
    ends = [shop.outcome(lambda _: interpreter.set_tensor(0, np.ones((2, 4), F4)))]
    ends.append(shop.outcome(lambda _: interpreter.invoke()))
    interpreter.allocate_tensors()
    return told, ends, shop.run(interpreter, np.ones((2, 4), F4))


@call
def variables_are_kept_and_reset(shop: Any) -> Any:
    interpreter = shop.open("remembering")
    one = np.array([[1, -2]], F4)
    seen = [shop.run(interpreter, one) for _ in range(3)]
    seen.append(interpreter.get_tensor(4))
    interpreter.reset_all_variables()
    seen.append(shop.run(interpreter, one))
    interpreter.set_tensor(0, one * 3)
    interpreter.reset_all_variables()
    interpreter.invoke()
    return [*seen, interpreter.get_tensor(5)]


@call
def a_variable_can_be_set(shop: Any) -> Any:
    interpreter = shop.open("remembering")
    interpreter.set_tensor(4, np.array([[10, 20]], F4))
    return shop.run(interpreter, np.array([[1, 2]], F4))


@call
def an_output_can_be_set(shop: Any) -> Any:
    interpreter = shop.open("relu")
    shop.run(interpreter, np.ones((1, 4), F4))
    interpreter.set_tensor(1, np.full((1, 4), 8, F4))
    return interpreter.get_tensor(1)


@call
def a_constant_input_is_used(shop: Any) -> Any:
    interpreter = shop.open("constant_input")
    interpreter.invoke()
    return interpreter.get_tensor(1), interpreter.get_tensor(0)
