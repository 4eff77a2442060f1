"""PAD and RESHAPE."""

from ai_edge_litert import schema_py_generated as schema

from cases import Activation, Integers, cases
from tflite_file import Op, Quantization


def all_cases():
    yield from pad_cases()
    yield from reshape_cases()


def pad_cases():
    def pad(name, shape, paddings, **extra):
        what = f"[{', '.join(map(str, shape))}] by {paddings}"
        operands = [Activation(shape, Quantization.tensor(0.05, 23)), Integers(paddings, "paddings")]
        return cases(name, what, Op("PAD", schema.PadOptionsT()), operands, output="same", **extra)

    yield from pad("rank1", (5,), [[2, 3]])
    yield from pad("rank2", (3, 4), [[1, 0], [0, 2]])
    yield from pad("rank3", (2, 3, 4), [[0, 1], [2, 1], [1, 3]])
    yield from pad("rank4", (1, 3, 4, 2), [[0, 0], [1, 1], [2, 2], [0, 0]])
    yield from pad("rank4_all_axes", (2, 2, 3, 2), [[1, 0], [0, 2], [1, 1], [2, 1]])
    yield from pad("height_before", (1, 4, 4, 3), [[0, 0], [1, 0], [0, 0], [0, 0]])
    yield from pad("width_after", (1, 4, 4, 3), [[0, 0], [0, 0], [0, 1], [0, 0]])
    yield from pad("stride2_style", (1, 4, 4, 3), [[0, 0], [0, 1], [0, 1], [0, 0]])
    yield from pad("channels", (1, 3, 3, 2), [[0, 0], [0, 0], [0, 0], [1, 2]])
    yield from pad("batch", (2, 2, 2, 2), [[1, 1], [0, 0], [0, 0], [0, 0]])
    yield from pad("nothing", (1, 3, 3, 2), [[0, 0], [0, 0], [0, 0], [0, 0]])


def reshape_cases():
    def reshape(name, shape, *, option=None, operand=None):
        options = schema.ReshapeOptionsT()
        options.newShape = option
        operands = [Activation(shape)]
        if operand is not None:
            operands.append(Integers(operand, "shape"))
        what = f"[{', '.join(map(str, shape))}]"
        what += f" to {operand} (operand)" if operand is not None else ""
        what += f" to {option} (option)" if option is not None else ""
        return cases(name, what, Op("RESHAPE", options), operands, output="same")

    yield from reshape("operand", (2, 3, 4), operand=[4, 6])
    yield from reshape("operand_minus_one", (2, 3, 4), operand=[2, -1])
    yield from reshape("operand_minus_one_first", (1, 2, 3, 4), operand=[-1, 4])
    yield from reshape("option", (2, 3, 4), option=[6, 4])
    yield from reshape("option_minus_one", (2, 3, 4), option=[3, -1, 2])
    yield from reshape("operand_beats_option", (2, 3, 4), operand=[8, 3], option=[24])
    yield from reshape("to_rank1", (1, 4, 4, 2), operand=[-1])
    yield from reshape("to_rank4", (24,), operand=[1, 2, 3, 4])
    yield from reshape("flatten", (1, 4, 4, 2), operand=[1, 32])
    yield from reshape("one_to_scalar", (1, 1), operand=[])
    yield from reshape("same_shape", (2, 6), operand=[2, 6])
    yield from reshape("ones", (3, 4), operand=[1, 3, 1, 4])
