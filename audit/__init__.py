"""What may be concluded: attacks crossed with mechanisms, and the evidence for each verdict.

Where to look first:

- *A verdict* from two laws: `evidence/exact.py`. From a fixed number of runs: `evidence/sampled.py`. From runs until it
  is decided: `evidence/sequential.py`; the proof is in `statistics/e_process.py`. From all pairs of a domain:
  `evidence/every_pair.py`, `evidence/box_search.py`. From a clock: `evidence/timing.py`.
- *A row* of a report, one attack on one mechanism: `engine/row.py`; its verdict is that of its evidence, by `decisive`
  in `model/report.py`. Which attack meets which mechanism: `engine/pairs.py`.
- *A check* of any function: `check/check.py` has all stages in their order. `check/search.py` draws and shrinks pairs
  of inputs, `check/score.py` ranks them, `check/judge.py` judges one by runs (`evidence/sequential.py` decides),
  `check/replay/proof.py` proves by replay, `check/law/search.py` by laws.
- *Other audits of a function*: of a deterministic map, `check/stability.py`; against a law that is declared,
  `conforms/conforms.py`; of a training loop, `training/training.py`.
- *Neighbouring inputs*: `neighbours/relations.py`.
- *An outcome* of any type, as tuples of plain values: `values/outcomes.py`. Two are equal by
  `mechanisms/core/outcome_identity.py`; their parts have the features of `attacks/core/outcome_features.py`.
- *A page*: `report/page.py` of a report, `check/page.py` of a check; their templates are in `report/templates`. A
  terminal: `report/terminal.py`, `check/words.py`.
- *A claim* about a library's number: `claims/holding.py`.
- *A command*: `commands/`, a file each.
"""
