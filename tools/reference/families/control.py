"""Control flow: IF, WHILE and CALL, which run other subgraphs.

LiteRT gives wrong results where a subgraph gives its inputs in another order, or one of
them more than once: it copies the outputs one after the other to where the inputs are.
TensorFlow Lite Micro copies them first; these float32 cases are its.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema

from casefiles import tensor as meta_tensor
from cases import Case
from engines import LITERT_REFERENCE, run_litert_reference
from tflite_file import Op, Quantization, Subgraph, Tensor, build_subgraphs

X = Quantization.tensor(0.0235, -11)
Y = Quantization.tensor(0.031, 7)
SHAPE = (1, 2, 3, 2)


def all_cases():
    for dtype in np.float32, np.int8:
        yield if_both(dtype)
        yield if_moves(dtype)
        yield while_counts(dtype)
        yield while_swaps(dtype)
        yield nested_if(dtype)
    yield if_constants()
    yield if_legacy()
    yield nested_while()
    yield while_weights()
    yield while_flag()
    yield while_behind_layer()
    yield call()


def if_both(dtype):
    """One of two sums; the input is used afterwards, too."""
    c, x, t, y = flag("c"), value("x", dtype), value("t", dtype, Y), value("y", dtype, Y)
    a, b, k = value("a", dtype), value("b", dtype), constant("k", dtype)
    then = Subgraph([(ADD, [a, a], [s := value("s", dtype, Y)])], [a], [s])
    otherwise = Subgraph([(ADD, [b, k], [z := value("z", dtype, Y)])], [b], [z])
    main = Subgraph([(if_op(1, 2), [c, x], [t]), (ADD, [t, x], [y])], [c, x], [y])
    sets = [[np.array(truth), values(dtype, 1)] for truth in (True, False)]
    return case("if", "both", dtype, "a sum, or another one", [main, then, otherwise], sets)


def if_moves(dtype):
    """Branches that give their inputs, exchanged, and a constant."""
    c, a, b = flag("c"), value("a", dtype), value("b", dtype)
    results = [value(name, dtype) for name in ("p", "q", "r")]
    then_a, then_b = value("then_a", dtype), value("then_b", dtype)
    then = Subgraph([], [then_a, then_b], [then_b, then_a, then_b])
    else_a, else_b = value("else_a", dtype), value("else_b", dtype)
    otherwise = Subgraph([(RELU, [else_a], [s := value("s", dtype)])], [else_a, else_b], [constant("k", dtype), s, s])
    main = Subgraph([(if_op(1, 2), [c, a, b], results)], [c, a, b], results)
    sets = [[np.array(truth), values(dtype, 2), values(dtype, 3)] for truth in (True, False)]
    return case("if", "moves", dtype, "inputs exchanged, or a constant", [main, then, otherwise], sets, "micro")


def if_constants():
    """Branches that take nothing."""
    c, y = flag("c"), value("y", np.float32)
    branches = [Subgraph([], [], [constant(name, np.float32)]) for name in ("one", "other")]
    main = Subgraph([(if_op(1, 2), [c], [y])], [c], [y])
    sets = [[np.array([truth])] for truth in (True, False)]
    return case("if", "constants", np.float32, "one of two constants", [main, *branches], sets)


def if_legacy():
    """uint8, which LiteRT alone runs."""
    dtype, x_scale, y_scale = np.uint8, Quantization.tensor(0.0235, 117), Quantization.tensor(0.03, 131)
    c, x, y = flag("c"), Tensor("x", SHAPE, dtype, x_scale), Tensor("y", SHAPE, dtype, y_scale)
    a, s = Tensor("a", SHAPE, dtype, x_scale), Tensor("s", SHAPE, dtype, y_scale)
    b, k = Tensor("b", SHAPE, dtype, x_scale), np.arange(12, dtype=dtype).reshape(SHAPE) * 20
    then = Subgraph([(ADD, [a, a], [s])], [a], [s])
    otherwise = Subgraph([], [b], [Tensor("k", SHAPE, dtype, y_scale, k)])
    main = Subgraph([(if_op(1, 2), [c, x], [y])], [c, x], [y])
    image = np.random.default_rng(4).integers(0, 256, SHAPE, dtype)
    sets = [[np.array(truth), image] for truth in (True, False)]
    return case("if", "legacy", dtype, "a sum, or a constant", [main, then, otherwise], sets, engine="litert")


def while_counts(dtype):
    """Adds the same again and again; once the condition is false at once."""
    i, x, k = integer("i"), value("x", dtype), value("k", dtype)
    results = [integer("n"), value("sum", dtype), value("kept", dtype)]
    condition = less(5, [value("cx", dtype), value("ck", dtype)])
    bi, bx, bk = integer("bi"), value("bx", dtype), value("bk", dtype)
    body = Subgraph(
        [(ADD, [bi, one()], [bn := integer("bn")]), (ADD, [bx, bk], [by := value("by", dtype)])],
        [bi, bx, bk],
        [bn, by, bk],
    )
    y = value("y", dtype, Y)
    main = Subgraph([(while_op(1, 2), [i, x, k], results), (ADD, [results[1], x], [y])], [i, x, k], [y, *results])
    sets = [[np.array(first, np.int32), values(dtype, 5), values(dtype, 6)] for first in (1, 4, 9)]
    return case("while", "counts", dtype, "a sum that grows", [main, condition, body], sets)


def while_swaps(dtype):
    """Two variables exchanged, and a third that becomes one of them."""
    i, a, b, c = integer("i"), value("a", dtype), value("b", dtype), value("c", dtype)
    results = [integer("n"), value("p", dtype), value("q", dtype), value("r", dtype)]
    condition = less(3, [value(name, dtype) for name in ("ca", "cb", "cc")])
    bi, ba, bb, bc = integer("bi"), value("ba", dtype), value("bb", dtype), value("bc", dtype)
    body = Subgraph([(ADD, [bi, one()], [bn := integer("bn")])], [bi, ba, bb, bc], [bn, bb, ba, ba])
    main = Subgraph([(while_op(1, 2), [i, a, b, c], results)], [i, a, b, c], results)
    arrays = [values(dtype, seed) for seed in (7, 8, 9)]
    sets = [[np.array(first, np.int32), *arrays] for first in (0, 1, 7)]
    return case("while", "swaps", dtype, "variables that change places", [main, condition, body], sets, "micro")


def nested_if(dtype):
    """A loop whose body decides each time."""
    i, x = integer("i"), value("x", dtype)
    results = [integer("n"), value("y", dtype)]
    condition = less(6, [value("cx", dtype)])
    bi, bx = integer("bi"), value("bx", dtype)
    early = Tensor("early", (), np.bool_)
    body = Subgraph(
        [
            (LESS, [bi, Tensor("three", (), np.int32, None, np.array(3, np.int32))], [early]),
            (if_op(3, 4), [early, bx], [by := value("by", dtype)]),
            (ADD, [bi, one()], [bn := integer("bn")]),
        ],
        [bi, bx],
        [bn, by],
    )
    tx, ex = value("tx", dtype), value("ex", dtype)
    then = Subgraph([(ADD, [tx, constant("k", dtype)], [ty := value("ty", dtype)])], [tx], [ty])
    otherwise = Subgraph([(RELU, [ex], [ey := value("ey", dtype)])], [ex], [ey])
    main = Subgraph([(while_op(1, 2), [i, x], results)], [i, x], results)
    sets = [[np.array(first, np.int32), values(dtype, 11)] for first in (0, 2, 4)]
    graphs = [main, condition, body, then, otherwise]
    return case("while", "nested_if", dtype, "a loop with a branch", graphs, sets)


def nested_while():
    """A branch with a loop, within a loop."""
    dtype = np.float32
    i, x = integer("i"), value("x", dtype)
    results = [integer("n"), value("y", dtype)]
    outer = Subgraph(
        [
            (LESS, [bi := integer("bi"), Tensor("two", (), np.int32, None, np.array(2, np.int32))], [c := Tensor("c", (), np.bool_)]),
            (if_op(3, 4), [c, bi, bx := value("bx", dtype)], [by := value("by", dtype)]),
            (ADD, [bi, one()], [bn := integer("bn")]),
        ],
        [bi, bx],
        [bn, by],
    )
    ti, tx, tn, ty = integer("ti"), value("tx", dtype), integer("tn"), value("ty", dtype)
    then = Subgraph([(while_op(5, 6), [ti, tx], [tn, ty])], [ti, tx], [ty])
    ei, ex, ey = integer("ei"), value("ex", dtype), value("ey", dtype)
    otherwise = Subgraph([(ADD, [ex, ex], [ey])], [ei, ex], [ey])
    ii, ix, it, iy = integer("ii"), value("ix", dtype), integer("it"), value("iy", dtype)
    inner = Subgraph([(ADD, [ii, one()], [it]), (ADD, [ix, constant("k", dtype)], [iy])], [ii, ix], [it, iy])
    main = Subgraph([(while_op(1, 2), [i, x], results)], [i, x], results)
    graphs = [main, less(4, [value("cx", dtype)]), outer, then, otherwise, less(5, [value("dx", dtype)]), inner]
    sets = [[np.array(first, np.int32), values(dtype, 12)] for first in (0, 3)]
    return case("while", "nested_while", dtype, "a loop in a branch in a loop", graphs, sets)


def while_weights():
    """Weights that are a variable, as converters write them."""
    rng = np.random.default_rng(13)
    weights = Tensor("w", (3, 3), np.float32, None, rng.normal(0, 0.5, (3, 3)).astype(np.float32))
    bias = Tensor("b", (3,), np.float32, None, rng.normal(0, 0.5, 3).astype(np.float32))
    row = lambda name: Tensor(name, (1, 3), np.float32)
    given = lambda stem: [integer(stem + "i"), row(stem + "x"), *matrices(stem)]
    matrices = lambda stem: [Tensor(stem + "w", (3, 3), np.float32), Tensor(stem + "b", (3,), np.float32)]
    i, x, (n, y, *kept) = integer("i"), row("x"), given("r")
    ci, *others = given("c")
    bi, bx, bw, bb = given("b")
    dense = Op("FULLY_CONNECTED", schema.FullyConnectedOptionsT())
    body = Subgraph(
        [(ADD, [bi, one()], [bn := integer("bn")]), (dense, [bx, bw, bb], [by := row("by")])],
        [bi, bx, bw, bb],
        [bn, by, bw, bb],
    )
    main = Subgraph([(while_op(1, 2), [i, x, weights, bias], [n, y, *kept])], [i, x], [y, kept[1]])
    condition = less(3, others, ci)
    sets = [[np.array(first, np.int32), rng.normal(0, 1, (1, 3)).astype(np.float32)] for first in (0, 2)]
    return case("while", "weights", np.float32, "a layer again and again", [main, condition, body], sets)


def while_flag():
    """The condition is a variable."""
    number = lambda name, data=None: Tensor(name, (1,), np.float32, None, data)
    go, x = flag("go"), number("x")
    results = [flag("went"), number("y")]
    condition = Subgraph([], [cgo := flag("cgo"), number("cx")], [cgo])
    bgo, bx, by, bn = flag("bgo"), number("bx"), number("by"), flag("bn")
    limit = number("limit", np.array([10], np.float32))
    body = Subgraph([(ADD, [bx, bx], [by]), (LESS, [by, limit], [bn])], [bgo, bx], [bn, by])
    main = Subgraph([(while_op(1, 2), [go, x], results)], [go, x], results)
    sets = [[np.array(start), np.array(1.5, np.float32)] for start in (True, False)]
    return case("while", "flag", np.float32, "a variable as condition", [main, condition, body], sets)


def while_behind_layer():
    """The one input is read row by row before the loop, which needs all of its result."""
    dtype = np.float32
    options = schema.Pool2DOptionsT()
    options.filterHeight = options.filterWidth = options.strideH = options.strideW = 2
    options.padding = schema.Padding.VALID
    pool = Op("AVERAGE_POOL_2D", options)
    x, t, y = Tensor("x", (1, 4, 6, 2), dtype), value("t", dtype), value("y", dtype)
    first = Tensor("first", (), np.int32, None, np.array(1, np.int32))
    condition = less(3, [value("cx", dtype)])
    bi, bx = integer("bi"), value("bx", dtype)
    body = Subgraph(
        [(ADD, [bi, one()], [bn := integer("bn")]), (ADD, [bx, constant("k", dtype)], [by := value("by", dtype)])],
        [bi, bx],
        [bn, by],
    )
    main = Subgraph([(pool, [x], [t]), (while_op(1, 2), [first, t], [integer("n"), y])], [x], [y])
    image = np.random.default_rng(15).normal(0, 1, x.shape).astype(dtype)
    return case("while", "behind_layer", dtype, "a pool, then a loop", [main, condition, body], [[image]])


def call():
    """A subgraph that is called twice, and calls another; no reference runs CALL."""
    dtype = np.float32
    x, t, y = value("x", dtype), value("t", dtype), value("y", dtype)
    main = Subgraph([(call_op(1), [x], [t]), (call_op(1), [t], [y])], [x], [y])
    a, b, c = value("a", dtype), value("b", dtype), value("c", dtype)
    outer = Subgraph([(call_op(2), [a], [b]), (ADD, [b, a], [c])], [a], [c])
    p, q = value("p", dtype), value("q", dtype)
    inner = Subgraph([(ADD, [p, k := constant("k", dtype)], [q])], [p], [q])
    sets = [[values(dtype, 14)]]
    names = [value(name, dtype) for name in ("s", "u", "v")]
    by_hand = [
        (ADD, [x, k], [names[0]]),
        (ADD, [names[0], x], [names[1]]),
        (ADD, [names[1], k], [names[2]]),
        (ADD, [names[2], names[1]], [y]),
    ]
    made = case("call", "twice", dtype, "a subgraph that calls another", [main, outer, inner], sets)
    made.expected = run_litert_reference(build_subgraphs([Subgraph(by_hand, [x], [y])]), sets)
    made.expected_from = f"{LITERT_REFERENCE}, of the same operators without calls"
    return made


def refused():
    """Models that must be refused: name, reason, operator, operands, result, file."""
    c, x, y = flag("c"), value("x", np.int8), value("y", np.int8)
    a = value("a", np.int8)
    same = Subgraph([], [a], [a])
    other = Tensor("a", (1, 2, 3, 1), np.int8, X)
    coarse = value("a", np.int8, Y)
    number = integer("c")
    for name, reason, operands, branch in (
        ("if_i8_recursion", "a subgraph runs itself", [c, x], None),
        ("if_i8_condition_type", "the condition must be one bool: int32", [number, x], same),
        ("if_i8_shapes", "shapes must be equal: (1, 2, 3, 2), (1, 2, 3, 1)", [c, x], Subgraph([], [other], [other])),
        (
            "if_i8_unequal_quantization",
            "operand and input of the branch must have the same quantization: 0.0235 -11, 0.031 7",
            [c, x],
            Subgraph([], [coarse], [coarse]),
        ),
    ):
        op = if_op(1, 1)
        z = value("z", np.int8)
        branch = branch or Subgraph([(op, [flag_constant(), a], [z])], [a], [z])
        yield name, reason, op, operands, y, build_subgraphs([Subgraph([(op, operands, [y])], operands, [y]), branch])


def flag_constant():
    return Tensor("d", (1,), np.bool_, None, np.array([True]))


def case(operator, name, dtype, what, subgraphs, sets, engine=None):
    kind = np.dtype(dtype).name.replace("uint", "u").replace("float", "f").replace("int", "i")
    main = subgraphs[0]
    return Case(
        name=f"{operator}_{kind}_{name}",
        what=f"{operator} {kind} {what}",
        model=build_subgraphs(subgraphs),
        inputs=[meta(tensor) for tensor in main.inputs],
        outputs=[meta(tensor) for tensor in main.outputs],
        sets=[[np.asarray(a).reshape(t.shape) for a, t in zip(arrays, main.inputs, strict=True)] for arrays in sets],
        engine=engine or ("micro" if dtype == np.int8 else "litert"),
    )


def meta(tensor):
    pair = () if tensor.quantization is None else (tensor.quantization.scale[0], tensor.quantization.zero_point[0])
    return meta_tensor(tensor.name, tensor.shape, np.dtype(tensor.dtype).name.upper().removesuffix("_"), *pair)


def flag(name):
    return Tensor(name, (1,), np.bool_)


def integer(name):
    return Tensor(name, (), np.int32)


def value(name, dtype, quantization=X):
    return Tensor(name, SHAPE, dtype, quantization if dtype == np.int8 else None)


def constant(name, dtype):
    return Tensor(name, SHAPE, dtype, X if dtype == np.int8 else None, values(dtype, len(name)))


def values(dtype, seed):
    quantized = np.random.default_rng(seed).integers(-128, 127, SHAPE, np.int8, endpoint=True)
    return quantized if dtype == np.int8 else X.real(quantized)


def one():
    return Tensor("one", (), np.int32, None, np.array(1, np.int32))


def less(limit, others, counter=None):
    """Whether the first variable is below `limit`."""
    counter = counter or integer("ci")
    bound = Tensor("limit", (), np.int32, None, np.array(limit, np.int32))
    result = Tensor("again", (), np.bool_)
    return Subgraph([(LESS, [counter, bound], [result])], [counter, *others], [result])


ADD = Op("ADD", schema.AddOptionsT(), 2)
RELU = Op("RELU", None, 2)
LESS = Op("LESS", schema.LessOptionsT())


def if_op(then, otherwise):
    options = schema.IfOptionsT()
    options.thenSubgraphIndex, options.elseSubgraphIndex = then, otherwise
    return Op("IF", options)


def while_op(condition, body):
    options = schema.WhileOptionsT()
    options.condSubgraphIndex, options.bodySubgraphIndex = condition, body
    return Op("WHILE", options)


def call_op(subgraph):
    options = schema.CallOptionsT()
    options.subgraph = subgraph
    return Op("CALL", options)
