"""`coterie ratings`: from a ratings file to a log and a table of item vectors."""

from pathlib import Path

import click

from coterie.cli.command import Command
from coterie.cli.output import format_option, print_one


@click.command(cls=Command, epilog="Example:  coterie ratings u.data --dim 8 --out movies")
@click.argument("ratings")
@click.option(
    "--dim", type=click.IntRange(min=1), default=8, show_default=True, help="Length of the vectors."
)
@click.option(
    "--share",
    type=float,
    default=0.5,
    show_default=True,
    help="Share of the ratings that teaches.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the draw.")
@click.option("--out", required=True, metavar="FOLDER", help="Folder for log.parquet and items.parquet.")
@format_option
def command(ratings: str, dim: int, share: float, seed: int, out: str, form: str) -> None:
    """Make a log and item vectors of a file of RATINGS: u.data, ratings.dat, ratings.csv or any table.

    A share of the ratings, the earliest where the file has times and else some drawn at random, teaches
    the vectors and is left out of the log; the log's reward is the rating less the mean of that share.
    """
    import pyarrow.parquet as pq

    from coterie.errors import FileError
    from coterie.worlds.rating_rows import log_of_ratings, read_rating_rows

    folder = Path(out)
    if folder.is_file():
        raise FileError(f"{out!r} is a file; name a folder to write the log and the items to")
    log, items = log_of_ratings(read_rating_rows(ratings), dim=dim, share=share, rng=seed)
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(log, folder / "log.parquet")
    pq.write_table(items, folder / "items.parquet")
    users = len(log["user"].unique())
    said = (
        f"{log.num_rows:,} ratings of {users:,} users in {folder / 'log.parquet'}, {items.num_rows:,} items "
        f"with vectors of length {dim} in {folder / 'items.parquet'}."
    )
    print_one(
        {"rows": log.num_rows, "users": users, "items": items.num_rows, "dim": dim, "out": out}, form, said
    )
