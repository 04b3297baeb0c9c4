"""The TFLM planner on small models: head, tail and smallest arena as the real TFLM gives them.

The figures of `cortex-m` (arm-none-eabi gcc 12.2, short enums, in an emulator), `host64` (g++ 12) and
CMSIS-NN were read off tensorflow/tflite-micro 90b983c2b3f1. The smallest arenas are those of a search with
the real AllocateTensors; on `host64` that crashes for "variables" and "softmax int16" where an arena is too
small, and the figures there are ours. `int-enum` was not run: its structs have the sizes gcc gives them with
-fno-short-enums, and TFLM in wasm32, which lays them out alike, is asked in tests/against_runtime.
"""

from __future__ import annotations

import itertools

import pytest

from outlive.arena.plan import Plan, Question
from outlive.arena.tflm.planning import MOST_ARENA_BYTES, plan_tflm
from outlive.model import read_source
from tests.arena.tflm_models import ALL, looping, planned_offline, ties, with_variables
from tests.interpreter.dropin_models import graph, model, op
from tests.model.small import tensor

# name: ABI -> (head, head and tail, smallest arena)
FIGURES = {
    "ties": {"cortex-m": (768, 1536, 1536), "int-enum": (768, 1560, 1568), "host64": (768, 2000, 2000)},
    "offline": {"cortex-m": (320, 784, 784), "int-enum": (320, 792, 800), "host64": (320, 1120, 1136)},
    "looping": {"cortex-m": (512, 1248, 1392), "int-enum": (512, 1256, 1392), "host64": (512, 1744, 1952)},
    "choosing": {"cortex-m": (528, 1168, 1264), "int-enum": (528, 1192, 1264), "host64": (528, 1632, 1760)},
    "variables": {"cortex-m": (288, 1072, 1136), "int-enum": (288, 1096, 1152), "host64": (288, 1568, 1680)},
    "int4": {"cortex-m": (368, 756, 768), "int-enum": (368, 780, 784), "host64": (368, 1056, 1056)},
    "softmax int16": {
        "cortex-m": (64, 2532, 2624),
        "int-enum": (64, 2540, 2624),
        "host64": (64, 2816, 2880),
    },
    "rare int8": {"cortex-m": (64, 676, 1024), "int-enum": (64, 700, 1024), "host64": (64, 1136, 1440)},
    "product": {"cortex-m": (160, 724, 736), "int-enum": (160, 748, 752), "host64": (160, 1088, 1088)},
    "convolution int8": {
        "cortex-m": (768, 1588, 1600),
        "int-enum": (768, 1596, 1600),
        "host64": (768, 2016, 2016),
    },
    "convolution float": {
        "cortex-m": (3072, 3856, 3856),
        "int-enum": (3072, 3864, 3872),
        "host64": (3072, 4256, 4256),
    },
    "convolution int16": {
        "cortex-m": (1536, 2356, 2368),
        "int-enum": (1536, 2364, 2368),
        "host64": (1536, 2784, 2784),
    },
    "open shape": {"cortex-m": (192, 608, 704), "int-enum": (192, 616, 704), "host64": (192, 896, 1008)},
}
# With CMSIS-NN at 4ab83cc3 for a core with DSP instructions.
CMSIS_NN = {
    "int4": (48, 468),
    "softmax int16": (64, 2532),
    "product": (160, 740),
    "convolution int8": (1072, 1924),
    "convolution float": (3072, 3760),
    "convolution int16": (1536, 2388),
}


def plan(data: bytes, **question: object) -> Plan:
    """The plan of a model in bytes."""
    asked = Question(accelerator="tflm", **question)  # type: ignore[arg-type]
    read = read_source(data).model
    assert read is not None
    return plan_tflm(read, asked)


def figures(answer: Plan) -> tuple[int | None, int, int | None]:
    """Head, head and tail, smallest arena."""
    used = (answer.arena_bytes or 0) + (answer.persistent_bytes or 0)
    return answer.arena_bytes, used, answer.min_arena_bytes


@pytest.mark.parametrize("abi", ["cortex-m", "int-enum", "host64"])
@pytest.mark.parametrize("name", sorted(ALL))
def test_figures_are_those_of_the_real_tflm(name: str, abi: str) -> None:
    assert figures(plan(ALL[name], abi=abi)) == FIGURES[name][abi]


@pytest.mark.parametrize("name", sorted(CMSIS_NN))
def test_cmsis_nn_figures_are_those_of_the_real_tflm(name: str) -> None:
    head, used, _ = figures(plan(ALL[name], kernels="cmsis-nn"))
    assert (head, used) == CMSIS_NN[name]


def test_wasm32_lays_out_as_32_bits_with_int_enums() -> None:
    for data in ALL.values():
        assert figures(plan(data, abi="wasm32")) == figures(plan(data, abi="int-enum"))


def test_of_one_size_the_later_tensor_is_placed_first() -> None:
    offsets = {place.tensor: place.offset_bytes for place in plan(ties()).placements}
    # 6 and 5 meet in the last operator; 4 is there with 5; 3 with 4 and 5; and so on down.
    assert offsets == {6: 0, 5: 256, 4: 0, 3: 512, 2: 256, 1: 0, 0: 512}


def test_parts_add_up_to_head_and_tail() -> None:
    for data in ALL.values():
        answer = plan(data)
        parts = {part.name: part.bytes for part in answer.parts}
        assert parts.pop("planned tensors") == answer.arena_bytes
        assert sum(parts.values()) == answer.persistent_bytes
        assert {"allocator objects", "evaluation tensors", "nodes"} <= parts.keys()


def test_tensors_alive_at_one_time_do_not_overlap() -> None:
    for name in ALL.keys() - {"offline"}:
        places = [place for place in plan(ALL[name]).placements if not place.persistent]
        for one, other in itertools.combinations(places, 2):
            apart = one.end_bytes <= other.offset_bytes or other.end_bytes <= one.offset_bytes
            assert apart or one.last_op < other.first_op or other.last_op < one.first_op


def test_a_loop_keeps_its_operator_s_tensors_alive_around_its_body() -> None:
    answer = plan(looping())
    lives = {(place.subgraph, place.name): (place.first_op, place.last_op) for place in answer.placements}
    # Scopes: x 0; RELU 1; WHILE 2, condition 3 to 4, body 5 to 7; RELU 8. Operator 0 is scope 1.
    assert lives[0, "before"] == (0, 6)
    assert lives[0, "looped"] == (1, 7)
    assert lives[1, "c"] == (2, 3)
    assert lives[2, "b"] == (4, 5)
    assert lives[2, "b2"] == (6, 6)
    assert len(answer.ops) == 3


def test_the_load_of_an_operator_is_what_lives_in_it() -> None:
    answer = plan(ties())
    assert [load.live_bytes for load in answer.ops] == [512, 768, 768, 768, 768, 512]
    assert answer.lower_bound_bytes == 768 == answer.arena_bytes


def test_an_offline_plan_is_kept_to() -> None:
    offsets = {
        place.tensor: place.offset_bytes for place in plan(planned_offline([64, 512, 0, 128])).placements
    }
    assert offsets == {0: 64, 1: 512, 2: 0, 3: 128}


def test_an_offline_plan_for_other_tensors_is_refused() -> None:
    answer = plan(planned_offline([-1, -1, -1, -1], count=5))
    assert answer.refusals[0].reason == "its offline plan is for 5 tensors, the model has 4"


def test_variables_lie_in_the_tail() -> None:
    answer = plan(with_variables())
    (state,) = [place for place in answer.placements if place.persistent]
    assert (state.name, state.size_bytes) == ("state", 42)
    assert 0 <= state.offset_bytes <= (answer.persistent_bytes or 0) - 42
    # VAR_HANDLE sets its output's pointer itself: nothing is planned for a handle.
    assert "handle" not in {place.name for place in answer.placements}


def test_preserving_all_tensors_lays_them_in_line() -> None:
    answer = plan(ties(), preserve_all_tensors=True)
    assert answer.arena_bytes == 7 * 256
    objects = {part.name: part.bytes for part in answer.parts}["allocator objects"]
    assert objects > 4 * 1024  # LinearMemoryPlanner keeps 1,024 offsets in itself


def test_what_is_assumed_is_said() -> None:
    assumed = " ".join(plan(ties(), kernels="cmsis-nn").assumed)
    assert "cortex-m" in assumed
    assert "90b983c2b3f1" in assumed
    assert "4ab83cc3cc98" in assumed


def test_shapes_given_replace_the_file_s() -> None:
    shapes = {(0, index): (1, 32) for index in range(7)}
    assert plan(ties(), shapes=shapes).arena_bytes == 768 // 2


def test_an_unknown_abi_is_told_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="cortex-m, int-enum, wasm32, host64"):
        plan(ties(), abi="vax")


def test_more_than_any_microcontroller_has_is_refused_with_the_figure() -> None:
    tensors = [tensor("x", "FLOAT32", [1, 4096, 4096]), tensor("y", "FLOAT32", [1, 4096, 4096])]
    answer = plan(model(["RELU"], graph(tensors, [0], [1], op(0, [0], [1]))))
    assert answer.arena_bytes is answer.min_arena_bytes is None
    assert f"{MOST_ARENA_BYTES:,}" in answer.refusals[0].reason
