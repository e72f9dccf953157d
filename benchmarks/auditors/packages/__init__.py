"""The auditors of each package: functions of (scores of the included, scores of the others, δ, α)."""
