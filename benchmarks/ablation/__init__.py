"""Which functions the heuristics of `check` convict: python -m benchmarks.ablation."""
