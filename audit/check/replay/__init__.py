"""Replay: known primitives draw for one input what they drew for the other, so that losses can be read off."""
