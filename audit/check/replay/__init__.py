"""Stage 3: known sources of noise draw for one input what they drew for the other, and losses are read off."""
