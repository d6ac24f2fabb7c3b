"""What is in blocks, in the order in which they are read: their tables, figures and sentences, as files have them."""

from collections.abc import Iterable, Iterator

import plotly.graph_objects as go

from bertviz_core.analyses.base.blocks import Block, Chart, Claim, Columns, Map, Numbers, Say, Tabs
from bertviz_core.analyses.base.findings import Finding
from bertviz_core.analyses.base.table_blocks import Facts, Heads, InputList, Table


def flat(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks in the order in which they are read, those of columns and of tabs one after the other."""
    for block in blocks:
        if isinstance(block, Columns):
            yield from flat((*block.left, *block.middle, *block.right, *block.lower))
        elif isinstance(block, Tabs):
            for _, inside in block.tabs:
                yield from flat(inside)
        else:
            yield block


def tables(blocks: Iterable[Block]) -> list[Table]:
    """The tables of blocks, key numbers and lists of inputs among them."""
    return [table for block in flat(blocks) for table in tables_of(block)]


def tables_of(block: Block) -> list[Table]:
    """What files have of a block as tables; none of one that is no table, or that is the table of the result."""
    if isinstance(block, Table):
        return [block] if block.in_files else []
    if isinstance(block, InputList):
        return [block.inputs]
    if isinstance(block, Facts):
        return block.tables
    if isinstance(block, Numbers) or (isinstance(block, Heads) and block.name):
        return [block.table]
    return []


def figures(blocks: Iterable[Block]) -> dict[str, go.Figure]:
    """The figures of blocks by their headings, maps among them."""
    by_heading = {}
    for block in flat(blocks):
        if isinstance(block, Chart):
            by_heading[block.title] = block.figure
        elif isinstance(block, Map):
            by_heading[block.heading] = block.figure
    return by_heading


def first_claim(blocks: Iterable[Block]) -> Finding | None:
    """What is said first; None where nothing is."""
    return next((block.finding for block in flat(blocks) if isinstance(block, Claim) and block.first), None)


def chosen_texts(blocks: Iterable[Block]) -> list[str]:
    """The sentences that follow what a reader has chosen."""
    return [block.text for block in flat(blocks) if isinstance(block, Say) and block.chosen]
