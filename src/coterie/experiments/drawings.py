"""Every figure for which there are rows, in the order of the experiments.

Takes: rows.
Gives: figures with names and captions.
Next: `page`.
"""

import warnings
from collections.abc import Iterator, Sequence

from coterie.errors import CoterieWarning
from coterie.experiments.cell import Row
from coterie.experiments.figures import Drawn, gap_figure
from coterie.experiments.influence import influence_figure, reach, schematic_figure
from coterie.experiments.methods import KNOWN
from coterie.experiments.regimes import regimes_figure, theory_figure
from coterie.experiments.settings import LOGGING

_ERRORS = "Mean gap over seeds with standard errors."
_CAPTIONS = {
    "sufficient": f"Sufficient data, the paper's tables as a picture. {_ERRORS}",
    "random": f"Insufficient data, actions logged at random. {_ERRORS} The fixed gap is the best of a grid "
    "under equal service and is reused unchanged under semi-random service.",
    "linucb": f"Insufficient data, actions logged by each user's own LinUCB. {_ERRORS}",
}


def drawings(rows: Sequence[Row]) -> Iterator[Drawn]:
    """Figures, one after the other."""
    there = {(row.experiment, row.logging) for row in rows}
    methods = {(row.experiment, row.method) for row in rows}
    if ("sufficient", "random") in there:
        yield gap_figure(rows, "sufficient", "random", "sufficient", _CAPTIONS["sufficient"])
    for logging in LOGGING:
        if ("scarce", logging) in there:
            yield gap_figure(rows, "scarce", logging, f"scarce_{logging}", _CAPTIONS[logging])
    if ("gap", "Off-CLUB") in methods:
        yield influence_figure(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CoterieWarning)  # the preset is outside the paper's conditions
            yield schematic_figure(reach())
    if ("regimes", KNOWN[0]) in methods:
        yield regimes_figure(rows)
    if ("theory", "Off-CLUB") in methods:
        yield theory_figure(rows)
