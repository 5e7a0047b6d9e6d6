"""Damaged files for every reader: each must become a table, a network, or an error of ours.

    python tools/fuzz.py                    # about a minute
    python tools/fuzz.py --seconds 3600     # as `make fuzz SECONDS=3600`
    python tools/fuzz.py feather --seed 7   # one door, another stream of damage

Every case is made from (seed, door, number) alone, so what is reported can be done again with
`--only NUMBER`. Cases run in a child process: a reader that ends the process is caught as well, and
so is one that takes longer than `PATIENCE` seconds. What broke is kept in `out/fuzz/`.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))  # the readers beside this file

PATIENCE = 20
BATCH = 200
FORMATS = ("json", "bif", "xmlbif", "net", "xdsl", "uai")

Bytes = Callable[[random.Random], bytes]


# Damage ----------------------------------------------------------------------------------------

TOKENS = [
    *(bytes([b]) for b in b'\x00\xff,;|\t"\'\n\r%{}?#@=.-+ \\[]:<>'),
    b"\r\n", b"sep=|\n", b"@data\n", b"nan", b"inf", b"-1e999", b"1e-400", b"9" * 5000, b"007",
    "é".encode("latin-1"), "é".encode(), "\u2028".encode(), b"\xef\xbb\xbf", b"\xff\xfe", b"x\x00",
    b"null", b"true", b"[]", b"{}", b"0", b"-1", b'""', b"1e16", b"2024-01-31", b"PAR1", b"ARROW1",
    *(n.to_bytes(4, "little") for n in (0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000)),
    *(n.to_bytes(8, "little") for n in (2**63 - 1, 2**63, 2**32)),
]  # fmt: skip


def damaged(data: bytes, chance: random.Random) -> bytes:
    """The bytes with one to six changes: flips, cuts, repeats, swaps and words put in."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at, length = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 4, 8, 40, 400))
        piece, rest = data[at : at + length], data[at + length :]
        data = data[:at] + chance.choice(DAMAGES)(piece, rest, chance)
    return data


def _flip(piece: bytes, rest: bytes, chance: random.Random) -> bytes:
    return (
        bytes(b ^ (1 << chance.randrange(8)) if i == 0 else b for i, b in enumerate(piece)) + rest
    )


def _noise(piece: bytes, rest: bytes, chance: random.Random) -> bytes:
    return chance.randbytes(len(piece)) + rest


def _token(piece: bytes, rest: bytes, chance: random.Random) -> bytes:
    return chance.choice(TOKENS) + (piece + rest if chance.random() < 0.5 else rest)


def _overwrite(piece: bytes, rest: bytes, chance: random.Random) -> bytes:
    token = chance.choice(TOKENS)
    return token + (piece + rest)[len(token) :]


DAMAGES: list[Callable[[bytes, bytes, random.Random], bytes]] = [
    _flip, _noise, _token, _overwrite,
    lambda piece, rest, chance: rest,
    lambda piece, rest, chance: piece,
    lambda piece, rest, chance: piece * chance.choice((2, 3, 50)) + rest,
    lambda piece, rest, chance: rest[: len(piece)] + piece + rest[len(piece) :],
]  # fmt: skip


ODD = (None, [], {}, -1, 0, 3, 10**9, 2**80, 1e300, -0.5, float("nan"), float("inf"), True, "", "é",
       "x", "kept", ["x"], [[]], {"x": 1}, [0.5, 0.5], ["a", "a"])  # fmt: skip


def jolted(data: bytes, chance: random.Random) -> bytes:
    """JSON of the same form with other things in some places, or damaged bytes."""
    if chance.random() < 0.3:
        return damaged(data, chance)
    if chance.random() < 0.02:
        return b"[" * 100_000
    tree = [json.loads(data)]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        _jolt(tree, chance)
    return json.dumps(tree[0]).encode()


def _jolt(tree: Any, chance: random.Random) -> None:
    """Change one place somewhere below."""
    keys = list(tree) if isinstance(tree, dict) else range(len(tree))
    if not keys:
        return
    key = chance.choice(keys)
    below = tree[key]
    if isinstance(below, dict | list) and below and chance.random() < 0.85:
        _jolt(below, chance)
    elif isinstance(below, str) and below.startswith("{") and chance.random() < 0.8:
        tree[key] = jolted(below.encode(), chance).decode(errors="replace")
    elif chance.random() < 0.2 and len(tree) > 1:
        del tree[key]
    else:
        tree[key] = deepcopy(chance.choice(ODD))


# Doors -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Door:
    """A way in: the ending of the file, its (damaged) bytes, and what reads it."""

    ending: str
    make: Bytes
    enter: Callable[[Path, random.Random], object]


@cache
def sample_table() -> Any:
    """A small table of every kind of column, with gaps and weights."""
    from unveil import Table

    rows = 60
    return Table.from_frame(
        {
            "colour": [("red", "green", None, "blau, hell")[i % 4] for i in range(rows)],
            "dose": [i % 5 for i in range(rows)],
            "on": [i % 3 == 0 for i in range(rows)],
            "size": [None if i % 11 == 0 else i * 1.25 - 7 for i in range(rows)],
            "day": [f"2024-01-{1 + i % 28:02d}" for i in range(rows)],
            "count": [1 + i % 4 for i in range(rows)],
        },
        weights="count",
    )


@cache
def written(ending: str) -> bytes:
    """The sample as a file of this ending."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"sample{ending}"
        if ending == ".arff":
            path.write_text(_as_arff(), encoding="utf-8")
        elif ending.startswith(".feather."):
            import pyarrow.feather as feather

            how = ending.removeprefix(".feather.")
            feather.write_feather(sample_table().to_arrow(), path, compression=how)
        else:
            sample_table().write(path)
        return path.read_bytes()


def _as_arff() -> str:
    rows = ["red,1,'a b',?", "green,2.5,c,{}", "?,-3,'it\\'s',x", "{0 red, 1 4}"] * 5
    return (
        "% made up\n@relation r\n@attribute colour {red, green}\n@attribute size numeric\n"
        "@attribute 'a note' string\n@attribute day date\n@data\n" + "\n".join(rows) + "\n"
    )


def table_options(chance: random.Random) -> dict[str, Any]:
    """Now and then, something asked of the reader, sensible or not."""
    from encodings.aliases import aliases

    options: dict[str, Callable[[], Any]] = {
        "encoding": lambda: chance.choice([*aliases.values(), *aliases, "no such"]),
        "delimiter": lambda: chance.choice([*',;|\t "é\n\r\0\\.0a', "", "--", "\U0001f600"]),
        "quote": lambda: chance.choice(["", "'", '"', "é", "\n", ",", "\0"]),
        "header": lambda: chance.random() < 0.5,
        "weights": lambda: chance.choice(["count", "weight", "size", "colour", "none"]),
        "kinds": lambda: chance.choice(["discrete", "text", "continuous", {"dose": "continuous"}]),
        "missing": lambda: chance.choice([(), ("red",), ["0", ""], "NA"]),
        "columns": lambda: chance.choice([["dose", "size"], ["size", "size"], []]),
        "states": lambda: chance.choice([{"dose": range(9)}, {"colour": ["red"]}, {"dose": []}]),
        "unknown": lambda: chance.choice(["missing", "error", "what"]),
    }
    return {k: make() for k, make in options.items() if chance.random() < 0.08}


def enter_table(path: Path, chance: random.Random) -> None:
    """Read a table, and if that works look at it and write it."""
    from unveil import Table

    table = Table.read(path, **table_options(chance))
    repr(table), table.describe().sentences, table.folded()
    ending = chance.choice([".csv", ".tsv", ".csv.gz", ".parquet", ".feather"])
    table.write(path.with_name(f"again{ending}"), weights="how often?")


def enter_model(path: Path, chance: random.Random) -> None:
    """Read a network."""
    import unveil

    unveil.load(path)


def enter_state(path: Path, chance: random.Random) -> None:
    """Go on with a discovery whose state is damaged."""
    from unveil.discovery.folder import RunFolder

    table, _ = _interrupted()
    folder = path.parent / "run"
    folder.mkdir(exist_ok=True)
    path.replace(folder / "state.json")
    RunFolder(folder, table)


@cache
def _interrupted() -> tuple[Any, bytes]:
    """A table, and the state of a discovery on it that found one variable and was stopped."""
    from unveil import DAG, datasets, fit
    from unveil.discovery import Candidate, RunFolder
    from unveil.discovery.candidates import Place, Refused, Verdict
    from unveil.discovery.procedure import Round

    table = datasets.table("college_plans")
    names, sex = ("PE", "CP", "SES"), table.variable("SEX")
    before = fit(DAG(table.names), table)
    # Some column, copied, is as good a hidden one as any.
    behind = fit(
        DAG(["H1", *table.names], [("H1", name) for name in names]),
        table.with_column(sex.renamed("H1"), table.column("SEX")),
    ).with_hidden(["H1"])
    place = Place("H1", names)
    kept = Candidate(place=place, network=behind, verdict=Verdict.KEPT, gain=9.5, refined={2: -8.0})
    other = Refused(place=place, verdict=Verdict.DOES_NOT_PAY, children=names, n_states=3)
    with tempfile.TemporaryDirectory() as path:
        RunFolder(path, table, seed=1).save([Round(before, -100.0, (kept, other), kept)])
        assert len(RunFolder(path, table).earlier) == 1, "a sound state is not taken"
        return table, (Path(path) / "state.json").read_bytes()


@cache
def model_text(name: str) -> bytes:
    """A small network in this format."""
    from unveil import datasets
    from unveil.formats import dumps

    return dumps(datasets.network("asia"), name).encode()


def damaged_model(name: str, chance: random.Random) -> bytes:
    """A small network in this format, damaged."""
    damage = jolted if name == "json" else damaged
    return damage(model_text(name), chance)


def noted_feather(chance: random.Random) -> bytes:
    """A sound file of ours whose note about its variables is damaged."""
    import pyarrow as pa

    table = sample_table()
    names = [v.name for v in table.variables]
    states = [v.states for v in table.variables]
    note = {
        "variables": [
            {"name": n, "states": s, "hidden": False} for n, s in zip(names, states, strict=True)
        ]
    }
    metadata = {"unveil": jolted(json.dumps(note | {"weights": "weight"}).encode(), chance)}
    arrow, sink = table.to_arrow().replace_schema_metadata(metadata), pa.BufferOutputStream()
    with pa.ipc.new_file(sink, arrow.schema) as writer:
        writer.write_table(arrow)
    return bytes(sink.getvalue())


def packed(pack: Callable[[bytes], bytes], chance: random.Random) -> bytes:
    """Damaged text soundly packed, or text whose packing is damaged."""
    inside = damaged(written(".csv"), chance)
    return pack(inside) if chance.random() < 0.5 else damaged(pack(written(".csv")), chance)


def _of(ending: str) -> Bytes:
    return lambda chance: damaged(written(ending), chance)


def _in_utf16(chance: random.Random) -> bytes:
    how = chance.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
    return damaged(written(".csv").decode().encode(how), chance)


DOORS: dict[str, Door] = {
    "csv": Door(".csv", _of(".csv"), enter_table),
    "tsv": Door(".tsv", _of(".tsv"), enter_table),
    "utf16": Door(".csv", _in_utf16, enter_table),
    "gz": Door(".csv.gz", partial(packed, partial(gzip.compress, mtime=0)), enter_table),
    "bz2": Door(".csv.bz2", partial(packed, bz2.compress), enter_table),
    "arff": Door(".arff", _of(".arff"), enter_table),
    "parquet": Door(".parquet", _of(".parquet"), enter_table),
    "feather": Door(".feather", _of(".feather"), enter_table),
    "feather_plain": Door(".feather", _of(".feather.uncompressed"), enter_table),
    "feather_zstd": Door(".feather", _of(".feather.zstd"), enter_table),
    "note": Door(".feather", noted_feather, enter_table),
    "state": Door(".json", lambda chance: jolted(_interrupted()[1], chance), enter_state),
    **{name: Door(f".{name}", partial(damaged_model, name), enter_model) for name in FORMATS},
}


# Running ---------------------------------------------------------------------------------------


def chance_of(seed: int, door: str, number: int) -> random.Random:
    """The stream of random numbers of one case."""
    return random.Random(zlib.crc32(f"{seed} {door} {number}".encode()))


Case = tuple[str, int]
"""A door and the number of a case there."""


def child(cases: list[Case], seed: int, folder: Path) -> None:
    """Do these cases; before each its place is written down, after a failure what it was."""
    from unveil.errors import UnveilError, UnveilWarning

    _limit_memory()
    signal.signal(signal.SIGALRM, _too_long)
    warnings.simplefilter("error")
    warnings.simplefilter("ignore", UnveilWarning)
    for place, (door, number) in enumerate(cases):
        (folder / "place").write_text(str(place))
        chance, entrance = chance_of(seed, door, number), DOORS[door]
        path = folder / f"case{entrance.ending}"
        path.write_bytes(entrance.make(chance))
        signal.alarm(PATIENCE)
        try:
            entrance.enter(path, chance)
        except UnveilError:
            pass
        except BaseException:
            print(json.dumps([place, traceback.format_exc()]), flush=True)
        finally:
            signal.alarm(0)


def _too_long(*_: object) -> None:
    raise TimeoutError(f"more than {PATIENCE} s")


def _limit_memory() -> None:
    import resource

    most = 16 << 30  # of addresses, which threads reserve plenty of
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def failures(cases: list[Case], seed: int, kept: Path) -> Iterator[str]:
    """What went wrong in these cases; the files that did it are kept in a folder."""
    while cases:
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch) / "place"
            place.write_text("0")
            asked = json.dumps([cases, seed, scratch])
            words = [sys.executable, __file__, "--child"]
            done = subprocess.run(words, input=asked, capture_output=True, text=True, check=False)
            for line in filter(lambda text: text.startswith("["), done.stdout.splitlines()):
                number, trace = json.loads(line)
                yield _kept(cases[number], seed, trace, kept)
            if done.returncode == 0:
                return
            last = int(place.read_text())
        ended = f"the process ended with {done.returncode}\n{done.stderr[-2000:]}"
        yield _kept(cases[last], seed, ended, kept)
        cases = cases[last + 1 :]


def _kept(case: Case, seed: int, what: str, kept: Path) -> str:
    door, number = case
    entrance = DOORS[door]
    kept.mkdir(parents=True, exist_ok=True)
    file = kept / f"{door}-{seed}-{number}{entrance.ending}"
    file.write_bytes(entrance.make(chance_of(seed, door, number)))
    again = f"python tools/fuzz.py {door} --seed {seed} --only {number}"
    return f"{door}, case {number} ({again}; {file}):\n{what}"


def main() -> int:
    """Run the cases asked for; 1 if any went wrong."""
    ask = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ask.add_argument("doors", nargs="*", metavar="DOOR", help=", ".join(DOORS))
    ask.add_argument("--seconds", type=float, default=60, help="how long to go on")
    ask.add_argument("--cases", type=int, help="so many cases at each door, instead")
    ask.add_argument("--seed", type=int, default=0)
    ask.add_argument("--only", type=int, help="the number of a single case")
    ask.add_argument("--keep", type=Path, default=Path("out") / "fuzz")
    ask.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = ask.parse_args()
    if given.child:
        cases, seed, folder = json.load(sys.stdin)
        child(cases, seed, Path(folder))
        return 0
    doors = given.doors or list(DOORS)
    start, bad, done = time.monotonic(), 0, 0
    while True:
        numbers = range(done, done + min(BATCH, given.cases or BATCH))
        if given.only is not None:
            numbers = range(given.only, given.only + 1)
        for failure in failures([(d, n) for d in doors for n in numbers], given.seed, given.keep):
            print(failure, flush=True)
            bad += 1
        done += len(numbers)
        late = time.monotonic() - start > given.seconds
        if given.only is not None or (done >= given.cases if given.cases else late):
            break
    print(f"{done * len(doors):,} damaged files at {len(doors)} doors, {bad} badly taken")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
