"""What Model Explorer calls a file's graph."""

from __future__ import annotations


def graph_of(path: str) -> str:
    """What Model Explorer calls a file's first graph: the subgraph's name, its signature's, or main."""
    from outlive.rendering.media.overlay import graph_name
    from outlive.verbs.read import reading_of

    return graph_name(reading_of(path).model)
