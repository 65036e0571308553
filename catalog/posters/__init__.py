"""Generated posters of invented data, and plain cards: SVG for items without an image."""

from catalog.posters.drawing import card_svg, poster_svg

__all__ = ["card_svg", "poster_svg"]
