"""What a model takes and gives, and what makes it big."""

import sys

import outlive


def describe(tensor: outlive.Tensor) -> str:
    """How to fill or read this tensor."""
    text = f"{tensor.name}: {tensor.dtype} {list(tensor.shape)}"
    quantization = tensor.quantization
    if quantization and quantization.scales:
        scale, zero = quantization.scales[0], quantization.zero_points[0]
        text += f"   stored = round(real / {scale:.6g}) + {zero}"
    return text


def main(path: str) -> int:
    """Print the answer, or why there is none."""
    try:
        model = outlive.read(path)
    except outlive.ModelError as error:
        print(error)
        return 1
    print("takes", *map(describe, model.inputs), sep="\n  ")
    print("gives", *map(describe, model.outputs), sep="\n  ")
    constants = [tensor for tensor in model.tensors() if tensor.data is not None]
    print("largest constants")
    for tensor in sorted(constants, key=lambda tensor: -tensor.data.nbytes)[:3]:
        values = tensor.array()
        print(
            f"  {tensor.data.nbytes:>8,} bytes  {tensor.name}  from {values.min():.3g} to {values.max():.3g}"
        )
    for finding in outlive.check(model):
        print(finding)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
