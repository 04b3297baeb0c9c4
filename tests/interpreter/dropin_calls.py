"""Calls that LiteRT survives: arguments, refusals, order, signatures, views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.interpreter.dropin_shop import CALLS, COMPLAINTS, F4, call, complaint


def _refuse(name: str, kind: Any = F4, model: str = "relu", shape: Any = (1, 4), index: int = 0) -> None:
    """A value that does not fit."""
    CALLS[name] = lambda shop: shop.open(model).set_tensor(index, np.zeros(shape, kind))
    COMPLAINTS.add(name)


for _kind in ("float64", "float16", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool"):
    _refuse(f"set_{_kind}_for_float32", _kind)
for _kind in ("float32", "int32", "complex64", "S3", "U3", "object"):
    _refuse(f"set_{_kind}_for_int64", _kind, "whole", (3,))
for _kind in ("int8", "float32"):
    _refuse(f"set_{_kind}_for_bool", _kind, "truth", (3,))
    _refuse(f"set_{_kind}_for_text", _kind, "texts", (4,))
_refuse("set_missing_batch", shape=(4,))
_refuse("set_too_deep", shape=(1, 1, 4))
_refuse("set_one_off", shape=(1, 5))
_refuse("set_both_off", shape=(2, 5))
_refuse("set_channels_first", model="image", shape=(1, 3, 8, 6))
_refuse("set_scalar_for_row", shape=())
_refuse("set_row_for_scalar", model="scalar", shape=(1,))
_refuse("set_bad_index", index=99)
_refuse("set_negative_index", index=-1)


@complaint
def nothing_given(shop: Any) -> Any:
    shop.interpreter()


@complaint
def both_given(shop: Any) -> Any:
    shop.interpreter(model_path=str(shop.path("relu")), model_content=b"x")


@complaint
def threads_below_one(shop: Any) -> Any:
    shop.open("relu", num_threads=0)


@complaint
def threads_in_words(shop: Any) -> Any:
    shop.open("relu", num_threads="two")


@complaint
def resolver_in_words(shop: Any) -> Any:
    shop.open("relu", experimental_op_resolver_type="BUILTIN")


@complaint
def no_such_file(shop: Any) -> Any:
    shop.interpreter(model_path="no_such_file.tflite")


@complaint
def no_model_in_content(shop: Any) -> Any:
    shop.interpreter(model_content=b"this is no model, " * 10)


@call
def two_threads(shop: Any) -> Any:
    return shop.run(shop.open("chain", num_threads=2), np.ones((1, 4), F4))


@call
def content_in_bytes(shop: Any) -> Any:
    interpreter = shop.interpreter(model_content=shop.path("chain").read_bytes())
    interpreter.allocate_tensors()
    return shop.run(interpreter, np.ones((1, 4), F4))


@call
def path_object(shop: Any) -> Any:
    interpreter = shop.interpreter(model_path=shop.path("chain"))
    interpreter.allocate_tensors()
    return shop.run(interpreter, np.ones((1, 4), F4))


@complaint
def invoke_before_allocate(shop: Any) -> Any:
    shop.open("relu", allocate=False).invoke()


@complaint
def set_before_allocate(shop: Any) -> Any:
    shop.open("relu", allocate=False).set_tensor(0, np.zeros((1, 4), F4))


@complaint
def get_before_allocate(shop: Any) -> Any:
    shop.open("relu", allocate=False).get_tensor(1)


@complaint
def get_bad_index(shop: Any) -> Any:
    shop.open("relu").get_tensor(99)


@complaint
def get_negative_index(shop: Any) -> Any:
    shop.open("relu").get_tensor(-1)


@complaint
def get_bad_subgraph(shop: Any) -> Any:
    shop.open("relu").get_tensor_details(7)


@call
def constant_is_read(shop: Any) -> Any:
    return shop.open("chain").get_tensor(1)


@call
def intermediates_are_preserved(shop: Any) -> Any:
    interpreter = shop.open("chain", experimental_preserve_all_tensors=True)
    shop.run(interpreter, np.arange(4, dtype=F4).reshape(1, 4))
    return [interpreter.get_tensor(index) for index in range(4)]


@call
def several_subgraphs(shop: Any) -> Any:
    interpreter = shop.open("signed")
    told = [interpreter.get_tensor_details(index) for index in range(interpreter.num_subgraphs())]
    return told, interpreter.get_signature_list(), interpreter._get_ops_details()


@call
def signatures(shop: Any) -> Any:
    interpreter = shop.open("signed", allocate=False)
    clip, both = interpreter.get_signature_runner("clip"), interpreter.get_signature_runner("sum")
    seen = [clip(given=np.arange(n, dtype=F4) - 1) for n in (2, 5, 1, 0, 3)]
    seen.append(both(right=np.array([1, 2], F4), left=np.array([10, 20], F4)))
    return [*seen, clip.get_input_details(), clip.get_output_details(), both.get_input_details()]


@call
def a_signature_among_plain_calls(shop: Any) -> Any:
    interpreter = shop.open("signed")

    def run(key: str, **inputs: Any) -> Any:  # LiteRT does not invoke while a runner is held
        return interpreter.get_signature_runner(key)(**inputs)

    seen = [shop.run(interpreter, np.array([-1, 1], F4))]
    seen.append(run("clip", given=np.array([-3, 4, 5], F4)))
    seen.append([interpreter.get_tensor(1), interpreter.get_tensor(0)])
    interpreter.invoke()
    seen.append(interpreter.get_tensor(1))
    seen.append(shop.run(interpreter, np.array([7, -8, 9], F4)))
    interpreter.set_tensor(0, np.array([1, -8, 2], F4))
    seen.append(run("sum", left=np.ones(2, F4), right=np.ones(2, F4)))
    interpreter.invoke()
    return [*seen, interpreter.get_tensor(1)]


@complaint
def no_signature_named(shop: Any) -> Any:
    shop.open("signed").get_signature_runner()


@complaint
def no_such_signature(shop: Any) -> Any:
    shop.open("signed").get_signature_runner("product")


@complaint
def no_signature_at_all(shop: Any) -> Any:
    shop.open("relu").get_signature_runner()


@complaint
def too_few_for_a_signature(shop: Any) -> Any:
    shop.open("signed").get_signature_runner("sum")(left=np.ones(2, F4))


@complaint
def wrong_name_for_a_signature(shop: Any) -> Any:
    shop.open("signed").get_signature_runner("clip")(taken=np.ones(2, F4))


@complaint
def wrong_type_for_a_signature(shop: Any) -> Any:
    shop.open("signed").get_signature_runner("clip")(given=np.ones(2))


@call
def views(shop: Any) -> Any:
    interpreter = shop.open("relu")
    given, made = interpreter.tensor(0), interpreter.tensor(1)
    given()[:] = [[1, -2, 3, -4]]
    interpreter.invoke()
    seen = [made().copy(), interpreter.get_tensor(0)]
    given()[0, 1] = 9
    interpreter.invoke()
    return [*seen, made().copy()]


def _held(name: str, action: Callable[[Any], Any]) -> None:
    def held(shop: Any) -> Any:
        interpreter = shop.open("relu")
        shop.run(interpreter, np.ones((1, 4), F4))
        view = interpreter.tensor(1)()
        ended = shop.outcome(lambda _: action(interpreter))
        alive = view.copy()
        del view
        action(interpreter)
        return ended, alive

    CALLS[name] = held


_held("a_view_held_over_invoke", lambda interpreter: interpreter.invoke())
_held("a_view_held_over_allocate", lambda interpreter: interpreter.allocate_tensors())
_held("a_view_held_over_resize", lambda interpreter: interpreter.resize_tensor_input(0, [1, 4]))


@call
def details_are_the_callers_own(shop: Any) -> Any:
    interpreter = shop.open("relu")
    interpreter.get_input_details()[0]["shape"][:] = 77
    interpreter.get_input_details()[0]["name"] = "other"
    return interpreter.get_input_details()
