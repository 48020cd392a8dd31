"""Balance the flow: spread each block's gain so evenly that the loads of the pairs show the critical levels.

Let the flow of all gains to the pairs minimise the sum of load**2 / price. Then a block sends flow only to
those of its pairs whose level, load / price, is lowest, and that level is the block's critical level: the
balanced flow contains the whole path. Here it is approached tree by tree. Given the loads that the other
trees cause, the best flow of one tree is computed as exactly as two Newton steps allow:

    Let all gain of a block fill its pairs to a common level. A block whose level is above its parent's sends
    gain up until the levels are equal: the two are pooled, as in isotonic regression.

A few rounds over the trees come close to the critical levels of most blocks. Approximate levels only suggest
where to divide the problem and where flows may start; exact flows decide.
"""

from __future__ import annotations

import cython
import numpy as np
from numpy.typing import NDArray

if not cython.compiled:
    from budgetprune.utils.kernel_types import (
        Doubles,
        Floats,
        Ints,
        Longs,
        OutFloats,
        Size,
        int32_t,
    )

# Above all levels.
HIGHEST = cython.declare(cython.double, 1e150)


class Balance:
    """A flow that is balanced step by step. Gains are shares of all gains, prices of the highest price.

    Attributes of blocks
    --------------------
    level : load per price that the block's flow reaches; never above the parent's
    before : level before the last round
    up : flow to the parent
    supply, slope, offset : of the group of pooled blocks that a block is the top of: gain, prices of the
        pairs that get flow, and the loads that other trees cause there
    pooled : whether the block has its parent's level
    children, child, sibling : heaps of the groups below a group, the highest level first

    Attributes of arcs and pairs
    ----------------------------
    flow, load
    others, own_price : loads caused by other trees, and prices, for the arcs of one tree
    """

    def __init__(
        self,
        parent: Ints,
        gain: Doubles,
        arc_start: Longs,
        arc_pair: Ints,
        price: Floats,
        flow: OutFloats,
        level: NDArray[np.float64],
        most_arcs: int,
    ) -> None:
        n_blocks = len(parent)
        self.parent = parent
        self.gain = gain
        self.arc_start = arc_start
        self.arc_pair = arc_pair
        self.price = price
        self.flow = flow
        self.level = level
        self.before = np.zeros(n_blocks)
        self.up, self.supply, self.slope, self.offset = np.zeros((4, n_blocks))
        self.pooled = np.zeros(n_blocks, np.bool_)
        self.children, self.child, self.sibling = np.empty((3, n_blocks), np.int32)
        self.others, self.own_price = np.empty((2, most_arcs), np.float32)
        self.load = np.zeros(len(price), np.float32)
        with cython.nogil:
            add_loads(self)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def add_loads(net: Balance) -> cython.void:
    """Add up the flow to each pair."""
    a: Size
    for a in range(net.arc_pair.shape[0]):
        net.load[net.arc_pair[a]] += net.flow[a]


def balance_trees(net: Balance, tree_start: Longs, is_first: bool) -> None:
    """Balance the flow of each tree in turn. In the first round there is no flow yet."""
    t: Size
    first: cython.bint = is_first
    with cython.nogil:
        for t in range(tree_start.shape[0] - 1):
            balance_tree(net, tree_start[t], tree_start[t + 1], first)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def balance_tree(net: Balance, top: Size, end: Size, is_first: cython.bint) -> cython.void:
    """Balance the flow of one tree, whose blocks are ``top:end``."""
    u: Size
    for u in range(top, end):
        net.before[u] = net.level[u]
        if is_first:
            net.level[u] = HIGHEST
        remove_flow(net, u, net.arc_start[top])
    pool(net, top, end)
    for u in range(top, end):
        measure(net, u, net.arc_start[top])
    pool(net, top, end)
    for u in range(top, end):
        net.supply[u] = net.gain[u]
        net.up[u] = 0.0
    for u in range(end - 1, top - 1, -1):
        send(net, u, net.arc_start[top])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def remove_flow(net: Balance, u: Size, origin: Size) -> cython.void:
    """Note the loads that other trees cause in a block's pairs; measure them as `measure` does."""
    slope: cython.double = 0.0
    offset: cython.double = 0.0
    level: cython.float = cython.cast(cython.float, min(net.level[u], 1e30))
    a: Size
    for a in range(net.arc_start[u], net.arc_start[u + 1]):
        j: Size = net.arc_pair[a]
        price: cython.float = net.price[j]
        others: cython.float = net.load[j] - net.flow[a]
        others = others if others > 0 else 0
        net.others[a - origin] = others
        net.own_price[a - origin] = price
        slope += price if level * price > others else 0
        offset += others if level * price > others else 0
    net.slope[u] = slope
    net.offset[u] = offset


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def measure(net: Balance, u: Size, origin: Size) -> cython.void:
    """Measure what the block's pairs take near its level: ``slope * level - offset``."""
    slope: cython.double = 0.0
    offset: cython.double = 0.0
    level: cython.float = cython.cast(cython.float, min(net.level[u], 1e30))
    k: Size
    for k in range(net.arc_start[u] - origin, net.arc_start[u + 1] - origin):
        price: cython.float = net.own_price[k]
        others: cython.float = net.others[k]
        slope += price if level * price > others else 0
        offset += others if level * price > others else 0
    net.slope[u] = slope
    net.offset[u] = offset


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def send(net: Balance, u: Size, origin: Size) -> cython.void:
    """Fill the block's pairs to its level, as far as its supply allows; the rest goes to a pooled parent."""
    level: cython.float = cython.cast(cython.float, min(net.level[u], 1e30))
    supply: cython.double = max(net.supply[u], 0.0)
    wanted: cython.double = 0.0
    k: Size
    a: Size
    x: cython.float
    for k in range(net.arc_start[u] - origin, net.arc_start[u + 1] - origin):
        x = level * net.own_price[k] - net.others[k]
        wanted += x if x > 0 else 0
    share: cython.float = 0
    if net.pooled[u] and wanted <= supply:
        share = 1
        net.up[u] = supply - wanted
        net.supply[net.parent[u]] += net.up[u]
    elif wanted > 0:
        share = cython.cast(cython.float, supply / wanted)
    for a in range(net.arc_start[u], net.arc_start[u + 1]):
        x = level * net.own_price[a - origin] - net.others[a - origin]
        x = share * x if x > 0 else 0
        net.flow[a] = x
        net.load[net.arc_pair[a]] = net.others[a - origin] + x


# --- Isotonic levels ----------------------------------------------------------------------------------------


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def pool(net: Balance, top: Size, end: Size) -> cython.void:
    """Set levels such that no child's is above its parent's, pooling blocks where it would be."""
    u: Size
    p: Size
    c: Size
    for u in range(top, end):
        net.supply[u] = net.gain[u]
        net.pooled[u] = False
        net.children[u] = -1
        net.child[u] = -1
        net.sibling[u] = -1
    for u in range(end - 1, top - 1, -1):
        net.level[u] = own_level(net, u)
        while net.children[u] >= 0 and net.level[net.children[u]] > net.level[u]:
            c = net.children[u]
            net.pooled[c] = True
            net.supply[u] += net.supply[c]
            net.slope[u] += net.slope[c]
            net.offset[u] += net.offset[c]
            net.children[u] = meld(net, remove_top(net, c), net.children[c])
            net.level[u] = own_level(net, u)
        p = net.parent[u]
        if p >= 0:
            net.children[p] = meld(net, net.children[p], cython.cast(int32_t, u))
    for u in range(top, end):
        if net.pooled[u]:
            net.level[u] = net.level[net.parent[u]]


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def own_level(net: Balance, u: Size) -> cython.double:
    """Level at which the pairs of a group take its gain."""
    if net.supply[u] <= 0:
        return 0.0
    return (net.supply[u] + net.offset[u]) / net.slope[u] if net.slope[u] > 0 else HIGHEST


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def meld(net: Balance, a: int32_t, b: int32_t) -> int32_t:
    """Join two pairing heaps; return the top, or -1 if both are empty."""
    if a < 0:
        return b
    if b < 0:
        return a
    if net.level[a] < net.level[b]:
        a, b = b, a
    net.sibling[b] = net.child[a]
    net.child[a] = b
    return a


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def remove_top(net: Balance, top: int32_t) -> int32_t:
    """Remove the top of a pairing heap; return the new one, or -1."""
    a: int32_t = net.child[top]
    joined: int32_t = -1
    net.child[top] = -1
    while a >= 0:
        b: int32_t = net.sibling[a]
        after: int32_t = -1
        net.sibling[a] = -1
        if b >= 0:
            after = net.sibling[b]
            net.sibling[b] = -1
        both: int32_t = meld(net, a, b)
        net.sibling[both] = joined
        joined = both
        a = after
    result: int32_t = -1
    while joined >= 0:
        rest: int32_t = net.sibling[joined]
        net.sibling[joined] = -1
        result = meld(net, result, joined)
        joined = rest
    return result
