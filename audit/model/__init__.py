"""A report as frozen data: verdicts, evidence, rows. Everything is imported from here."""

from subnormal.audit.model.domains import BoxEvidence, DomainEvidence, DomainVerdict
from subnormal.audit.model.evidence import (
    DECIDING,
    KINDS,
    MEASURED,
    OF_RUNS,
    PROVED,
    REPEATED,
    Chance,
    CurveEvidence,
    EventKeys,
    EventObject,
    Evidence,
    ExactEvidence,
    Fit,
    Interval,
    KolmogorovSmirnov,
    Nonnegative,
    Pair,
    Probabilities,
    Probability,
    SampledEvidence,
    SequentialEvidence,
    Sketch,
    TimingEvidence,
    Verdict,
    Worlds,
)
from subnormal.audit.model.report import SCHEMA, Report, Row, decisive
