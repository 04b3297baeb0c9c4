"""What a rule's file needs, in one import."""

from collections.abc import Iterator

from outlive.finding import Evidence, Fault, OpPlace, Remedy, Severity, Sighting, Tag
from outlive.rules.rule import Sightings, rule

__all__ = [
    "Evidence",
    "Fault",
    "Iterator",
    "OpPlace",
    "Remedy",
    "Severity",
    "Sighting",
    "Sightings",
    "Tag",
    "rule",
]
