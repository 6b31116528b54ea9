"""The expected first loss of Gaussian tables, and its variance, from their sizes alone.

The logits of the other tokens are, given the last state, independent normal numbers of one standard
deviation, the spread. The own logit is spread * (ρ * length + √(1-ρ²) * noise), the length that of
the input token's row in units of σ, a chi number. So the expected loss is the mean over a length
(and, with an ε, over the spread that goes with it) of what `LogsumexpLaw.with_another` knows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..accepted import require_real, require_whole
from .logsumexp import LogsumexpLaw, scale_of

_LEGENDRE = np.polynomial.legendre.leggauss(16)
MOST_TOKENS, MOST_WIDTH, MOST_SPREAD = 10**12, 10**9, 1e6


@dataclass(frozen=True)
class GaussianStart:
    """A head at step 0 whose rows are iid normal, and the state that it reads.

    The attributes are the arguments of `gaussian_first_loss`, which says what they mean.

    Raises:
        TypeError, ValueError: an argument is outside the domain; see `gaussian_first_loss`.

    Example:
        >>> round(GaussianStart(50_257, 768, 0.02, ρ=1.0).loss(), 6)
        15.368464
    """

    n: int
    d: int
    σ: float
    ρ: float = 0.0
    cosine: str = "fixed"
    scale: float = 1.0
    repeats: float = 0.0
    ε: float = 0.0
    state: float | None = None
    norm: str = "rms"

    def __post_init__(self) -> None:
        require_whole(n=self.n, d=self.d)
        require_real(σ=self.σ, ρ=self.ρ, scale=self.scale, repeats=self.repeats, ε=self.ε)
        require_real(state=1.0 if self.state is None else self.state)
        least = 2 if self.norm == "layer" else 1
        finite = "a finite positive number"
        state = 1.0 if self.state is None else self.state
        for name, fits, accepted in (
            ("n", 2 <= self.n <= MOST_TOKENS, f"2 to {MOST_TOKENS:.0e}"),
            ("norm", self.norm in ("rms", "layer"), "'rms', 'layer'"),
            ("d", least <= self.d <= MOST_WIDTH, f"{least} to {MOST_WIDTH:.0e}"),
            ("σ", 0 < self.σ < math.inf, finite),
            ("ρ", -1 <= self.ρ <= 1, "a cosine, -1 to 1"),
            ("cosine", self.cosine in ("fixed", "random"), "'fixed', 'random'"),
            ("scale", 0 < self.scale < math.inf, finite),
            ("repeats", 0 <= self.repeats <= 1, "a share, 0 to 1"),
            ("ε", 0 <= self.ε < math.inf, "a finite number that is not negative"),
            ("state", 0 < state < math.inf, finite),
        ):
            if not fits:
                raise ValueError(f"{name}: got {getattr(self, name)!r}; accepted: {accepted}")
        if self.cosine == "fixed" and self.d == least and abs(self.ρ) != 1:
            got, accepted = f"{self.ρ!r} at d = {self.d}", "-1 or 1, or cosine='random'"
            raise ValueError(f"ρ: got {got}, where no other cosine exists; accepted: {accepted}")
        if not 1e-100 < self.spread <= MOST_SPREAD:
            got = f"{self.scale}, {self.d}, {self.σ}"
            accepted = f"scale * √d * σ up to {MOST_SPREAD:.0e}"
            raise ValueError(f"scale, d, σ: got {got}; accepted: {accepted}")

    @property
    def spread(self) -> float:
        """Standard deviation of a logit of another token where ε is 0: scale * √d * σ."""
        return self.scale * math.sqrt(self.d) * self.σ

    def loss(self) -> float:
        """Return the expected loss, in nats; see `gaussian_first_loss`."""
        x, weight = self._lengths()
        mean, _ = self._over_spreads(x, weight, moments=False)
        return float(mean @ weight)

    def variance(self) -> float:
        r"""Return the variance over vocabularies of a token's loss, its label averaged out.

        Of one token: `first_loss` of one state under the label law. With m the mean logit of the
        n - 1 others and p the share of repeats, the loss is $L - (1-p)m - p\,a$, L the logsumexp
        and a the own logit; its covariance with m follows from Stein's identity. The annealed and
        the frozen limit are in `regimes`. Its error, in nats squared, is below 1e-8 times the
        greater of 1 and itself and the loss.

        Example:
            >>> round(GaussianStart(50_257, 768, 0.02, ρ=1.0).variance(), 4)
            0.1495
        """
        x, weight = self._lengths()
        mean, variance = self._over_spreads(x, weight, moments=True)
        return float((variance + (mean - mean @ weight) ** 2) @ weight)

    def _lengths(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes and weights for a mean over the length of a row in units of σ, a chi number."""
        degrees = self.d - (self.norm == "layer")
        peak = math.sqrt(degrees - 1)
        low, high = max(0.0, peak - 6.4), peak + 9
        pace = min(1.5, scale_of(self.n, self.spread) / max(1e-9, abs(self.ρ) * self.spread))
        edges = np.linspace(low, high, 1 + math.ceil((high - low) / pace))
        soft = self._softness()
        if soft:  # where the normalisation bends, and where the spread passes through freezing
            bends = soft * 2.0 ** np.arange(-2, 12)
            most = 2 * math.sqrt(2 * math.log(self.n))
            steps = np.append(np.arange(1, most), most * 1.5 ** np.arange(35))
            steps = steps[steps < 0.99 * self.spread]
            bends = np.append(bends, soft * steps / np.sqrt(self.spread**2 - steps**2))
            edges = np.unique(np.append(edges, bends[(bends > low) & (bends < high)]))
        at, share = _LEGENDRE
        half = np.diff(edges)[:, None] / 2
        x, share = ((edges[:-1, None] + half * (1 + at)).ravel(), (half * share).ravel())
        if degrees == 1:
            log_density = -(x**2) / 2
        else:  # about the peak, so that no digits are lost at a large width
            off = x / peak - 1
            log_density = peak**2 * (np.log1p(off) - off) - (x - peak) ** 2 / 2
        weight = share * np.exp(log_density)
        return x, weight / weight.sum()

    def _softness(self) -> float:
        """The length, in units of σ, at which the ε of the norm is as large as the state."""
        soft = math.sqrt(self.d * self.ε) / (self.σ if self.state is None else self.state)
        return soft if soft > 1e-12 else 0.0  # below, it moves no loss by 1e-11 of itself

    def _over_spreads(
        self, x: np.ndarray, weight: np.ndarray, moments: bool
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of the loss given a length, for each of some lengths."""
        soft = self._softness()
        if not soft:
            return self._given(self.spread, x, moments)
        # with an ε the spread goes with the length, smoothly: interpolated, finer and finer
        unit = math.sqrt(2 * math.log(self.n))
        spread = np.arcsinh(self.spread / unit * x / np.hypot(x, soft))
        low, reach = float(spread.min()), float(np.ptp(spread))
        where = (spread - low) / max(reach, 1e-300)
        known: dict[float, tuple[np.ndarray, np.ndarray]] = {}
        before = [np.full(len(x), 1e300)] * 2
        for count in (2, 3, 5, 9, 17, 33, 65, 129, 257):
            at = [round((1 + math.cos(math.pi * k / (count - 1))) / 2, 14) for k in range(count)]
            for each in set(at) - set(known):
                known[each] = self._given(unit * math.sinh(low + each * reach), x, moments)
            found = [
                _interpolate(np.array(at), np.array([known[each][part] for each in at]), where)
                for part in range(1 + moments)
            ]
            if all(
                np.abs(new - old) @ weight <= 1e-7 * max(1.0, float(np.abs(new) @ weight))
                for new, old in zip(found, before, strict=False)
            ):
                return found[0], found[-1]
            before = found
        raise ValueError(
            f"ε: got {self.ε!r}; accepted: one for which the mean over lengths converges"
        )

    def _given(self, spread: float, x: np.ndarray, moments: bool) -> tuple[np.ndarray, np.ndarray]:
        """The same at one spread."""
        logsumexp = LogsumexpLaw(self.n - 1, spread)
        random = math.sqrt(1 - self.ρ**2) if self.cosine == "random" else 0.0
        z, share = np.zeros(1), np.ones(1)
        if random:
            step = min(0.5, 0.5 * logsumexp.scale / max(spread * random, 1e-9))
            z = np.arange(-9, 9 + step, step)
            share = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
        own = spread * (self.ρ * x[:, None] + random * z)
        mean, variance, probability = logsumexp.with_another(own, moments=moments)
        loss = mean - self.repeats * own
        average = loss @ share
        if not moments:
            return average, np.full(len(x), math.nan)
        others, each = 1 - self.repeats, spread**2 / (self.n - 1)
        variance = variance + each * (others**2 - 2 * others * (1 - probability))
        return average, (variance + (loss - average[:, None]) ** 2) @ share


def _interpolate(at: np.ndarray, values: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Values (count, x) at Chebyshev points of the second kind on 0 to 1, each x at its place."""
    sign = (-1.0) ** np.arange(len(at))
    sign[[0, -1]] /= 2
    gap = where - at[:, None]
    exact = np.abs(gap) < 1e-14
    share = sign[:, None] / np.where(exact, 1.0, gap)
    share = np.where(exact.any(0), exact.astype(float), share)
    return (share * values).sum(0) / share.sum(0)


def gaussian_first_loss(
    n: int,
    d: int,
    σ: float,
    *,
    ρ: float = 0.0,
    cosine: str = "fixed",
    scale: float = 1.0,
    repeats: float = 0.0,
    ε: float = 0.0,
    state: float | None = None,
    norm: str = "rms",
) -> float:
    r"""Return the expected cross-entropy at step 0 of a head whose rows are iid normal.

    The last state is normalised to the length √d, without gain, and has the cosine ρ to the input
    token's own row. The logits are ``scale`` times its products with the rows. With $s = $ scale
    √d σ and independent standard normal $z_j$, the loss is the mean of
    $\log(e^{s\rho\chi} + \sum_{j<n} e^{s z_j})$, χ the length of a standard normal vector of d
    entries, less ``repeats`` times the mean own logit. A mean of a logarithm of a sum becomes an
    integral of a product: $E\log S = \int (e^{-e^u} - E\,e^{-Se^u})\,du$; see `LogsumexpLaw`. The
    sum is the partition function of the random energy model (Derrida, Phys. Rev. B 24, 1981, 2613).

    Args:
        n: number of tokens, 2 to 1e12.
        d: length of a row, 1 to 1e9 (2 at least with a layer norm).
        σ: standard deviation of an entry of a row; scale * √d * σ is at most 1e6.
        ρ: cosine between the state and the input token's row: 1 at the identity, 0 for a state
            that has forgotten its token. In one dimension (d = 1, or 2 with a layer norm) a fixed
            cosine is 1 or -1.
        cosine: "fixed" (it is ρ, whatever is drawn) or "random" (the state is ρ times the row plus
            √(1-ρ²) times an independent normal vector, so that the cosine is ρ up to 1/√d; at
            ρ = 0 the own logit is one more of the others, as in an untied model).
        scale: factor on the logits, such as d**-0.5 or one over a temperature.
        repeats: share of the labels that equal the input token; the others are uniform.
        ε: of the last normalisation.
        state: standard deviation of an entry of the state before it; matters with an ε only. By
            default σ, as at the identity.
        norm: "rms", or "layer" (which takes the mean away, and with it one dimension).

    Returns:
        The mean over vocabularies, tokens and labels, in nats; its error is below 1e-8 times the
        greater of 1 and the loss. It takes milliseconds; with an ε and a width of a few, up to
        seconds.

    Raises:
        TypeError, ValueError: an argument is outside of this domain.

    Example:
        >>> round(gaussian_first_loss(50_257, 768, 0.02, ρ=1.0), 6)  # GPT-2's table, no body
        15.368464
        >>> round(gaussian_first_loss(50_257, 768, 0.02), 6)  # a body that forgets the token
        10.978499
    """
    return GaussianStart(n, d, σ, ρ, cosine, scale, repeats, ε, state, norm).loss()


def expected_first_loss(n: int, d: int, *, σ: float, tied: bool = True) -> float:
    r"""Return the mean first loss of a model whose body is the identity, by quadrature.

    Given the input token, the other logits are independent normal numbers of variance $d\sigma^2$,
    and the token's own logit is $\sqrt d\sigma$ times the length of a standard normal vector, or,
    untied, one more of the others. `gaussian_first_loss` is the general case.

    Args:
        n: number of tokens.
        d: length of an embedding.
        σ: standard deviation of an embedding's entry.
        tied: whether the head is the embedding itself.

    Returns:
        The mean over vocabularies, tokens and labels other than the token, in nats; its error is
        below 1e-8 times the greater of 1 and the loss.

    Raises:
        TypeError, ValueError: an argument is out of range.

    Example:
        >>> round(expected_first_loss(50_000, 768, σ=0.02), 3), round(math.log(50_000), 3)
        (15.368, 10.82)
    """
    require_whole(n=n, d=d)
    require_real(σ=σ)
    if not isinstance(tied, bool):
        raise TypeError(f"tied: got {tied!r}; accepted: True or False")
    if n < 2 or d < 1 or not 0 < σ < math.inf:
        raise ValueError(f"n, d, σ: got {n}, {d}, {σ}; accepted: n >= 2, d >= 1, 0 < σ < ∞")
    if tied:
        return gaussian_first_loss(n, d, σ, ρ=1.0)
    return gaussian_first_loss(n, d, σ, ρ=0.0, cosine="random")
