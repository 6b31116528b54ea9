"""From a line of a notebook back to the lines that made what it uses.

What an experiment is given was often computed in a cell before. So a name is followed to the
statement that bound it last, and to those that changed it since, and so on through their names.
Sources are read from `linecache`, where IPython keeps every cell that was run, in order.
"""

from __future__ import annotations

import ast
import copy
import linecache
import os
import symtable
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

Place = tuple[str, int]  # a cell's file name, and the line in it
Inside = tuple[str, int, str]  # a cell's file name, a head's line in it, and which of its bodies
_LOOPS = {"For.body", "While.body"}
_BODIES = ("body", "handlers", "orelse", "finalbody")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_DEFINED = (*_DEFINITIONS, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp)
_BROKEN = {"not_on", "spoiled"}
_CHANGING = {"append", "extend", "update", "insert", "add", "setdefault"}


@dataclass(frozen=True, eq=False)
class Line:
    """A statement of a cell without inner ones, or the head of a loop.

    Attributes:
        file: the cell's name.
        first, last: its lines; of a head, those before the body.
        outer: first and last line of the statement of the cell that it stands in.
        within: what it stands in, from the outermost.
        binds, changes: names that it binds anew, and that it may change.
        loads: names that it uses, those of the functions that it defines among them.
        broken: those of them that it only gives to a check as broken versions.
        statement: itself, of a loop the head.
    """

    file: str
    first: int
    last: int
    outer: tuple[int, int]
    within: tuple[Inside, ...]
    binds: frozenset[str]
    changes: frozenset[str]
    loads: frozenset[str]
    broken: frozenset[str]
    statement: ast.stmt

    def holds(self, place: Place | None) -> bool:
        """Whether a place is on this line."""
        file, line = place or ("", 0)
        return file == self.file and self.first <= line <= self.last

    def around(self, place: Place | None) -> bool:
        """Whether a place is in the same statement of the cell."""
        file, line = place or ("", 0)
        return file == self.file and self.outer[0] <= line <= self.outer[1]

    def precedes(self, other: Line) -> bool:
        """Whether this surely ran before a later line that runs: no branch or empty loop hid it."""
        body = f"{type(self.statement).__name__}.body"
        last = ((self.file, self.first, body),) if body in _LOOPS else ()
        return other.within[: len(self.within + last)] == self.within + last

    @property
    def context(self) -> tuple[Inside, ...]:
        """What it stands in, as far as its innermost `with`."""
        depths = [depth for depth, part in enumerate(self.within, 1) if part[2] == "With.body"]
        return self.within[: max(depths, default=0)]

    def loops_with(self, other: Line) -> bool:
        """Whether both stand in the same loop."""
        return any(part[2] in _LOOPS and part in other.within for part in self.within)


def lines_before(place: Place) -> list[Line]:
    """Return the lines of all cells that were run until a place, and the rest of its statement."""
    found: list[Line] = []
    folder = os.path.dirname(place[0])
    for name, entry in list(linecache.cache.items()):
        is_cell = len(entry) > 1 and entry[1] is None and os.path.dirname(name) == folder
        if is_cell and name != place[0]:
            found += _lines(name, "".join(entry[2]))  # type: ignore[misc]
    own = _lines(place[0], "".join(linecache.getlines(place[0])))
    return [*found, *(line for line in own if line.outer[0] <= place[1])]


def made_by(place: Place, names: Mapping[str, Any], *, broken: bool = True) -> list[Line]:
    """Return the lines that made what the statement at a place uses, that one among them.

    Args:
        broken: with what is given to a check as broken, so that it fails there; with all that a
            loop goes over, not only what its last turn took; with what the names of a function
            stand for when the statement calls it; with each line's heads, and what a branch may not
            have bound; and with what `effects` says. Without, the statement is the last.
    """
    every = lines_before(place)
    own = [index for index, line in enumerate(every) if line.holds(place)]
    if not own:
        return []
    every = every if broken else every[: own[-1] + 1]
    heads = {(line.file, line.first): index for index, line in reversed([*enumerate(every)])}
    effects = changed_by(every) if broken else [frozenset[str]()] * len(every)
    changed = [line.changes | more for line, more in zip(every, effects, strict=True)]
    settings = [i for i, names in enumerate(changed) if names & {EVERYWHERE, WITHIN}]
    found = dict[int, Line]()
    waiting, seen = list[tuple[int, str]](), set[tuple[int, str]]()

    def take(index: int, loads: frozenset[str]) -> None:
        line = found[index] = every[index]
        new = {(index, name) for name in loads}
        if broken:
            if any(isinstance(part, _DEFINED) for part in ast.walk(line.statement)):
                new |= {(own[-1], name) for name in loads}
            for head in {heads[part[:2]] for part in line.within} - {*found}:
                take(head, every[head].loads)
            for other in settings:
                if other < index and other not in found:
                    context = () if EVERYWHERE in changed[other] else every[other].context
                    if line.within[: len(context)] == context:
                        take(other, every[other].loads)
        waiting.extend(new - seen)
        seen.update(new)

    for index in own:
        take(index, every[index].loads - (set() if broken else every[index].broken))
    while waiting:
        before, name = waiting.pop()
        for index in _binding(every, changed, before, name, broken=broken):
            one_turn = isinstance(every[index].statement, ast.For) and not broken
            loads = every[index].loads
            take(index, _taken_from(every[index], name, names) if one_turn else loads)
    return [found[index] for index in sorted(found)]


def _binding(
    every: list[Line], changed: list[frozenset[str]], before: int, name: str, *, broken: bool
) -> Iterator[int]:
    """The line that bound a name last, before a line, and those that changed it since.

    With `broken` those, too, that may have bound it: in a branch, or in the turn before.
    """
    user = every[before]
    for index in range(before + 1, len(every) if broken else 0):
        line = every[index]
        if name in line.binds | changed[index] and line.loops_with(user):
            yield index
    for index in range(before - 1, -1, -1):
        if name in changed[index]:
            yield index
        if name in every[index].binds:
            yield index
            if not broken or every[index].precedes(user):
                return


def _taken_from(line: Line, name: str, names: Mapping[str, Any]) -> frozenset[str]:
    """Of a loop's head the name from which a loop variable comes, where one is that very thing."""
    thing = names.get(name)
    if isinstance(thing, str | int | None):
        return frozenset() if name in names else line.loads  # no model makes it
    return frozenset(other for other in line.loads if names.get(other) is thing) or line.loads


@lru_cache(maxsize=512)
def _lines(file: str, source: str) -> tuple[Line, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(
        line
        for statement in tree.body
        for line in _flat(statement, file, (_first(statement), statement.end_lineno or 0))
    )


def _flat(
    node: ast.stmt, file: str, outer: tuple[int, int], within: tuple[Inside, ...] = ()
) -> Iterator[Line]:
    """The lines of a statement: its own, or its head's and those of its bodies."""
    inner = [] if isinstance(node, _DEFINITIONS) else list(_inner(node))
    end = inner[0][1].lineno - 1 if inner else node.end_lineno or 0
    fields = {key: value for key, value in ast.iter_fields(node) if not inner or key not in _BODIES}
    empty = {"body": [ast.Pass()], "orelse": []} if inner else {}
    head: Any = type(node)(**fields | {k: v for k, v in empty.items() if k in node._fields})
    ast.copy_location(head, node)
    binds, changes, loads = names_of(ast.Pass() if isinstance(node, ast.Try) else head)
    words = {part.arg for part in ast.walk(head) if isinstance(part, ast.keyword)}
    broken = loads - names_of(_without_broken(head))[2] if words & _BROKEN else frozenset()
    last = max(end, node.lineno)
    first = _first(node)
    yield Line(file, first, last, outer, within, binds, changes, loads, broken, head)
    for body, child in inner:
        part = file, first, f"{type(node).__name__}.{body}"
        yield from _flat(child, file, outer, (*within, part))


def _first(node: ast.stmt) -> int:
    """The line on which a statement begins: a decorator's, where it has one."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _inner(node: ast.stmt) -> Iterator[tuple[str, ast.stmt]]:
    """The statements of the bodies of a loop, a branch, a `with` or a `try`, and whose they are."""
    for body in _BODIES:
        for child in getattr(node, body, ()):
            inner = child.body if isinstance(child, ast.ExceptHandler) else [child]
            yield from ((body, statement) for statement in inner)


def names_of(node: ast.stmt) -> tuple[frozenset[str], ...]:
    """Return the names that a statement binds, those that it may change, and those that it uses.

    Those of inner functions, classes and comprehensions are theirs alone.
    """
    text = ast.unparse(node)
    if any(isinstance(part, _COMPREHENSIONS) for part in ast.walk(node)):
        text = ast.unparse(_Apart().visit(ast.parse(text)))
    table = symtable.symtable(text, "a cell", "exec")
    own = table.get_symbols()
    binds = {name.get_name() for name in own if name.is_assigned() or name.is_imported()}
    loads = {name.get_name() for name in own if name.is_referenced()} | {*_asked(table)}
    every = [] if isinstance(node, _DEFINITIONS) else [*ast.walk(node)]
    changed = [n for n in every if isinstance(getattr(n, "ctx", None), ast.Store)]
    called = [n.func for n in every if isinstance(n, ast.Call)]
    changed += [f for f in called if isinstance(f, ast.Attribute) and f.attr in _CHANGING]
    changes = {_root(n) for n in changed if isinstance(n, ast.Attribute | ast.Subscript)} & loads
    if isinstance(node, ast.AugAssign):
        binds, changes, loads = set(), changes | binds, loads | binds
    return frozenset(binds), frozenset(changes), frozenset(loads)


class _Apart(ast.NodeTransformer):
    """Comprehensions as generators: from Python 3.12 on, others share the scope around them."""

    def _generator(self, node: ast.ListComp | ast.SetComp | ast.DictComp) -> ast.GeneratorExp:
        self.generic_visit(node)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return ast.GeneratorExp(ast.Tuple(made, ast.Load()), node.generators)

    visit_ListComp = visit_SetComp = visit_DictComp = _generator


def _asked(table: symtable.SymbolTable) -> Iterator[str]:
    """The notebook's names that inner scopes use."""
    for inner in table.get_children():
        yield from (s.get_name() for s in inner.get_symbols() if s.is_global())
        yield from _asked(inner)


def _without_broken(node: ast.stmt) -> ast.stmt:
    """A statement without what is given to a check as broken."""
    found = copy.deepcopy(node)
    for call in ast.walk(found):
        if isinstance(call, ast.Call):
            call.keywords = [word for word in call.keywords if word.arg not in _BROKEN]
    return found


# ------------------------------------------------------------------ what lines change
# Beside what they bind: by a call, in place, or everywhere. Read and not run, so on the safe side:
# a call whose value nobody takes may change what it is given, and a function what it names. What
# shows or judges changes nothing.


EVERYWHERE, WITHIN = "*", "* within"  # all that runs later; of a `with` the rest of its body
_PRINTS = {"print", "display"}
_SHOWS = {"claim", "exercise", "live", "figure", "plt", "pile", "drawings"}
_SHOWN = "drawings"  # the package, by any name that it is imported by
_INSTALLS = "get_ipython().run_line_magic('pip',"  # what is there is no line's, but the machine's
_REACH_ALL = {"exec", "globals", "get_ipython"}
_GLOBAL = ("seed", "set_", "use_")  # such functions of a module set what all others read
_IN_PLACE = {"pop", "remove", "clear", "sort", "reverse", "discard", "popitem", "shuffle"}


def changed_by(lines: Sequence[Line]) -> list[frozenset[str]]:
    """Return what each of the lines changes: names of the notebook, or `EVERYWHERE`, `WITHIN`."""
    read = _Effects()
    return [frozenset(read.of(line)) for line in lines]


class _Effects:
    """What is known after some lines: imports, what shows, what a function does, who shares."""

    def __init__(self) -> None:
        self.imported, self.shows = set[str](), _PRINTS | _SHOWS
        self.does, self.shared = dict[str, set[str]](), dict[str, set[str]]()

    def of(self, line: Line) -> set[str]:
        """What a line changes; it is known from here on."""
        node = line.statement
        if isinstance(node, ast.Expr) and ast.unparse(node).startswith(_INSTALLS):
            return set()
        if isinstance(node, ast.Import | ast.ImportFrom):
            self.imported |= line.binds
            if isinstance(node, ast.ImportFrom) and _SHOWN in (node.module or "").split("."):
                self.shows |= line.binds
            return {EVERYWHERE} if any(part.name == "*" for part in node.names) else set()
        shown = bool(line.loads & (self.shows - _PRINTS))
        parts = [p for p in _parts(line) if not (shown and isinstance(p, ast.Expr))]
        found = {name for part in parts for name in self._part(part)}
        if shown:  # as a claim's case does, or a function that draws
            self.shows |= line.binds
        if isinstance(node, _DEFINITIONS):
            own = {n for part in parts if isinstance(part, ast.Global) for n in part.names}
            forked = {WITHIN} if any(isinstance(part, ast.With) for part in parts) else set()
            found &= (line.loads | {EVERYWHERE, WITHIN}) - forked
            self.does.update(dict.fromkeys(line.binds, found | own))
            return set()
        others = line.loads - self.imported - self.does.keys() - line.binds
        if not (shown or isinstance(node, ast.Expr)):
            self.shared.update({name: set(others - self.shows) for name in line.binds})
        if WITHIN in found and not any(body == "With.body" for *_, body in line.within):
            found.add(EVERYWHERE)
        waiting = [*found]
        for name in waiting:  # which grows
            waiting += self.shared.get(name, set()) - {*waiting}
        return {*waiting} - self.imported

    def _part(self, node: ast.AST) -> Iterator[str]:
        """What a part of a statement changes."""
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            yield self._place(node)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from self._dropped(node.value)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield from self.does.get(node.func.id, ())
            if node.func.id in _REACH_ALL:
                yield EVERYWHERE
            elif node.func.id in ("setattr", "delattr"):
                yield self._place(node.args[0])
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if name in _IN_PLACE or (name.endswith("_") and not name.endswith("__")):
                yield _root(node.func)
                yield from self._given(node)

    def _place(self, node: ast.AST) -> str:
        return EVERYWHERE if (root := _root(node)) in self.imported | _REACH_ALL else root

    def _dropped(self, call: ast.Call) -> Iterator[str]:
        """What a call may change of which nobody takes the value."""
        if (root := _root(call)) in self.shows:
            return
        if isinstance(call.func, ast.Attribute) and root not in self.imported:
            yield root
            return
        yield from (given := [*self._given(call)])
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if name and (not given or any(word in name for word in _GLOBAL)):
            yield WITHIN

    def _given(self, call: ast.Call) -> Iterator[str]:
        """The notebook's names that a call is given."""
        for part in ast.walk(call):
            if isinstance(part, ast.Name) and part.id not in self.imported | self.shows:
                yield part.id


@lru_cache(maxsize=4096)
def _parts(line: Line) -> list[ast.AST]:
    """The parts of a statement that may change something, or set a context."""
    kinds = ast.Attribute | ast.Subscript | ast.Call | ast.Expr | ast.Global | ast.With
    return [part for part in ast.walk(line.statement) if isinstance(part, kinds)]


def _root(node: ast.AST) -> str:
    """The name that an expression begins with; of `vars(x)` it is x."""
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Call):
            inside = isinstance(node.func, ast.Name) and node.func.id in ("vars", "getattr")
            node = node.args[0] if inside and node.args else node.func
        elif isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
            node = node.value
        else:
            return ""
    return node.id
