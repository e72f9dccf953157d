"""What additive noise has in common: parameters, claims, clamping and sums."""
