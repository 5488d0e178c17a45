"""Models in a file: one safetensors file with a JSON manifest, mapped on opening.

Takes: a fitted `Model`.
Gives: a file, and the model back; `load` opens statistics too.
Next: `coterie.cli`.
"""

import os
from dataclasses import asdict
from typing import Any

from coterie import array_file
from coterie.array_file import Arrays
from coterie.decision import Bonus, Policy
from coterie.errors import warn
from coterie.mixture.population import Population
from coterie.mixture.sharing import SharedComponents
from coterie.model import Model
from coterie.model.mixture_model import MixtureModel
from coterie.model.model import Evidence
from coterie.model.report import FitReport
from coterie.model.settings import confidence_from, require_known, settings_of
from coterie.neighbourhood import Alone, Ellipsoids, Everybody, Metric, Neighbourhood, SameLabel
from coterie.statistics import UserStatistics
from coterie.statistics.user_statistics import COLUMNS
from coterie.statistics.user_statistics import KIND as STATISTICS
from coterie.user_ids import UserIndex

MODEL = "model"
_POPULATION = ("log_weight", "centre", "spread", "doubt")
_ELLIPSOIDS = ("ridge", "noise", "reach", "limit")
_POLICY = ("group", "theta", "factor", "multiplier", "count", "n_pooled")


def save(model: Model, path: str | os.PathLike[str], *, compact: bool = False) -> None:
    """Write a model; `compact` leaves out what only explaining and updating need."""
    require_known(model.confidence.regularity)
    arrays = {"users": model.users} | {f"policy.{name}": getattr(model.policy, name) for name in _POLICY}
    parameters: dict[str, Any] = {
        "algorithm": model.algorithm,
        "parameters": model.parameters,
        "confidence": settings_of(model.confidence),
        "bonus": settings_of(model.bonus),
        "scale": model.scale,
        "ascending": model.index.ascending,
        "features": None if model.features is None else list(model.features),
        "intercept": model.intercept,
        "report": asdict(model.report),
    }
    if isinstance(model, MixtureModel):
        arrays |= {f"population.{name}": getattr(model.population, name) for name in _POPULATION}
        parameters["population"] = {"noise": model.population.noise}
    if compact:
        warn("saved compact: decisions stay the same; neighbours, explain and statistics are lost")
    elif model.evidence is not None:
        more, described = _evidence_out(model.evidence)
        arrays |= more
        parameters["evidence"] = described
    array_file.write(path, MODEL, arrays, parameters)


def load(path: str | os.PathLike[str], *, verify: bool | None = None) -> Any:
    """The model, or the statistics, in a saved file, mapped: nothing is read before it is used.

    Files up to 256 MiB are compared with their checksums on opening; `verify` says so for all or none.
    """
    opened = array_file.read(path, (MODEL, STATISTICS), verify=verify)
    if opened.manifest.kind == STATISTICS:
        return UserStatistics.from_file(opened.arrays, opened.manifest.parameters)
    try:
        return _model(opened.arrays, opened.manifest.parameters)
    except (KeyError, TypeError, ValueError) as failure:
        raise array_file.damaged(
            path, "something that a model needs is missing or of the wrong kind"
        ) from failure


def _model(arrays: Arrays, given: dict[str, Any]) -> Model:
    index = UserIndex(arrays["users"], ascending=bool(given.get("ascending")))
    described = given.get("evidence")
    more: dict[str, Any] = {}
    if "population" in given:
        learned = {name: arrays[f"population.{name}"] for name in _POPULATION}
        more["population"] = Population(**learned, noise=given["population"]["noise"])
    return (MixtureModel if more else Model)(
        **more,
        algorithm=given["algorithm"],
        parameters=given["parameters"],
        index=index,
        policy=Policy(**{name: arrays[f"policy.{name}"] for name in _POLICY}),
        confidence=confidence_from(given["confidence"]),
        bonus=Bonus(**given["bonus"]),
        scale=given["scale"],
        features=None if given["features"] is None else tuple(given["features"]),
        intercept=given["intercept"],
        report=FitReport(**{**given["report"], "notes": tuple(given["report"]["notes"])}),
        evidence=None if described is None else _evidence_in(arrays, described, index),
    )


def _evidence_out(evidence: Evidence) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and description of the statistics and of the neighbourhood."""
    stats, hood = evidence.statistics, evidence.neighbourhood
    arrays: dict[str, Any] = {f"statistics.{name}": getattr(stats, name) for name in COLUMNS}
    arrays["radius"] = evidence.radius
    described: dict[str, Any] = {"statistics": stats.parameters(), "kind": type(hood).__name__}
    more, told = _hood_out(hood)
    return arrays | more, described | told


def _hood_out(hood: Neighbourhood) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays and description of what a neighbourhood is made of."""
    match hood:
        case Metric():
            points = {"hood.theta": hood.theta, "hood.slack": hood.slack, "hood.limit": hood.limit}
            return points, {"strict": hood.strict, "mutual": hood.mutual}
        case Ellipsoids():
            sums = {"hood.theta": hood.theta, "hood.packed_gram": hood.packed_gram}
            return sums, {name: getattr(hood, name) for name in _ELLIPSOIDS}
        case SameLabel():
            return {"hood.labels": hood.labels}, {}
        case SharedComponents():
            return {"hood.responsibility": hood.responsibility, "hood.own": hood.own}, {}
    return {}, {}


def _evidence_in(arrays: Arrays, described: dict[str, Any], index: UserIndex) -> Evidence:
    own = {name.partition(".")[2]: array for name, array in arrays.items() if name.startswith("statistics.")}
    stats = UserStatistics.from_file({"users": index.ids, **own}, described["statistics"])
    return Evidence(stats, _neighbourhood(arrays, described, len(index)), arrays["radius"])


def _neighbourhood(arrays: Arrays, described: dict[str, Any], n_users: int) -> Neighbourhood:
    kind = described["kind"]
    if kind == "Metric":
        points = arrays["hood.theta"], arrays["hood.slack"], arrays["hood.limit"]
        return Metric(*points, strict=described["strict"], mutual=described["mutual"])
    if kind == "SameLabel":
        return SameLabel(arrays["hood.labels"])
    if kind == "Ellipsoids":
        given = {name: described[name] for name in _ELLIPSOIDS}
        return Ellipsoids(arrays["hood.theta"], arrays["hood.packed_gram"], **given)
    if kind == "SharedComponents":
        return SharedComponents(arrays["hood.responsibility"], arrays["hood.own"])
    simple: dict[str, type[Everybody | Alone]] = {"Everybody": Everybody, "Alone": Alone}
    return simple[kind](n_users)
