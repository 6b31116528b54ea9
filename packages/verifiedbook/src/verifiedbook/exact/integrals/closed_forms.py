"""Integrals in closed form: half lines, truncated laws.

Every rule here is an operation for a `Derivation`: it takes an expression with unevaluated
integrals and returns one without.
"""

from __future__ import annotations

import sympy as sp

from ..formulas.evaluation import number, random_points


def integrate_by_parts(expression: sp.Expr) -> sp.Expr:
    r"""Replace every integral of polynomial times Gaussian by its closed form.

    For $I_k=\int_a^b x^k e^{-px^2+qx+r}\,dx$ completing the square gives $I_0$ in terms of erf, and
    integration by parts gives
    $2p\,I_k = q\,I_{k-1} + (k-1)\,I_{k-2} - [x^{k-1}e^{-px^2+qx+r}]_a^b$.

    Args:
        expression: an expression with one-dimensional integrals; the ends may be infinite.

    Returns:
        The expression without integrals.

    Raises:
        ValueError: an integrand is not a polynomial times the exponential of a quadratic with
            negative leading coefficient.

    Example:
        >>> from verifiedbook import LawMean, Normal, symbols
        >>> z, σ = symbols("z sigma")
        >>> fourth = LawMean("E z**4", z, Normal(0, σ), z**4)
        >>> fourth.then("integration by parts", integrate_by_parts).value
        3*sigma**4
    """

    def name(value: sp.Expr, constants: dict[sp.Dummy, sp.Expr]) -> sp.Dummy:
        dummy = sp.Dummy(positive=True) if value.evalf(15) > 0 else sp.Dummy(negative=True)
        constants[dummy] = value
        return dummy

    def closed(integral: sp.Integral) -> sp.Expr:
        if len(integral.limits) != 1:
            raise ValueError(f"expression: {integral} has several variables; accepted: one")
        constants: dict[sp.Dummy, sp.Expr] = {}
        integral = integral.replace(
            lambda e: e.is_Add and e.is_number, lambda e: name(e, constants)
        )
        variable, low, high = integral.limits[0]
        integrand = sp.expand(_masked(integral.function, variable, constants), power_exp=False)
        terms = [t for t in sp.Add.make_args(integrand) if t != 0]
        result = sp.Add(*[_gaussian_term(term, variable, low, high) for term in terms])
        return result.xreplace(constants).xreplace(
            constants
        )  # masked factors may hold named numbers

    return expression.replace(lambda e: isinstance(e, sp.Integral), closed)


def _masked(e: sp.Expr, x: sp.Symbol, constants: dict[sp.Dummy, sp.Expr]) -> sp.Expr:
    """Put a symbol for every compound factor without ``x``, which expansion would tear apart."""
    if not e.has(x):
        if e.is_Atom:
            return e
        name = sp.Dummy()
        constants[name] = e
        return name
    if isinstance(e, sp.Add | sp.Mul):
        free, bound = e.as_independent(x)
        return e.func(
            _masked(free, x, constants),
            *[_masked(part, x, constants) for part in e.func.make_args(bound)],
        )
    if isinstance(e, sp.Pow) and e.exp.is_Integer and e.base != sp.E:
        return _masked(e.base, x, constants) ** e.exp
    return e


def _gaussian_term(term: sp.Expr, x: sp.Symbol, low: sp.Expr, high: sp.Expr) -> sp.Expr:
    constant, rest = term.as_independent(x, as_Add=False)
    power, exponent = sp.Integer(0), sp.Integer(0)
    for factor in sp.Mul.make_args(rest):
        base, exp = factor.as_base_exp()
        if isinstance(factor, sp.exp):
            exponent += factor.args[0]
        elif isinstance(base, sp.exp):
            exponent += exp * base.args[0]
        elif base == x and exp.is_Integer and exp >= 0:
            power += exp
        elif factor != 1:
            raise ValueError(f"integrand: got the factor {factor}; accepted: x**k, exp(quadratic)")
    exponent = sp.expand(exponent)
    if not exponent.is_polynomial(x) or (quadratic := sp.Poly(exponent, x)).degree() != 2:
        raise ValueError(f"integrand: the exponent {exponent} is not quadratic in {x}")
    minus_p, q, r = (quadratic.coeff_monomial(x**k) for k in (2, 1, 0))
    if not (minus_p.is_negative or _is_negative(minus_p)):
        raise ValueError(f"integrand: exp({exponent}) is not known to fall off")
    return constant * _moments(int(power), -minus_p, q, r, low, high)[int(power)]


def _is_negative(value: sp.Expr) -> bool:
    found = (number(value, point) for point in random_points(value))
    return all(x is not None and x < 0 for x in found)


def _moments(
    order: int, p: sp.Expr, q: sp.Expr, r: sp.Expr, low: sp.Expr, high: sp.Expr
) -> list[sp.Expr]:
    def boundary(k: int, end: sp.Expr) -> sp.Expr:
        if end in (sp.oo, -sp.oo):
            return sp.Integer(0)
        return end**k * sp.exp(sp.expand(-p * end**2 + q * end + r))

    def standardised(end: sp.Expr) -> sp.Expr:
        return sp.simplify(sp.sqrt(p) * end - q / (2 * sp.sqrt(p)))

    if low == -sp.oo and high == sp.oo:
        probability = sp.Integer(2)
    elif high == sp.oo:
        probability = sp.erfc(standardised(low))
    elif low == -sp.oo:
        probability = sp.erfc(-standardised(high))
    else:
        probability = sp.erf(standardised(high)) - sp.erf(standardised(low))
    scale = sp.sqrt(sp.pi) / (2 * sp.sqrt(p)) * sp.exp(sp.simplify(r + q**2 / (4 * p)))
    found = [scale * probability]
    for k in range(1, order + 1):
        lower = found[k - 2] if k >= 2 else sp.Integer(0)
        edges = boundary(k - 1, high) - boundary(k - 1, low)
        found.append(sp.expand((q * found[k - 1] + (k - 1) * lower - edges) / (2 * p)))
    return found


def half_line_power(s: sp.Expr | int) -> sp.Integral:
    r"""Return $\int_0^\infty x^s e^{-x^2/2}\,dx$, unevaluated: the start of a derivation.

    Moments of a standard normal vector's length are ratios of two of them:
    $E|z|^k$ is that of $s=d+k-1$ over that of $s=d-1$.

    Args:
        s: the power, greater than -1.

    Raises:
        ValueError: a number that is not.
    """
    if sp.sympify(s).is_number and not sp.sympify(s) > -1:
        raise ValueError(f"s: got {s}; accepted: a power greater than -1, where the integral ends")
    x = sp.Symbol("x", positive=True)
    return sp.Integral(x**s * sp.exp(-(x**2) / 2), (x, 0, sp.oo))


def integrate_half_line_powers(expression: sp.Expr) -> sp.Expr:
    r"""Replace $\int_0^\infty r^s e^{-r^2/2}\,dr$ by $2^{(s-1)/2}\,\Gamma((s+1)/2)$, any $s$.

    Args:
        expression: an expression with integrals over the positive half line of sums of powers of a
            positive variable against ``exp(-r**2/2)``.

    Returns:
        The expression without integrals.

    Raises:
        ValueError: an integral is not of this form.
    """

    def term(integrand: sp.Expr, r: sp.Symbol) -> sp.Expr:
        constant, rest = sp.powsimp(integrand / sp.exp(-(r**2) / 2)).as_independent(r)
        base, s = rest.as_base_exp() if rest != 1 else (r, sp.Integer(0))
        if base != r or s.has(r) or (s + 1).is_nonpositive:
            raise ValueError(
                f"integrand: got {integrand}; accepted: {r}**s * exp(-{r}**2/2), s > -1"
            )
        return constant * 2 ** ((s - 1) / 2) * sp.gamma((s + 1) / 2)

    def closed(integral: sp.Integral) -> sp.Expr:
        r, low, high = integral.limits[0]
        if (low, high) != (0, sp.oo):
            raise ValueError(f"expression: {integral} is not over the positive half line")
        return sp.Add(*[term(t, r) for t in sp.Add.make_args(sp.expand(integral.function))])

    return expression.replace(lambda e: isinstance(e, sp.Integral), closed)
