"""Random models of every operator, one file for each family; each has a table `DRAWS`."""

from draws import (
    arithmetic,
    four_bits,
    functions,
    layers,
    lookups,
    matrices,
    movement,
    reductions,
    sequences,
    signal,
)

FAMILIES = (arithmetic, functions, layers, lookups, matrices, movement, reductions, sequences, signal)
# From an operator's name to a function of a generator and a row of types that draws a `Model`.
DRAWS = {name: four_bits.also(draw) for family in FAMILIES for name, draw in family.DRAWS.items()}
