"""A derivation that its reader sees: a function in plain SymPy, run again in numbers, with slips.

The function is run as it stands; that is the derivation. Then its source is run once more, at a
point where every symbol has a number, and with `integrate`, `summation`, `solve` and `limit`
replaced by quadrature, addition, root finding and a value near by. This numeric twin shares no rule
of SymPy with the derivation, and takes milliseconds. So every slip of the function's own lines can
be tried: a number off by one, an operator exchanged, a name exchanged, a line left out.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import math
import textwrap
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import mpmath
import sympy as sp

from .formulas.evaluation import Point, number, with_numbers
from .integrals.quadrature import integrate_numerically

_OURS = __name__.partition(".")[0]
_SAME = 1e-7  # relative; the twin is good to 1e-12
_LONGEST_SUM = 10_000
_DIGITS = 80  # what is as large as infinity may cancel
_FAR = sp.Float("1e30", _DIGITS)  # stands for infinity in a limit
_NEAR = sp.Float("1e-15", _DIGITS)
_REWRITING = (
    "apart cancel collect combsimp expand expand_func expand_log expand_trig factor gammasimp "
    "logcombine nsimplify powdenest powsimp radsimp ratsimp simplify sqrtdenest together trigsimp"
).split()
_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
}  # fmt: skip


class Twinned:
    """A function that derives a formula, its numeric twin, and its slips.

    Args:
        function: of the objects of the definition (a density, a map, a range), by keyword; its
            lines are plain SymPy, and it returns an expression.
        given: values for its parameters; the others have their defaults.

    Raises:
        TypeError: it is no function with a source, takes no objects, or returns no expression.
        ValueError: it calls this library, or computes nothing that could go wrong.

    Example:
        >>> from sympy import Symbol, exp, integrate, oo, pi, sqrt
        >>> x = Symbol("x", real=True)
        >>> def second_moment(density=exp(-x**2 / 2) / sqrt(2 * pi)):
        ...     return integrate(x**2 * density, (x, -oo, oo))
        >>> shown = Twinned(second_moment)
        >>> shown.value, round(shown.numeric({}), 12), len(list(shown.slips()))
        (1, 1.0, 10)
    """

    def __init__(self, function: Callable[..., sp.Expr], given: Mapping[str, Any] = {}) -> None:
        if not isinstance(function, types.FunctionType):
            raise TypeError(f"function: got {type(function).__name__}; accepted: a function")
        self.function = function
        parameters = inspect.signature(function).parameters
        if strange := set(given) - set(parameters):
            raise TypeError(f"{', '.join(sorted(strange))}: accepted: {', '.join(parameters)}")
        self.objects: dict[str, Any] = {
            name: given.get(name, parameter.default) for name, parameter in parameters.items()
        }
        if not self.objects or inspect.Parameter.empty in self.objects.values():
            raise TypeError(
                f"{function.__name__}: accepted: a function of what the definition is about, such "
                "as a density, each parameter with its value as the default"
            )
        self.tree = _tree(function)
        self._usual: dict[tuple[Any, ...], float] = {}  # what the lines give at each point
        for name, value in _names(function, self.tree).items():
            if (getattr(value, "__module__", None) or "").partition(".")[0] == _OURS:
                raise ValueError(
                    f"{function.__name__}: uses {name} of this library; accepted: plain SymPy"
                )
        self.value = sp.sympify(function(**self.objects))
        if not isinstance(self.value, sp.Expr):
            raise TypeError(f"{function.__name__}: returned {self.value!r}; accepted: a formula")

    @property
    def name(self) -> str:
        """The function's name, in words."""
        return self.function.__name__.replace("_", " ")

    def computes(self, point: Point) -> bool:
        """Whether an integral, a sum, a root, a limit or a derivative lies between."""
        done: list[str] = []
        self._run(self.tree, point, self.objects, done)
        return bool(done)

    def numeric(self, point: Point, tree: ast.FunctionDef | None = None, **objects: Any) -> float:
        """Run the lines in numbers.

        Args:
            point: a number for each symbol of the formula.
            tree: of other lines, such as a slip's.
            objects: other values for parameters.

        Raises:
            ValueError: the lines have no finite real value there, or cannot be run in numbers.
        """
        found = self._run(tree or self.tree, point, {**self.objects, **objects}, [])
        value = number(sp.sympify(found), point)
        if value is None:
            raise ValueError(f"{self.name}: {found} has no finite value")
        return float(value)

    def differs(self, point: Point, tree: ast.FunctionDef | None = None, **objects: Any) -> bool:
        """Whether other lines or objects give another number at a point, or none."""
        try:
            found = self.numeric(point, tree, **objects)
        except Exception:  # whatever it is: the slip has been seen
            return True
        key = tuple(point.items())
        if key not in self._usual:
            self._usual[key] = self.numeric(point)
        return not math.isclose(found, self._usual[key], rel_tol=_SAME, abs_tol=_SAME**2)

    def slips(self) -> Iterator[tuple[str, ast.FunctionDef]]:
        """Yield what was changed, and the lines with that one change in them."""
        formulas = {
            name
            for name, value in _names(self.function, self.tree).items()
            if isinstance(value, sp.Expr) and value not in self.objects.values()
        }
        every = (node for node in ast.walk(self.tree) if isinstance(node, ast.Name))
        own = {name.id for name in every if isinstance(name.ctx, ast.Store)}
        names = sorted(formulas | own | set(self.objects))
        for line in self.tree.body:
            for node in _parts(line):
                for label, changed in _changes(node, names):
                    yield f"line {node.lineno}: {label}", _with(self.tree, node, changed)
        blocks = [self.tree.body, *(x.body for x in self.tree.body if isinstance(x, ast.For))]
        for body in blocks:
            for line in body:
                if not isinstance(line, ast.Return) and len(body) > 1:
                    yield f"line {line.lineno} left out", _with(self.tree, line, None)

    def _run(
        self, tree: ast.FunctionDef, point: Point, objects: Mapping[str, Any], done: list[str]
    ) -> Any:
        twin = _Twin(point, done)
        names = {k: twin.of(v, self) for k, v in _names(self.function, self.tree).items()}
        found = _compiled(tree, names)(**{k: twin.of(v, self) for k, v in objects.items()})
        return twin.settled(found.subs(dict(point)) if isinstance(found, sp.Expr) else found)


def moments_of(density: sp.Expr, point: Point, highest: int) -> list[float]:
    """Return the moments of a density from the 0th on, in numbers; none where it is no density.

    Args:
        density: a formula in one variable beside the symbols that have numbers.
        point: those numbers.
        highest: the last moment.

    Example:
        >>> x = sp.Symbol("x", real=True)
        >>> [round(m, 9) for m in moments_of(sp.exp(-sp.Abs(x)) / 2, {}, 4)]
        [1.0, 0.0, 2.0, 0.0, 24.0]
    """
    free = density.free_symbols - set(point)
    if len(free) != 1:
        return []
    (x,) = free
    integral = _Twin(point, []).integral
    found = [float(integral(x**k * density, (x, -sp.oo, sp.oo))) for k in range(highest + 1)]
    return found if math.isclose(found[0], 1, rel_tol=1e-6) else []


class _Waiting(sp.Expr):
    """An integral within a limit or a sum: the number that it needs is not yet there.

    Its arguments are those of an integral, which would evaluate itself whenever it is asked for
    its sign.
    """

    is_commutative = True


class _Twin:
    """The numeric side of what a derivation calls."""

    def __init__(self, point: Point, done: list[str]) -> None:
        self.point, self.done = dict(point), done
        kept: Any = {getattr(sp, name): lambda e, *_, **__: e for name in _REWRITING}
        self._replaced: dict[Any, Any] = kept | {
            sp.integrate: self.integral, sp.Integral: self.integral, sp.summation: self.sum,
            sp.Sum: self.sum, sp.product: self.product, sp.Product: self.product,
            sp.solve: self.roots, sp.limit: self.limit, sp.Limit: self.limit, sp.diff: self.slope,
        }  # fmt: skip

    def of(self, value: Any, shown: Twinned) -> Any:
        """What stands for a value when the lines run in numbers."""
        if isinstance(value, types.ModuleType) and value.__name__ == "sympy":
            return _Sympy(self, shown)
        try:
            if value in self._replaced:
                return self._replaced[value]
        except TypeError:  # of no hash
            return value
        if isinstance(value, types.FunctionType) and value.__module__ == shown.function.__module__:
            tree = _tree(value)
            names = {k: self.of(v, shown) for k, v in _names(value, tree).items()}
            made = _compiled(tree, names)
            made.__defaults__ = tuple(self.of(v, shown) for v in value.__defaults__ or ())
            return made
        return value

    def at(self, formula: Any, *bound: Any) -> Any:
        """A formula with numbers for its symbols, but for bound ones."""
        kept = {s: v for s, v in self.point.items() if s not in bound}
        return with_numbers(sp.sympify(formula), kept)

    def integral(self, formula: Any, *limits: Any) -> Any:
        self.done.append("integral")
        found = sp.sympify(formula)
        for place, (x, low, high) in enumerate(limits):
            found = self.at(found, x)
            outside, found = found.as_independent(x, as_Add=False)
            open_in = sp.Tuple(found, self.at(low), self.at(high)).free_symbols
            if open_in - {x}:
                return outside * _Waiting(found, *map(sp.Tuple.fromiter, limits[place:]))
            ends = [low, *_kinks(found, x), high]
            ends = sorted({sp.N(self.at(end)) for end in ends if _between(end, low, high, self)})
            if self.at(low) > self.at(high):
                ends.reverse()
            found = outside * sp.Add(*(
                sp.Float(integrate_numerically(sp.Integral(found, (x, *pair))).value, 15)
                for pair in itertools.pairwise(ends)
            ))  # fmt: skip
        return found

    def settled(self, formula: Any) -> Any:
        """A formula with the integrals in it that had to wait for a number."""
        return sp.sympify(formula).replace(
            lambda part: isinstance(part, _Waiting),
            lambda part: self.integral(*part.args),
        )

    def sum(self, formula: Any, *limits: Any, by: Any = sp.Add) -> Any:
        self.done.append("sum")
        found = sp.sympify(formula)
        for index, low, high in limits:
            found = self.at(found, index)
            first, last = self.at(low), self.at(high)
            if last.is_infinite and found.has(_Waiting):
                raise ValueError(f"sum from {first} to {last} of integrals")
            if last.is_infinite:
                return sp.Sum(found, (index, first, last)).evalf(20)
            if not (first.is_Integer and last.is_Integer) or last - first > _LONGEST_SUM:
                raise ValueError(f"sum from {first} to {last}")
            terms = (found.subs(index, k) for k in range(int(first), int(last) + 1))
            found = by(*map(self.settled, terms))
        return found

    def product(self, formula: Any, *limits: Any) -> Any:
        return self.sum(formula, *limits, by=sp.Mul)

    def limit(self, formula: Any, x: Any, to: Any, dir: str = "+") -> Any:
        self.done.append("limit")
        sign = -1 if dir == "-" else 1
        near = {sp.oo: _FAR, -sp.oo: -_FAR}.get(to, None)
        place = near if near is not None else self.at(to) + sign * _NEAR
        found = self.settled(self.at(formula, x).subs(x, place))
        if found.has(_Waiting):
            raise ValueError(f"limit: {found} has no number")
        return sp.N(found, _DIGITS)

    def slope(self, formula: Any, *variables: Any) -> Any:
        self.done.append("derivative")
        return sp.diff(formula, *variables)

    def roots(self, equation: Any, x: Any, **options: Any) -> Any:
        self.done.append("root")
        (equation,) = equation if isinstance(equation, list | tuple) else [equation]
        if isinstance(equation, sp.Equality):
            equation = equation.lhs - equation.rhs
        found = [root for root in _zeros(self.at(equation, x), x) if _suits(root, x)]
        return [{x: root} for root in found] if options.get("dict") else found


class _Sympy:
    """SymPy under the name that the notebook has for it."""

    def __init__(self, twin: _Twin, shown: Twinned) -> None:
        self._twin, self._shown = twin, shown

    def __getattr__(self, name: str) -> Any:
        return self._twin.of(getattr(sp, name), self._shown)


def _between(end: Any, low: Any, high: Any, twin: _Twin) -> bool:
    at, ends = twin.at(end), sorted((twin.at(low), twin.at(high)))
    return bool(ends[0] <= at) and bool(at <= ends[1])


def _kinks(formula: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """Where a formula of one variable has a jump or a bend."""
    edges = [part.args[0] for part in formula.atoms(sp.Abs, sp.sign, sp.Heaviside)]
    edges += [a - b for part in formula.atoms(sp.Max, sp.Min)
              for a, b in itertools.combinations(part.args, 2)]  # fmt: skip
    edges += [part.lhs - part.rhs for part in formula.atoms(sp.core.relational.Relational)]
    return [root for edge in edges for root in _zeros(edge, x)]


def _zeros(formula: sp.Expr, x: sp.Symbol) -> list[sp.Expr]:
    """Real zeros, found in numbers: of a polynomial all, else those between sample points."""
    above = sp.numer(sp.together(formula))
    if above.is_polynomial(x):
        poly = sp.Poly(above, x)
        roots = poly.nroots(n=20, maxsteps=200) if poly.degree() > 0 else []
        return sorted({sp.re(r) for r in roots if abs(sp.im(r)) < 1e-12})
    f = sp.lambdify(x, formula, "mpmath")
    grid = [s * 2.0 ** (k / 4) for s in (-1, 1) for k in range(-48, 25)]
    grid = [g for g in sorted(grid) if _suits(sp.Float(g), x)]
    found = []
    for a, b in itertools.pairwise(grid):
        ends = [complex(f(a)), complex(f(b))]
        if all(end.imag == 0 for end in ends) and ends[0].real * ends[1].real < 0:
            found.append(sp.Float(mpmath.findroot(f, (a, b), "anderson", verify=False), 15))
    return found


def _suits(root: sp.Expr, x: sp.Symbol) -> bool:
    return not (x.is_positive and root <= 0) and not (x.is_negative and root >= 0)


def _tree(function: types.FunctionType) -> ast.FunctionDef:
    """The syntax tree of a function: without decorators, defaults, annotations and texts."""
    try:
        source = textwrap.dedent(inspect.getsource(function))
        (node,) = ast.parse(source).body
    except (OSError, SyntaxError, ValueError) as error:
        raise TypeError(f"{function.__name__}: has no source that can be read") from error
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Lambda):
        made = ast.Return(node.value.body, lineno=1, col_offset=0)
        node = ast.FunctionDef(
            function.__name__, node.value.args, [made], [], lineno=1, col_offset=0
        )
    if not isinstance(node, ast.FunctionDef):
        raise TypeError(f"{function.__name__}: accepted: a function, defined by def or as a lambda")
    node.decorator_list, node.returns, node.args.defaults = [], None, []
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    texts = [s for s in node.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)]
    node.body = [statement for statement in node.body if statement not in texts]
    return ast.fix_missing_locations(node)


def _global(code: types.CodeType) -> set[str]:
    """Names that code and its inner functions take from the module; attributes among them."""
    inner = (const for const in code.co_consts if isinstance(const, types.CodeType))
    return {*code.co_names}.union(*map(_global, inner))


def _names(function: types.FunctionType, tree: ast.FunctionDef) -> dict[str, Any]:
    """What the names of a function stand for outside it."""
    code = function.__code__
    around = zip(code.co_freevars, function.__closure__ or (), strict=True)
    known = {**vars(builtins), **function.__globals__}
    known |= {name: cell.cell_contents for name, cell in around}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    used &= _global(code) | {*code.co_freevars}
    return {name: known[name] for name in sorted(used) if name in known}


def _compiled(tree: ast.FunctionDef, names: dict[str, Any]) -> Callable[..., Any]:
    """The function that a tree defines, with these values for its names."""
    scope = dict(names)
    module = ast.fix_missing_locations(ast.Module([tree], []))
    exec(compile(module, "<twin>", "exec"), scope)
    return scope[tree.name]


def _parts(node: ast.AST) -> Iterator[Any]:
    """The expressions within a node, each before what stands in it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield child
        yield from _parts(child)


def _changes(node: Any, names: list[str]) -> Iterator[tuple[str, ast.expr]]:
    """What may be mistaken in one node."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value: Any = node.value
        for near in (value + 1, value - 1):
            yield f"{value} -> {near}", ast.Constant(near)
    elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        other = _OPERATORS[type(node.op)]()
        changed = ast.BinOp(node.left, other, node.right)
        yield f"{ast.unparse(node)} -> {ast.unparse(changed)}", changed
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield f"{ast.unparse(node)} -> {ast.unparse(node.operand)}", node.operand
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in names:
        other_name = names[(names.index(node.id) + 1) % len(names)]
        if other_name != node.id:
            yield f"{node.id} -> {other_name}", ast.Name(other_name, ast.Load())


def _with(part: Any, old: ast.AST, new: ast.AST | None) -> Any:
    """A tree with another node instead of one, or without that line."""
    if part is old:
        return new
    if isinstance(part, list):
        made = [_with(item, old, new) for item in part]
        return [item for item, was in zip(made, part, strict=True) if item or was is not old]
    if not isinstance(part, ast.AST):
        return part
    found = type(part)(**{key: _with(value, old, new) for key, value in ast.iter_fields(part)})
    return ast.copy_location(found, part)
