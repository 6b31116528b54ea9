"""The JSON schema of ``claims.json``: the fields of the ledger's classes, and what narrows them."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from . import errata, evidence, ledger, registry
from .records.record import OF, Score
from .verdicts.lock import Change

Schema = dict[str, Any]
_CLASSES = {
    Score: "score", ledger.Summary: "summary", registry.Article: "article",
    ledger.Evidence: "evidence", Change: "change", errata.Side: "side",
    errata.Erratum: "erratum", ledger.Entry: "claim",
}  # fmt: skip
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _said(description: str, **more: Any) -> Schema:
    return {"description": description, **more}


_LISTS: dict[str, Schema] = {
    "verdict": {"enum": list(evidence.VERDICTS)},
    "evidence_kind": {"enum": list(evidence.KINDS)},
    "outcome": {"enum": sorted({name for row in evidence.KINDS.values() for name in row.outcomes})},
    "id": {"type": "string", "pattern": "^[A-Z]+-[0-9]{2,}$"},
}
# What is said of a field beside its type, or ("$ref", "enum") stands instead of it.
_NARROWED: dict[str, Schema] = {
    "score.below": _said("More, too close to the truth for a sample to tell."),
    "summary.by_verdict": {
        "propertyNames": _ref("verdict"), "additionalProperties": {"type": "integer"},
    },
    "evidence.kind": _ref("evidence_kind"),
    "evidence.of": {"enum": list(OF)},
    "evidence.outcome": _ref("outcome"),
    "evidence.ran": _said("The models that ran, as their objects describe themselves."),
    "side.value": _said("The number, computed from the formula."),
    "erratum.grade": {"enum": list(errata.GRADES)},
    "erratum.relation": {"enum": [*errata.RELATIONS, None]},
    "erratum.follows": _said(
        "The wrong claim of the same article of which this one is a consequence; judged."
    ),
    "claim.id": _ref("id"),
    "claim.kind": {"enum": list(registry.CLAIM_KINDS)},
    "claim.setting": _said("The article's own sizes, scales, laws and models."),
    "claim.verdict": _ref("verdict"),
    "claim.nature": _said(
        "Of a claim that is set aside.", enum=["definition", "plan", "opinion", "picture", None]
    ),
    "claim.history": _said("How what it says and its verdict were changed, the oldest first."),
    "claim.told": _said("What was done about it, in plain words."),
    "claim.inherited": _said("Conditions of claims on which it rests, with their ids."),
    "claim.discharges": _said("Whose conditions are met here, and why."),
    "claim.uses": {"items": _ref("id")},
    "claim.used_by": {"items": _ref("id")},
}  # fmt: skip
_DESCRIBED = {
    "score": "Wrong versions rejected, of those tried.",
    "evidence": "One record: its line of text ends with the hash of all that was decided.",
    "erratum": "What is wrong with a claim. The grade, the headline and the words are judged by a "
    "person; the numbers are computed from formula and truth at the article's values.",
}


def schema() -> Schema:
    """Return the JSON schema of ``claims.json``."""
    classes = {name: _of_class(made, name) for made, name in _CLASSES.items()}
    summary = classes["summary"]
    parts = {"type": "object", "additionalProperties": _ref("summary")}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "claims.schema.json",
        "title": "The Verified Transformer: every claim with its verdict and evidence",
        "description": "What claims.json holds. A verdict follows from the evidence; 'judged' "
        "marks one that rests on citations alone.",
        **_object(
            {
                "summary": _said(
                    "Over the articles' statements; the book's own stand in by_article only.",
                    **_object({**summary["properties"], "by_article": parts}),
                ),
                "articles": {"type": "array", "items": _ref("article")},
                "claims": {"type": "array", "items": _ref("claim")},
            }
        ),
        "$defs": _LISTS | classes,
    }


def _object(properties: Mapping[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [name for name in properties if name not in optional],
        "properties": dict(properties),
    }


def _of_class(made: type, name: str) -> Schema:
    """A class as `Ledger.to_json` writes it: every field, but ``below`` where nothing is."""
    types: dict[str, Any] = get_type_hints(made)
    if made is registry.Article:
        types["chapter"] = int | None  # a property
    if made is Score:
        types["below"] = int
    fields = {field: _field(of, f"{name}.{field}") for field, of in types.items()}
    described = {"description": _DESCRIBED[name]} if name in _DESCRIBED else {}
    return described | _object(fields, ("below",))


def _field(of: Any, place: str) -> Schema:
    narrowed = _NARROWED.get(place, {})
    return narrowed if {"$ref", "enum"} & set(narrowed) else _typed(of) | narrowed


def _typed(of: Any) -> Schema:
    """What JSON has of a type: a class by its name, a tuple of two as a list of two."""
    origin, parts = get_origin(of), get_args(of)
    if of in _CLASSES:
        return _ref(_CLASSES[of])
    if origin is UnionType and all(part in _TYPES for part in parts):
        return {"type": [_TYPES[part] for part in parts]}
    if origin is UnionType:
        return {"anyOf": [_typed(part) for part in parts]}
    if origin is Mapping:
        return {"type": "object"}
    if origin is tuple and Ellipsis not in parts:
        pair = [_typed(part) for part in parts]
        return {"type": "array", "prefixItems": pair, "minItems": 2, "maxItems": 2}
    return {"type": "array", "items": _typed(parts[0])} if origin else {"type": _TYPES[of]}
