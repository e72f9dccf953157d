"""Privacy loss of compositions: many releases together."""
