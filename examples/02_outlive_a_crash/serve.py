"""Run whatever models are given; none of them can end this program."""

import sys

import numpy as np

import outlive


def answer(path: str) -> str:
    """What the model says to an input of zeros, or why it says nothing."""
    try:
        with outlive.Interpreter(path, memory="1GB", seconds=20) as interpreter:
            interpreter.allocate_tensors()
            for row in interpreter.get_input_details():
                interpreter.set_tensor(row["index"], np.zeros(row["shape"], row["dtype"]))
            interpreter.invoke()
            result = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
            return f"the largest of {result.size} outputs is number {int(result.argmax())}"
    except outlive.OutliveError as error:
        return f"no answer: {error.finding}"


for name in sys.argv[1:]:
    print(f"{name}: {answer(name)}")
print("the service is still running")
