"""The shape that SARIF 2.1.0 gives to the objects we write, as a JSON schema of our own making.

It is stricter than the standard: every object may have only the properties named here, as the section of the
standard beside it has them. The schema that OASIS publishes is in `sarif_schema.py`.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def _object(required: tuple[str, ...] = (), **properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


TEXT: Schema = {"type": "string", "minLength": 1}
INDEX: Schema = {"type": "integer", "minimum": 0}
BAG: Schema = {"type": "object"}  # 3.8: a property bag holds what it likes
LEVEL: Schema = {"enum": ["none", "note", "warning", "error"]}  # 3.27.10
MESSAGE = _object(("text",), text=TEXT)  # 3.11
URI: Schema = {"type": "string", "minLength": 1, "pattern": r"^[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+$"}
HASHES: Schema = {"type": "object", "additionalProperties": TEXT}

ARTIFACT_LOCATION = _object((), uri=URI, index=INDEX)  # 3.4
REGION = _object((), startLine={"type": "integer", "minimum": 1})  # 3.30
PHYSICAL = _object(("artifactLocation",), artifactLocation=ARTIFACT_LOCATION, region=REGION)  # 3.29
LOGICAL = _object((), name=TEXT, fullyQualifiedName=TEXT, kind=TEXT)  # 3.33
LOCATION = _object((), physicalLocation=PHYSICAL, logicalLocations=_array(LOGICAL, minItems=1))  # 3.28
RULE_REFERENCE = _object((), id=TEXT, index=INDEX)  # 3.52
NOTIFICATION = _object(("message",), level=LEVEL, message=MESSAGE, associatedRule=RULE_REFERENCE)  # 3.58
INVOCATION = _object(  # 3.20
    ("executionSuccessful",),
    executionSuccessful={"type": "boolean"},
    toolExecutionNotifications=_array(NOTIFICATION),
)
ROLES: Schema = {"enum": ["analysisTarget"]}
ARTIFACT = _object(  # 3.24
    (),
    location=ARTIFACT_LOCATION,
    length={"type": "integer", "minimum": -1},
    roles=_array(ROLES, uniqueItems=True),
    hashes=HASHES,
)
RULE = _object(  # 3.49
    ("id",),
    id=TEXT,
    name=TEXT,
    shortDescription=_object(("text",), text=TEXT, markdown=TEXT),  # 3.12
    fullDescription=_object(("text",), text=TEXT, markdown=TEXT),
    help=_object(("text",), text=TEXT, markdown=TEXT),
    defaultConfiguration=_object((), level=LEVEL),  # 3.50
    properties=BAG,
)
RESULT = _object(  # 3.27
    ("message",),
    ruleId=TEXT,
    ruleIndex=INDEX,
    kind={"enum": ["fail"]},  # 3.27.9: a level other than "none" goes with this kind only
    level=LEVEL,
    message=MESSAGE,
    locations=_array(LOCATION),
    partialFingerprints=HASHES,
    properties=BAG,
)
DRIVER = _object(("name",), name=TEXT, version=TEXT, rules=_array(RULE, uniqueItems=True))  # 3.19
RUN = _object(  # 3.14
    ("tool",),
    tool=_object(("driver",), driver=DRIVER),  # 3.18
    invocations=_array(INVOCATION),
    artifacts=_array(ARTIFACT, uniqueItems=True),
    results=_array(RESULT),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
)
LOG: Schema = {  # 3.13
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **_object(("version", "runs"), version={"const": "2.1.0"}, runs=_array(RUN)),
}
LOG["properties"]["$schema"] = URI
