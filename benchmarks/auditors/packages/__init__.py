"""The auditors of each package: functions of (scores of canaries, which were included, δ, α)."""
