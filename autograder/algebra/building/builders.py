"""What builds the value of each kind of node."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from autograder.algebra.building.calls import call, postfix
from autograder.algebra.building.construction import Build
from autograder.algebra.building.expressions import chain, matrix, number, power, statement
from autograder.algebra.building.running_index import indexed, name

BUILDERS: Mapping[str, Build] = {
    "number": number,
    "name": name,
    "group": lambda site, node, depth: site.build(node.children[0], depth),
    "negative": lambda site, node, depth: -site.build(node.children[0], depth),
    "percent": lambda site, node, depth: site.build(node.children[0], depth) / 100,
    "degrees": lambda site, node, depth: site.build(node.children[0], depth) * sympy.pi / 180,
    "chain": chain,
    "power": power,
    "factorial": postfix,
    "transpose": postfix,
    "indexed": indexed,
    "call": call,
    "matrix": matrix,
    "relation": statement,
    "list": statement,
    "tuple": statement,
}
