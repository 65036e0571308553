"""Generated posters: a typographic SVG for items without an image, determined by a key."""

from catalog.posters.drawing import poster_svg

__all__ = ["poster_svg"]
