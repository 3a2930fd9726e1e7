"""The answers of real API servers to recorded requests, held against those of ``judge --requests``.

As a program it prints the rates of each file, and the differences by cause, the most frequent first:
``python tests/conformance/server_answers.py FOLDER [PART OF A FILE'S NAME…]``.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from helpers import spawn
from referee import NAMESPACE

Json = dict[str, Any]

#: What is compared, in the order of weight.
SORTS = ("accepted wrongly", "verdict", "type and field", "text", "object", "warnings")
_SUFFIX = ".ndjson.gz"


class Difference(NamedTuple):
    """One request that is answered in another way than the server did; ``about`` is one of ``SORTS``."""

    about: str
    request: Json
    ours: Any
    servers: Any

    @property
    def cause(self) -> str:
        """What differs, without values, names and numbers."""
        sides = (_shape(only) for only in (_only(self.ours, self.servers), _only(self.servers, self.ours)))
        return f"{self.about}: ours {' | '.join(sides)}"


class File(NamedTuple):
    """One file of requests with its differences; ``asked`` is the number of requests each sort is compared in."""

    name: str
    asked: Counter[str]
    differences: list[Difference]

    def rate(self, about: str) -> float:
        """The percentage of equal answers."""
        wrong = sum(each.about == about for each in self.differences)
        return 100 * (1 - wrong / self.asked[about]) if self.asked[about] else 100.0


def compared(path: Path) -> File:
    """All requests of one file, put to ``judge --requests``."""
    lines = [line for line in gzip.decompress(path.read_bytes()).decode().split("\n") if line]
    asked = [json.loads(line) for line in lines]
    ran = spawn("judge", "--requests", "-", cwd=path.parent, stdin="\n".join(map(_as_sent, lines)).encode())
    answers = [json.loads(line) for line in ran.out.split("\n") if line]
    assert len(answers) == len(asked), ran.err
    count: Counter[str] = Counter()
    found: list[Difference] = []
    for request, answer in zip(asked, answers, strict=True):
        count.update(_compare(request, answer, found))
    return File(path.name.removesuffix(_SUFFIX), count, found)


def _as_sent(line: str) -> str:
    """A request as its client sent it: to the namespace ``default``, with escapes for all characters but ASCII."""
    escaped = "".join(char if char.isascii() else json.dumps(char)[1:-1] for char in line)
    return f'{{"namespace": "{NAMESPACE}", {escaped[1:]}'


def _compare(request: Json, answer: Json, found: list[Difference]) -> Iterator[str]:
    """The sorts that a request is compared in; appends its differences to ``found``."""
    expected = request["expected"]
    taken = expected["code"] < 400

    def differ(about: str, ours: Any, servers: Any) -> None:
        if ours != servers:
            found.append(Difference(about, request, ours, servers))

    yield from ("accepted wrongly", "verdict")
    verdict = {True: "accepted", False: "refused", None: "unknown"}[answer["accepted"]]
    if verdict != ("accepted" if taken else "refused"):
        what = expected.get("message") or "accepted"
        said = answer["aggregate"] or [each["reason"] for each in answer["unknown"]]
        found.append(Difference("verdict", request, [verdict, said], [what]))
        if answer["accepted"]:
            found.append(Difference("accepted wrongly", request, verdict, what))
        return
    if taken:
        yield from ("object", "warnings")
        differ("object", _places(_comparable(answer["result"])), _places(_comparable(expected["object"])))
        differ("warnings", sorted(answer["warnings"]), sorted(map(_warning, expected.get("warnings", ()))))
        return
    yield from ("type and field", "text")
    causes = expected["causes"] or ()
    where = sorted({f"{each['reason']} {each.get('field', '')}" for each in causes})
    differ(
        "type and field",
        [answer["code"], *sorted({f"{each['type']} {each['field']}" for each in answer["errors"]})],
        [expected["code"], *where],
    )
    ours = _sentences(each["text"] for each in answer["errors"]) or [answer["aggregate"]]
    servers = _sentences(f"{each.get('field', '')}: {each['message']}" for each in causes) if where else []
    servers = servers or [expected["message"]]
    differ("text", ours, servers)
    if ours == servers:
        differ("text", _parts(answer["aggregate"]), _parts(expected["message"]))


def _sentences(texts: Iterable[str]) -> list[str]:
    """Different sentences. Servers before 1.34 print addresses of flags in their memory."""
    return sorted({re.sub(r"\(\*bool\)\(0x[0-9a-f]+\)", "(*bool)(0x0)", text) for text in texts})


def _warning(header: str) -> str:
    """The text of a Warning header: ``299 - "text"``. Its bytes were read as Latin-1."""
    return str(json.loads(header.partition(" - ")[2])).encode("latin-1").decode()


def _parts(message: str) -> list[str]:
    """A message without regard to the order of its sentences, which is random."""
    head, _, body = message.partition(" is invalid: ")
    return [head, *_sentences(body.removeprefix("[").removesuffix("]").split(", "))]


#: Metadata that the server makes up.
_SERVERS_OWN = frozenset({"uid", "creationTimestamp", "resourceVersion", "managedFields", "selfLink"})


def _comparable(obj: Json) -> Json:
    return {**obj, "metadata": {key: value for key, value in obj["metadata"].items() if key not in _SERVERS_OWN}}


def _places(value: Any, at: str = "") -> dict[str, Any]:
    """Each scalar and empty container of a value by its path; 1 and 1.0 are one number."""
    if isinstance(value, dict) and value:
        return {key: leaf for name in value for key, leaf in _places(value[name], f"{at}.{name}").items()}
    if isinstance(value, list) and value:
        return {key: leaf for i, item in enumerate(value) for key, leaf in _places(item, f"{at}[{i}]").items()}
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        value = float(value)  # as the server decoded it
    return {at: int(value) if isinstance(value, float) and value.is_integer() else value}


def _only(mine: Any, other: Any) -> Any:
    """What only one of two sides has."""
    if isinstance(mine, dict):
        return [f"{key}={json.dumps(value)}" for key, value in mine.items() if key not in other or other[key] != value]
    return [each for each in mine if each not in other] if isinstance(mine, list) else mine


def _shape(side: Any) -> str:
    """A side without what is a matter of the request: paths, values and numbers."""
    shown = side if isinstance(side, str) else "; ".join(map(str, side))
    shown = re.sub(r'\\?"(\\.|[^"\\])*\\?"', '"…"', shown)
    shown = re.sub(r"(?<![\w.])[\w-]*[.\[][\w.\[\]*/-]+", "PATH", shown)
    return re.sub(r"\d+", "N", shown)[:160]


def by_cause(differences: Sequence[Difference]) -> list[tuple[str, list[Difference]]]:
    """The differences by cause, the most frequent first in each sort."""
    causes: dict[str, list[Difference]] = defaultdict(list)
    for each in differences:
        causes[each.cause].append(each)
    return sorted(causes.items(), key=lambda entry: (SORTS.index(entry[1][0].about), -len(entry[1]), entry[0]))


def table(files: Sequence[File]) -> str:
    """The rates of all files, as percentages, with the number of differences."""
    lines = [f"{'file':24}{'requests':>9}" + "".join(f"{about:>19}" for about in SORTS)]
    for each in files:
        wrong = Counter(difference.about for difference in each.differences)
        cells = "".join(f"{f'{each.rate(about):.2f} % ({wrong[about]})':>19}" for about in SORTS)
        lines.append(f"{each.name:24}{each.asked['verdict']:9,}{cells}")
    return "\n".join(lines)


def files_of(folder: Path, *parts: str) -> list[Path]:
    """The files of requests in a folder, those whose names contain one of ``parts`` (without any: all)."""
    found = [path for path in sorted(folder.glob(f"*{_SUFFIX}")) if not path.name.startswith("crd-install")]
    return [path for path in found if not parts or any(part in path.name for part in parts)]


def main(folder: str, *parts: str) -> int:
    """Compare, print the table and the causes with an example each."""
    files = [compared(path) for path in files_of(Path(folder), *parts)]
    print(table(files))
    for cause, each in by_cause([difference for file in files for difference in file.differences]):
        first = each[0]
        print(f"\n{len(each):5} {cause}\n      {first.request['id']} {first.request['op']} {first.request['note']}")
        print(f"      ours   {json.dumps(_only(first.ours, first.servers))[:600]}")
        print(f"      server {json.dumps(_only(first.servers, first.ours))[:600]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
