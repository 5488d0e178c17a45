"""Draws the figures of the documentation: `python docs/figures/make.py` writes the SVG files beside itself.

`walk.svg` follows five users through the six stages; `rules.svg` draws the radii that the library computes.
"""

import math
from pathlib import Path

from coterie.confidence import Confidence, multiplier

HERE = Path(__file__).parent
STYLE = """<style>
  svg { font-family: -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
  .paper { fill: #ffffff; } .card { fill: #f6f8fa; stroke: #d0d7de; }
  text { fill: #1f2328; } .soft { fill: #59636e; }
  .line { stroke: #59636e; fill: none; } .rule { stroke: #d0d7de; }
  .a { fill: #0072b2; } .b { fill: #d55e00; } .c { fill: #8c959f; }
  .sa { stroke: #0072b2; fill: #0072b2; } .sb { stroke: #d55e00; fill: #d55e00; }
  .curve-a { stroke: #0072b2; fill: none; } .curve-b { stroke: #d55e00; fill: none; }
  .head { fill: #59636e; }
  @media (prefers-color-scheme: dark) {
    .paper { fill: #0d1117; } .card { fill: #161b22; stroke: #3d444d; }
    text { fill: #f0f6fc; } .soft { fill: #9198a1; }
    .line { stroke: #9198a1; } .rule { stroke: #3d444d; }
    .a { fill: #56b4e9; } .b { fill: #f0a050; } .c { fill: #656c76; }
    .sa { stroke: #56b4e9; fill: #56b4e9; } .sb { stroke: #f0a050; fill: #f0a050; }
    .curve-a { stroke: #56b4e9; } .curve-b { stroke: #f0a050; }
    .head { fill: #9198a1; }
  }
</style>"""

# Five users: three of one kind (circles), two of another (squares). Place in the picture, radius, samples.
USERS = (
    ("a", 40, 34, 13, 4),
    ("a", 64, 54, 17, 2),
    ("a", 36, 72, 11, 5),
    ("b", 106, 40, 12, 4),
    ("b", 116, 70, 15, 3),
)
EDGES = ((0, 1), (0, 2), (1, 2), (3, 4))
STAGES = (
    ("logs", "one row per event:", "user, action, reward"),
    ("statistics", "sums per user,", "in one pass"),
    ("confidence", "an estimate each, and", "how far off it can be"),
    ("neighbourhood", "who may lend", "to whom"),
    ("pooling", "the sums of", "one's lenders"),
    ("decision", "best estimate less", "what is not known"),
)


def svg(width: int, height: int, title: str, body: list[str]) -> str:
    """A whole file."""
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">',
            f"<title>{title}</title>",
            STYLE,
            f'<rect class="paper" width="{width}" height="{height}" rx="8"/>',
            *body,
            "</svg>\n",
        ]
    )


def text(
    x: float, y: float, words: str, size: int, kind: str = "", more: str = 'text-anchor="middle"'
) -> str:
    """Some words."""
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" class="{kind}" {more}>{words}</text>'


def bar(kind: str, x: float, y: float, width: float, height: float, opacity: float = 1) -> str:
    """A rounded bar."""
    place = f'x="{x}" y="{y}" width="{width:.0f}" height="{height}" opacity="{opacity}"'
    return f'<rect class="{kind}" {place} rx="1.5"/>'


def stroke(
    kind: str, start: tuple[float, float], end: tuple[float, float], width: float, more: str = ""
) -> str:
    """A straight line."""
    place = f'x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}"'
    return f'<line class="{kind}" {place} stroke-width="{width}" {more}/>'


def mark(kind: str, x: float, y: float, size: float = 5, more: str = "") -> str:
    """A user: a circle or a square."""
    if kind == "a":
        return f'<circle class="a" cx="{x}" cy="{y}" r="{size}" {more}/>'
    return f'<rect class="b" x="{x - size}" y="{y - size}" width="{2 * size}" height="{2 * size}" {more}/>'


def halo(kind: str, x: float, y: float, radius: float) -> str:
    """A radius around an estimate."""
    return f'<circle class="s{kind}" cx="{x}" cy="{y}" r="{radius}" fill-opacity="0.14" stroke-width="1.2"/>'


def logs() -> list[str]:
    """Rows in the order of events."""
    out = []
    for row, user in enumerate((0, 3, 2, 4, 1, 0, 2)):
        y = 16 + row * 13
        out.append(mark(USERS[user][0], 24, y + 3, 3.5))
        out += [bar("c", 36 + 17 * j, y, 13, 6) for j in range(4)]
        out.append(bar("c", 112, y, 10 + (row * 7) % 16, 6))
    return out


def statistics() -> list[str]:
    """One row per user, with a triangle of sums."""
    out = []
    for row, (kind, *_, samples) in enumerate(USERS):
        y = 14 + row * 18
        out.append(mark(kind, 26, y + 6, 4))
        out.append(f'<path class="{kind}" d="M 44 {y - 1} V {y + 13} H 58 Z"/>')
        out.append(bar(kind, 70, y + 2, samples * 13, 8, 0.75))
    return out


def confidence() -> list[str]:
    """Estimates and radii."""
    return [part for kind, x, y, r, _ in USERS for part in (halo(kind, x, y, r), mark(kind, x, y, 3.5))]


def neighbourhood() -> list[str]:
    """Edges between users who lend to each other."""
    lines = [stroke("line", (USERS[i][1], USERS[i][2]), (USERS[j][1], USERS[j][2]), 2) for i, j in EDGES]
    return [*lines, *(mark(kind, x, y, 6) for kind, x, y, *_ in USERS)]


def pooling() -> list[str]:
    """One row per set of lenders."""
    out = []
    for row, (kind, members, samples) in enumerate((("a", 3, 11), ("b", 2, 7))):
        y = 26 + row * 40
        out += [mark(kind, 18 + 12 * i, y + 6, 4) for i in range(members)]
        out.append(f'<path class="{kind}" d="M 58 {y - 4} V {y + 16} H 78 Z"/>')
        out.append(bar(kind, 86, y + 1, samples * 4.4, 10, 0.75))
    return out


def decision() -> list[str]:
    """Three actions with their widths; the one with the best lower end is chosen."""
    out = []
    for row, (low, middle, high) in enumerate(((26, 50, 74), (60, 80, 100), (38, 86, 134))):
        y, chosen = 28 + row * 27, row == 1
        kind = "a" if chosen else "c"
        line = "curve-a" if chosen else "line"
        out.append(stroke(line, (low, y), (high, y), 2))
        out.append(stroke(line, (low, y - 6), (low, y + 6), 3))
        out.append(f'<circle class="{kind}" cx="{middle}" cy="{y}" r="4.5"/>')
    out.append(stroke("curve-a", (60, 12), (60, 96), 1, 'stroke-dasharray="3 3"'))
    return out


def walk() -> str:
    """The six stages side by side."""
    pictures = (logs, statistics, confidence, neighbourhood, pooling, decision)
    card, space, left, top = 150, 18, 18, 18
    body = []
    for i, ((name, one, two), picture) in enumerate(zip(STAGES, pictures, strict=True)):
        x = left + i * (card + space)
        body.append(f'<g transform="translate({x} {top})">')
        body.append(f'<rect class="card" width="{card}" height="186" rx="8"/>')
        body += picture()
        body.append(text(card / 2, 130, f"{i + 1} {name}", 14, more='text-anchor="middle" font-weight="600"'))
        body += [text(card / 2, 151, one, 12, "soft"), text(card / 2, 168, two, 12, "soft"), "</g>"]
        if i:
            body.append(f'<path class="head" d="M {x - 14} {top + 50} l 10 6 l -10 6 z"/>')
    width = 2 * left + 6 * card + 5 * space
    return svg(width, 222, f"The six stages: {', '.join(name for name, *_ in STAGES)}", body)


DIM, N_USERS, GAP, MOST = 5, 100, 1.0, 2.0
LEFT, TOP, WIDTH, HEIGHT = 76, 26, 620, 340


def radius(count: float) -> float:
    """CI of a user with so many unit actions, spread evenly over all directions, under `Observed()`."""
    settings = Confidence(noise=0.2)
    beta = float(multiplier(settings, count, dim=DIM, n_users=N_USERS))
    return beta / math.sqrt(settings.ridge + count / DIM)


def across(count: float) -> float:
    """Place of a count, on a logarithmic scale from 10 to 10,000."""
    return LEFT + WIDTH * (math.log10(count) - 1) / 3


def down(distance: float) -> float:
    """Place of a distance."""
    return TOP + HEIGHT * (1 - min(max(distance, 0.0), MOST) / MOST)


def rules() -> str:
    """What becomes of a pair of users with equally many samples, by the distance of their estimates."""
    counts = [10 ** (1 + 3 * i / 240) for i in range(241)]
    apart = [(across(n), down(2 * radius(n))) for n in counts if 2 * radius(n) <= MOST]
    near = [(across(n), down(GAP - 2 * radius(n))) for n in counts]
    floor, ceiling, right, start = down(0), down(MOST), LEFT + WIDTH, apart[0][0]

    def path(points: list[tuple[float, float]]) -> str:
        return " L ".join(f"{x:.1f} {y:.1f}" for x, y in points)

    body = [
        f'<path class="b" fill-opacity="0.16" d="M {path(apart)} L {right} {ceiling} H {start:.1f} Z"/>',
        f'<path class="a" fill-opacity="0.18" d="M {path(near)} L {right} {floor} L {LEFT} {floor} Z"/>',
        f'<path class="curve-b" stroke-width="2.5" d="M {path(apart)}"/>',
        f'<path class="curve-a" stroke-width="2.5" stroke-dasharray="8 4" '
        f'd="M {path([p for p in near if p[1] < floor])}"/>',
        f'<path class="line" d="M {LEFT} {TOP} V {floor} H {right}"/>',
    ]
    for count in (10, 100, 1000, 10000):
        body.append(stroke("line", (across(count), floor), (across(count), floor + 5), 1))
        body.append(text(across(count), floor + 22, f"{count:,}", 13, "soft"))
    for distance in (0.0, 0.5, 1.0, 1.5, 2.0):
        body.append(stroke("line", (LEFT - 5, down(distance)), (LEFT, down(distance)), 1))
        body.append(text(LEFT - 10, down(distance) + 4, f"{distance:g}", 13, "soft", 'text-anchor="end"'))
    turned = f'text-anchor="middle" transform="rotate(-90 22 {TOP + HEIGHT / 2})"'
    bold = 'text-anchor="middle" font-weight="600"'
    body += [
        text(LEFT + WIDTH / 2, floor + 46, "samples of each of the two users", 14),
        text(22, TOP + HEIGHT / 2, "distance of their estimates", 14, "", turned),
        text(across(900), down(1.55), "provably different", 15, "", bold),
        text(across(900), down(1.43), "Off-CLUB separates them", 13, "soft"),
        text(across(37), down(0.62), "cannot be settled", 15, "", bold),
        text(across(37), down(0.50), "Off-CLUB lends,", 13, "soft"),
        text(across(37), down(0.39), "Off-C2LUB does not", 13, "soft"),
        text(across(420), down(0.14), "both lend", 15, "", bold),
        text(across(2900), down(0.52), "different, within the gap", 14, "", bold),
        text(across(2900), down(0.41), "Off-C2LUB alone lends", 13, "soft"),
        text(across(60), down(1.72), "sum of the radii", 14, "b", bold),
        text(across(3300), down(1.03), "gap less the radii", 14, "a", bold),
    ]
    title = "Distance of two estimates against samples: joined, undecided, separated"
    return svg(LEFT + WIDTH + 44, 432, title, body)


if __name__ == "__main__":
    (HERE / "walk.svg").write_text(walk())
    (HERE / "rules.svg").write_text(rules())
