"""Drawn posters: a typographic SVG for an item that has no image, the same for the same key for ever."""

from catalog.posters.drawing import poster_svg

__all__ = ["poster_svg"]
