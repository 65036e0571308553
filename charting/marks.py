"""Every chart there is: one function each, values in, a Vega-Lite specification out.

All of them take the finding as ``title``, draw in light colours (see `charting.theme.both_modes`), follow the width of
their page (see `charting.frame.sized`), describe themselves to screen readers, and carry their data within them. The
same arguments give the same specification. They raise DataError when there is nothing to draw, and when a number is not
finite or outside its interval; and ParameterError without a title.

Arguments of several charts: ``side`` is the meaning of the measure, "perceived", "objective" or "neutral"; ``x_title``
and ``y_title`` name what is drawn and its unit; ``domain`` holds the ends of its scale; ``is_share`` is true for what
cannot exceed 1, printed without a leading zero; ``decimals`` are the digits of printed numbers; ``letters`` are compact
letters by condition; ``emphasised`` names the algorithms whose lines are heavy. An estimate is a tuple of value, low
and high. Conditions and algorithms are drawn in the order given.
"""

from __future__ import annotations

from charting.bars import bars as bars
from charting.boxes import box_plot as box_plot
from charting.consort import Stage as Stage
from charting.consort import consort as consort
from charting.curves import curves as curves
from charting.curves import trace as trace
from charting.estimates import Estimate as Estimate
from charting.forests import Difference as Difference
from charting.forests import forest as forest
from charting.histograms import histogram as histogram
from charting.histograms import long_tail as long_tail
from charting.likert import likert_bars as likert_bars
from charting.matrices import matrix as matrix
from charting.orders import hasse as hasse
from charting.paths import Mediator as Mediator
from charting.paths import Path as Path
from charting.paths import path_diagram as path_diagram
from charting.planes import plane as plane
from charting.planes import rates as rates
from charting.scatters import scatter as scatter
